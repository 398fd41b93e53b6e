"""Requests to GitHub, with time limits and retries. A token is never sent to another host."""

import asyncio
import json
import re
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import httpx
import structlog
from pydantic import SecretStr, ValidationError

from zerolap import __version__
from zerolap.errors import UsageError
from zerolap.github.github_errors import (
    GitHubFault,
    GitHubForbidden,
    GitHubInvalid,
    GitHubMissing,
    GitHubRefused,
    GitHubResponseUnusable,
    GitHubUnauthorised,
    GitHubUnavailable,
)
from zerolap.github.pace import Clock, Patience
from zerolap.records import FirstFault

LARGEST_ANSWER_BYTES: Final = 32 << 20
"""A page of 100 of the longest comments."""
REDIRECTIONS: Final = 5
UNEXPLAINED_LIMIT_SECONDS: Final = 60.0
"""The wait that GitHub recommends where it limits a client and gives no time."""
HEADERS: Final = {
    "Accept": "application/vnd.github+json",
    "User-Agent": f"zerolap/{__version__}",
    "X-GitHub-Api-Version": "2022-11-28",
}
REFUSALS: Final[Mapping[int, type[GitHubRefused]]] = {
    401: GitHubUnauthorised,
    403: GitHubForbidden,
    404: GitHubMissing,
    410: GitHubMissing,
    422: GitHubInvalid,
}

T = TypeVar("T")
log = structlog.get_logger("zerolap.github")


@dataclass(frozen=True)
class Call:
    """A request; `path` begins with a slash and is relative to the API, or is an address in it."""

    method: str
    path: str
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: Mapping[str, object] | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Reply:
    """The content of a successful answer, and the address of the next page, None on the last."""

    content: bytes
    next_page: str | None


@dataclass(frozen=True)
class Bearer:
    """The source of the token of a request; after `forget`, the token is read or requested again."""

    token: Callable[[], Awaitable[SecretStr]]
    forget: Callable[[], None]


class _RetryableFault(GitHubFault):
    """A request failed, and may succeed later. `maybe_done`: GitHub may have carried it out."""

    def __init__(self, message: str, maybe_done: bool, wait_seconds: float | None = None) -> None:
        super().__init__(message)
        self.maybe_done = maybe_done
        self.wait_seconds = wait_seconds


