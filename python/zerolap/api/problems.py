"""Errors of the HTTP API, as RFC 9457 has them: `application/problem+json`, with a hint at what to do."""

import functools
from http import HTTPStatus
from typing import Any, Final

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exception_handlers import http_exception_handler
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from zerolap.api.error_page import error_page
from zerolap.api.pages import Page, respond_with
from zerolap.api.refusals import Refusals
from zerolap.records import EnvironmentMissing, FirstFault, Record, UnreadableRecord
from zerolap.store import BlobDamaged, NotConductor

PROBLEM_TYPE: Final = "application/problem+json"
API: Final = "/api/"
STORE_RETRY_SECONDS: Final = 10

log = structlog.get_logger("zerolap.api")


class ProblemDocument(Record):
    """Why a request was not carried out; `type` is `about:blank`, as the status says which kind of problem it is."""

    type: str = "about:blank"
    title: str = Field(description="The meaning of the status.", examples=["Unauthorized"])
    status: int = Field(examples=[401])
    detail: str = Field(description="What happened.", examples=["this is no token of the lab"])
    hint: str = Field(default="", description="What to do.", examples=["zerolap token add NAME makes one"])


class Problem(Exception):
    """Ends a request with a problem; `headers` are added to the answer."""

    def __init__(self, status: HTTPStatus, detail: str, hint: str = "", headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.document = ProblemDocument(title=status.phrase, status=status, detail=detail, hint=hint)
        self.headers = headers or {}


def too_many(detail: str, wait_seconds: int) -> Problem:
    """Return the problem of a request that comes too often."""
    return Problem(HTTPStatus.TOO_MANY_REQUESTS, detail, "ask again later", {"Retry-After": str(wait_seconds)})


def unavailable(fault: EnvironmentMissing | NotConductor | BlobDamaged, path: str) -> Problem:
    """Return the problem of a lab that cannot use its store; what is missing is logged, as it may name paths."""
    log.error("a request could not be answered", path=path, reason=fault.message)
    headers = {"Retry-After": str(STORE_RETRY_SECONDS)}
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, "the lab cannot answer now", "ask again later", headers)


def unreadable(fault: ValidationError | RequestValidationError) -> Problem:
    """Return the problem of a request with a wrong value; the value itself is not shown."""
    first = FirstFault.of(fault, leaving_out=("body", "query", "path"))
    return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, str(first), "/openapi.json describes what is expected")


def response_of(problem: Problem) -> Response:
    """Return the answer that states a problem."""
    headers = {"Cache-Control": "no-store", **problem.headers}
    return Response(problem.document.model_dump_json(), problem.document.status, headers, PROBLEM_TYPE)


def error_response(problem: Problem, request: Request, *, as_json: bool = False) -> Response:
    """Return a problem to people, as a page, or to programs as such."""
    status = HTTPStatus(problem.document.status)
    page = error_page(problem.document.detail, status)
    if as_json:
        page = Page(problem.document.model_dump_json().encode(), PROBLEM_TYPE, status=status)
    answer = respond_with(page, request, is_public=False)
    answer.headers.update(problem.headers)
    return answer


USUAL: Final = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
"""The problems of all routes that take a token."""


def described(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """Return how the description of an operation states its problems."""
    return {int(status): {"description": status.phrase, "content": problem_content()} for status in statuses}


def problem_content() -> dict[str, Any]:
    """Return how a description states the content of a problem."""
    return {PROBLEM_TYPE: {"schema": _schema()}}


@functools.cache
def _schema() -> dict[str, Any]:
    # Of all operations, each with several problems: an application would take twice as long to make.
    return ProblemDocument.model_json_schema()


def state_problems(app: FastAPI, refusals: Refusals) -> None:
    """Have an application answer with problems: those of its own, and below `/api/` those of the framework.

    Elsewhere, a browser that asks for what there is not gets a page.
    """

    @app.exception_handler(ClientDisconnect)
    async def _broken_off(_: Request, __: ClientDisconnect) -> Response:
        # Nobody reads the answer. A traceback for each would be theirs who send half a body.
        refusals.count("broken_bodies")
        return response_of(Problem(HTTPStatus.BAD_REQUEST, "the body broke off"))

    @app.exception_handler(Problem)
    async def _stated(_: Request, problem: Problem) -> Response:
        return response_of(problem)

    @app.exception_handler(RequestValidationError)
    async def _wrong(_: Request, fault: RequestValidationError) -> Response:
        return response_of(unreadable(fault))

    @app.exception_handler(EnvironmentMissing)
    @app.exception_handler(NotConductor)
    async def _unavailable(request: Request, fault: EnvironmentMissing | NotConductor) -> Response:
        return response_of(unavailable(fault, request.url.path))

    @app.exception_handler(UnreadableRecord)
    async def _unreadable_row(_: Request, fault: UnreadableRecord) -> Response:
        return response_of(Problem(HTTPStatus.INTERNAL_SERVER_ERROR, fault.message, fault.hint))

    @app.exception_handler(HTTPException)
    async def _of_framework(request: Request, fault: HTTPException) -> Response:
        status, hint = HTTPStatus(fault.status_code), "/openapi.json lists what there is"
        if not request.url.path.startswith(API):
            if status != HTTPStatus.NOT_FOUND or "text/html" not in request.headers.get("accept", ""):
                return await http_exception_handler(request, fault)
            page = error_page("The lab has no page at this address.", status)
            return respond_with(page, request, is_public=False)
        return response_of(Problem(status, str(fault.detail), hint, dict(fault.headers or {})))
