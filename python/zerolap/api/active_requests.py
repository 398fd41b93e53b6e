"""Limits on the requests that are being answered: no client takes the places of the others, and agents have theirs."""

from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from zerolap.api.problems import Problem, answer_of
from zerolap.api.refusals import Refusals
from zerolap.triggers.webhooks import network_of

MOST_OF_CLIENT: Final = 32
MOST_OF_STRANGERS: Final = 128
RETRY_SECONDS: Final = 1

HolderOf = Callable[[str], str | None]
"""Returns who holds a token, none where the token is not known. It is called for every request: it must not block."""


class ActiveRequests:
    """Refuses requests of a client that has too many of them under way.

    A client is the holder of a known token (an agent with a job, a token of the API), otherwise an address, of IPv6 a
    network of 64 bits. Addresses together have `most_of_strangers` places, so that they take none of those of agents.
    """

    def __init__(
        self,
        app: ASGIApp,
        holder_of: HolderOf,
        refusals: Refusals,
        most_of_client: int = MOST_OF_CLIENT,
        most_of_strangers: int = MOST_OF_STRANGERS,
    ) -> None:
        self._app = app
        self._holder_of = holder_of
        self._refusals = refusals
        self._most_of_client = most_of_client
        self._most_of_strangers = most_of_strangers
        self._active: Counter[str] = Counter()
        self._active_of_strangers = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 429 or 503."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        holder = self._holder_of(_token(scope))
        client = holder or network_of(scope["client"][0] if scope.get("client") else "")
        refusal = self._refusal(client, is_stranger=holder is None)
        if refusal is not None:
            await answer_of(refusal)(scope, receive, send)
            return
        self._active[client] += 1
        self._active_of_strangers += holder is None
        try:
            await self._app(scope, receive, send)
        finally:
            self._active[client] -= 1
            self._active_of_strangers -= holder is None
            if not self._active[client]:
                del self._active[client]

    def _refusal(self, client: str, *, is_stranger: bool) -> Problem | None:
        headers = {"Retry-After": str(RETRY_SECONDS)}
        if self._active[client] >= self._most_of_client:
            self._refusals.count("requests_of_a_client")
            detail = "too many requests of this client at the same time"
            return Problem(HTTPStatus.TOO_MANY_REQUESTS, detail, "ask again later", headers)
        if is_stranger and self._active_of_strangers >= self._most_of_strangers:
            self._refusals.count("requests")
            detail = "too many requests at the same time"
            return Problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, "ask again later", headers)
        return None


def _token(scope: Scope) -> str:
    """Return the token of a request, empty without one."""
    scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else ""
