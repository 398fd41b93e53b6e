"""A run as Markdown."""

from collections.abc import Sequence
from itertools import accumulate

from zerolap.records import METRICS, RUN_TABLE, FunctionCost, MeasuredServer, RunCase, RunReport
from zerolap.report.markdown import (
    REASONS,
    build_facts,
    bullets,
    code,
    failed_check_lines,
    failure_line,
    headline_line,
    prose,
    repeating,
    table,
)
from zerolap.report.reading import skipped_line
from zerolap.report.run_reading import FUNCTION_COLUMNS, run_effort, run_headline, run_word
from zerolap.report.sheet_markdown import section_markdown
from zerolap.sheets import COMMIT_DIGITS, count, metric_label, share, traced_of_run

# GitHub takes 65,536 characters a comment.
LONGEST = 60_000


def run_markdown(report: RunReport) -> str:
    """Return the run as Markdown: its figures, where they go or why they are missing, how to repeat it."""
    above = [
        headline_line(run_headline(report), run_effort(report)),
        *filter(None, [skipped_line(report.skipped)]),
        _server(report.server),
        *([_table(report.cases)] if report.cases else []),
    ]
    names = {case.case for case in report.cases}
    below = [
        *(f"Note: {prose(note, names=names)}" for note in report.notes),
        repeating(report, [f"server: {build_facts(report.server)}"]),
    ]
    sections = _sections(report, LONGEST - len("\n\n".join(above + below)))
    return "\n\n".join(above + sections + below) + "\n"


def _server(build: MeasuredServer) -> str:
    commit = [code(build.commit[:COMMIT_DIGITS])] if build.commit else []
    settings = [code(f"{name}={value}") for name, value in build.config.items()]
    return " ".join([code(build.name), prose(build.version), *commit, *settings])


def _column_heading(metric: str) -> str:
    return METRICS[metric].heading if metric in METRICS else prose(metric_label(metric))


def _table(cases: Sequence[RunCase]) -> str:
    metrics = [name for name in RUN_TABLE if any(name in case.metrics for case in cases)]
    # Those of plugins are what was asked for.
    metrics += dict.fromkeys(name for case in cases for name in case.metrics if name not in METRICS)
    rows = [[_name(case), *_figures(case, metrics)] for case in cases]
    return table(["case", *map(_column_heading, metrics)], rows, numbers=range(1, 1 + len(metrics)))


def _name(case: RunCase) -> str:
    state = run_word(case)
    name = code(case.case)
    return name if state == "measured" else f"{name} **{state}**"


def _figures(case: RunCase, metrics: Sequence[str]) -> list[str]:
    return [count(case.metrics[name]) if name in case.metrics else "" for name in metrics]


def _sections(report: RunReport, room: int) -> list[str]:
    """Return a section on each case, as far as there is room; those that were not measured come first."""
    ordered = sorted(report.cases, key=lambda case: run_word(case) == "measured")
    sections = [f"{_heading(case)}\n\n{content}" for case in ordered if (content := _content(case))]
    taken = accumulate(len(section) + 2 for section in sections)
    shown = sum(length <= room for length in taken)
    left_out = len(sections) - shown
    more = [f"{left_out} more: {code('zerolap explain ' + report.id)}"] if left_out else []
    return sections[:shown] + more


def _heading(case: RunCase) -> str:
    state = run_word(case)
    return f"#### {code(case.case)}" + ("" if state == "measured" else f": {state}")


def _content(case: RunCase) -> str:
    lines = [failure_line(case.failure)] if case.failure is not None else []
    lines += failed_check_lines(case.validity)
    lines += [f"limits: {prose(limit)}" for limit in case.limits]
    functions = [_functions(case.functions[:REASONS])] if case.functions else []
    section = traced_of_run(case)
    traced = [] if section is None else section_markdown(section)
    return "\n\n".join([*functions, *([bullets(lines)] if lines else []), *traced])


def _functions(functions: Sequence[FunctionCost]) -> str:
    columns = {
        name: value_of
        for name, value_of in FUNCTION_COLUMNS.items()
        if any(value_of(function) is not None for function in functions)
    }
    rows = []
    for function in functions:
        values = [value_of(function) for value_of in columns.values()]
        figures = ["" if value is None else count(value) for value in values]
        rows.append([share(function.share), *figures, code(function.function), code(function.file or "")])
    return table(["share", *columns, "function", "file"], rows, numbers=range(1 + len(columns)))
