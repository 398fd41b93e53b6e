"""Who may use the HTTP API: tokens of requests are looked up in the store, and wrong ones are counted."""

import asyncio
import base64
import math
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated, Any, Final, TypeAlias
from urllib.parse import urlencode

from fastapi import Depends, Request
from fastapi.params import Depends as DependencyOf
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.datastructures import Headers

from zerolap.api.problems import Problem, too_many
from zerolap.api.refusals import Refusals
from zerolap.api.sessions import Sessions, Visitor, session_digest, value_of_cookie
from zerolap.api.tokens import TokenScope, token_digest
from zerolap.records import EnvironmentMissing
from zerolap.store import ApiToken, TriggerRecords
from zerolap.triggers import TriggerLimits
from zerolap.triggers.webhooks import MINUTE_SECONDS, Rate, network_of

LEAST_BETWEEN_SECONDS: Final = 0.2
ABSENT_SECONDS: Final = 1.0
"""A digest that was not there is looked for again after so long: each request looks twice."""
USE_RECORDED_SECONDS: Final = 60.0
"""The use of a token is recorded at most so often."""
BEARER: Final = HTTPBearer(auto_error=False, description="A token that `zerolap token add` has made.")
WITH_TOKEN: Final[dict[str, Any]] = {"security": [{BEARER.scheme_name: []}]}
"""How the description states that a route takes a token, where the route itself also takes the session of a browser."""
GivenToken: TypeAlias = Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]


class KnownDigests:
    """The digests of tokens or sessions in the store: made-up ones cost a few queries a second in all.

    `read` reads them; it blocks.
    """

    def __init__(self, read: Callable[[], set[str]]) -> None:
        self._read = read
        self._digests: set[str] = set()
        self._absent: dict[str, float] = {}
        self._begun = -math.inf
        self._lock = asyncio.Lock()

    async def has(self, digest: str) -> bool:
        """Whether there is such a digest, or was a while ago; raises `EnvironmentMissing`."""
        now = time.monotonic()
        if digest not in self._digests and now - self._absent.get(digest, -math.inf) >= ABSENT_SECONDS:
            # It may be new. All that are not known wait for the same query.
            await self._read_since(now)
            if digest not in self._digests:
                self._absent[digest] = now
        # Digests of random texts: their comparison takes no time that leads to one of them.
        return digest in self._digests

    async def _read_since(self, moment: float) -> None:
        """Read which digests there are unless that was done since a moment."""
        async with self._lock:
            if self._begun >= moment:
                return
            await asyncio.sleep(self._begun + LEAST_BETWEEN_SECONDS - time.monotonic())
            begun = time.monotonic()
            self._digests = await asyncio.to_thread(self._read)
            self._absent.clear()
            self._begun = begun


