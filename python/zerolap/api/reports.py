"""Pages and files of comparisons, runs, sweeps of snapshots and checks: the one-file HTML report, JSON and Markdown."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Literal, TypeAlias

from fastapi import APIRouter, Request, Response

from zerolap.api.app_pages import shell_page
from zerolap.api.authorization import Authorization
from zerolap.api.error_page import HTML
from zerolap.api.pages import NOTHING_LOADED, RETRY_SECONDS, Page, Pages, TooBusy, respond_with
from zerolap.api.problems import Problem, error_response, problem_content, unavailable
from zerolap.api.strangers import is_stranger
from zerolap.documents import read_check, read_comparison, read_pictures, read_run
from zerolap.lab import read_sweep
from zerolap.records import EnvironmentMissing, Record, RequestState, UsageError
from zerolap.report import (
    comparison_html,
    comparison_json,
    comparison_markdown,
    content_security_policy,
    document_json,
    run_html,
    run_markdown,
    sheet_html,
    sheet_markdown,
)
from zerolap.sheets import Sheet, check_sheet, sweep_sheet, with_sweep_reading
from zerolap.store import BlobDamaged, Store

Form: TypeAlias = Literal["html", "json", "md"]
Noun: TypeAlias = Literal["comparison", "run", "snapshot", "check"]
KINDS: Final[dict[Noun, str]] = {"comparison": "compare", "run": "run", "snapshot": "snapshot", "check": "check"}
"""The kinds of reports that are requested."""
_DESCRIPTIONS: Final[dict[Noun, str]] = {
    "comparison": "Of a comparison that is not finished, what there is so far.",
    "run": "Of a run that is not finished, what there is so far.",
    "snapshot": "Once the sweep has ended; of forks in emulated machines zerolap.emulated-snapshot/1.",
    "check": "Of a check that is not finished, the cases that were examined so far.",
}
MEDIA_TYPES: Final[dict[Form, str]] = {
    "html": HTML,
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
}
IDENTITY: Final = re.compile(r"[ckrw]-[0-9a-f-]{1,64}")


class NoReport(Exception):
    """The store has nothing of that id, or nothing that could be shown in that form; `detail` says what."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


@dataclass(frozen=True)
class _Made:
    text: str
    is_done: bool


def reports_router(store: Store, authorization: Authorization, *, is_public: bool) -> APIRouter:
    """Return the routes; unless reports are public, each takes a token, which a browser asks for as a password."""
    router = APIRouter(tags=["reports"])
    pages = Pages()

    async def answered(request: Request, key: str, form: Form, make: Callable[[], Page]) -> Response:
        try:
            if not is_public:
                await authorization.require_reader(request)
            page = await pages.page(key, make, for_stranger=is_stranger(request))
        except NoReport as fault:
            problem = Problem(HTTPStatus.NOT_FOUND, fault.detail)
        except TooBusy:
            headers = {"Retry-After": str(RETRY_SECONDS)}
            problem = Problem(HTTPStatus.SERVICE_UNAVAILABLE, "too many reports are asked for at once", "", headers)
        except (EnvironmentMissing, BlobDamaged) as fault:
            problem = unavailable(fault, request.url.path)
        except Problem as refusal:
            problem = refusal
        else:
            return respond_with(page, request, is_public=is_public)
        return error_response(problem, request, as_json=form == "json")

    def route(noun: Noun, form: Form, read: Callable[[Store, str, Form], _Made]) -> Callable[..., Awaitable[Response]]:
        async def report(identity: str, request: Request) -> Response:
            return await answered(
                request, f"{noun} {identity} {form}", form, lambda: _report(store, identity, noun, form, read)
            )

        return report

    def shell(noun: Noun) -> Callable[..., Awaitable[Response]]:
        async def page(identity: str, request: Request) -> Response:
            """Answer with the page that draws all others, where there is something of that id to draw."""
            return await answered(request, f"{noun} {identity}", "html", lambda: _drawn(store, identity, noun))

        return page

    forms: tuple[tuple[Form, str, str], ...] = (
        ("json", ".json", "The document of schema zerolap.{}/1"),
        ("md", ".md", "The report as Markdown"),
        ("html", ".html", "The report as a page that loads nothing"),
    )
    documents: tuple[tuple[Noun, Callable[[Store, str, Form], _Made]], ...] = (
        ("comparison", _comparison),
        ("run", _run),
        ("snapshot", _snapshot),
        ("check", _check),
    )
    for noun, read in documents:
        for form, ending, summary in forms:
            router.add_api_route(
                f"/{noun}s/{{identity}}{ending}",
                route(noun, form, read),
                response_class=Response,
                summary=summary.format(noun),
                description=_DESCRIPTIONS[noun],
                operation_id=f"read_{noun}_as_{form}",
                responses=_described(summary.format(noun), form),
            )
        # The report of a check has no pictures that the pages of the lab would draw otherwise.
        drawn = route(noun, "html", read) if noun == "check" else shell(noun)
        router.add_api_route(f"/{noun}s/{{identity}}", drawn, include_in_schema=False)
    return router


