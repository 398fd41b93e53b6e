"""Keys by which agents identify themselves to the bus: Ed25519, written as NATS writes them (nkeys)."""

import base64
import binascii
from dataclasses import dataclass
from typing import Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SEED_PREFIX: Final = 18 << 3
USER_PREFIX: Final = 20 << 3
KEY_BYTES: Final = 32
CHECKSUM_BYTES: Final = 2


@dataclass(frozen=True)
class AgentKey:
    """A key of which the private part stays where it was made."""

    _key: Ed25519PrivateKey

    @classmethod
    def new(cls) -> "AgentKey":
        """Make a key."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def read(cls, seed: str) -> "AgentKey":
        """Return the key that was written as `seed`; raises `ValueError`."""
        content = _decoded(seed)
        if len(content) != 2 + KEY_BYTES or content[0] & 0xF8 != SEED_PREFIX:
            raise ValueError("not a private key")
        return cls(Ed25519PrivateKey.from_private_bytes(content[2:]))

    @property
    def seed(self) -> str:
        """The private key, `SU…`."""
        private = self._key.private_bytes(
            serialization.Encoding.Raw, serialization.PrivateFormat.Raw, serialization.NoEncryption()
        )
        # The kind of the key goes across two bytes, so that the text begins with its letter.
        return _encoded(bytes([SEED_PREFIX | USER_PREFIX >> 5, (USER_PREFIX & 31) << 3]) + private)

    @property
    def public(self) -> str:
        """The public key, `U…`."""
        raw = self._key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        return _encoded(bytes([USER_PREFIX]) + raw)

    def signature(self, nonce: str) -> bytes:
        """Sign what the bus asks to be signed; returns Base64."""
        return base64.b64encode(self._key.sign(nonce.encode()))


def checked_public_key(text: str) -> str:
    """Return a public key if it is one; raises `ValueError`."""
    content = _decoded(text)
    if len(content) != 1 + KEY_BYTES or content[0] != USER_PREFIX:
        raise ValueError("not a public key of an agent")
    return text


def _encoded(content: bytes) -> str:
    checksum = binascii.crc_hqx(content, 0).to_bytes(CHECKSUM_BYTES, "little")
    return base64.b32encode(content + checksum).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    try:
        content = base64.b32decode(text + "=" * (-len(text) % 8))
    except ValueError as fault:
        raise ValueError("not a key: it is not Base32") from fault
    body, checksum = content[:-CHECKSUM_BYTES], content[-CHECKSUM_BYTES:]
    if binascii.crc_hqx(body, 0).to_bytes(CHECKSUM_BYTES, "little") != checksum:
        raise ValueError("not a key: a character of it is wrong")
    return body
