"""Sessions of people who have signed in: a cookie with a random value, of which the store has the digest."""

import hashlib
import re
import secrets
import time
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from fastapi import Request, Response
from starlette.datastructures import Headers

from zerolap.api.tokens import INCLUDED, TokenScope
from zerolap.store import ApiToken, Store, StoredSession

SESSION_SECONDS: Final = 8 * 3600
"""Who loses access at GitHub loses the session after so long."""
COOKIE: Final = "zerolap"
SECURE_COOKIE: Final = "__Host-zerolap"
"""A name that no other host of the domain can set a cookie of."""
_SESSION: Final = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True)
class Visitor:
    """Who a request is of: the holder of a token, whose name it has, or a person at GitHub, by the login.

    `actor` is in whose name requests are made. `by_browser` is whether a browser sends what proves it by itself, so
    that another site could have it do so.
    """

    name: str
    actor: str
    scopes: tuple[str, ...]
    source: Literal["token", "github"]
    by_browser: bool

    @classmethod
    def of_token(cls, token: ApiToken, *, by_browser: bool) -> "Visitor":
        """Return the holder of a token."""
        return cls(token.name, token.actor, token.scopes, "token", by_browser)

    def may(self, scope: TokenScope) -> bool:
        """Whether what needs a scope is permitted."""
        return scope in self.scopes


class Sessions:
    """Begins, finds and ends sessions. Its methods that use the store block."""

    def __init__(self, store: Store, public_url: str | None) -> None:
        self._store = store
        self._is_public_secure = (public_url or "").startswith("https://")
        self._public_host = urlsplit(public_url or "").netloc.lower()

    def begin(self, *, login: str = "", token: str = "") -> str:
        """Record a session of a person or of the token with a digest, and return the value of its cookie."""
        value, now = secrets.token_urlsafe(32), time.time()
        digest = hashlib.sha256(value.encode()).hexdigest()
        self._store.sessions.add(StoredSession(digest, login, token, now, now + SESSION_SECONDS))
        return value

    def visitor(self, digest: str) -> Visitor | None:
        """Return who has the session with a digest; none if it has expired, was ended, or its token was removed."""
        session = self._store.sessions.session(digest)
        if session is None:
            return None
        if session.login:
            return Visitor(session.login, session.login, INCLUDED["read"], "github", by_browser=True)
        token = self._store.triggers.token(session.token)
        return None if token is None else Visitor.of_token(token, by_browser=True)

    def end(self, digest: str) -> None:
        """Forget the session with a digest."""
        self._store.sessions.remove(digest)

    def digests(self) -> set[str]:
        """Return the digests of all sessions."""
        return self._store.sessions.digests()

    def is_of_same_site(self, request: Request) -> bool:
        """Whether a page of the lab has sent a request that changes something: browsers state where it is from."""
        if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return False
        try:
            origin = urlsplit(request.headers.get("origin", ""))
        except ValueError:
            return False
        own_hosts = {self._public_host, request.headers.get("host", "").lower()} - {""}
        return origin.scheme in ("http", "https") and origin.netloc.lower() in own_hosts

    # The cookie.

    def is_secure(self, request: Request) -> bool:
        """Whether browsers reach the lab by HTTPS, also where a proxy takes it off."""
        return self._is_public_secure or request.url.scheme == "https"

    def value_in(self, request: Request) -> str:
        """Return the value of the cookie of a request, empty without one."""
        return value_of_cookie(request.headers, SECURE_COOKIE if self.is_secure(request) else COOKIE)

    def set(self, value: str, request: Request, response: Response) -> None:
        """Have a browser keep a session; with an empty value, forget it."""
        is_secure = self.is_secure(request)
        response.set_cookie(
            SECURE_COOKIE if is_secure else COOKIE,
            value,
            max_age=SESSION_SECONDS if value else 0,
            path="/",
            secure=is_secure,
            httponly=True,
            samesite="lax",
        )


def value_of_cookie(headers: Headers, name: str = f"(?:{SECURE_COOKIE}|{COOKIE})") -> str:
    """Return the value of a session's cookie of one or any name, empty without one.

    Strangers send thousands of cookies, and all of them are not read for it.
    """
    cookie = re.search(rf"(?:^|; *){name}=({_SESSION.pattern})(?:;|$)", headers.get("cookie", ""))
    return "" if cookie is None else cookie[1]


def session_digest(value: str) -> str | None:
    """Return the SHA-256 by which a session is recorded; none for a text that is no session."""
    return hashlib.sha256(value.encode()).hexdigest() if _SESSION.fullmatch(value) else None
