"""How an agent joins a fleet: a token that is good for once, and what agent and conductor send each other.

The agent makes its key itself, and its private part stays there. It trusts the conductor by the fingerprint of the
fleet's certificate authority, which is a part of the token.
"""

import base64
import hashlib
import re
import secrets
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import httpx
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from zerolap.errors import EnvironmentMissing, UsageError
from zerolap.fleet.setup.agent_keys import AgentKey
from zerolap.fleet.setup.configuration import AgentKind, Name, PublicKey
from zerolap.fleet.setup.credentials import AgentCredentials, write_credentials
from zerolap.fleet.setup.units import unit_word, write_agent_unit
from zerolap.records import FirstFault

JOIN_PATH: Final = "/join"
AUTHORITY_PATH: Final = "/ca.pem"
VALID_SECONDS: Final = 3600.0
LARGEST_ANSWER_BYTES: Final = 1 << 16
TIMEOUT_SECONDS: Final = 30.0
CREDENTIALS: Final = "agent.toml"
_TOKEN: Final = re.compile(r"zj_[A-Za-z0-9_-]{43}\.[A-Za-z0-9_-]{43}")


class JoinRequest(BaseModel):
    """An agent asks to become a member: its token without the fingerprint, and its public key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    secret: Annotated[str, Field(max_length=100)]
    key: PublicKey


class JoinReply(BaseModel):
    """What an agent needs to know; fields that a newer conductor adds are ignored."""

    model_config = ConfigDict(frozen=True)

    bus: str
    artifacts: str
    lab: Name
    platform: Name
    agent: Name
    kind: AgentKind


@dataclass(frozen=True)
class JoinToken:
    """A token: `secret` is 256 random bits, `fingerprint` the SHA-256 of the fleet's certificate authority."""

    secret: str
    fingerprint: str

    @classmethod
    def new(cls, authority: str) -> "JoinToken":
        """Make a token for a fleet with this authority, a certificate in PEM."""
        return cls(f"zj_{secrets.token_urlsafe(32)}", fingerprint_of(authority))

    @classmethod
    def read(cls, text: str) -> "JoinToken":
        """Return the token in a text; raises `UsageError`."""
        if _TOKEN.fullmatch(text) is None:
            raise UsageError("this is no token of `zerolap fleet token`", hint="copy all of it: it begins with zj_")
        return cls(*text.split("."))

    def __str__(self) -> str:
        return f"{self.secret}.{self.fingerprint}"


def secret_digest(secret: str) -> str:
    """Return the SHA-256 by which a token is recorded."""
    return hashlib.sha256(secret.encode()).hexdigest()


def fingerprint_of(authority: str) -> str:
    """Return the SHA-256 of a certificate in PEM, in Base64; raises `ValueError`."""
    digest = x509.load_pem_x509_certificate(authority.encode()).fingerprint(hashes.SHA256())
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


@dataclass(frozen=True)
class JoinedAgent:
    """The files that an agent has been given: its credentials, and its unit."""

    credentials: Path
    unit: Path
    kind: AgentKind


def join(address: str, token: JoinToken, directory: Path | None) -> JoinedAgent:
    """Make a key, have it admitted at the address of `zerolap serve`, and write what the agent needs.

    The directory is by default that of the agent's name, in the working directory. Raises `UsageError` if the conductor
    refuses, or has another authority, or for a directory that no unit can name; `EnvironmentMissing` if the conductor
    cannot be reached.
    """
    # Before the token is used.
    unit_word((directory or Path()).resolve())
    key = AgentKey.new()
    # Its content is verified by the fingerprint.
    with httpx.Client(base_url=address, verify=False, timeout=TIMEOUT_SECONDS, trust_env=False) as client:
        authority = _sent(client, "GET", AUTHORITY_PATH)
    try:
        is_right = fingerprint_of(authority) == token.fingerprint
    except ValueError:
        is_right = False
    if not is_right:
        raise UsageError(
            f"{address} is not the fleet of this token: its certificate authority is another",
            hint="check the address; zerolap fleet token makes another token",
        )
    trust = ssl.create_default_context(cadata=authority)
    request = JoinRequest(secret=token.secret, key=key.public)
    with httpx.Client(base_url=address, verify=trust, timeout=TIMEOUT_SECONDS, trust_env=False) as client:
        content = _sent(client, "POST", JOIN_PATH, json=request.model_dump())
    try:
        answer = JoinReply.model_validate_json(content)
    except ValidationError as fault:
        what = FirstFault.of(fault).what
        raise EnvironmentMissing(f"{address} answers something else than a fleet: {what}") from fault
    return _written(answer, key, authority, directory or Path(answer.agent))


def _written(answer: JoinReply, key: AgentKey, authority: str, directory: Path) -> JoinedAgent:
    directory = directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    credentials = AgentCredentials(
        **answer.model_dump(), user=answer.agent, key=key.seed, certificate_authority=authority
    )
    write_credentials(directory / CREDENTIALS, credentials)
    unit = write_agent_unit(directory, answer.agent, answer.kind)
    return JoinedAgent(directory / CREDENTIALS, unit, answer.kind)


def _sent(client: httpx.Client, method: str, path: str, json: dict[str, Any] | None = None) -> str:
    """Return what is answered to a request, of at most `LARGEST_ANSWER_BYTES`."""
    try:
        with client.stream(method, path, json=json) as response:
            content = b""
            for piece in response.iter_bytes():
                content += piece
                if len(content) > LARGEST_ANSWER_BYTES:
                    raise EnvironmentMissing(f"{client.base_url} answers too much for a fleet")
    except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError) as fault:
        raise EnvironmentMissing(
            f"{client.base_url} cannot be reached: {str(fault) or type(fault).__name__}",
            hint="give the address of zerolap serve, as --artifacts of zerolap fleet init has it",
        ) from fault
    text = content.decode(errors="replace")
    if response.is_error:
        raise UsageError(f"{client.base_url} refuses: {_detail(text)}", hint="zerolap fleet token makes another token")
    return text


class _Refusal(BaseModel):
    """A problem as the HTTP API states it."""

    detail: str


def _detail(text: str) -> str:
    try:
        return _Refusal.model_validate_json(text).detail
    except ValidationError:
        return text[:200]
