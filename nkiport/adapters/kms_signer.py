"""Signs evidence with an asymmetric KMS key, through securesystemslib's interface."""

import hashlib
from typing import Any

from securesystemslib.signer import Signature, SSlibKey

ALGORITHM = "ECDSA_SHA_256"


class KmsSigner:
    """An ECC_NIST_P256 key; the private half never leaves KMS."""

    def __init__(self, arn: str, client: Any) -> None:
        self._arn = arn
        self._client = client

    def sign(self, payload: bytes) -> Signature:
        """Sign the SHA-256 of the payload: KMS takes no more than 4096 bytes itself."""
        answer = self._client.sign(
            KeyId=self._arn, Message=hashlib.sha256(payload).digest(), MessageType="DIGEST",
            SigningAlgorithm=ALGORITHM,
        )  # fmt: skip
        return Signature(self._arn, bytes(answer["Signature"]).hex())

    def key(self) -> SSlibKey:
        """The public half, to verify with. Needs ``cryptography``, which signing does not."""
        from cryptography.hazmat.primitives.serialization import load_der_public_key

        answer = self._client.get_public_key(KeyId=self._arn)
        public: Any = load_der_public_key(bytes(answer["PublicKey"]))
        return SSlibKey.from_crypto(public, keyid=self._arn)
