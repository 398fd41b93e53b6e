"""A comparison or a run on a terminal."""

from rich.console import Console

from zerolap.records import CaseResult, Comparison, MeasuredServer, RunCase, RunReport, Verdict
from zerolap.report.format import (
    ARROW,
    COMMIT_DIGITS,
    change,
    count,
    interval,
    metric_label,
    one_line,
    probability,
    share,
)
from zerolap.report.lines import Column, Lines, Part
from zerolap.report.reading import Word, deciding, effort, headline, in_order, state_line, word
from zerolap.report.run_reading import FUNCTION_COLUMNS, run_effort, run_headline, run_word
from zerolap.report.terminal_reasons import show_failed_checks, show_failure, show_reasons
from zerolap.report.terminal_skipped import show_skipped

REASONS = 5

SIGNS: dict[Word, tuple[str, str]] = {
    "regression": ("!", "bold red"),
    "improvement": ("+", "bold green"),
    "unsure": ("?", "yellow"),
    "failed": ("x", "bold magenta"),
    "invalid": ("x", "magenta"),
    "same": ("=", "dim"),
}


def show_comparison(comparison: Comparison, console: Console, reasons: int | None = REASONS) -> None:
    """Write a comparison: headline, a row for each case, and why each changed one did.

    `reasons` is how many culprits to name for a case, None for all.
    """
    lines = Lines(console)
    cases = in_order(comparison.cases)
    lines.line((headline(comparison), "bold"))
    lines.line((effort(comparison), "dim"))
    show_skipped(lines, comparison.skipped)
    state = state_line(comparison)
    if state is not None:
        lines.line((state, "bold yellow"))
    for side, build in (("base", comparison.base), ("head", comparison.head)):
        lines.line((f"{side}  ", "dim"), *_build(build))
    if cases:
        lines.blank()
        _show_table(lines, cases)
    for case in cases:
        show_reasons(lines, case, _verdict(case), reasons)
    if comparison.notes:
        lines.blank()
    for note in comparison.notes:
        lines.line(("note: ", "bold"), one_line(note))
    lines.blank()
    lines.line((comparison.id, "bold"), ("  zerolap explain " + comparison.id, "dim"))


def show_run(report: RunReport, console: Console) -> None:
    """Write a run: a row for each case and the functions that cost most."""
    lines = Lines(console)
    lines.line((run_headline(report), "bold"))
    lines.line((run_effort(report), "dim"))
    show_skipped(lines, report.skipped)
    lines.line(("server  ", "dim"), *_build(report.server))
    if report.cases:
        lines.blank()
        _show_run_table(lines, report.cases)
    for case in report.cases:
        _show_functions(lines, case)
    if report.notes:
        lines.blank()
    for note in report.notes:
        lines.line(("note: ", "bold"), one_line(note))
    lines.blank()
    lines.line((report.id, "bold"))


def _build(build: MeasuredServer) -> list[Part]:
    commit = (build.commit or "")[:COMMIT_DIGITS]
    settings = [("  " + one_line(f"{name}={value}"), "bold") for name, value in build.config.items()]
    return [one_line(build.name), "  ", (one_line(f"{build.version} {commit}"), "dim"), *settings]


def _verdict(case: CaseResult) -> Part:
    sign, style = SIGNS[word(case)]
    return f"{sign} {word(case)}", style


def _show_table(lines: Lines, cases: list[CaseResult]) -> None:
    decided = [deciding(case) for case in cases]
    metrics = {verdict.metric for verdict in decided if verdict is not None}
    cells = [_cells(verdict) for verdict in decided]
    columns = [
        Column("case", [one_line(case.case) for case in cases]),
        Column("verdict", [_verdict(case) for case in cases]),
        Column("change", [cell[0] for cell in cells], right=True),
        Column("interval", [cell[1] for cell in cells], right=True, dispensable=1),
        Column(f"base {ARROW} head", [cell[2] for cell in cells], right=True, dispensable=2),
        Column("q", [cell[3] for cell in cells], right=True, dispensable=3),
    ]
    if len(metrics) == 1:
        lines.line((f"change of {metric_label(metrics.pop())}", "dim"))
    elif metrics:
        columns.insert(2, Column("of", [cell[4] for cell in cells]))
    lines.table(columns)


def _cells(verdict: Verdict | None) -> tuple[str, str, str, str, str]:
    if verdict is None:
        return ("", "", "", "", "")
    return (
        change(verdict.change),
        interval(verdict.low, verdict.high),
        f"{count(verdict.base)} {ARROW} {count(verdict.head)}",
        probability(verdict.q),
        metric_label(verdict.metric),
    )


def _show_run_table(lines: Lines, cases: list[RunCase]) -> None:
    names = list(dict.fromkeys(name for case in cases for name in case.metrics))
    columns = [Column("case", [one_line(case.case) for case in cases])]
    if any(_run_state(case) for case in cases):
        columns.append(Column("", [_run_state(case) for case in cases]))
    for place, name in enumerate(names):
        header = name.removesuffix("_per_op").replace("_", " ")
        values = [count(case.metrics[name]) if name in case.metrics else "" for case in cases]
        columns.append(Column(header, values, right=True, dispensable=place))
    if any(name.endswith("_per_op") for name in names):
        lines.line(("per request", "dim"))
    lines.table(columns)


def _run_state(case: RunCase) -> Part:
    state = run_word(case)
    if state == "measured":
        return ""
    sign, style = SIGNS[state]
    return f"{sign} {state}", style


def _show_functions(lines: Lines, case: RunCase) -> None:
    if not case.functions and not case.limits and case.failure is None and case.validity.valid:
        return
    lines.blank()
    lines.line((one_line(case.case), "bold"))
    if case.failure is not None:
        show_failure(lines, case.failure)
    show_failed_checks(lines, case.validity)
    for limit in case.limits:
        lines.line(("limits: ", "bold"), one_line(limit), indent=2)
    if not case.functions:
        return
    functions = case.functions[:REASONS]
    columns = [Column("  share", ["  " + share(one.share) for one in functions], right=True)]
    for header, value_of in FUNCTION_COLUMNS.items():
        values = [value_of(one) for one in functions]
        if any(value is not None for value in values):
            columns.append(Column(header, ["" if value is None else count(value) for value in values], right=True))
    columns += [
        Column("function", [one_line(one.function) for one in functions]),
        Column("file", [one_line(one.file or "") for one in functions], dispensable=1),
    ]
    lines.table(columns)
