"""The identity of the lab at GitHub: a token, or a GitHub App."""

import asyncio
import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from pydantic import SecretStr

from zerolap.errors import UsageError
from zerolap.github.github_errors import GitHubForbidden
from zerolap.github.http_connection import Bearer, Call, GitHubConnection, Reply
from zerolap.github.responses import App, Installation, InstallationToken, User
from zerolap.named_file import read_named_text

RENEWAL_SECONDS: Final = 300.0
LARGEST_KEY_BYTES: Final = 1 << 20
"""A token is renewed so long before it expires, for requests that take long."""
SIGNED_TOKEN_SECONDS: Final = 540
"""GitHub takes no more than 10 minutes, by its own clock."""
CLOCK_DIFFERENCE_SECONDS: Final = 60
WORKFLOW_LOGIN: Final = "github-actions[bot]"
"""The author of what is written with the token of a workflow run."""


class Credentials(Protocol):
    """Gives tokens for a repository, and the login that writes with them."""

    def bearer(self, connection: GitHubConnection, repository: str) -> Bearer:
        """Return where the tokens of requests about a repository come from."""

    async def login(self, connection: GitHubConnection, repository: str) -> str:
        """Return the login that GitHub gives as the author of what is written about a repository."""


class TokenFile:
    """A personal access token in a file, which is read again when the token is refused.

    `login` is the account of the token; with None, GitHub is asked for it, which works for all tokens but that of a
    workflow run, `github-actions[bot]`.
    """

    def __init__(self, path: Path, login: str | None = None) -> None:
        self._path = path
        self._login = login
        self._token: SecretStr | None = None

    def bearer(self, connection: GitHubConnection, repository: str) -> Bearer:
        """Return the token in the file, for any repository; raises `UsageError` if there is none."""
        return Bearer(self._read, self._forget)

    async def login(self, connection: GitHubConnection, repository: str) -> str:
        """Return the login of the account."""
        if self._login is None:
            self._login = await _asked_login(connection, self.bearer(connection, repository))
        return self._login

    async def _read(self) -> SecretStr:
        if self._token is None:
            self._token = await asyncio.to_thread(token_in, self._path)
        return self._token

    def _forget(self) -> None:
        self._token = None


class GivenToken:
    """A token that is valid while the program runs, such as that of a workflow run.

    `login` is the account of the token; with None, GitHub is asked for it. If GitHub refuses, the token is taken for
    that of a workflow run.
    """

    def __init__(self, token: SecretStr, login: str | None = None) -> None:
        self._token = token
        self._login = login

    def bearer(self, connection: GitHubConnection, repository: str) -> Bearer:
        """Return the token, for any repository."""
        return Bearer(self._given, lambda: None)

    async def login(self, connection: GitHubConnection, repository: str) -> str:
        """Return the login of the account."""
        if self._login is None:
            try:
                self._login = await _asked_login(connection, self.bearer(connection, repository))
            except GitHubForbidden:
                self._login = WORKFLOW_LOGIN
        return self._login

    async def _given(self) -> SecretStr:
        return self._token


def token_in(path: Path) -> SecretStr:
    """Return the token in a file; raises `UsageError` if there is none."""
    text = _text_of(path)
    if not text.strip() or len(text.split()) > 1:
        raise UsageError(f"{path} does not hold a token of GitHub", hint="write the token alone into it")
    return SecretStr(text.strip())


async def _asked_login(connection: GitHubConnection, bearer: Bearer) -> str:
    user = await connection.send(Call("GET", "/user"), bearer, _read_user)
    return user.login


@dataclass(frozen=True)
class _InstallationAccess:
    token: SecretStr
    end: float


class AppKey:
    """A GitHub App: the id that GitHub shows for it, and the file with its private key.

    It requests a token for each repository, which is valid for one hour and for this repository only.
    """

    def __init__(self, app_id: str, private_key: Path) -> None:
        self._app_id = app_id
        self._path = private_key
        self._key: rsa.RSAPrivateKey | None = None
        self._granted: dict[str, _InstallationAccess] = {}
        self._renewal = asyncio.Lock()
        self._login: str | None = None

    def bearer(self, connection: GitHubConnection, repository: str) -> Bearer:
        """Return the tokens of the installation; raises `UsageError` for a file without a key."""

        async def token() -> SecretStr:
            async with self._renewal:
                granted = self._granted.get(repository)
                if granted is None or granted.end - connection.clock.now() < RENEWAL_SECONDS:
                    granted = self._granted[repository] = await self._grant(connection, repository)
                return granted.token

        def forget() -> None:
            self._granted.pop(repository, None)

        return Bearer(token, forget)

    async def login(self, connection: GitHubConnection, repository: str) -> str:
        """Return the login that the app writes with."""
        if self._login is None:
            app = await connection.send(Call("GET", "/app"), self._as_app(connection), _read_app)
            self._login = f"{app.slug}[bot]"
        return self._login

    async def _grant(self, connection: GitHubConnection, repository: str) -> _InstallationAccess:
        as_app = self._as_app(connection)
        call = Call("GET", f"/repos/{repository}/installation")
        installation = await connection.send(call, as_app, _read_installation)
        # A token for all repositories could do more than is needed.
        name = repository.partition("/")[2]
        call = Call("POST", f"/app/installations/{installation.id}/access_tokens", body={"repositories": [name]})
        granted = await connection.send(call, as_app, _read_token)
        return _InstallationAccess(SecretStr(granted.token), granted.expires_at.timestamp())

    def _as_app(self, connection: GitHubConnection) -> Bearer:
        async def signed() -> SecretStr:
            if self._key is None:
                self._key = await asyncio.to_thread(_key_of, self._path)
            return _signed_token(self._app_id, self._key, connection.clock.now())

        return Bearer(signed, lambda: None)


def _signed_token(app_id: str, key: rsa.RSAPrivateKey, now: float) -> SecretStr:
    """Return a JSON Web Token (RFC 7519) with the signature RS256 (RFC 7518, 3.3), as GitHub asks of an app."""
    issued = int(now) - CLOCK_DIFFERENCE_SECONDS
    claims = {"iat": issued, "exp": issued + SIGNED_TOKEN_SECONDS, "iss": app_id}
    signed = b".".join(_encoded(json.dumps(part).encode()) for part in ({"alg": "RS256", "typ": "JWT"}, claims))
    signature = key.sign(signed, padding.PKCS1v15(), hashes.SHA256())
    return SecretStr((signed + b"." + _encoded(signature)).decode())


def _encoded(content: bytes) -> bytes:
    return base64.urlsafe_b64encode(content).rstrip(b"=")


def _key_of(path: Path) -> rsa.RSAPrivateKey:
    hint = "give the PEM file that GitHub made for the app, without a password"
    try:
        key = serialization.load_pem_private_key(_text_of(path).encode(), password=None)
    except (ValueError, TypeError) as invalid:
        raise UsageError(f"{path} does not hold a private key", hint) from invalid
    if not isinstance(key, rsa.RSAPrivateKey):
        raise UsageError(f"{path} does not hold an RSA key", hint)
    return key


def _text_of(path: Path) -> str:
    return read_named_text(path, LARGEST_KEY_BYTES)


def _read_user(reply: Reply) -> User:
    return User.model_validate_json(reply.content)


def _read_app(reply: Reply) -> App:
    return App.model_validate_json(reply.content)


def _read_installation(reply: Reply) -> Installation:
    return Installation.model_validate_json(reply.content)


def _read_token(reply: Reply) -> InstallationToken:
    return InstallationToken.model_validate_json(reply.content)