def _described(summary: str, form: Form) -> dict[int | str, dict[str, Any]]:
    """Return how the description of an operation states its answers: programs get problems, people pages."""
    content: dict[str, Any] = {MEDIA_TYPES[form].partition(";")[0]: {}}
    refusal: dict[str, Any] = problem_content() if form == "json" else {HTML.partition(";")[0]: {}}
    return {
        200: {"description": summary, "content": content},
        "4XX": {"description": "There is no such report, or reports need a token.", "content": refusal},
        503: {"description": "The lab cannot answer now.", "content": refusal},
    }


def _report(store: Store, identity: str, noun: Noun, form: Form, read: Callable[[Store, str, Form], _Made]) -> Page:
    if IDENTITY.fullmatch(identity) is None:
        raise NoReport(f"this is no id of a {noun}")
    try:
        made = read(store, identity, form)
    except UsageError:
        raise NoReport(_why_missing(store, identity)) from None
    policy = content_security_policy(made.text) if form == "html" else NOTHING_LOADED
    return Page(made.text.encode(), MEDIA_TYPES[form], policy, is_final=made.is_done)


def _drawn(store: Store, identity: str, noun: Noun) -> Page:
    """Return the page that draws a comparison or a run, from its request on, or a sweep; raises `NoReport`."""
    if IDENTITY.fullmatch(identity) is None:
        raise NoReport(f"this is no id of a {noun}")
    if store.kinds([identity]).get(identity) != KINDS[noun]:
        raise NoReport(f"the lab knows no {noun} {identity}")
    return shell_page(store.notice)


def _comparison(store: Store, identity: str, form: Form) -> _Made:
    comparison = read_comparison(store, identity)
    _require_same(comparison.id, identity)
    match form:
        case "json":
            text = comparison_json(comparison)
        case "md":
            text = comparison_markdown(comparison)
        case "html":
            text = comparison_html(comparison, read_pictures(comparison, store))
    return _Made(text, comparison.state == "done")


def _run(store: Store, identity: str, form: Form) -> _Made:
    report = read_run(store, identity)
    _require_same(report.id, identity)
    match form:
        case "json":
            text = document_json(report)
        case "md":
            text = run_markdown(report)
        case "html":
            text = run_html(report, read_pictures(report, store))
    return _Made(text, store.in_short([identity])[identity].state == "done")


def _snapshot(store: Store, identity: str, form: Form) -> _Made:
    report = read_sweep(store, identity)
    _require_same(report.id, identity)
    return _of_sheet(with_sweep_reading(report), sweep_sheet(report), form, store.state(identity))


def _check(store: Store, identity: str, form: Form) -> _Made:
    report = read_check(store, identity)
    _require_same(report.id, identity)
    return _of_sheet(report, check_sheet(report), form, store.state(identity))


def _of_sheet(document: Record, sheet: Sheet, form: Form, state: RequestState) -> _Made:
    match form:
        case "json":
            text = document_json(document)
        case "md":
            text = sheet_markdown(sheet)
        case "html":
            text = sheet_html(document, sheet)
    return _Made(text, state == "done")


def _require_same(identity: str, asked: str) -> None:
    if identity != asked:
        # The beginning of an id may name another comparison tomorrow.
        raise UsageError(f"the store holds no {asked}")


def _why_missing(store: Store, identity: str) -> str:
    work = store.fleet.in_short(identity)
    if work is None:
        return f"the lab knows nothing of {identity}"
    return f"{identity} is {work.state}, and nothing was measured yet"
