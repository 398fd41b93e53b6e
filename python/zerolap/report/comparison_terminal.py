"""A comparison or a run on a terminal."""

from dataclasses import replace

from rich.console import Console

from zerolap.records import Answer, CaseResult, Comparison, MeasuredServer, RunCase, RunReport
from zerolap.report.lines import Lines, Part, TextColumn
from zerolap.report.reading import (
    ANSWERS,
    CaseAnswer,
    answer_lines,
    answer_of,
    effort,
    headline,
    in_order,
    is_missing,
    state_line,
    usual_metric,
    word,
)
from zerolap.report.run_reading import FUNCTION_COLUMNS, run_effort, run_headline, run_word
from zerolap.report.terminal import OUTCOMES as SIGNS, show_section
from zerolap.report.terminal_reasons import show_failed_checks, show_failure, show_reasons
from zerolap.report.terminal_skipped import show_skipped
from zerolap.sheets import (
    ARROW,
    COMMIT_DIGITS,
    Section,
    Word,
    change,
    count,
    interval,
    metric_label,
    one_line,
    probability,
    share,
    traced_of_comparison,
    traced_of_run,
)

REASONS = 5
UNMEASURED: dict[Answer, str] = {"work": "not counted", "time": "not timed"}
INTERVAL = 1
"""How dispensable an interval is: the last that goes where width is scarce."""


def show_comparison(comparison: Comparison, console: Console, reasons: int | None = REASONS) -> None:
    """Write a comparison: headline, a row for each case, and why each changed one did.

    `reasons` is how many culprits to name for a case, None for all.
    """
    lines = Lines(console)
    cases = in_order(comparison.cases)
    lines.line((headline(comparison), "bold"))
    for answer, counts in answer_lines(comparison):
        lines.line((f"{answer}  ", "dim"), counts)
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
        show_traced(lines, traced_of_comparison(case))
    if comparison.notes:
        lines.blank()
    for note in comparison.notes:
        lines.line(("note: ", "bold"), one_line(note))
    lines.blank()
    seed = f"  seed {comparison.settings.seed}"
    lines.line((comparison.id, "bold"), (f"  zerolap explain {comparison.id}{seed}", "dim"))


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
        show_traced(lines, traced_of_run(case))
    if report.notes:
        lines.blank()
    for note in report.notes:
        lines.line(("note: ", "bold"), one_line(note))
    lines.blank()
    lines.line((report.id, "bold"), (f"  seed {report.settings.seed}", "dim"))


def show_traced(lines: Lines, traced: Section | None) -> None:
    """Write what was traced of a case; nothing where nothing was."""
    if traced is not None:
        show_section(lines, traced, all_sections=True)


def _build(build: MeasuredServer) -> list[Part]:
    commit = (build.commit or "")[:COMMIT_DIGITS]
    settings = [("  " + one_line(f"{name}={value}"), "bold") for name, value in build.config.items()]
    return [one_line(build.name), "  ", (one_line(f"{build.version} {commit}"), "dim"), *settings]


def _verdict(case: CaseResult) -> Part:
    return _mark(word(case), word(case))


def _mark(marked: Word, text: str) -> Part:
    sign, style = SIGNS[marked]
    return f"{sign} {text}", style


def _show_table(lines: Lines, cases: list[CaseResult]) -> None:
    """Write a row for each case; the verdict goes before the intervals of both answers where there is little room."""
    shown = [answer for answer in ANSWERS if any(answer_of(case, answer) for case in cases)]
    metrics = [
        f"{answer}: change of {metric_label(usual)}" for answer in shown if (usual := usual_metric(cases, answer))
    ]
    if metrics:
        lines.line(("; ".join(metrics), "dim"))
    names = TextColumn("case", [one_line(case.case) for case in cases])
    verdicts = TextColumn("verdict", [_verdict(case) for case in cases])
    of_answers = [column for answer in shown for column in _answer_columns(cases, answer, signed=len(shown) > 1)]
    needed = [column for column in of_answers if column.dispensable <= INTERVAL]
    if len(shown) == len(ANSWERS) and not lines.fits([names, verdicts, *needed]):
        first, *rest = of_answers
        marked = [
            cell if answer_of(case, shown[0]) else _verdict(case) for case, cell in zip(cases, first.cells, strict=True)
        ]
        lines.table([names, replace(first, cells=marked), *rest])
    else:
        lines.table([names, verdicts, *of_answers])


