"""A comparison: a short row a case, and all of one case when it is opened."""

import time
from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import BaseModel, Field

from zerolap.documents import read_comparison
from zerolap.queries.measured_workload import MeasuredWorkload, RequestCause, cause_of, workload_of
from zerolap.queries.named_commits import CommitDifference, commit_difference
from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.queries.request_status import OPEN
from zerolap.records import (
    CaseResult,
    CaseVerdict,
    Comparison,
    MeasuredServer,
    Platform,
    Reading,
    Record,
    Settings,
    Side,
    Skipped,
    Summary,
    TimeWord,
    UnreadableRecord,
    UsageError,
    Verdict,
    VerdictWord,
    priority_weights,
    read_stored,
)
from zerolap.sheets import Section, case_sentences, case_statements, in_order, reading_of, traced_of_comparison
from zerolap.store import Store

LONGEST_FAILURE: Final = 300
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


class ComparedCaseRow(Record):
    """A case of a comparison in short: `CaseResult` with the verdicts that decide it, and without its evidence."""

    case: str
    commands: list[str]
    group: str
    topology: str
    verdict: CaseVerdict
    work: VerdictWord | None
    time: TimeWord | None
    deciding: str | None
    work_deciding: str | None
    time_deciding: str | None
    confirmed: bool
    verdicts: list[Verdict]
    failure: str | None
    failed_sides: list[Side]


class ComparisonInShort(Record):
    """A comparison with a short row a case, in the order in which they are read.

    `seed` is that of the settings as text, as it has 64 bits. `weights` are how much each case counts by the priority
    that its suite gives it, empty where it gives none. `unreadable` has the cases that cannot be read, with the reason.
    `is_final` states that nothing of it will change. `cause` is what asked for it, null where that is not recorded.
    """

    id: str
    created: str
    command_line: str
    state: str
    is_final: bool
    base: MeasuredServer
    head: MeasuredServer
    platform: Platform
    settings: Settings
    seed: str
    summary: Summary
    notes: list[str]
    reading: Reading
    cases: list[ComparedCaseRow]
    skipped: list[Skipped]
    weights: dict[str, float]
    unreadable: dict[str, str]
    cause: RequestCause | None
    commits: CommitDifference


class ComparedCase(Record):
    """A case of a comparison with its evidence, the sentences by which it is read, and how many trials it has.

    `workload` is what it sends, null where that is not recorded; `traced` is what was traced of it, null without.
    """

    result: CaseResult
    traced: Section | None
    statements: list[str]
    sentences: list[str]
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
    cases, unreadable = [], {}
    for name, document in store.reports.case_documents(comparison.id):
        try:
            cases.append(read_stored(CaseResult, document, f"the case {name}"))
        except UnreadableRecord as fault:
            unreadable[name] = fault.message
    return comparison.model_copy(update={"cases": cases}), unreadable


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
    shown = ("id", "created", "command_line", "state", "base", "head", "platform", "settings", "summary", "notes")
    return ComparisonInShort(
        **{name: getattr(comparison, name) for name in shown},
        is_final=comparison.state == "done",
        seed=str(comparison.settings.seed),
        reading=reading_of(comparison),
        cases=[_row(case) for case in in_order(comparison.cases)],
        skipped=comparison.skipped,
        weights=_weights(sources.store, comparison),
        unreadable=unreadable,
        cause=cause_of(sources.store, comparison.id),
        commits=commit_difference(sources, comparison.base.commit, comparison.head.commit),
    )


def _row(case: CaseResult) -> ComparedCaseRow:
    deciding = {case.deciding, case.work_deciding, case.time_deciding}
    same = ("case", "commands", "group", "topology", "verdict", "work", "time", "deciding", "work_deciding")
    return ComparedCaseRow(
        **{name: getattr(case, name) for name in (*same, "time_deciding", "confirmed", "failed_sides")},
        verdicts=[verdict for verdict in case.verdicts if verdict.metric in deciding],
        failure=None if case.failure is None else case.failure.partition("\n")[0][:LONGEST_FAILURE],
    )


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
    columns = [f"{answer_name} {figure}" for answer_name in ("work", "time") for figure in figures]
    yield ("case", "group", "topology", "commands", "verdict", "work", "time", "confirmed", *columns)
    for row in answer.cases:
        by_metric = {verdict.metric: verdict for verdict in row.verdicts}
        values: list[str | float | None] = []
        for deciding in (row.work_deciding, row.time_deciding):
            verdict = by_metric.get(deciding or "")
            values += [None if verdict is None else getattr(verdict, figure) for figure in figures]
        commands = " ".join(row.commands)
        yield (row.case, row.group, row.topology, commands, row.verdict, row.work, row.time, row.confirmed, *values)


def _read_case(sources: QuerySources, parameters: ComparedCaseParameters) -> ComparedCase:
    result = compared_case(sources.store, parameters.id, parameters.case)
    return ComparedCase(
        result=result,
        traced=traced_of_comparison(result),
        statements=case_statements(result),
        sentences=case_sentences(result),
        trials=sources.store.reports.trial_counts(parameters.id, result.case),
        workload=workload_of(sources.store, parameters.id, result.case),
    )


def compared_case(store: Store, identity: str, name: str) -> CaseResult:
    """Return a case of a comparison; raises `UsageError` and `UnreadableRecord`."""
    progress = store.reports.progress(identity)
    if progress is not None and progress.state == "running":
        comparison = read_comparison(store, identity)
        found = next((case for case in comparison.cases if case.case == name), None)
        if found is not None:
            return found
    document = store.reports.case_document(identity, name)
    if document is None:
        raise UsageError(f"{identity} has no case {name!r}")
    return read_stored(CaseResult, document, f"the case {name} of {identity}")


COMPARISON: Final = PageQuery(
    name="comparison",
    summary="A comparison with a short row a case",
    parameters=ComparisonParameters,
    result=ComparisonInShort,
    read=_read,
    table=_rows,
    change=lambda sources, parameters: change_of(sources.store, parameters.id),
)

COMPARED_CASE: Final = PageQuery(
    name="comparison-case",
    summary="A case of a comparison: verdicts, reasons, checks",
    parameters=ComparedCaseParameters,
    result=ComparedCase,
    read=_read_case,
)
