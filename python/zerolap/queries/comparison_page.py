"""A comparison: a short row a case, and all of one case when it is opened."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, Field

from zerolap.documents import read_comparison
from zerolap.queries.measured_workload import MeasuredWorkload, RequestCause, cause_of, workload_of
from zerolap.queries.named_commits import CommitDifference, commit_difference
from zerolap.queries.query import Parameters, QuerySources, TableRow, page_query
from zerolap.queries.request_status import OPEN
from zerolap.records import (
    CaseResult,
    Comparison,
    Record,
    RunCase,
    RunReport,
    Side,
    UnreadableRecord,
    UsageError,
    priority_weights,
    read_stored,
)
from zerolap.sheets import (
    COMMIT_DIGITS,
    CaseList,
    Section,
    Sentence,
    Sheet,
    as_name,
    chosen_compared_case,
    comparison_list,
    in_order,
)
from zerolap.store import Store

_Case = TypeVar("_Case", CaseResult, RunCase)
COMPARISON_ID: Final = r"^c-[0-9a-f-]{1,64}$"
LONGEST_CASE: Final = 500
OPEN_SECONDS: Final = 5.0
"""An answer about a request that goes on is kept no longer."""


class ComparisonParameters(Parameters):
    """Which comparison; `as_of` has browsers ask again where it has changed, and no other effect."""

    id: Annotated[str, Field(pattern=COMPARISON_ID, description="Its id.")]
    as_of: Annotated[
        str, Field(max_length=200, exclude=True, description="Any text, as the `change` of its progress.")
    ] = ""


class ComparedCaseParameters(ComparisonParameters):
    """Which case of which comparison."""

    case: Annotated[str, Field(max_length=LONGEST_CASE, description="The name of the case.")]


class ComparisonInShort(CaseList):
    """A comparison with a row a case, in the order in which they are read.

    `cause` is what asked for it, null where that is not recorded; `differences` is the page with what differs between
    both commits, null where that is not known. `is_final` states that nothing of it will change.
    """

    is_final: bool
    cause: RequestCause | None
    differences: str | None
    comparison: Comparison = Field(exclude=True)


class ChosenCase(Record):
    """All of a case but its pictures: its section, how many trials it has, and the metric that decides it, if any.

    `workload` is what it sends, null where that is not recorded.
    """

    section: Section
    metric: str | None = None
    trials: dict[Side, int]
    workload: MeasuredWorkload | None


class _Prioritised(BaseModel):
    name: str
    priority: int | None = None


class _Weighed(BaseModel):
    cases: list[_Prioritised]


def read_in_parts(store: Store, identity: str) -> tuple[Comparison, dict[str, str]]:
    """Return what there is of a comparison, and the reason for each case that cannot be read.

    Raises `UsageError` for an unknown comparison, and `UnreadableRecord` if nothing of it can be read.
    """
    progress = store.reports.progress(identity)
    if progress is None:
        raise UsageError(f"the lab knows no comparison {identity}")
    if progress.state == "running":
        comparison, measured = read_comparison(store, identity), store.reports.measured_cases(identity)
        # A case of which one side was measured would be called invalid.
        so_far = [case for case in comparison.cases if case.case in measured]
        return comparison.model_copy(update={"cases": so_far}), {}
    comparison = store.comparison_without_cases(identity)
    cases, unreadable = readable_cases(store, comparison.id, CaseResult)
    return comparison.model_copy(update={"cases": cases}), unreadable


def readable_cases(store: Store, identity: str, kind: type[_Case]) -> tuple[list[_Case], dict[str, str]]:
    """Return the cases of a comparison or run, and the reason for each that cannot be read."""
    cases, unreadable = [], {}
    for name, document in store.reports.case_documents(identity):
        try:
            cases.append(read_stored(kind, document, f"the case {name}"))
        except UnreadableRecord as fault:
            unreadable[name] = fault.message
    return cases, unreadable


def change_of(store: Store, identity: str) -> str:
    """Return what differs whenever the document of a comparison or run does; empty for one that there is not.

    Of one that goes on it also differs every five seconds: what it says depends on other results too.
    """
    progress = store.reports.progress(identity)
    if progress is None:
        return ""
    if progress.state in OPEN:
        return f"{progress.change} {time.monotonic() // OPEN_SECONDS:.0f}"
    return progress.change


def _read(sources: QuerySources, parameters: ComparisonParameters) -> ComparisonInShort:
    comparison, unreadable = read_in_parts(sources.store, parameters.id)
    commits = commit_difference(sources, comparison.base.commit, comparison.head.commit)
    listed = comparison_list(comparison, _weights(sources.store, comparison))
    return ComparisonInShort(
        **{**dict(listed), "sheet": page_sheet(listed.sheet, comparison, commits, unreadable)},
        is_final=comparison.state == "done",
        cause=cause_of(sources.store, comparison.id),
        differences=commits.page,
        comparison=comparison,
    )


def page_sheet(
    sheet: Sheet, document: Comparison | RunReport, commits: CommitDifference, unreadable: Mapping[str, str]
) -> Sheet:
    """Return the sheet of a page of the lab: its names lead to other pages, and it states which cases it has not."""
    sides = [document.server] if isinstance(document, RunReport) else [document.base, document.head]
    addresses = {document.platform.fingerprint: f"/platforms/{document.platform.fingerprint}"}
    for commit in filter(None, (side.commit for side in sides)):
        addresses |= dict.fromkeys((commit, commit[:COMMIT_DIGITS]), f"/commits/{commit}")
    for named in filter(None, (commits.base, commits.head)):
        addresses |= {named.subject: address} if (address := named.pull_request_page or named.page) else {}
    # Of one that goes on the page states how far it is.
    stated = [] if isinstance(document, Comparison) and document.state == "running" else sheet.sentences
    missing = [Sentence(text=f"{as_name(name)}: {why}", mark="warning") for name, why in unreadable.items()]
    return sheet.model_copy(update={"addresses": addresses, "sentences": [*stated, *missing]})


def _weights(store: Store, comparison: Comparison) -> dict[str, float]:
    """Return the reciprocals of the ranks of cases, as version tables weigh them; empty where none has a rank."""
    document = store.reports.request_document(comparison.id)
    if document is None:
        return {}
    try:
        ranked = read_stored(_Weighed, document, f"the request {comparison.id}").cases
    except UnreadableRecord:
        return {}
    return priority_weights({case.name: case.priority for case in ranked})


def _rows(answer: ComparisonInShort) -> Iterable[TableRow]:
    figures = ("metric", "base", "head", "change", "low", "high", "q")
    columns = [f"{answer_name} {figure}" for answer_name in ("work", "time", "memory") for figure in figures]
    yield ("case", "group", "topology", "commands", "verdict", "work", "time", "memory", "confirmed", *columns)
    for row in in_order(answer.comparison.cases):
        by_metric = {verdict.metric: verdict for verdict in row.verdicts}
        values: list[str | float | None] = []
        for deciding in (row.work_deciding, row.time_deciding, row.memory_deciding):
            verdict = by_metric.get(deciding or "")
            values += [None if verdict is None else getattr(verdict, figure) for figure in figures]
        commands = " ".join(row.commands)
        words = (row.verdict, row.work, row.time, row.memory)
        yield (row.case, row.group, row.topology, commands, *words, row.confirmed, *values)


def _read_case(sources: QuerySources, parameters: ComparedCaseParameters) -> ChosenCase:
    result = compared_case(sources.store, parameters.id, parameters.case)
    return ChosenCase(
        section=chosen_compared_case(result),
        metric=result.work_deciding or result.time_deciding or result.memory_deciding,
        trials=sources.store.reports.trial_counts(parameters.id, result.case),
        workload=workload_of(sources.store, parameters.id, result.case),
    )


def compared_case(store: Store, identity: str, name: str) -> CaseResult:
    """Return a case of a comparison; raises `UsageError` and `UnreadableRecord`."""
    return case_of(store, identity, name, CaseResult, lambda: read_comparison(store, identity).cases)


def case_of(store: Store, identity: str, name: str, kind: type[_Case], so_far: Callable[[], Sequence[_Case]]) -> _Case:
    """Return a case of a comparison or run; of one that goes on it is as `so_far` returns it, if that has it.

    Raises `UsageError` and `UnreadableRecord`.
    """
    progress = store.reports.progress(identity)
    if progress is not None and progress.state == "running":
        measured = next((case for case in so_far() if case.case == name), None)
        if measured is not None:
            return measured
    document = store.reports.case_document(identity, name)
    if document is None:
        raise UsageError(f"{identity} has no case {name!r}")
    return read_stored(kind, document, f"the case {name} of {identity}")


COMPARISON: Final = page_query(
    _read,
    "comparison",
    "A comparison with a short row a case",
    table=_rows,
    change=lambda sources, parameters: change_of(sources.store, parameters.id),
)

COMPARED_CASE: Final = page_query(_read_case, "comparison-case", "A case of a comparison: verdicts, reasons, checks")
