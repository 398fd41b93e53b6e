"""Tokens of the HTTP API: what they look like, and what they permit."""

import hashlib
import re
import secrets
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

TokenScope: TypeAlias = Literal["read", "submit", "admin"]

INCLUDED: Final = MappingProxyType[TokenScope, tuple[TokenScope, ...]](
    {"read": ("read",), "submit": ("read", "submit"), "admin": ("read", "submit", "admin")}
)
"""What a scope permits, itself included."""

_TOKEN: Final = re.compile(r"zl_[A-Za-z0-9_-]{43}")


def new_token() -> str:
    """Return a token of 256 random bits."""
    return f"zl_{secrets.token_urlsafe(32)}"


def token_digest(token: str) -> str | None:
    """Return the SHA-256 by which a token is recorded; none for a text that is no token."""
    return hashlib.sha256(token.encode()).hexdigest() if _TOKEN.fullmatch(token) else None
