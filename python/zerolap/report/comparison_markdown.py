"""A comparison as Markdown, for files and comments."""

from zerolap.records import Answer, CaseResult, Comparison, Finding
from zerolap.report.markdown import (
    REASONS,
    AnswerColumns,
    build_facts,
    bullets,
    code,
    emphasized,
    failed_check_lines,
    failure_line,
    folded,
    headline_line,
    numbered,
    prose,
    repeating,
    sentence_with_names,
    settings_fact,
    table,
)
from zerolap.report.reading import (
    FINDING_LABELS,
    answer_lines,
    answers,
    callers,
    culprit_figures,
    effort,
    failed_on,
    headline,
    in_order,
    is_plain,
    location,
    others,
    ranked,
    sentence,
    skipped_line,
    state_line,
    statement,
    unconfirmed,
    word,
)
from zerolap.report.sheet_markdown import section_markdown
from zerolap.sheets import ARROW, traced_of_comparison

EXPLAINED_CASES = 12
TRACED_CASES = 4
UNCONFIRMED: dict[Answer, str] = {"work": "counted", "time": "one layout"}


def comparison_markdown(comparison: Comparison) -> str:
    """Return the comparison as Markdown: verdict, what changed and why, what is invalid, how to repeat it."""
    cases = in_order(comparison.cases)
    notable = [case for case in cases if not is_plain(case)]
    same = [case for case in cases if is_plain(case)]
    columns = AnswerColumns.of_cases(cases)
    blocks = [headline_line(headline(comparison), effort(comparison))]
    by_answer = answer_lines(comparison)
    if by_answer:
        blocks.append("; ".join(f"{answer}: {counts}" for answer, counts in by_answer))
    state = state_line(comparison)
    if state is not None:
        blocks.append(f"**{state}**")
    blocks.append(f"{code(comparison.base.name)} {ARROW} {code(comparison.head.name)}")
    blocks += filter(None, [skipped_line(comparison.skipped)])
    if notable:
        blocks.append(_table(notable, columns))
    blocks += [_reasons(case) for case in notable[:EXPLAINED_CASES]]
    if len(notable) > EXPLAINED_CASES:
        blocks.append(f"{len(notable) - EXPLAINED_CASES} more: {code('zerolap explain ' + comparison.id)}")
    if same:
        blocks.append(folded(f"{len(same)} same", _table(same, columns)))
    traced = [section for case in cases if (section := traced_of_comparison(case)) is not None]
    blocks += [block for section in traced[:TRACED_CASES] for block in section_markdown(section)]
    if len(traced) > TRACED_CASES:
        blocks.append(f"{len(traced) - TRACED_CASES} more were traced: {code('zerolap explain ' + comparison.id)}")
    names = {case.case for case in comparison.cases}
    blocks += [f"Note: {prose(note, names=names)}" for note in comparison.notes]
    blocks.append(repeating(comparison, _facts(comparison)))
    return "\n\n".join(blocks) + "\n"


def _table(cases: list[CaseResult], columns: AnswerColumns) -> str:
    rows = [[code(case.case), _verdict(case), *columns.cells(case)] for case in cases]
    return table(["case", "verdict", *columns.headings], rows)


def _verdict(case: CaseResult) -> str:
    rests_on = unconfirmed(case)
    return emphasized(word(case)) + (f" ({UNCONFIRMED[rests_on]})" if rests_on is not None else "")


def _reasons(case: CaseResult) -> str:
    """Return a section on a case: its verdicts, the functions that are the reason, and other findings."""
    verdicts = [failure_line(case.failure, failed=word(case) == "failed")] if case.failure is not None else []
    verdicts += failed_check_lines(case.validity)
    verdicts += filter(None, [failed_on(case)])
    verdicts += [prose(statement(answered)) for answered in answers(case)]
    verdicts += [f"also {verdict.verdict}: {prose(sentence(verdict))}" for verdict in others(case)]
    culprits = ranked(case, "culprit")
    left_out = len(culprits) - REASONS
    findings = [
        f"{label}{sentence_with_names(finding.text)}"
        for kind, label in FINDING_LABELS.items()
        for finding in ranked(case, kind)
    ]
    parts = [
        bullets(verdicts),
        numbered(_culprit(finding) for finding in culprits[:REASONS]),
        f"\n{left_out} more functions are not listed.\n" if left_out > 0 else "",
        bullets(findings),
    ]
    return "\n".join([f"#### {code(case.case)}: {word(case)}", "", *filter(None, parts)])


def _culprit(finding: Finding) -> str:
    """Return a function that is a reason: where it is, its figures and callers, and what changed, a line each."""
    where = f" in {code(location(finding))}" if finding.file is not None else ""
    mark = " **in this change**" if finding.in_diff else ""
    lines = [
        f"{code(finding.function or '(unknown function)')}{where}{mark}",
        "; ".join(culprit_figures(finding)),
        f"called by {prose(callers(finding))}" if finding.callers else "",
        sentence_with_names(finding.text),
    ]
    # Two spaces at the end of a line keep what follows on a line of its own.
    reason = "  \n   ".join(line for line in lines if line)
    return "\n   ".join([reason, *(f"- {sentence_with_names(part.text)}" for part in finding.parts)])


def _facts(comparison: Comparison) -> list[str]:
    return [
        settings_fact(comparison.settings),
        f"base: {build_facts(comparison.base)}",
        f"head: {build_facts(comparison.head)}",
    ]
