"""Signing in: with a token of the lab, or by GitHub where the lab's App has a client."""

import asyncio
import base64
import binascii
import hmac
import re
import secrets
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

import structlog
from fastapi import APIRouter, Request, Response
from pydantic import Field, SecretStr, ValidationError

from zerolap.api.authorization import Authorization
from zerolap.api.bodies import read_body
from zerolap.api.error_page import error_page
from zerolap.api.pages import respond_with
from zerolap.api.problems import described, too_many, unreadable
from zerolap.api.sessions import Sessions
from zerolap.api.tokens import INCLUDED, TokenScope
from zerolap.github import GitHubFault, GitHubRefused, PersonSignIn
from zerolap.records import Record
from zerolap.triggers import LOGIN, Readers
from zerolap.triggers.webhooks import MINUTE_SECONDS, Rate, network_of

SIGN_IN_SECONDS: Final = 600
"""How long a person may take at GitHub."""
SIGN_INS_PER_MINUTE: Final = 20
"""The most sign-ins of an address: for each the lab asks GitHub."""
MOST_BODY_BYTES: Final = 4096
BODY_SECONDS: Final = 10.0
BACK: Final = "/sign-in/github/back"
COOKIE: Final = "zerolap-sign-in"
CODE: Final = re.compile(r"[!-~]{1,500}")
WITHIN: Final = re.compile(r"/(?!/)[!-\[\]-~]{0,2000}")
"""A path of the lab. Browsers take a backslash for a slash and leave out what is no printable character: `/\\t/host`
would lead to another host."""

log = structlog.get_logger("zerolap.api")


class SignInToken(Record):
    """A token to sign in with."""

    token: Annotated[SecretStr, Field(max_length=200)]


class SignedIn(Record):
    """Who looks at the pages: `name` is that of a token or a login at GitHub, null for nobody.

    `scopes` are what is permitted. `by_github` is whether people can sign in by GitHub, `reports_need_token` whether
    those who have not signed in can read nothing.
    """

    name: str | None
    actor: str | None
    source: Literal["token", "github"] | None
    scopes: tuple[TokenScope, ...]
    by_github: bool
    reports_need_token: bool


class GitHubSignIn:
    """Signing in by GitHub: `public_url` is where GitHub leads back to."""

    def __init__(self, person: PersonSignIn, readers: Readers, public_url: str) -> None:
        self.person = person
        self.readers = readers
        self.redirect = f"{public_url}{BACK}"


def signing_in_router(authorization: Authorization, github: GitHubSignIn | None, *, is_public: bool) -> APIRouter:
    """Return the routes by which people sign in and out; those of GitHub are there where it is set up."""
    router = APIRouter(tags=["session"])
    sessions = authorization.sessions

    @router.get("/api/v1/session", operation_id="read_session", responses=described(HTTPStatus.TOO_MANY_REQUESTS))
    async def session(request: Request, response: Response) -> SignedIn:
        """State who has signed in, and what that permits."""
        response.headers["Cache-Control"] = "no-store"
        visitor = await authorization.visitor(request)
        return SignedIn(
            name=None if visitor is None else visitor.name,
            actor=None if visitor is None else visitor.actor,
            source=None if visitor is None else visitor.source,
            scopes=() if visitor is None else tuple(scope for scope in INCLUDED["admin"] if visitor.may(scope)),
            by_github=github is not None,
            reports_need_token=not is_public,
        )

    @router.post(
        "/api/v1/session",
        operation_id="sign_in",
        status_code=HTTPStatus.NO_CONTENT,
        responses=described(
            HTTPStatus.UNAUTHORIZED,
            HTTPStatus.FORBIDDEN,
            HTTPStatus.REQUEST_TIMEOUT,
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            HTTPStatus.UNPROCESSABLE_ENTITY,
            HTTPStatus.TOO_MANY_REQUESTS,
        ),
        openapi_extra={"requestBody": _described_body()},
    )
    async def sign_in(request: Request) -> Response:
        """Begin a session with a token, in a cookie; for pages of the lab alone."""
        authorization.require_same_site(request)
        body = await read_body(request, MOST_BODY_BYTES, BODY_SECONDS)
        try:
            given = SignInToken.model_validate_json(body)
        except ValidationError as fault:
            raise unreadable(fault) from None
        token = await authorization.token_holder(request, given.token.get_secret_value())
        value = await asyncio.to_thread(sessions.begin, token=token.digest)
        log.info("somebody has signed in", token=token.name)
        response = Response(status_code=HTTPStatus.NO_CONTENT, headers={"Cache-Control": "no-store"})
        sessions.set(value, request, response)
        return response

    @router.delete(
        "/api/v1/session",
        operation_id="sign_out",
        status_code=HTTPStatus.NO_CONTENT,
        responses=described(HTTPStatus.FORBIDDEN),
    )
    async def sign_out(request: Request) -> Response:
        """End the session of the cookie."""
        authorization.require_same_site(request)
        await authorization.end_session(request)
        response = Response(status_code=HTTPStatus.NO_CONTENT, headers={"Cache-Control": "no-store"})
        sessions.set("", request, response)
        return response

    if github is not None:
        _add_github(router, sessions, github)
    return router


