"""Signs evidence with a key in a file, where there is no KMS."""

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from securesystemslib.signer import CryptoSigner, Signature, SSlibKey


class LocalSigner:
    """An ECDSA P-256 key, made on first use and readable by its owner only."""

    def __init__(self, file: Path) -> None:
        self._signer = CryptoSigner(_key(file))

    def sign(self, payload: bytes) -> Signature:
        """Sign bytes."""
        return self._signer.sign(payload)

    def key(self) -> SSlibKey:
        """The public half, to verify with."""
        return self._signer.public_key


def _key(file: Path) -> ec.EllipticCurvePrivateKey:
    if not file.exists():
        made = ec.generate_private_key(ec.SECP256R1())
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_bytes(made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    loaded = load_pem_private_key(file.read_bytes(), password=None)
    if not isinstance(loaded, ec.EllipticCurvePrivateKey):
        raise TypeError(f"'{file}' holds no ECDSA key")
    return loaded
