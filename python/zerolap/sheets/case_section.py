"""What is known of a case of a comparison: what happened, its figures, and the reasons."""

from collections.abc import Iterator, Sequence
from typing import Final

from zerolap.records import CHANGED, CaseResult, Finding, Part, PerSide, RunCase, Validity, Verdict
from zerolap.sheets.case_sentences import case_sentences, short_case_sentences
from zerolap.sheets.case_words import (
    FINDING_LABELS,
    answers,
    callers,
    culprit_figures,
    drawn_change,
    has_changed,
    is_plain,
    location,
    others,
    ranked,
    word,
)
from zerolap.sheets.format import (
    change,
    count,
    counted,
    interval,
    metric_label,
    one_line,
    per_side,
    percent,
    plain,
    probability,
    signed_count,
)
from zerolap.sheets.outcome_words import failed_check
from zerolap.sheets.sheet import Cell, Column, Section, Sentence, Table, as_name, name

MOST_REASONS: Final = 3
MOST_AGREEING: Final = 2
FIRST_AGREEING: Final = ("ops_per_sec", "latency_p50_us", "cpu_ns_per_op", "cycles_per_op")
"""Which metrics that agree with a change are shown: those that users know."""
LOG_LINES: Final = 20
LONGEST_LINE: Final = 1_000
SMALLER_PARTS: Final = "smaller parts are left out"


def case_section(case: CaseResult, *, is_chosen: bool = False) -> Section:
    """Return what is known of a case beyond its row; all its figures, and all on its reasons, are folded.

    Of one that the reader has chosen it has all that was measured, and how sure it is.
    """
    figures, further = _figures(case, is_chosen=is_chosen)
    reasons = ranked(case, "culprit")
    is_told = is_chosen or has_changed(case) or bool(others(case)) or bool(ranked(case, "cause"))
    return Section(
        key=case.case,
        title=as_name(case.case),
        mark=word(case),
        sentences=[
            *(Sentence(text=text) for text in (case_sentences if is_chosen else short_case_sentences)(case)),
            *_trouble(case),
            *(_others(case) if is_told else []),
        ],
        tables=[
            *([figures] if figures.rows else []),
            *([_reason_table(reasons[:MOST_REASONS], len(reasons))] if reasons and is_told else []),
        ],
        sections=[
            *([Section(title="all figures", is_folded=True, tables=[further])] if further.rows else []),
            *([_reasons_in_full(reasons)] if reasons and is_told else []),
        ],
    )


def chosen_case(section: Section, case: CaseResult | RunCase, traced: Section | None) -> Section:
    """Return the section of a case that the reader has chosen, with its traces, its checks, and what it is."""
    return section.model_copy(
        update={
            "remark": f"{', '.join(case.commands)} · group {case.group} · {case.topology}{_regime(case)}",
            "sections": [*([] if traced is None else [traced]), *section.sections, *_checks(case.validity)],
        }
    )


def _regime(case: CaseResult | RunCase) -> str:
    return f" · {case.regime}" if isinstance(case, CaseResult) and case.regime else ""


def _checks(validity: Validity) -> list[Section]:
    """Return the checks of validity, folded unless one fails; nothing without any."""
    failed = f"{len(validity.failed)} failed" if validity.failed else "all hold"
    sentences = [
        Sentence(text=failed_check(check.check, check.value, check.limit), mark=None if check.ok else "failed")
        for check in validity.checks
    ]
    title = f"{counted(len(sentences), 'check', 'checks')}, {failed}"
    return [Section(title=title, is_folded=not validity.failed, sentences=sentences)] if sentences else []


def is_worth_a_section(case: CaseResult) -> bool:
    """Return whether more is to be said of a case than its row: it changed, is open, or failed."""
    return not is_plain(case) or case.failure is not None


def is_merely_undecided(case: CaseResult) -> bool:
    """Return whether no more is to be said of a case than that it is open, and by how much."""
    has_changed_figure = any(verdict.verdict in CHANGED for verdict in others(case))
    return not (has_changed(case) or case.verdict == "invalid" or has_changed_figure or case.findings)


def _trouble(case: CaseResult) -> Iterator[Sentence]:
    """Yield what is known of a failure beside the sentence on it: checks, the end of its log line by line."""
    if case.failure is None:
        return
    happened, *log = log_sentences(case.failure)
    if case.verdict != "invalid":
        yield happened
    for check in case.validity.failed:
        yield Sentence(label="invalid", text=failed_check(check.check, check.value, check.limit))
    yield from log


def log_sentences(failure: str) -> list[Sentence]:
    """Return what happened, then the end of the log line by line."""
    happened, *log = [plain(line, LONGEST_LINE) for line in failure.splitlines() if line.strip()] or [""]
    left_out = f"the last {LOG_LINES} of {len(log)} lines of its log:"
    return [
        Sentence(text=happened),
        *([Sentence(text=left_out, mark="quiet")] if len(log) > LOG_LINES else []),
        *(Sentence(text=line) for line in log[-LOG_LINES:]),
    ]


def _others(case: CaseResult) -> Iterator[Sentence]:
    """Yield the findings that are no functions: causes, costs that moved, limits."""
    for kind, label in FINDING_LABELS.items():
        for finding in ranked(case, kind):
            yield Sentence(label=label, text=finding.text)