class Authorization:
    """Checks tokens and sessions anew at each request, so that a removed one is refused at once.

    `people_sign_in`: pages lead to where people sign in, and browsers do not ask for a token as a password.
    """

    def __init__(
        self,
        records: TriggerRecords,
        limits: TriggerLimits,
        refusals: Refusals,
        sessions: Sessions,
        *,
        people_sign_in: bool = False,
    ) -> None:
        self._records = records
        self.sessions = sessions
        self.people_sign_in = people_sign_in
        self._known_tokens = KnownDigests(lambda: {token.digest for token in records.tokens()})
        self._known_sessions = KnownDigests(sessions.digests)
        self._refusals = refusals
        self._requests = Rate(limits.requests_per_minute_per_token, MINUTE_SECONDS)
        self._failures = Rate(limits.forged_per_minute_per_address, MINUTE_SECONDS)

    async def holder_of(self, headers: Headers) -> str | None:
        """Return a name for the holder of the token or session in the headers of a request, none if it is not known.

        The store is asked a few times a second at most, whatever is sent.
        """
        scheme, token = given_token(headers)
        session = None if scheme else session_digest(value_of_cookie(headers))
        digest = token_digest(token)
        try:
            if digest is not None and await self._known_tokens.has(digest):
                return f"token {digest}"
            if session is not None and await self._known_sessions.has(session):
                return f"session {session}"
        except EnvironmentMissing:
            # The route that looks the token up reports it.
            return None
        return None

    def requires(self, scope: TokenScope) -> Callable[..., Awaitable[ApiToken]]:
        """Return the dependency of a route that only a token with a scope may use."""

        async def check(request: Request, given: GivenToken) -> ApiToken:
            return await self._checked(request, "" if given is None else given.credentials, scope, "Bearer")

        return check

    def may_read(self, *, is_public: bool) -> list[DependencyOf]:
        """Return the dependencies of routes that show results: unless those are public, a token comes first.

        The parameters of a request are checked after them, so that strangers do not have it done.
        """
        return [] if is_public else [Depends(self.require_reader)]

    async def require_reader(self, request: Request) -> None:
        """Raise `Problem` unless a request for a page has a session or a token: browsers ask for it as a password."""
        await self.require_visitor(request, "read")

    async def require_visitor(self, request: Request, scope: TokenScope) -> Visitor:
        """Return who a request is of; raises `Problem` unless that may do what needs a scope.

        A token is in the header, by the scheme Bearer or as the password of Basic; a session is in its cookie.
        """
        challenge = "Bearer" if self.people_sign_in else 'Basic realm="Zerolap", charset="UTF-8"'
        scheme, token, session = self._given(request)
        if session:
            return await self._of_session(request, session, scope, challenge)
        known = await self._checked(request, token, scope, challenge)
        return Visitor.of_token(known, by_browser=scheme != "bearer")

    async def is_reader(self, request: Request) -> bool:
        """Whether a request that was permitted to read still would be; that does not count as a request of its own.

        Raises `EnvironmentMissing`.
        """
        _, token, session = self._given(request)
        if session:
            visitor = await self._visitor_of(session)
            return visitor is not None and visitor.may("read")
        known = await self._known_token(token)
        return known is not None and "read" in known.scopes

    def acting(self, scope: TokenScope) -> Callable[..., Awaitable[Visitor]]:
        """Return the dependency of a route that changes something, for those that may do what needs a scope."""

        async def check(request: Request) -> Visitor:
            return await self.require_actor(request, scope)

        return check

    async def require_actor(self, request: Request, scope: TokenScope) -> Visitor:
        """Return who has a request change something; raises `Problem`, also where another site asks.

        A browser sends sessions and passwords along whoever asks it to.
        """
        visitor = await self.require_visitor(request, scope)
        self.require_same_site(request, visitor)
        return visitor

    def require_same_site(self, request: Request, visitor: Visitor | None = None) -> None:
        """Raise `Problem` where another site can have a browser send a request that changes something."""
        if (visitor is None or visitor.by_browser) and not self.sessions.is_of_same_site(request):
            self._refusals.count("other_sites")
            raise Problem(
                HTTPStatus.FORBIDDEN, "this has to come from a page of the lab", "send the token as a Bearer token"
            )

    async def visitor(self, request: Request) -> Visitor | None:
        """Return who a request is of, none where it has neither token nor session, or one that is not known any more.

        Raises `Problem` for what comes too often.
        """
        try:
            return await self.require_visitor(request, "read")
        except Problem as problem:
            if problem.document.status == HTTPStatus.TOO_MANY_REQUESTS:
                raise
            return None

    async def end_session(self, request: Request) -> None:
        """Forget the session of a request, if it has one; raises `EnvironmentMissing`."""
        digest = session_digest(self.sessions.value_in(request))
        if digest is not None and await self._known_sessions.has(digest):
            await asyncio.to_thread(self.sessions.end, digest)

    async def token_holder(self, request: Request, token: str) -> ApiToken:
        """Return a token that somebody signs in with; raises `Problem` if it is not known."""
        return await self._checked(request, token, "read", "Bearer")

    def _given(self, request: Request) -> tuple[str, str, str]:
        """Return the scheme, the token and the session of a request, each empty where there is none."""
        scheme, token = given_token(request.headers)
        return scheme, token, "" if scheme else self.sessions.value_in(request)

    async def _of_session(self, request: Request, session: str, scope: TokenScope, challenge: str) -> Visitor:
        visitor = await self._visitor_of(session)
        if visitor is None:
            problem = self._refusal(request, "", challenge)
            raise problem if self._permits_failure(request, "wrong_sessions") else self._too_many_failures()
        if not self._requests.permits(f"{visitor.source} {visitor.name}"):
            raise too_many("too many requests of this person", self._requests.wait_seconds)
        if not visitor.may(scope):
            raise self._lacks(visitor.name, scope)
        return visitor

    async def _checked(self, request: Request, token: str, scope: TokenScope, challenge: str) -> ApiToken:
        known = await self._known_token(token)
        if known is None:
            raise self._refusal(request, token, challenge)
        if not self._requests.permits(known.name):
            raise too_many("too many requests with this token", self._requests.wait_seconds)
        if scope not in known.scopes:
            raise self._lacks(f"the token {known.name}", scope)
        await self._note_use(known)
        return known

    async def _visitor_of(self, session: str) -> Visitor | None:
        digest = session_digest(session)
        if digest is None or not await self._known_sessions.has(digest):
            return None
        return await asyncio.to_thread(self.sessions.visitor, digest)

    async def _known_token(self, token: str) -> ApiToken | None:
        digest = token_digest(token)
        if digest is None or not await self._known_tokens.has(digest):
            return None
        return await asyncio.to_thread(self._records.token, digest)

    async def _note_use(self, token: ApiToken) -> None:
        now = time.time()
        if now - (token.last_used or 0.0) >= USE_RECORDED_SECONDS:
            await asyncio.to_thread(self._records.used_token, token.name, now)

    def _refusal(self, request: Request, token: str, challenge: str) -> Problem:
        hint, headers = "zerolap token add NAME makes one", {"WWW-Authenticate": challenge}
        if not token:
            if self.people_sign_in and _is_navigation(request):
                address = f"/sign-in?{urlencode({'next': _path_of(request)})}"
                return Problem(HTTPStatus.SEE_OTHER, "this needs a sign-in", "", {"Location": address})
            return Problem(HTTPStatus.UNAUTHORIZED, "this needs a token", hint, headers)
        if not self._permits_failure(request, "wrong_tokens"):
            return self._too_many_failures()
        return Problem(HTTPStatus.UNAUTHORIZED, "the lab does not know this token", hint, headers)

    def _permits_failure(self, request: Request, cause: str) -> bool:
        """Count a wrong token or session; returns false if there are too many from its address."""
        self._refusals.count(cause)
        address = "" if request.client is None else request.client.host
        return self._failures.permits(network_of(address))

    def _too_many_failures(self) -> Problem:
        return too_many("too many requests with wrong tokens", self._failures.wait_seconds)

    def _lacks(self, holder: str, scope: TokenScope) -> Problem:
        hint = f"zerolap token add NAME --scope {scope} makes one that has"
        return Problem(HTTPStatus.FORBIDDEN, f"{holder} has not the scope {scope}", hint)


def _is_navigation(request: Request) -> bool:
    is_page = not request.url.path.startswith("/api/")
    return request.method == "GET" and is_page and "text/html" in request.headers.get("accept", "")


def _path_of(request: Request) -> str:
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


def given_token(headers: Headers) -> tuple[str, str]:
    """Return the scheme of the header Authorization and the token in it, each empty where there is none."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    match scheme.lower():
        case "basic":
            return "basic", _password(given)
        case "bearer":
            return "bearer", given
        case other:
            return other, ""


def _password(given: str) -> str:
    """Return the password of HTTP's scheme Basic, empty where there is none."""
    try:
        return base64.b64decode(given, validate=True).decode().partition(":")[2]
    except ValueError:
        # Neither Base64 nor UTF-8.
        return ""
