"""A run: its metrics a case, and all of one case when it is opened."""

from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import Field

from zerolap.documents import read_run
from zerolap.queries.comparison_page import LONGEST_CASE, LONGEST_FAILURE, change_of
from zerolap.queries.measured_workload import MeasuredWorkload, workload_of
from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.records import (
    RUN_TABLE,
    MeasuredServer,
    Platform,
    Record,
    RunCase,
    RunReport,
    Settings,
    Side,
    Skipped,
    UnreadableRecord,
    UsageError,
    Validity,
    read_stored,
)
from zerolap.sheets import Section, traced_of_run
from zerolap.store import Store

RUN_ID: Final = r"^r-[0-9a-f-]{1,64}$"


class RunParameters(Parameters):
    """Which run; `as_of` has browsers ask again where it has changed, and no other effect."""

    id: Annotated[str, Field(pattern=RUN_ID, description="Its id.")]
    as_of: Annotated[
        str, Field(max_length=200, exclude=True, description="Any text, as the `change` of its progress.")
    ] = ""


class MeasuredCaseParameters(RunParameters):
    """Which case of which run."""

    case: Annotated[str, Field(max_length=LONGEST_CASE, description="The name of the case.")]


class MeasuredCaseRow(Record):
    """A case of a run in short: `RunCase` with the checks that fail, and without functions."""

    case: str
    commands: list[str]
    group: str
    topology: str
    validity: Validity
    metrics: dict[str, float]
    failure: str | None


class RunInShort(Record):
    """A run with a short row a case; `seed` is that of the settings as text, as it has 64 bits.

    `unreadable` has the cases that cannot be read, with the reason; `is_final` states that nothing of it will change.
    """

    id: str
    created: str
    command_line: str
    state: str
    is_final: bool
    server: MeasuredServer
    platform: Platform
    settings: Settings
    seed: str
    machine_seconds: float
    notes: list[str]
    cases: list[MeasuredCaseRow]
    skipped: list[Skipped]
    unreadable: dict[str, str]


class MeasuredCase(Record):
    """A case of a run with its functions and checks, and how many trials it has.

    `workload` is what it sends, null where that is not recorded; `traced` is what was traced of it, null without.
    """

    result: RunCase
    traced: Section | None
    trials: dict[Side, int]
    workload: MeasuredWorkload | None


def _read(sources: QuerySources, parameters: RunParameters) -> RunInShort:
    report, state, unreadable = _in_parts(sources.store, parameters.id)
    shown = ("id", "created", "command_line", "server", "platform", "settings", "machine_seconds", "notes", "skipped")
    return RunInShort(
        **{name: getattr(report, name) for name in shown},
        state=state,
        is_final=state == "done",
        seed=str(report.settings.seed),
        cases=[_row(case) for case in report.cases],
        unreadable=unreadable,
    )


def _in_parts(store: Store, identity: str) -> tuple[RunReport, str, dict[str, str]]:
    progress = store.reports.progress(identity)
    if progress is None:
        raise UsageError(f"the lab knows no run {identity}")
    if progress.state == "running":
        report, measured = read_run(store, identity), store.reports.measured_cases(identity)
        so_far = [case for case in report.cases if case.case in measured]
        return report.model_copy(update={"cases": so_far}), progress.state, {}
    report = store.run_without_cases(identity)
    cases, unreadable = [], {}
    for name, document in store.reports.case_documents(report.id):
        try:
            cases.append(read_stored(RunCase, document, f"the case {name}"))
        except UnreadableRecord as fault:
            unreadable[name] = fault.message
    return report.model_copy(update={"cases": cases}), progress.state, unreadable


def _row(case: RunCase) -> MeasuredCaseRow:
    same = ("case", "commands", "group", "topology", "metrics")
    return MeasuredCaseRow(
        **{name: getattr(case, name) for name in same},
        validity=case.validity.model_copy(update={"checks": case.validity.failed}),
        failure=None if case.failure is None else case.failure.partition("\n")[0][:LONGEST_FAILURE],
    )


def measured_case(store: Store, identity: str, name: str) -> RunCase:
    """Return a case of a run; raises `UsageError` and `UnreadableRecord`."""
    progress = store.reports.progress(identity)
    if progress is not None and progress.state == "running":
        found = next((case for case in read_run(store, identity).cases if case.case == name), None)
        if found is not None:
            return found
    document = store.reports.case_document(identity, name)
    if document is None:
        raise UsageError(f"{identity} has no case {name!r}")
    return read_stored(RunCase, document, f"the case {name} of {identity}")


def _read_case(sources: QuerySources, parameters: MeasuredCaseParameters) -> MeasuredCase:
    result = measured_case(sources.store, parameters.id, parameters.case)
    return MeasuredCase(
        result=result,
        traced=traced_of_run(result),
        trials=sources.store.reports.trial_counts(parameters.id, result.case),
        workload=workload_of(sources.store, parameters.id, result.case),
    )


def _rows(answer: RunInShort) -> Iterable[TableRow]:
    measured = {metric for row in answer.cases for metric in row.metrics}
    metrics = [metric for metric in RUN_TABLE if metric in measured] + sorted(measured - set(RUN_TABLE))
    yield ("case", "group", "topology", "commands", "valid", *metrics)
    for row in answer.cases:
        values = [row.metrics.get(metric) for metric in metrics]
        yield (row.case, row.group, row.topology, " ".join(row.commands), row.validity.valid, *values)


RUN: Final = PageQuery(
    name="run",
    summary="A run with its metrics a case",
    parameters=RunParameters,
    result=RunInShort,
    read=_read,
    table=_rows,
    change=lambda sources, parameters: change_of(sources.store, parameters.id),
)

MEASURED_CASE: Final = PageQuery(
    name="run-case",
    summary="A case of a run: metrics, costliest functions, checks",
    parameters=MeasuredCaseParameters,
    result=MeasuredCase,
    read=_read_case,
)
