"""Requests, comparisons, runs, sweeps and checks in short, the newest first: all of them, page by page."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal

from pydantic import Field

from zerolap.queries.named_commits import NamedCommit, named_commits
from zerolap.queries.query import LARGEST_NUMBER, Parameters, QuerySources, TableRow, page_query
from zerolap.records import REPORT_PATHS, Record, ReportPath, RequestKind, RequestState
from zerolap.sheets import Word
from zerolap.store import ListedRequest, RequestFilter, StoredRow

MOST_LISTED: Final = 200
COUNTED: Final[tuple[Word, ...]] = ("regression", "improvement", "unsure", "invalid", "same")


class OutcomeCount(Record):
    """How many cases have an outcome."""

    outcome: Word
    count: int


class ListedReport(Record):
    """A comparison, run, sweep or check in the list; `state` is the reason where its document cannot be read.

    `outcomes` is empty but for comparisons that are done. `base` is null for a single server. `platform` is the name of
    the machine, or that of the fleet's platform that was asked for, while no machine has taken it. `head_commit` is
    null where the head is no commit.
    """

    id: str
    path: ReportPath
    created: str
    base: str | None
    head: str
    state: str
    outcomes: tuple[OutcomeCount, ...]
    platform: str = ""
    head_commit: NamedCommit | None = None


class ReportListParameters(Parameters):
    """Which reports are listed, and how many at once; `before` is the `next_before` of the page before."""

    limit: Annotated[int, Field(ge=1, le=MOST_LISTED, description="How many.")] = 50
    before: Annotated[
        int | None, Field(ge=0, le=LARGEST_NUMBER, description="The `next_before` of the page before.")
    ] = None
    text: Annotated[str, Field(max_length=200, description="In an id, a name, a commit or a command line.")] = ""
    state: Annotated[RequestState | Literal[""], Field(description="The state of the request.")] = ""
    platform: Annotated[str, Field(max_length=200, description="The name of a machine or platform.")] = ""
    kind: Annotated[RequestKind | Literal[""], Field(description="Comparisons, runs, sweeps or checks alone.")] = ""


class ReportList(Record):
    """Reports, the newest first; `next_before` is where older ones begin, null where there are none.

    A text is sought in some thousand requests at once: then there may be older ones although few are listed.
    """

    reports: tuple[ListedReport, ...]
    next_before: int | None
    platforms: tuple[str, ...]


def listed_reports(sources: QuerySources, rows: Iterable[StoredRow]) -> tuple[ListedReport, ...]:
    """Return comparisons and runs as they are listed."""
    listed = list(rows)
    commits = named_commits(sources, (row.head_commit for row in listed))
    return tuple(_listed_report(row, commits) for row in listed)


def _listed_report(row: StoredRow, commits: Mapping[str, NamedCommit]) -> ListedReport:
    return ListedReport(
        id=row.id,
        path=REPORT_PATHS[row.kind],
        created=row.created,
        base=row.base,
        head=row.head,
        state=row.unreadable or row.state,
        outcomes=outcomes_of(row),
        platform=row.platform,
        head_commit=commits.get(row.head_commit or ""),
    )


def report_rows(reports: Iterable[ListedReport]) -> Iterable[TableRow]:
    """Return reports as a table."""
    yield ("created", "id", "base", "head", "state", "platform", *(f"{word} cases" for word in COUNTED))
    for report in reports:
        counts = {outcome.outcome: outcome.count for outcome in report.outcomes}
        numbers = (counts.get(word, 0) for word in COUNTED)
        yield (report.created, report.id, report.base, report.head, report.state, report.platform, *numbers)


def outcomes_of(row: StoredRow) -> tuple[OutcomeCount, ...]:
    """Return how many cases have each outcome; none of a run and of a comparison that is not done."""
    if row.summary is None or row.state != "done" or row.unreadable:
        return ()
    counts = ((word, getattr(row.summary, word)) for word in COUNTED)
    return tuple(OutcomeCount(outcome=word, count=count) for word, count in counts if count)


def _listed(listed: ListedRequest, commits: Mapping[str, NamedCommit]) -> ListedReport:
    asked, machine = listed.asked, listed.machine or listed.asked.platform
    if listed.measured is not None:
        report = _listed_report(listed.measured, commits)
        state = report.state if listed.measured.unreadable else asked.state
        return report.model_copy(update={"platform": machine, "state": state})
    sides = [side.name for side in asked.sides.values()]
    return ListedReport(
        id=asked.id,
        path=REPORT_PATHS[asked.kind],
        created=listed.created,
        base=sides[0] if len(sides) > 1 else None,
        head=sides[-1] if sides else "",
        state=asked.unreadable or asked.state,
        outcomes=(),
        platform=machine,
        head_commit=commits.get(asked.head_commit or ""),
    )


def listed_requests(sources: QuerySources, requests: Iterable[ListedRequest]) -> tuple[ListedReport, ...]:
    """Return requests as they are listed."""
    listed = list(requests)
    commits = named_commits(sources, (of.asked.head_commit for of in listed))
    return tuple(_listed(of, commits) for of in listed)


def _read(sources: QuerySources, parameters: ReportListParameters) -> ReportList:
    wanted = RequestFilter(parameters.text, parameters.state, parameters.platform, parameters.kind)
    page = sources.store.reports.page(wanted, parameters.limit, parameters.before)
    return ReportList(
        reports=listed_requests(sources, page.requests),
        next_before=page.next_number,
        platforms=tuple(sources.store.reports.platforms()),
    )


REPORTS: Final = page_query(
    _read,
    "reports",
    "Comparisons, runs, sweeps and checks, from their requests on, the newest first",
    table=lambda answer: report_rows(answer.reports),
)
