"""Limits on the requests that are being answered: no client takes the places of the others, and agents have theirs."""

import asyncio
import itertools
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from zerolap.api.problems import Problem, response_of
from zerolap.api.refusals import Refusals
from zerolap.api.strangers import ClientGone, StrangersTurns, note_stranger
from zerolap.triggers.webhooks import network_of

MOST_OF_CLIENT: Final = 32
MOST_OF_STRANGERS: Final = 128
MOST_FIRST_OF_STRANGERS: Final = 128
"""Further places, for the first requests of addresses that have none under way: one that has many takes none."""
RETRY_SECONDS: Final = 1

OWN: Final = b"zerolap"
OWN_COOKIES: Final = re.compile(rb"(?:^|; ?)((?:__Host-)?zerolap[a-z-]*=[^;]*)")
MOST_COOKIES: Final = 4

HolderOf = Callable[[Headers], Awaitable[str | None]]
"""Returns whose token or session the headers of a request have, none where there is none that is known."""


class ActiveRequests:
    """Refuses requests of a client that has too many of them under way.

    A client is the holder of a known token (an agent with a job, a token of the API) or session, otherwise an address,
    of IPv6 a network of 64 bits. Addresses together have `most_of_strangers` places, so that they take none of those of
    agents, and their requests wait for their turns. An address that has no request under way has further places: a
    monitor or a webhook is not refused because few others have many.
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
        self._turns = StrangersTurns()
        self._active: Counter[str] = Counter()
        self._active_of_strangers = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 429 or 503."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["headers"] = [_without_foreign_cookies(header) for header in scope["headers"]]
        holder = await self._holder_of(Headers(scope=scope))
        note_stranger(scope, is_stranger=holder is None)
        client = holder or network_of(scope["client"][0] if scope.get("client") else "")
        refusal = self._refusal(client, is_stranger=holder is None)
        if refusal is not None:
            # An answer at once would be asked for again at once, and would cost the loop as much as what it refuses.
            await asyncio.sleep(RETRY_SECONDS)
            await response_of(refusal)(scope, receive, send)
            return
        self._active[client] += 1
        self._active_of_strangers += holder is None
        try:
            if holder is None:
                await self._turns.turn(client, scope)
            await self._app(scope, receive, send)
        except ClientGone:
            return
        finally:
            self._active[client] -= 1
            self._active_of_strangers -= holder is None
            if not self._active[client]:
                del self._active[client]

    def _refusal(self, client: str, *, is_stranger: bool) -> Problem | None:
        headers = {"Retry-After": str(RETRY_SECONDS), "Connection": "close"}
        if self._active[client] >= self._most_of_client:
            self._refusals.count("requests_of_a_client")
            detail = "too many requests of this client at the same time"
            return Problem(HTTPStatus.TOO_MANY_REQUESTS, detail, "ask again later", headers)
        is_first = not self._active[client]
        most_of_strangers = self._most_of_strangers + (MOST_FIRST_OF_STRANGERS if is_first else 0)
        if is_stranger and self._active_of_strangers >= most_of_strangers:
            self._refusals.count("requests")
            detail = "too many requests at the same time"
            return Problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, "ask again later", headers)
        return None


def _without_foreign_cookies(header: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    """Return a header of a request, cookies without those of others: the framework reads all of them each time."""
    name, value = header
    if name != b"cookie":
        return header
    if OWN not in value:
        return name, b""
    own = itertools.islice(OWN_COOKIES.finditer(value), MOST_COOKIES)
    return name, b"; ".join(cookie[1] for cookie in own)
