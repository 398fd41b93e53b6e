"""`/badges`: small pictures of the newest verdict on a branch, a platform or a comparison, for other pages."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from zerolap.api.authorization import Authorization
from zerolap.api.pages import NOTHING_LOADED, Page, Pages, TooBusy, tagged
from zerolap.api.problems import described
from zerolap.api.strangers import is_stranger
from zerolap.store import Store, StoredRow
from zerolap.triggers import branch_subject

SVG: Final = "image/svg+xml"
KEPT_SECONDS: Final = 60
"""How long browsers, and GitHub's proxy of pictures, show a badge unchanged."""
LABEL: Final = "performance"
LONGEST_WORD: Final = 40
LETTER_PX: Final = 6.6
"""The width of a letter, about: the text is stretched to the width that was reckoned with."""
PADDING_PX: Final = 6
LOOKED_AT: Final = 20
"""Newest triggers of a branch, of which one has to have led to a finished comparison."""
COLOURS: Final = {
    "regression": "#b3261e",
    "improvement": "#0b57a4",
    "unsure": "#8a5a00",
    "same": "#14713a",
    "unknown": "#5a6270",
}
"""On white text, each with a contrast of over 4.5; the word says the same as the colour."""

TEXT: Final = r"^[^\x00-\x1f]+$"
Branch = Annotated[str, Query(pattern=TEXT, max_length=255, description="The name of the branch.")]
Repository = Annotated[
    str, Query(pattern=r"^[!-~]{1,300}$", description="The repository or watched remote, as the triggers name it.")
]
PlatformName = Annotated[str, Query(pattern=TEXT, max_length=200, description="The name of the platform.")]
Optional = Annotated[str | None, Query(pattern=TEXT, max_length=200, description="Only of this platform.")]
Identity = Annotated[str, Query(pattern=r"^c-[0-9a-f-]{1,64}$", description="The id of the comparison.")]


@dataclass(frozen=True)
class Badge:
    """What a badge states, and of which kind that is."""

    word: str
    kind: str
    status: HTTPStatus = HTTPStatus.OK


UNKNOWN: Final = Badge("not measured", "unknown", HTTPStatus.NOT_FOUND)


def badges_router(store: Store, authorization: Authorization, *, is_public: bool) -> APIRouter:
    """Return the routes; unless badges are public, each takes a token."""
    router = APIRouter(
        prefix="/badges",
        tags=["badges"],
        responses=described(HTTPStatus.UNAUTHORIZED, HTTPStatus.UNPROCESSABLE_ENTITY),
        dependencies=authorization.may_read(is_public=is_public),
    )
    pages = Pages()

    async def answered(request: Request, key: str, make: Callable[[], Badge]) -> Response:
        try:
            page = await pages.page(key, lambda: _page(make()), for_stranger=is_stranger(request))
        except TooBusy:
            page = _page(Badge("busy", "unknown", HTTPStatus.SERVICE_UNAVAILABLE))
        headers = {
            "Cache-Control": f"{'public' if is_public else 'private'}, max-age={KEPT_SECONDS}",
            "Content-Security-Policy": f"{page.policy}; frame-ancestors 'none'",
            "Cross-Origin-Resource-Policy": "cross-origin",
            "X-Content-Type-Options": "nosniff",
        }
        return tagged(page, request, headers)

    picture: dict[int | str, dict[str, Any]] = {200: {"description": "A picture.", "content": {SVG: {}}}}

    @router.get("/branch.svg", operation_id="badge_of_branch", response_class=Response, responses=picture)
    async def branch(request: Request, repository: Repository, branch: Branch, platform: Optional = None) -> Response:
        """Show the newest finished comparison of a branch that is measured by itself."""
        key = f"branch {repository} {branch} {platform}"
        return await answered(request, key, lambda: _of_branch(store, repository, branch, platform))

    @router.get("/platform.svg", operation_id="badge_of_platform", response_class=Response, responses=picture)
    async def platform(request: Request, name: PlatformName) -> Response:
        """Show the newest finished comparison on a platform."""
        return await answered(request, f"platform {name}", lambda: _of_platform(store, name))

    @router.get("/comparison.svg", operation_id="badge_of_comparison", response_class=Response, responses=picture)
    async def comparison(request: Request, id: Identity) -> Response:
        """Show a comparison."""
        return await answered(request, f"comparison {id}", lambda: _of_reports(store, [id]))

    return router


def _of_branch(store: Store, repository: str, branch: str, platform: str | None) -> Badge:
    subject = branch_subject(repository, branch)
    for trigger in store.triggers.of_subject(subject, limit=LOOKED_AT, states=["done"]):
        asked = [work for identity in trigger.requests if (work := store.fleet.in_short(identity)) is not None]
        ids = [work.id for work in asked if work.state == "done" and platform in (None, work.platform)]
        if ids:
            return _of_reports(store, ids)
    return UNKNOWN


def _of_platform(store: Store, name: str) -> Badge:
    newest = store.platform_records.newest_comparison(name)
    return UNKNOWN if newest is None else _of_reports(store, [newest])


def _of_reports(store: Store, identities: list[str]) -> Badge:
    rows = store.in_short(identities)
    shown = [rows[identity] for identity in identities if identity in rows]
    return badge_of(shown) if shown else UNKNOWN


def badge_of(reports: list[StoredRow]) -> Badge:
    """Return the badge of comparisons: what got worse, else what got better, else whether all is the same."""
    summaries = [report.summary for report in reports if report.summary is not None and report.state == "done"]
    if not summaries:
        return Badge(reports[0].state if reports else "not measured", "unknown")
    regressions = sum(summary.regression for summary in summaries)
    improvements = sum(summary.improvement for summary in summaries)
    undecided = sum(summary.unsure + summary.invalid for summary in summaries)
    same = sum(summary.same for summary in summaries)
    if regressions:
        return Badge(_counted(regressions, "regression"), "regression")
    if improvements:
        return Badge(_counted(improvements, "improvement"), "improvement")
    if undecided:
        return Badge(f"{same:,} same, {undecided:,} not decided" if same else "not decided", "unsure")
    return Badge("same", "same") if same else Badge("no cases", "unknown")


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _page(badge: Badge) -> Page:
    return Page(badge_svg(badge).encode(), SVG, NOTHING_LOADED, status=badge.status)


def badge_svg(badge: Badge) -> str:
    """Return the picture, without scripts, styles and links."""
    word = badge.word if len(badge.word) <= LONGEST_WORD else f"{badge.word[: LONGEST_WORD - 1]}…"
    left, right = (round(len(text) * LETTER_PX) for text in (LABEL, word))
    middle, width = left + 2 * PADDING_PX, left + right + 4 * PADDING_PX
    label, shown = escape(LABEL), escape(word)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{label}: {shown}">'
        f"<title>{label}: {shown}</title>"
        f'<rect width="{width}" height="20" rx="3" fill="#3c434d"/>'
        f'<path d="M{middle} 0h{width - middle - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1 -3 3h-{width - middle - 3}z"'
        f' fill="{COLOURS[badge.kind]}"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="{PADDING_PX}" y="14" textLength="{left}">{label}</text>'
        f'<text x="{middle + PADDING_PX}" y="14" textLength="{right}">{shown}</text></g></svg>\n'
    )