def _answer_columns(cases: list[CaseResult], answer: Answer, *, signed: bool) -> list[TextColumn]:
    """Return the columns of work or of time; `signed` where the verdict of a row may be another than its word."""
    answered = [answer_of(case, answer) for case in cases]
    usual = usual_metric(cases, answer)
    decided = [None if answer is None else answer.decided for answer in answered]
    unusual = [
        "" if verdict is None or verdict.metric == usual else metric_label(verdict.metric) for verdict in decided
    ]
    changes = [
        (UNMEASURED[answer], "dim") if is_missing(case, answer) else change_
        for case, change_ in zip(cases, _changes(answered, signed=signed), strict=True)
    ]
    columns = [
        TextColumn(answer, changes, right=not signed),
        TextColumn("interval", [_interval(answer) for answer in answered], right=True, dispensable=INTERVAL),
    ]
    if any(unusual):
        columns.append(TextColumn("of", unusual, dispensable=2))
    values = ["" if verdict is None else f"{count(verdict.base)} {ARROW} {count(verdict.head)}" for verdict in decided]
    certainties = ["" if verdict is None else probability(verdict.q) for verdict in decided]
    columns.append(TextColumn(f"base {ARROW} head", values, right=True, dispensable=3))
    columns.append(TextColumn("q", certainties, right=True, dispensable=4))
    return columns


def _interval(answered: CaseAnswer | None) -> str:
    if answered is None or answered.decided is None or answered.word == "identical":
        return ""
    return interval(answered.decided.low, answered.decided.high)


def _changes(answered: list[CaseAnswer | None], *, signed: bool) -> list[Part]:
    written = [_change(answer) for answer in answered]
    if not signed:
        return [*written]
    width = max((len(text) for text in written if text.endswith("%")), default=0)
    return [
        "" if answer is None else _mark(answer.word, text.rjust(width) if text.endswith("%") else text)
        for answer, text in zip(answered, written, strict=True)
    ]


def _change(answered: CaseAnswer | None) -> str:
    """Return the change that an answer rests on, or its word where there is none."""
    if answered is None:
        return ""
    if answered.decided is None or answered.word == "identical":
        return answered.word
    return change(answered.decided.change)


def _show_run_table(lines: Lines, cases: list[RunCase]) -> None:
    names = list(dict.fromkeys(name for case in cases for name in case.metrics))
    columns = [TextColumn("case", [one_line(case.case) for case in cases])]
    if any(_run_state(case) for case in cases):
        columns.append(TextColumn("", [_run_state(case) for case in cases]))
    for place, name in enumerate(names):
        header = name.removesuffix("_per_op").replace("_", " ")
        values = [count(case.metrics[name]) if name in case.metrics else "" for case in cases]
        columns.append(TextColumn(header, values, right=True, dispensable=place))
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
    columns = [TextColumn("  share", ["  " + share(function.share) for function in functions], right=True)]
    for header, value_of in FUNCTION_COLUMNS.items():
        values = [value_of(function) for function in functions]
        if any(value is not None for value in values):
            columns.append(TextColumn(header, ["" if value is None else count(value) for value in values], right=True))
    columns += [
        TextColumn("function", [one_line(function.function) for function in functions]),
        TextColumn("file", [one_line(function.file or "") for function in functions], dispensable=1),
    ]
    lines.table(columns)
