"""A run as it is shown."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from zerolap.records import METRICS, RUN_TABLE, FunctionCost, RunCase, RunReport
from zerolap.sheets.case_list import CaseList, ListedCase
from zerolap.sheets.case_section import chosen_case, log_sentences
from zerolap.sheets.case_words import trials
from zerolap.sheets.environment import build_text, closing_fact, repeating, server_text, skipped_section
from zerolap.sheets.format import count, counted, metric_heading, metric_label, share
from zerolap.sheets.outcome_words import failed_check
from zerolap.sheets.sheet import (
    Cell,
    Column,
    Fact,
    Section,
    Sentence,
    Sheet,
    Table,
    as_name,
    folded,
    name,
    opened,
    with_names,
)
from zerolap.sheets.traced_section import traced_of_run

RunWord: TypeAlias = Literal["failed", "invalid", "measured"]

MOST_FUNCTIONS: Final = 5
FUNCTION_COLUMNS: Final[Mapping[str, Callable[[FunctionCost], float | None]]] = {
    "ns": lambda function: function.self_cpu_ns_per_op,
    "instructions": lambda function: function.self_instructions_per_op,
    "calls": lambda function: function.calls_per_op,
}
"""What is reported of a function beside its share: each per request, the first two its own."""


def run_sheet(report: RunReport, most_cases: int | None = None) -> Sheet:
    """Return the figures of each case, the functions that cost most, and what was not measured and why.

    Only so many cases have more than their figures, those first that were not measured.
    """
    ordered = sorted(report.cases, key=lambda case: run_word(case) == "measured")
    sections = [of_case for case in ordered if (of_case := _section(case)).has_content]
    traced = [opened(section) for case in ordered if (section := traced_of_run(case)) is not None]
    everything = [
        *skipped_section(report.skipped),
        *sections[:most_cases],
        *traced[:most_cases],
        *_left_out(report, len(sections) - len(sections[:most_cases])),
        _how_to_repeat(report),
    ]
    return _begun(report).model_copy(
        update={
            "tables": [_table(report.cases)] if report.cases else [],
            "sections": everything,
            "closing": [closing_fact(report)],
        }
    )


def run_list(report: RunReport) -> CaseList:
    """Return what the page of a run begins with."""
    sections = [
        *map(folded, skipped_section(report.skipped, len(report.skipped))),
        Section(key="cases", tables=[_table(report.cases, names_group=True)]),
        opened(_how_to_repeat(report)),
    ]
    return CaseList(
        subject=f"{report.server.name} on {report.platform.name}",
        command_line=report.command_line,
        engines=report.settings.engines,
        sheet=_begun(report).model_copy(update={"sections": sections}),
        cases=[
            ListedCase(case=case.case, commands=case.commands, group=case.group, outcomes=[run_word(case)])
            for case in report.cases
        ],
    )


def chosen_run_case(case: RunCase) -> Section:
    """Return all that is known of a case that the reader has chosen."""
    return chosen_case(_section(case), case, traced_of_run(case))


def _begun(report: RunReport) -> Sheet:
    """Return what is said of all cases together."""
    return Sheet(
        kind="run",
        title=_headline(report),
        facts=[
            Fact(label="server", text=server_text(report.server)),
            Fact(label="measured", text=trials(report.settings, report.machine_seconds)),
        ],
        notes=[with_names(note, {case.case for case in report.cases}) for note in report.notes],
    )


def _how_to_repeat(report: RunReport) -> Section:
    return repeating(report, [Fact(label="server", text=build_text(report.server))])


def _left_out(report: RunReport, number: int) -> list[Section]:
    text = f"{number:,} more: {as_name(f'zerolap explain {report.id} --all')}"
    return [Section(sentences=[Sentence(text=text)])] if number else []


def run_word(case: RunCase) -> RunWord:
    """Return what became of a case: `failed` where it was not measured at all, `invalid` where a check failed."""
    if case.failure is not None:
        return "failed"
    return "measured" if case.validity.valid else "invalid"


def _headline(report: RunReport) -> str:
    measured = sum(run_word(case) == "measured" for case in report.cases)
    if not measured:
        return "no case was measured"
    of_all = counted(len(report.cases), "case", "cases")
    return f"{of_all} measured" if measured == len(report.cases) else f"{measured:,} of {of_all} measured"


def _table(cases: Sequence[RunCase], *, names_group: bool = False) -> Table:
    """Return the figures that users know; those of plugins are what was asked for."""
    metrics = [metric for metric in RUN_TABLE if any(metric in case.metrics for case in cases)]
    metrics += dict.fromkeys(metric for case in cases for metric in case.metrics if metric not in METRICS)
    are_all_measured = all(run_word(case) == "measured" for case in cases)
    return Table(
        key="figures",
        columns=[
            Column(key="case", heading="case"),
            *([Column(key="group", heading="group")] if names_group else []),
            *([] if are_all_measured else [Column(key="outcome", heading="outcome")]),
            *(
                Column(key=metric, heading=metric_heading(metric), is_number=True, rank=place)
                for place, metric in enumerate(metrics)
            ),
        ],
        rows=[
            [
                name(case.case),
                *([Cell(text=case.group, mark="quiet")] if names_group else []),
                *([] if are_all_measured else [_outcome(case)]),
                *(Cell(text=_figure(case, metric), order=case.metrics.get(metric)) for metric in metrics),
            ]
            for case in cases
        ],
    )


def _outcome(case: RunCase) -> Cell:
    word = run_word(case)
    return Cell() if word == "measured" else Cell(text=word, mark=word)


def _figure(case: RunCase, metric: str) -> str:
    return count(case.metrics[metric]) if metric in case.metrics else ""


def _section(case: RunCase) -> Section:
    """Return what there is beyond a case's row: functions, limits, trouble; folded, the other functions and figures."""
    word = run_word(case)
    shown, further = case.functions[:MOST_FUNCTIONS], case.functions[MOST_FUNCTIONS:]
    others = {metric: value for metric, value in case.metrics.items() if metric in METRICS and metric not in RUN_TABLE}
    is_told = bool(case.functions or case.limits) or word != "measured"
    return Section(
        key=case.case,
        title=as_name(case.case),
        mark=None if word == "measured" else word,
        is_folded=not is_told,
        sentences=[*_trouble(case), *(Sentence(label="limits", text=limit) for limit in case.limits)],
        tables=[_functions(shown)] if shown else [],
        sections=[
            *([Section(title="further functions", is_folded=True, tables=[_functions(further)])] if further else []),
            *([Section(title="further figures", is_folded=True, tables=[_figures(others)])] if others else []),
        ],
    )


