"""Who a person is at GitHub: the web flow of a GitHub App (RFC 6749, 4.1) with PKCE (RFC 7636).

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
"""

import asyncio
import base64
import hashlib
import ssl
from typing import Annotated, Final
from urllib.parse import urlencode

import httpx
from pydantic import Field, SecretStr, ValidationError

from zerolap.github.github_errors import GitHubRefused, GitHubResponseUnusable, GitHubUnavailable
from zerolap.github.http_connection import HEADERS, Bearer, Call, GitHubConnection, Reply
from zerolap.github.pace import Clock, Patience
from zerolap.github.responses import ResponsePart, User
from zerolap.github.site import site_of

MOST_ANSWER_BYTES: Final = 64 << 10
RETRY_SECONDS: Final = 60.0


class _UserToken(ResponsePart):
    """The answer to a code: a token, or why there is none."""

    access_token: Annotated[str, Field(max_length=4096, repr=False)] = ""
    error: Annotated[str, Field(max_length=1024)] = ""


class PersonSignIn:
    """Asks GitHub who a person is; the person's token is used once, and not kept.

    `api_url` is that of GitHub or of a GitHub Enterprise Server, whose site it leads to.
    """

    def __init__(
        self,
        api_url: str,
        client_id: str,
        client_secret: SecretStr,
        *,
        patience: Patience | None = None,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self._patience = patience or Patience(request_seconds=15.0, total_seconds=15.0)
        self._api_url = api_url
        self._site = site_of(api_url) or api_url.rstrip("/")
        self._client_id = client_id
        self._client_secret = client_secret
        self._trust = trust

    def address(self, redirect: str, state: str, verifier: str) -> str:
        """Return where a person agrees; GitHub leads back to `redirect` with the state and a code."""
        asked = {
            "client_id": self._client_id,
            "redirect_uri": redirect,
            "state": state,
            "code_challenge": challenge_of(verifier),
            "code_challenge_method": "S256",
        }
        return f"{self._site}/login/oauth/authorize?{urlencode(asked)}"

    async def login(self, code: str, redirect: str, verifier: str) -> str:
        """Return the login of the person who has agreed.

        Raises `GitHubRefused` for a code that is not good, `GitHubUnavailable` and `GitHubResponseUnusable`.
        """
        # It refuses an address that would get tokens unencrypted. Sign-ins are rare: each has connections of its own.
        api = GitHubConnection(self._api_url, self._patience, Clock(), self._trust)
        try:
            token = await self._token(code, redirect, verifier)

            async def given() -> SecretStr:
                return token

            user = await api.send(Call("GET", "/user"), Bearer(given, lambda: None), _read_user)
            return user.login
        finally:
            await api.close()

    def _connected(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            headers=HEADERS | {"Accept": "application/json"},
            timeout=self._patience.request_seconds,
            verify=True if self._trust is None else self._trust,
        )

    async def _token(self, code: str, redirect: str, verifier: str) -> SecretStr:
        """Return the token for a code, which is good for once: the request is not repeated."""
        asked = {
            "client_id": self._client_id,
            "client_secret": self._client_secret.get_secret_value(),
            "code": code,
            "redirect_uri": redirect,
            "code_verifier": verifier,
        }
        content = bytearray()
        try:
            async with (
                asyncio.timeout(self._patience.request_seconds),
                self._connected() as client,
                client.stream("POST", f"{self._site}/login/oauth/access_token", data=asked) as response,
            ):
                async for piece in response.aiter_bytes():
                    content += piece
                    if len(content) > MOST_ANSWER_BYTES:
                        raise GitHubResponseUnusable("the answer to the code of a sign-in is too large")
        except (TimeoutError, httpx.HTTPError) as lost:
            raise GitHubUnavailable(f"GitHub does not answer: {type(lost).__name__}", RETRY_SECONDS) from None
        if response.status_code >= 500:
            raise GitHubUnavailable(f"GitHub answers with {response.status_code}", RETRY_SECONDS)
        return _token_in(bytes(content), response.status_code)


def challenge_of(verifier: str) -> str:
    """Return the challenge S256 of a verifier (RFC 7636, 4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _token_in(content: bytes, status: int) -> SecretStr:
    try:
        answer = _UserToken.model_validate_json(content)
    except ValidationError:
        # Its values may be a token.
        raise GitHubResponseUnusable(f"GitHub's answer to a code, with the status {status}, is unexpected") from None
    if not answer.access_token:
        reason = "".join(character if character.isprintable() else " " for character in answer.error)
        raise GitHubRefused(f"GitHub refuses the sign-in: {reason or status}", 403)
    return SecretStr(answer.access_token)


def _read_user(reply: Reply) -> User:
    return User.model_validate_json(reply.content)
