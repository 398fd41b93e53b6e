"""The newest comparisons and runs, in short."""

from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import Field

from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.records import Record
from zerolap.report import Word
from zerolap.store import StoredRow

PATHS: Final[dict[str, Literal["comparisons", "runs"]]] = {"compare": "comparisons", "run": "runs"}
MOST_LISTED: Final = 200
COUNTED: Final[tuple[Word, ...]] = ("regression", "improvement", "unsure", "invalid", "same")


class OutcomeCount(Record):
    """How many cases have an outcome."""

    outcome: Word
    count: int


class ListedReport(Record):
    """A comparison or run in the list; `state` is the reason where its document cannot be read.

    `outcomes` is empty for a run and for a comparison that is not done. `base` is null for a run.
    """

    id: str
    path: Literal["comparisons", "runs"]
    created: str
    base: str | None
    head: str
    state: str
    outcomes: tuple[OutcomeCount, ...]


class ReportListParameters(Parameters):
    """How many reports are listed."""

    limit: Annotated[int, Field(ge=1, le=MOST_LISTED, description="How many.")] = 50


class ReportList(Record):
    """The newest reports, the newest first."""

    reports: tuple[ListedReport, ...]


def listed_report(row: StoredRow) -> ListedReport:
    """Return a comparison or run as it is listed."""
    return ListedReport(
        id=row.id,
        path=PATHS[row.kind],
        created=row.created,
        base=row.base,
        head=row.head,
        state=row.unreadable or row.state,
        outcomes=_outcomes(row) if row.state == "done" and not row.unreadable else (),
    )


def report_rows(reports: Iterable[ListedReport]) -> Iterable[TableRow]:
    """Return reports as a table."""
    yield ("created", "id", "base", "head", "state", *(f"{word} cases" for word in COUNTED))
    for report in reports:
        counts = {outcome.outcome: outcome.count for outcome in report.outcomes}
        numbers = (counts.get(word, 0) for word in COUNTED)
        yield (report.created, report.id, report.base, report.head, report.state, *numbers)


def _outcomes(row: StoredRow) -> tuple[OutcomeCount, ...]:
    if row.summary is None:
        return ()
    counts = ((word, getattr(row.summary, word)) for word in COUNTED)
    return tuple(OutcomeCount(outcome=word, count=count) for word, count in counts if count)


def _read(sources: QuerySources, parameters: ReportListParameters) -> ReportList:
    return ReportList(reports=tuple(listed_report(row) for row in sources.store.comparisons(parameters.limit)))


REPORTS: Final = PageQuery(
    name="reports",
    summary="The newest comparisons and runs",
    parameters=ReportListParameters,
    answer=ReportList,
    read=_read,
    table=lambda answer: report_rows(answer.reports),
)
