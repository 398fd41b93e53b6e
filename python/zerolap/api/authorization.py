"""Who may use the HTTP API: tokens of requests are looked up in the store, and wrong ones are counted."""

import asyncio
import base64
import math
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated, Final, TypeAlias

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from zerolap.api.problems import Problem, too_many
from zerolap.api.refusals import Refusals
from zerolap.api.tokens import TokenScope, token_digest
from zerolap.store import ApiToken, TriggerRecords
from zerolap.triggers import TriggerLimits
from zerolap.triggers.webhooks import MINUTE_SECONDS, Rate, network_of

LEAST_BETWEEN_SECONDS: Final = 0.2
USE_RECORDED_SECONDS: Final = 60.0
"""The use of a token is recorded at most so often."""
BEARER: Final = HTTPBearer(auto_error=False, description="A token that `zerolap token add` has made.")
GivenToken: TypeAlias = Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]


class KnownTokens:
    """The tokens of the store: wrong ones cost a few queries a second in all, however often they come."""

    def __init__(self, records: TriggerRecords) -> None:
        self._records = records
        self._digests: set[str] = set()
        self._read = -math.inf
        self._lock = asyncio.Lock()

    def has_read(self, digest: str) -> bool:
        """Whether there was such a token when the tokens were last read."""
        return digest in self._digests

    async def of_digest(self, digest: str) -> ApiToken | None:
        """Return the token with that digest as it is now; raises `EnvironmentMissing`."""
        if digest not in self._digests:
            # It may be new. All that are not known wait for the same query.
            await self._read_since(time.monotonic())
        # Digests of random tokens: their comparison takes no time that leads to a token.
        if digest not in self._digests:
            return None
        return await asyncio.to_thread(self._records.token, digest)

    async def _read_since(self, moment: float) -> None:
        """Read which tokens there are unless that was done since a moment."""
        async with self._lock:
            if self._read >= moment:
                return
            await asyncio.sleep(self._read + LEAST_BETWEEN_SECONDS - time.monotonic())
            begun = time.monotonic()
            tokens = await asyncio.to_thread(self._records.tokens)
            self._digests = {token.digest for token in tokens}
            self._read = begun


class Authorization:
    """Checks tokens anew at each request, so that a removed one is refused at once."""

    def __init__(self, records: TriggerRecords, limits: TriggerLimits, refusals: Refusals) -> None:
        self._records = records
        self._known = KnownTokens(records)
        self._refusals = refusals
        self._requests = Rate(limits.requests_per_minute_per_token, MINUTE_SECONDS)
        self._failures = Rate(limits.forged_per_minute_per_address, MINUTE_SECONDS)

    def holder_of(self, token: str) -> str | None:
        """Return a name for the holder of a token that was used before, none for any other; asks no database."""
        digest = token_digest(token)
        return f"token {digest}" if digest is not None and self._known.has_read(digest) else None

    def requires(self, scope: TokenScope) -> Callable[..., Awaitable[ApiToken]]:
        """Return the dependency of a route that only a token with a scope may use."""

        async def check(request: Request, given: GivenToken) -> ApiToken:
            return await self._checked(request, "" if given is None else given.credentials, scope, "Bearer")

        return check

    async def require_reader(self, request: Request) -> None:
        """Raise `Problem` unless a request for a page has a token: browsers ask for it as a password."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        token = {"basic": _password(given), "bearer": given}.get(scheme.lower(), "")
        await self._checked(request, token, "read", 'Basic realm="Zerolap", charset="UTF-8"')

    async def _checked(self, request: Request, token: str, scope: TokenScope, challenge: str) -> ApiToken:
        digest = token_digest(token)
        known = None if digest is None else await self._known.of_digest(digest)
        if known is None:
            raise self._refusal(request, token, challenge)
        if not self._requests.permits(known.name):
            raise too_many("too many requests with this token", self._requests.wait_seconds)
        if scope not in known.scopes:
            raise Problem(
                HTTPStatus.FORBIDDEN,
                f"the token {known.name} has not the scope {scope}",
                f"zerolap token add NAME --scope {scope} makes one that has",
            )
        await self._note_use(known)
        return known

    async def _note_use(self, token: ApiToken) -> None:
        now = time.time()
        if now - (token.last_used or 0.0) >= USE_RECORDED_SECONDS:
            await asyncio.to_thread(self._records.used_token, token.name, now)

    def _refusal(self, request: Request, token: str, challenge: str) -> Problem:
        hint, headers = "zerolap token add NAME makes one", {"WWW-Authenticate": challenge}
        if not token:
            return Problem(HTTPStatus.UNAUTHORIZED, "this needs a token", hint, headers)
        address = "" if request.client is None else request.client.host
        self._refusals.count("wrong_tokens")
        if not self._failures.permits(network_of(address)):
            return too_many("too many requests with wrong tokens", self._failures.wait_seconds)
        return Problem(HTTPStatus.UNAUTHORIZED, "the lab does not know this token", hint, headers)


def _password(given: str) -> str:
    """Return the password of HTTP's scheme Basic, empty where there is none."""
    try:
        return base64.b64decode(given, validate=True).decode().partition(":")[2]
    except ValueError:
        # Neither Base64 nor UTF-8.
        return ""
