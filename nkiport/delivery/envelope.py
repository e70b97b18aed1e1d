"""Evidence, read back from the envelope it was signed in."""

import base64
import json

from nkiport.contracts.evidence import Evidence


def evidence_in(envelope: bytes) -> Evidence:
    """The evidence in a DSSE envelope: the predicate of its in-toto statement.

    https://github.com/secure-systems-lab/dsse, https://github.com/in-toto/attestation. The
    signature is not checked here.
    """
    payload = base64.b64decode(json.loads(envelope)["payload"])
    return Evidence.model_validate(json.loads(payload)["predicate"])
