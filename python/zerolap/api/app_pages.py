"""The pages of the lab: one shell, which draws them from `/api/v1/pages`, and the scripts and styles that it loads."""

import functools
import html
import mimetypes
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request, Response

from zerolap.api.authorization import Authorization
from zerolap.api.error_page import HTML
from zerolap.api.pages import NOTHING_LOADED, Page, respond_with
from zerolap.api.problems import Problem, error_response, unavailable
from zerolap.records import EnvironmentMissing

ASSETS: Final = Path(__file__).parent / "assets"
SHELL: Final = "app.html"
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;"
    " base-uri 'none'; form-action 'self'"
)

ROUTES: Final = (
    "/",
    "/search",
    "/reports",
    "/comparisons/{identity}",
    "/runs/{identity}",
    "/snapshots",
    "/snapshots/{identity}",
    "/trials/{number}",
    "/series",
    "/versions",
    "/commits/{commit}",
    "/stacks",
    "/opportunities",
    "/detectors/{name}",
    "/fleet",
    "/platforms",
    "/platforms/{fingerprint}",
    "/triggers",
    "/api",
    "/sign-in",
)
"""The paths of pages; `web/src/app/routes.ts` has what each of them shows, and a test compares both."""
OPEN_TO_ALL: Final = ("/sign-in", "/api")
"""Pages that show nothing of the store."""


def app_pages_router(authorization: Authorization, *, is_public: bool, notice: str = "") -> APIRouter:
    """Return the routes of pages; unless reports are public, each takes a token, which browsers ask for.

    The `notice`, if there is one, is shown on each page.
    """
    router = APIRouter(include_in_schema=False)

    async def shell(request: Request) -> Response:
        try:
            if not is_public and request.url.path not in OPEN_TO_ALL:
                await authorization.require_reader(request)
            page = shell_page(notice)
        except EnvironmentMissing as fault:
            return error_response(unavailable(fault, request.url.path), request)
        except Problem as problem:
            return error_response(problem, request)
        return respond_with(page, request, is_public=is_public)

    assets = _assets()

    endpoint: Callable[[Request], Awaitable[Response]] = shell
    for route in ROUTES:
        router.add_api_route(route, endpoint)

    @router.get("/assets/{name}")
    async def asset(name: str, request: Request) -> Response:
        """Answer with a script or a style; they hold no results, and need no token."""
        page = assets.get(name)
        if page is None:
            return error_response(Problem(HTTPStatus.NOT_FOUND, "there is no such file"), request)
        return respond_with(page, request, is_public=True)

    return router


@functools.cache
def shell_page(notice: str = "") -> Page:
    """Return the page that draws all pages of the lab, with a notice if there is one.

    Raises `EnvironmentMissing` where the bundle is missing.
    """
    try:
        text = (ASSETS / SHELL).read_text(encoding="utf-8")
    except FileNotFoundError as fault:
        raise EnvironmentMissing("the pages are not built", hint="make web") from fault
    if notice:
        text = text.replace("</head>", f'<meta name="zerolap-notice" content="{html.escape(notice)}"></head>', 1)
    return Page(text.encode(), HTML, POLICY)


def _assets() -> Mapping[str, Page]:
    """Return the files of the bundle by name, which changes with the content; strangers may ask for any other."""
    paths = (path for path in ASSETS.glob("*") if path.is_file() and path.name != SHELL)
    return {path.name: _asset(path) for path in paths}


def _asset(path: Path) -> Page:
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return Page(path.read_bytes(), kind, NOTHING_LOADED, is_final=True)
