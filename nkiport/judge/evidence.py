"""Evidence on the wire: an in-toto statement in a DSSE envelope, and markdown made from it.

https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md,
https://github.com/secure-systems-lab/dsse/blob/master/protocol.md
"""

import hashlib
import json
from typing import Any, Final, Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import Key, Signature

from nkiport.contracts.errors import BadRequest
from nkiport.contracts.evidence import Evidence
from nkiport.contracts.judgement import Seed

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "https://nkiport.dev/evidence/v1"


class Signer(Protocol):
    """Signs bytes: a KMS key in AWS, a local key elsewhere (securesystemslib's interface)."""

    def sign(self, payload: bytes) -> Signature:
        """Return the signature, with the id of the key."""
        ...


def statement(evidence: Evidence) -> dict[str, Any]:
    """The in-toto statement: the candidate is the subject, the evidence the predicate."""
    return {
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": f"{evidence.kernel_id}.py", "digest": {"sha256": evidence.candidate_sha256}}
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": evidence.model_dump(mode="json"),
    }


def envelope(evidence: Evidence, signer: Signer) -> bytes:
    """The signed statement, as JSON."""
    payload = json.dumps(statement(evidence), sort_keys=True).encode()
    signed = Envelope(payload=payload, payload_type=PAYLOAD_TYPE, signatures={})
    signed.sign(signer)  # type: ignore[arg-type]  # it calls sign() and no more
    return json.dumps(signed.to_dict(), sort_keys=True, indent=1).encode()


def verify(data: bytes, key: Key) -> Evidence:
    """Check the signature and the commitment to the seed. Raises ``BadRequest`` with what fails."""
    try:
        signed = Envelope.from_dict(json.loads(data))
        signed.verify([key], threshold=1)
        said = json.loads(signed.payload)
        evidence = Evidence.model_validate(said["predicate"])
    except VerificationError as error:
        raise BadRequest(f"the signature is not that of key {key.keyid}: {error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadRequest(f"this is no evidence: {error}") from error
    if commitment(evidence.seed) != evidence.oracle.seed_commitment:
        raise BadRequest("the revealed seed is not the one that was committed to at the gate")
    if said["subject"][0]["digest"]["sha256"] != evidence.candidate_sha256:
        raise BadRequest("the statement's subject is not the kernel that was judged")
    return evidence


def signed_by(data: bytes) -> str:
    """The id of the key that signed an envelope, unchecked. Raises ``BadRequest``."""
    try:
        return str(json.loads(data)["signatures"][0]["keyid"])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise BadRequest(f"this is no signed envelope: {error}") from error


def commitment(seed: Seed) -> str:
    """SHA-256 of the seed's JSON: published at the gate, checked after the reveal."""
    return hashlib.sha256(seed.model_dump_json().encode()).hexdigest()


def markdown(evidence: Evidence) -> str:
    """The evidence for people; its first line is the claim, and where it was measured."""
    # Markdown, not HTML; every value is a number, a digest or a checked name.
    pages = Environment(  # noqa: S701
        loader=PackageLoader("nkiport.judge", "templates"), undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    return pages.get_template("evidence.md.j2").render(e=evidence)
