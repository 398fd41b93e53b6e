"""A run: its metrics a case, and all of one case when it is opened."""

from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import Field

from zerolap.documents import read_run
from zerolap.queries.comparison_page import (
    LONGEST_CASE,
    ChosenCase,
    ComparisonParameters,
    case_of,
    change_of,
    page_sheet,
    readable_cases,
)
from zerolap.queries.measured_workload import workload_of
from zerolap.queries.named_commits import commit_difference
from zerolap.queries.query import QuerySources, TableRow, page_query
from zerolap.records import RUN_TABLE, RunCase, RunReport, UsageError
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
    cases, unreadable = readable_cases(store, report.id, RunCase)
    return report.model_copy(update={"cases": cases}), progress.state, unreadable


def measured_case(store: Store, identity: str, name: str) -> RunCase:
    """Return a case of a run; raises `UsageError` and `UnreadableRecord`."""
    return case_of(store, identity, name, RunCase, lambda: read_run(store, identity).cases)


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


RUN: Final = page_query(
    _read,
    "run",
    "A run with its metrics a case",
    table=_rows,
    change=lambda sources, parameters: change_of(sources.store, parameters.id),
)

MEASURED_CASE: Final = page_query(_read_case, "run-case", "A case of a run: metrics, costliest functions, checks")