def _described_body() -> dict[str, Any]:
    """Return the description of the body, which is not read before it is known to come from a page of the lab."""
    return {"required": True, "content": {"application/json": {"schema": SignInToken.model_json_schema()}}}


class _Attempt(Record):
    """A sign-in that has begun, as its cookie has it: only the browser that began it can end it."""

    state: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{43}$")]
    verifier: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{43,86}$")]
    leads_to: str


def _add_github(router: APIRouter, sessions: Sessions, github: GitHubSignIn) -> None:
    rate = Rate(SIGN_INS_PER_MINUTE, MINUTE_SECONDS)

    def require_rate(request: Request) -> None:
        address = "" if request.client is None else request.client.host
        if not rate.permits(network_of(address)):
            raise too_many("too many sign-ins from this address", rate.wait_seconds)

    @router.get("/sign-in/github", include_in_schema=False)
    async def begin(request: Request) -> Response:
        """Lead a person to GitHub."""
        require_rate(request)
        attempt = _Attempt(
            state=secrets.token_urlsafe(32),
            verifier=secrets.token_urlsafe(48),
            leads_to=path_within(request.query_params.get("next", "")),
        )
        response = _led_to(github.person.address(github.redirect, attempt.state, attempt.verifier))
        _keep(attempt, sessions, request, response)
        return response

    @router.get(BACK, include_in_schema=False)
    async def back(request: Request) -> Response:
        """Take a person whom GitHub leads back."""
        require_rate(request)
        try:
            attempt = _attempt_of(sessions, request)
            login = await _person(request, attempt, github)
            value = await asyncio.to_thread(sessions.begin, login=login)
        except _NotSignedIn as fault:
            log.info("somebody could not sign in", reason=fault.reason)
            response = respond_with(error_page(fault.reason, fault.status), request, is_public=False)
        else:
            log.info("somebody has signed in", login=login)
            response = _led_to(path_within(attempt.leads_to))
            sessions.set(value, request, response)
        _keep(None, sessions, request, response)
        return response


class _NotSignedIn(Exception):
    def __init__(self, reason: str, status: HTTPStatus = HTTPStatus.FORBIDDEN) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


async def _person(request: Request, attempt: _Attempt, github: GitHubSignIn) -> str:
    """Return the login of a person who may read; raises `_NotSignedIn`."""
    if request.query_params.get("error"):
        raise _NotSignedIn("GitHub has not confirmed who you are: the sign-in was refused or cancelled there.")
    code = request.query_params.get("code", "")
    if CODE.fullmatch(code) is None:
        raise _NotSignedIn("GitHub's answer has no code.", HTTPStatus.BAD_REQUEST)
    try:
        login = await github.person.login(code, github.redirect, attempt.verifier)
        if LOGIN.fullmatch(login) is None:
            raise _NotSignedIn("GitHub's answer has no login.", HTTPStatus.BAD_GATEWAY)
        is_permitted = await github.readers.permits(login)
    except GitHubRefused as refused:
        log.warning("GitHub refuses a sign-in", reason=refused.message)
        raise _NotSignedIn("GitHub refuses this sign-in. It may be too old: begin again at /sign-in.") from None
    except GitHubFault as fault:
        log.error("GitHub could not be asked who somebody is", reason=fault.message)
        raise _NotSignedIn("GitHub does not answer. Try again later.", HTTPStatus.BAD_GATEWAY) from None
    if not is_permitted:
        raise _NotSignedIn(f"{login} has no access to a repository of this lab. A token of the lab gives access too.")
    return login


def _attempt_of(sessions: Sessions, request: Request) -> _Attempt:
    """Return the sign-in that this browser has begun; raises `_NotSignedIn` for another."""
    begun = request.cookies.get(_cookie(sessions, request), "")
    attempt = _read(begun)
    given = request.query_params.get("state", "")
    if attempt is None or not hmac.compare_digest(given.encode(), attempt.state.encode()):
        raise _NotSignedIn("This browser has not begun this sign-in, or it was too long ago: begin again at /sign-in.")
    return attempt


def _read(begun: str) -> _Attempt | None:
    try:
        return _Attempt.model_validate_json(base64.urlsafe_b64decode(begun))
    except (ValueError, binascii.Error):
        return None


def _keep(attempt: _Attempt | None, sessions: Sessions, request: Request, response: Response) -> None:
    """Have a browser keep a sign-in that it has begun, or forget it."""
    value = "" if attempt is None else base64.urlsafe_b64encode(attempt.model_dump_json().encode()).decode()
    response.set_cookie(
        _cookie(sessions, request),
        value,
        max_age=SIGN_IN_SECONDS if value else 0,
        path="/",
        secure=sessions.is_secure(request),
        httponly=True,
        samesite="lax",
    )


def _cookie(sessions: Sessions, request: Request) -> str:
    return f"__Host-{COOKIE}" if sessions.is_secure(request) else COOKIE


def _led_to(address: str) -> Response:
    headers = {"Location": address, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    return Response(status_code=HTTPStatus.SEE_OTHER, headers=headers)


def path_within(text: str) -> str:
    """Return a path of the lab; the overview's for what is none, such as an address of another host."""
    return text if WITHIN.fullmatch(text) else "/"
