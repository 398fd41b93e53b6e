"""How a run is read by all reports: what became of a case, the headline, what is reported of a case and a function."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from zerolap.records import FunctionCost, RunCase, RunReport
from zerolap.report.reading import trials
from zerolap.sheets import counted

RunWord: TypeAlias = Literal["failed", "invalid", "measured"]

FUNCTION_COLUMNS: Mapping[str, Callable[[FunctionCost], float | None]] = {
    "ns": lambda function: function.self_cpu_ns_per_op,
    "instructions": lambda function: function.self_instructions_per_op,
    "calls": lambda function: function.calls_per_op,
}
"""What is reported of a function beside its share: each per request, the first two its own."""


def run_word(case: RunCase) -> RunWord:
    """Return what became of a case: `failed` where it was not measured at all, `invalid` where a check failed."""
    if case.failure is not None:
        return "failed"
    return "measured" if case.validity.valid else "invalid"


def run_headline(report: RunReport) -> str:
    """Return the outcome in a line: `2 cases measured`, `1 of 2 cases measured`."""
    measured = sum(run_word(case) == "measured" for case in report.cases)
    if not measured:
        return "no case was measured"
    of_all = counted(len(report.cases), "case", "cases")
    return f"{of_all} measured" if measured == len(report.cases) else f"{measured:,} of {of_all} measured"


def run_effort(report: RunReport) -> str:
    """Return how it was measured: engines, machine time."""
    return trials(report.settings, report.machine_seconds)