class GitHubConnection:
    """Sends requests to the API at `api_url`, which may have a path, as that of GitHub Enterprise Server has.

    `trust` has the certificate authorities of a private server. Proxies are taken from the environment.
    """

    def __init__(self, api_url: str, patience: Patience, clock: Clock, trust: ssl.SSLContext | None = None) -> None:
        self._api = httpx.URL(api_url.rstrip("/"))
        if self._api.scheme != "https" and self._api.host not in {"localhost", "127.0.0.1", "::1"}:
            raise UsageError(f"{api_url} would get tokens unencrypted", hint="give an address with https")
        self._patience = patience
        self.clock = clock
        self.errors: Counter[str] = Counter()
        """Requests without success since the start, by the status of the answer; `none` without an answer."""
        self._client = httpx.AsyncClient(
            headers=HEADERS, timeout=patience.request_seconds, verify=True if trust is None else trust
        )

    async def close(self) -> None:
        """End the connections."""
        await self._client.aclose()

    async def send(
        self,
        call: Call,
        bearer: Bearer,
        read: Callable[[Reply], T],
        already_done: Callable[[], Awaitable[T | None]] | None = None,
    ) -> T:
        """Return what `read` makes of the answer.

        If an answer was lost, `already_done` looks for the result of the request, and the request is repeated only
        where it returns None. Raises `GitHubUnavailable` when the time of the patience is over, `GitHubRefused` or
        `GitHubResponseUnusable`.
        """
        clock, patience = self.clock, self._patience
        end = clock.monotonic() + patience.total_seconds
        tries = 0
        is_renewed = False
        while True:
            token = await bearer.token()
            try:
                return self._read(call, await self._reply(call, token), read)
            except GitHubUnauthorised:
                bearer.forget()
                if is_renewed or await bearer.token() == token:
                    raise
                is_renewed = True
                continue
            except _RetryableFault as fault:
                seconds = patience.wait_seconds(tries) if fault.wait_seconds is None else fault.wait_seconds
                maybe_done, reason = fault.maybe_done, fault.message
            if clock.monotonic() + seconds > end:
                raise GitHubUnavailable(f"{call}: {reason}", seconds)
            log.warning("waiting for GitHub", request=str(call), reason=reason, seconds=round(seconds, 1))
            await clock.sleep(seconds)
            tries += 1
            if maybe_done and already_done is not None and (done := await already_done()) is not None:
                return done

    def _read(self, call: Call, reply: Reply, read: Callable[[Reply], T]) -> T:
        try:
            return read(reply)
        except ValidationError as invalid:
            fault = FirstFault.of(invalid)
            if fault.kind == "json_invalid":
                raise _RetryableFault("the answer is not whole", maybe_done=True) from None
            raise GitHubResponseUnusable(f"{call}: unexpected answer: {fault}") from None

    async def _reply(self, call: Call, token: SecretStr) -> Reply:
        """Send a request once and follow redirections, as those of a renamed repository."""
        url = self._address(call)
        for _ in range(REDIRECTIONS):
            response, content = await self._exchange(call, url, token)
            if response.status_code in {301, 302, 307, 308}:
                url = self._within_api(url.join(response.headers.get("Location", "")), call)
                continue
            if response.is_success:
                next_page = response.links.get("next", {}).get("url")
                return Reply(content, next_page)
            raise self._fault(call, response, content, token)
        raise GitHubResponseUnusable(f"{call}: redirected more than {REDIRECTIONS} times")

    async def _exchange(self, call: Call, url: httpx.URL, token: SecretStr) -> tuple[httpx.Response, bytes]:
        headers = {"Authorization": f"Bearer {token.get_secret_value()}"}
        content = bytearray()
        try:
            # httpx limits the time between two pieces of an answer, not that of the whole.
            async with (
                asyncio.timeout(self._patience.request_seconds),
                self._client.stream(call.method, url, headers=headers, json=call.body) as response,
            ):
                async for piece in response.aiter_bytes():
                    content += piece
                    if len(content) > LARGEST_ANSWER_BYTES:
                        raise GitHubResponseUnusable(f"{call}: the answer has more than {LARGEST_ANSWER_BYTES} bytes")
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as lost:
            self.errors["none"] += 1
            raise _RetryableFault(f"no connection: {str(lost) or type(lost).__name__}", maybe_done=False) from None
        except (TimeoutError, httpx.TimeoutException):
            self.errors["none"] += 1
            raise _RetryableFault(f"no answer within {self._patience.request_seconds:g} s", maybe_done=True) from None
        except (httpx.TransportError, httpx.DecodingError) as lost:
            self.errors["none"] += 1
            raise _RetryableFault(f"the connection was lost: {type(lost).__name__}", maybe_done=True) from None
        return response, bytes(content)

    def _address(self, call: Call) -> httpx.URL:
        if not call.path.startswith("/"):
            return self._within_api(httpx.URL(call.path), call)
        url = self._api.copy_with(raw_path=self._api.raw_path.rstrip(b"/") + call.path.encode())
        return url.copy_merge_params(call.query) if call.query else url

    def _within_api(self, url: httpx.URL, call: Call) -> httpx.URL:
        """Return an address from a response; raises `GitHubResponseUnusable` if it is on another host than the API."""
        same_host = (url.scheme, url.host, url.port) == (self._api.scheme, self._api.host, self._api.port)
        if not same_host or not url.path.startswith(self._api.path):
            raise GitHubResponseUnusable(f"{call}: the answer leads to another host: {url.host}")
        return url

    def _fault(self, call: Call, response: httpx.Response, content: bytes, token: SecretStr) -> GitHubFault:
        status = response.status_code
        self.errors[str(status)] += 1
        github_message = _without(token, _message(content))
        text = f"{status} {github_message}".strip()
        if status >= 500:
            return _RetryableFault(text, maybe_done=True, wait_seconds=self._requested_seconds(response))
        if status == 429 or (status == 403 and _is_limit(response, github_message)):
            requested_seconds = self._requested_seconds(response)
            wait_seconds = UNEXPLAINED_LIMIT_SECONDS if requested_seconds is None else requested_seconds
            return _RetryableFault(text, maybe_done=False, wait_seconds=wait_seconds)
        return REFUSALS.get(status, GitHubRefused)(f"{call}: {text}", status)

    def _requested_seconds(self, response: httpx.Response) -> float | None:
        """Return how long GitHub asks to wait, None if the answer has no time."""
        retry_after = response.headers.get("Retry-After", "")
        if retry_after.isdecimal():
            return float(retry_after[:9])
        reset = response.headers.get("X-RateLimit-Reset", "")
        if response.headers.get("X-RateLimit-Remaining") == "0" and reset.isdecimal():
            # The limit ends within the second that follows.
            return max(0.0, float(reset[:15]) - self.clock.now()) + 1.0
        return None


def _is_limit(response: httpx.Response, github_message: str) -> bool:
    headers = response.headers
    return (
        "Retry-After" in headers
        or headers.get("X-RateLimit-Remaining") == "0"
        or "rate limit" in github_message.lower()
    )


def _without(token: SecretStr, text: str) -> str:
    """Return a text without a token; letters of a word that happen to be one stay."""
    return re.sub(rf"(?<!\w){re.escape(token.get_secret_value())}(?!\w)", "(token)", text)


def _message(content: bytes) -> str:
    """Return GitHub's description of an error: the message, and the fields that are wrong."""
    try:
        document: Any = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(document, dict):
        return ""
    messages = [str(document.get("message", ""))]
    errors = document.get("errors")
    for error in errors if isinstance(errors, list) else []:
        is_detailed = isinstance(error, dict)
        words = [error.get("field"), error.get("code"), error.get("message")] if is_detailed else [error]
        messages.append(" ".join(str(word) for word in words if word))
    text = "; ".join(messages)[:500]
    return "".join(character if character.isprintable() else " " for character in text)
