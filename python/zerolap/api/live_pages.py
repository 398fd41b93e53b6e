"""The newest comparisons and runs, and the state of a request, as pages of the same bundle as the reports."""

from collections.abc import Sequence
from typing import Final, Literal

from zerolap.api.error_page import HTML
from zerolap.api.pages import Page
from zerolap.report import ListedReport, OutcomeCount, ReportList, RequestStatus, content_security_policy, page_html
from zerolap.store import RequestInShort, StoredRow

PATHS: Final[dict[str, Literal["comparisons", "runs"]]] = {"compare": "comparisons", "run": "runs"}


def index_page(rows: Sequence[StoredRow]) -> Page:
    """Return the list of comparisons and runs; raises `EnvironmentMissing` where the bundle is missing."""
    return _page(ReportList(reports=[_listed(row) for row in rows]))


def submission_page(work: RequestInShort) -> Page:
    """Return the state of a request of which nothing was measured yet; raises as `index_page` does."""
    return _page(
        RequestStatus(
            id=work.id,
            platform=work.platform,
            sides=[side.name for side in work.sides.values()],
            state=work.state,
            has_ended=work.ended is not None,
            reasons=[reason for reason in (work.reason, work.unreadable) if reason],
        )
    )


def _listed(row: StoredRow) -> ListedReport:
    return ListedReport(
        id=row.id,
        path=PATHS[row.kind],
        created=row.created,
        base=row.base,
        head=row.head,
        state=row.unreadable or row.state,
        outcomes=_outcomes(row) if row.state == "done" and not row.unreadable else [],
    )


def _outcomes(row: StoredRow) -> list[OutcomeCount]:
    if row.summary is None:
        return []
    summary = row.summary
    counts = (
        OutcomeCount(outcome="regression", count=summary.regression),
        OutcomeCount(outcome="improvement", count=summary.improvement),
        OutcomeCount(outcome="unsure", count=summary.unsure),
        OutcomeCount(outcome="invalid", count=summary.invalid),
        OutcomeCount(outcome="same", count=summary.same),
    )
    return [outcome for outcome in counts if outcome.count]


def _page(document: ReportList | RequestStatus) -> Page:
    return Page(page_html(document).encode(), HTML, content_security_policy())