def _figures(metrics: Mapping[str, float]) -> Table:
    return Table(
        key="further figures",
        columns=[Column(key="figure", heading="figure"), Column(key="value", heading="value", is_number=True)],
        rows=[[Cell(text=metric_label(metric)), Cell(text=count(value))] for metric, value in metrics.items()],
    )


def _trouble(case: RunCase) -> Iterator[Sentence]:
    if case.failure is not None:
        yield from log_sentences(case.failure)
    for check in case.validity.failed:
        yield Sentence(label="invalid", text=failed_check(check.check, check.value, check.limit))


def _functions(functions: Sequence[FunctionCost]) -> Table:
    figures = {
        heading: value_of
        for heading, value_of in FUNCTION_COLUMNS.items()
        if any(value_of(function) is not None for function in functions)
    }
    rows = []
    for function in functions:
        values = [value_of(function) for value_of in figures.values()]
        rows.append(
            [
                Cell(text=share(function.share)),
                *(Cell(text="" if value is None else count(value)) for value in values),
                name(function.function),
                name(function.file or ""),
            ]
        )
    return Table(
        key="functions",
        columns=[
            Column(key="share", heading="share", is_number=True),
            *(Column(key=heading, heading=heading, is_number=True) for heading in figures),
            Column(key="function", heading="function"),
            Column(key="file", heading="file", rank=1),
        ],
        rows=rows,
    )
