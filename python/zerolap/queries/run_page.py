"""A run: its metrics a case, and all of one case when it is opened."""

from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import Field

from zerolap.documents import read_run
from zerolap.queries.comparison_page import LONGEST_CASE, ChosenCase, ComparisonParameters, change_of, page_sheet
from zerolap.queries.measured_workload import workload_of
from zerolap.queries.named_commits import commit_difference
from zerolap.queries.query import PageQuery, QuerySources, TableRow
from zerolap.records import RUN_TABLE, RunCase, RunReport, UnreadableRecord, UsageError, read_stored
from zerolap.sheets import CaseList, chosen_run_case, run_list
from zerolap.store import Store

RUN_ID: Final = r"^r-[0-9a-f-]{1,64}$"


class RunParameters(ComparisonParameters):
    """Which run; `as_of` has browsers ask again where it has changed, and no other effect."""

    id: Annotated[str, Field(pattern=RUN_ID, description="Its id.")]


class MeasuredCaseParameters(RunParameters):
    """Which case of which run."""

    case: Annotated[str, Field(max_length=LONGEST_CASE, description="The name of the case.")]


class RunInShort(CaseList):
    """A run with a row a case; `is_final` states that nothing of it will change."""

    is_final: bool
    report: RunReport = Field(exclude=True)


def _read(sources: QuerySources, parameters: RunParameters) -> RunInShort:
    report, state, unreadable = _in_parts(sources.store, parameters.id)
    commits = commit_difference(sources, None, report.server.commit)
    listed = run_list(report)
    return RunInShort(
        **{**dict(listed), "sheet": page_sheet(listed.sheet, report, commits, unreadable)},
        is_final=state == "done",
        report=report,
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


def _read_case(sources: QuerySources, parameters: MeasuredCaseParameters) -> ChosenCase:
    result = measured_case(sources.store, parameters.id, parameters.case)
    return ChosenCase(
        section=chosen_run_case(result),
        trials=sources.store.reports.trial_counts(parameters.id, result.case),
        workload=workload_of(sources.store, parameters.id, result.case),
    )


def _rows(answer: RunInShort) -> Iterable[TableRow]:
    measured = {metric for row in answer.report.cases for metric in row.metrics}
    metrics = [metric for metric in RUN_TABLE if metric in measured] + sorted(measured - set(RUN_TABLE))
    yield ("case", "group", "topology", "commands", "valid", *metrics)
    for row in answer.report.cases:
        values = [row.metrics.get(metric) for metric in metrics]
        yield (row.case, row.group, row.topology, " ".join(row.commands), row.validity.valid, *values)


RUN: Final = PageQuery(
    name="run",
    summary="A run with its metrics a case",
    parameters=RunParameters,
    answer=RunInShort,
    read=_read,
    table=_rows,
    change=lambda sources, parameters: change_of(sources.store, parameters.id),
)

MEASURED_CASE: Final = PageQuery(
    name="run-case",
    summary="A case of a run: metrics, costliest functions, checks",
    parameters=MeasuredCaseParameters,
    answer=ChosenCase,
    read=_read_case,
)
