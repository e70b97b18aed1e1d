"""Links in gate mails: signed, bound to one gate, and void with it."""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import UTC, datetime

from nkiport.contracts.errors import StaleLink


@dataclass(frozen=True)
class Linked:
    """What a link stands for."""

    job_id: str
    gate: str


class GateLinks:
    """Makes and reads links; ``base_url`` ends with a slash."""

    def __init__(self, secret: str, base_url: str = "") -> None:
        self._secret = secret.encode()
        self._base = base_url

    def link(self, job_id: str, gate: str, expires: datetime) -> str:
        """The address of the page that asks."""
        return f"{self._base}gate-links/{self.token(job_id, gate, expires)}"

    def token(self, job_id: str, gate: str, expires: datetime) -> str:
        """What the address ends with."""
        said = json.dumps([job_id, gate, int(expires.timestamp())]).encode()
        return f"{_text(said)}.{_text(self._signed(said))}"

    def read(self, token: str, now: datetime) -> Linked:
        """Raises ``StaleLink`` for a link that is forged, cut or past its time."""
        try:
            said, signature = (_bytes(part) for part in token.split("."))
            right = hmac.compare_digest(self._signed(said), signature)
            job_id, gate, expires = json.loads(said) if right else ("", "", 0)
        except ValueError as error:
            raise StaleLink("this link is damaged; open it from the mail again") from error
        if not right:
            raise StaleLink("this link was not made here; open it from the mail again")
        if now >= datetime.fromtimestamp(expires, UTC):
            raise StaleLink("this link has expired; answer the gate with the command line or API")
        return Linked(job_id, gate)

    def _signed(self, said: bytes) -> bytes:
        return hmac.new(self._secret, said, hashlib.sha256).digest()


def digest(token: str) -> str:
    """What a gate's record keeps of its link."""
    return hashlib.sha256(token.encode()).hexdigest()


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