def _figures(case: CaseResult, *, is_chosen: bool) -> tuple[Table, Table]:
    """Return the figures to show, and all of them where there are more.

    Those that decide are shown, those that contradict them, and some of those that agree; the others are counted.
    """
    deciding = [answered.decided for answered in answers(case) if answered.decided is not None]
    beside = others(case)
    changed: set[str] = {verdict.verdict for verdict in deciding if verdict.verdict in CHANGED}
    words: set[str] = changed or {case.verdict}
    agreeing = [verdict for verdict in beside if verdict.verdict in words]
    contradicting = [verdict for verdict in beside if verdict.verdict in CHANGED and verdict.verdict not in words]
    known = {metric: place for place, metric in enumerate(FIRST_AGREEING)}
    agreeing.sort(key=lambda verdict: known.get(verdict.metric, len(known)))
    shown = [*deciding, *agreeing[:MOST_AGREEING], *contradicting]
    left_out = len(agreeing) - MOST_AGREEING
    remark = counted(left_out, "more figure agrees", "more figures agree") if left_out > 0 else ""
    everything = [verdict for verdict in case.verdicts if is_chosen or verdict.verdict != "identical"]
    has_more = is_chosen or len(everything) > len(shown) or left_out > 0
    return _figure_table(shown, remark), _figure_table(everything if has_more else [], is_full=True)


def _figure_table(verdicts: Sequence[Verdict], remark: str = "", *, is_full: bool = False) -> Table:
    columns = [
        Column(key="figure", heading="figure"),
        Column(key="base", heading="base", is_number=True, rank=2),
        Column(key="head", heading="head", is_number=True, rank=2),
        Column(key="change", heading="change"),
    ]
    if is_full:
        columns += [
            Column(key="q", heading="q", is_number=True, rank=3),
            Column(key="detectable", heading="smallest visible change", is_number=True, rank=4),
            Column(key="samples", heading="samples", is_number=True, rank=5),
        ]
    rows = []
    for verdict in verdicts:
        changed = Cell(
            text=change(verdict.change),
            detail=interval(verdict.low, verdict.high),
            mark=verdict.verdict,
            drawn=None if is_full else drawn_change(verdict),
        )
        row = [Cell(text=metric_label(verdict.metric)), Cell(text=count(verdict.base)), Cell(text=count(verdict.head))]
        rest = [probability(verdict.q), percent(verdict.detectable), str(verdict.samples)] if is_full else []
        rows.append([*row, changed, *(Cell(text=text) for text in rest)])
    return Table(key="figures", columns=columns, rows=rows, remark=remark)


def _reason_table(reasons: Sequence[Finding], number: int) -> Table:
    """Return the functions that are the reason, each part of one in a row of its own."""
    rows = [row for finding in reasons for row in _reason_rows(finding)]
    columns = [
        Column(key="function", heading="because of"),
        Column(key="calls", heading="calls per request", is_number=True, rank=1),
        Column(key="instructions", heading="instructions", is_number=True),
        Column(key="sampled", heading="sampled ns", is_number=True, rank=3),
        Column(key="share", heading="share of the change", is_number=True, rank=4),
        Column(key="place", heading="in", rank=2),
    ]
    present = [place for place, column in enumerate(columns) if place == 0 or any(row[place].text for row in rows)]
    return Table(
        key="reasons",
        columns=[columns[place] for place in present],
        rows=[[row[place] for place in present] for row in rows],
        left_out=number - len(reasons),
        remark=SMALLER_PARTS if any(finding.parts for finding in reasons) else "",
    )


def _reason_rows(finding: Finding) -> Iterator[list[Cell]]:
    if finding.parts:
        yield from (_part_row(part, finding) for part in finding.parts)
        return
    instructions = finding.instructions_per_op or finding.self_instructions_per_op
    sampled = finding.cpu_ns_per_op or finding.self_cpu_ns_per_op
    yield [
        name(finding.function or "(unknown function)"),
        Cell(text=_calls(finding.calls_per_op)),
        Cell(text=_difference(instructions)),
        Cell(text=_difference(sampled)),
        Cell(text=_share(finding.share_of_change)),
        Cell(text=", ".join(_locations(finding))),
    ]


def _part_row(part: Part, finding: Finding) -> list[Cell]:
    is_its_own = part.function == finding.function
    return [
        name(part.function),
        Cell(text=_calls(part.calls_per_op)),
        Cell(text=signed_count(part.instructions_changed_per_op)),
        Cell(),
        Cell(text=_share(part.share_of_change)),
        Cell(text=", ".join(_locations(finding)) if is_its_own else one_line(part.file or "")),
    ]


def _locations(finding: Finding) -> Iterator[str]:
    if finding.file is not None:
        yield location(finding)
    if finding.in_diff:
        yield "in this change"


def _calls(calls: PerSide | None) -> str:
    return "" if calls is None or calls.base == calls.head else per_side(calls)


def _share(share: float | None) -> str:
    return "" if share is None else f"{share * 100:.0f} %"


def _difference(values: PerSide | None) -> str:
    return "" if values is None else signed_count((values.head or 0.0) - (values.base or 0.0))


def _reasons_in_full(reasons: Sequence[Finding]) -> Section:
    """Return the sentences on all functions that are a reason, with their figures and their callers."""
    return Section(title="reasons in full", is_folded=True, sections=list(map(_in_full, reasons)))


def _in_full(finding: Finding) -> Section:
    texts = [finding.text, *(part.text for part in finding.parts)]
    if figures := "; ".join(culprit_figures(finding)):
        texts.append(figures)
    if finding.callers:
        texts.append(f"called by {callers(finding)}")
    return Section(
        title=", ".join([as_name(finding.function or "(unknown function)"), *_locations(finding)]),
        sentences=[Sentence(text=text) for text in texts],
    )
