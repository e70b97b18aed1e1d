"""Mail through SES v2."""

from typing import Any


class SesMailer:
    """Sends as one verified address."""

    def __init__(self, sender: str, client: Any) -> None:
        self._sender = sender
        self._client = client

    def send(self, to: str, subject: str, text: str, html: str) -> None:
        """Send one mail in both renderings."""
        body = {"Text": _utf8(text), "Html": _utf8(html)}
        self._client.send_email(
            FromEmailAddress=self._sender,
            Destination={"ToAddresses": [to]},
            Content={"Simple": {"Subject": _utf8(subject), "Body": body}},
        )


def _utf8(text: str) -> dict[str, str]:
    return {"Data": text, "Charset": "UTF-8"}
