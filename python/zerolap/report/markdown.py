"""A comparison as a comment on a pull request; what it shares with that of a run is public."""

from collections.abc import Sequence

from zerolap.records import Answer, CaseResult, Comparison, Finding, MeasuredServer, RunReport, Settings, Validity
from zerolap.report.format import ARROW, change, interval, metric_label, percent
from zerolap.report.markup import code, prose, sentence_with_names, table_row
from zerolap.report.reading import (
    ANSWERS,
    CHANGED,
    Answered,
    Word,
    answer_lines,
    answer_of,
    answers,
    effort,
    headline,
    in_order,
    is_plain,
    others,
    ranked,
    sentence,
    skipped_line,
    state_line,
    statement,
    unconfirmed,
    usual_metric,
    word,
)
from zerolap.report.terminal_reasons import MARKS, callers, culprit_figures, failed_check, location

# GitHub takes 65,536 characters a comment; these limits keep a report of any size within them.
LISTED_ROWS = 80
EXPLAINED_CASES = 12
FAILURE_LENGTH = 500
REASONS = 5


def comparison_markdown(comparison: Comparison) -> str:
    """Return the comparison as Markdown: verdict, what changed and why, what is invalid, how to repeat it."""
    cases = in_order(comparison.cases)
    notable = [case for case in cases if not is_plain(case)]
    same = [case for case in cases if is_plain(case)]
    blocks = [f"**{headline(comparison)}** ({prose(effort(comparison))})"]
    by_answer = answer_lines(comparison)
    if by_answer:
        blocks.append("; ".join(f"{answer}: {counts}" for answer, counts in by_answer))
    state = state_line(comparison)
    if state is not None:
        blocks.append(f"**{state}**")
    blocks.append(f"{code(comparison.base.name)} {ARROW} {code(comparison.head.name)}")
    blocks += filter(None, [skipped_line(comparison.skipped)])
    if notable:
        blocks.append(_table(notable, cases))
    blocks += [_reasons(case) for case in notable[:EXPLAINED_CASES]]
    if len(notable) > EXPLAINED_CASES:
        blocks.append(f"{len(notable) - EXPLAINED_CASES} more: {code('zerolap explain ' + comparison.id)}")
    if same:
        blocks.append(folded(f"{len(same)} same", _table(same, cases)))
    blocks += [f"Note: {prose(note)}" for note in comparison.notes]
    blocks.append(repeating(comparison, _facts(comparison)))
    return "\n\n".join(blocks) + "\n"


def failure_line(failure: str, *, failed: bool = True) -> str:
    """Return what happened to a case as an item of a list; `failed` is false where it was measured nonetheless."""
    return f"- {'failed: ' if failed else ''}{prose(failure[:FAILURE_LENGTH])}"


def failed_check_lines(validity: Validity) -> list[str]:
    """Return the checks that do not hold as items of a list."""
    failed = [failed_check(check.check, check.value, check.limit) for check in validity.failed]
    return [f"- invalid: {prose(text)}" for text in failed]


def repeating(document: Comparison | RunReport, facts: Sequence[str]) -> str:
    """Return, folded, how to measure a document's figures again; `facts` are those of its kind."""
    platform, kind = document.platform, "run" if isinstance(document, RunReport) else "comparison"
    lines = [
        f"command: {code(document.command_line)}",
        f"seed: {document.settings.seed}",
        *facts,
        f"platform: {code(platform.name)}, {code(platform.cpu)}, {platform.cores} cores, "
        f"kernel {code(platform.kernel)}, fingerprint {code(platform.fingerprint)}",
        f"{kind}: {code(document.id)} of {code(document.created)}",
    ]
    return folded("How to repeat it", "\n".join(f"- {line}" for line in lines))


def settings_fact(settings: Settings) -> str:
    """Return in a line what counts as a change."""
    effects = ", ".join(f"{engine} {percent(value)}" for engine, value in settings.min_effect.items())
    level = "" if settings.level is None else f"; intervals of {percent(settings.level)}"
    return f"smallest change that counts: {effects}; q {settings.q:g}{level}"


def build_facts(build: MeasuredServer) -> str:
    """Return a build in a line: its names, and what it was made with."""
    parts = [
        code(build.name),
        prose(build.version),
        *(code(f"{name}={value}") for name, value in build.config.items()),
    ]
    if build.commit:
        parts.append(f"commit {code(build.commit)}")
    parts.append(f"build {code(build.build)}")
    parts.append(f"flags {code(build.flags)}" if build.flags else "flags unknown")
    if build.compiler:
        parts.append(code(build.compiler))
    if build.allocator:
        parts.append(code(build.allocator))
    return ", ".join(parts)


def folded(summary: str, content: str) -> str:
    """Return content of which the summary alone is seen at first."""
    return f"<details><summary>{summary}</summary>\n\n{content}\n\n</details>"


def answer_heading(answer: Answer, usual: str | None) -> str:
    """Return the heading of a column of `answer_cell`."""
    return f"{answer}: {prose(metric_label(usual))}" if usual else answer


def answer_cell(answered: Answered | None, usual: str | None) -> str:
    """Return a case's work or time in a cell: word, change and interval, and the metric if it is not the usual one."""
    if answered is None:
        return ""
    decided = answered.decided
    if decided is None or answered.word == "identical":
        return answered.word
    named = "" if decided.metric == usual else f" {prose(metric_label(decided.metric))}"
    return f"{_emphasized(answered.word)}{named} {change(decided.change)} {interval(decided.low, decided.high)}"


def _table(listed: list[CaseResult], cases: list[CaseResult]) -> str:
    """Return rows for some of the cases; a metric is named where it is not the one that most cases rest on."""
    shown = [answer for answer in ANSWERS if any(answer_of(case, answer) for case in cases)]
    usual = {answer: usual_metric(cases, answer) for answer in shown}
    headings = [answer_heading(answer, metric) for answer, metric in usual.items()]
    lines = [table_row(["case", "verdict", *headings]), "|---" * (2 + len(shown)) + "|"]
    for case in listed[:LISTED_ROWS]:
        cells = [answer_cell(answer_of(case, answer), metric) for answer, metric in usual.items()]
        lines.append(table_row([code(case.case), _verdict(case), *cells]))
    if len(listed) > LISTED_ROWS:
        lines.append(f"\n{len(listed) - LISTED_ROWS} more are not listed.")
    return "\n".join(lines)


def _verdict(case: CaseResult) -> str:
    return _emphasized(word(case)) + (" (counted)" if unconfirmed(case) else "")


def _emphasized(outcome: Word) -> str:
    return f"**{outcome}**" if outcome in CHANGED else outcome


def _reasons(case: CaseResult) -> str:
    lines = [f"#### {code(case.case)}: {word(case)}", ""]
    if case.failure is not None:
        lines.append(failure_line(case.failure, failed=word(case) == "failed"))
    lines += failed_check_lines(case.validity)
    lines += [f"- {prose(statement(answered))}" for answered in answers(case)]
    lines += [f"- also {verdict.verdict}: {prose(sentence(verdict))}" for verdict in others(case)]
    culprits = ranked(case, "culprit")
    for place, finding in enumerate(culprits[:REASONS], start=1):
        where = f" in {code(location(finding))}" if finding.file is not None else ""
        mark = " **in this change**" if finding.in_diff else ""
        lines.append(f"{place}. {code(finding.function or '(unknown function)')}{where}{mark}  ")
        lines += [f"   {line}  " for line in _details_of(finding)]
        lines.append(f"   {sentence_with_names(finding.text)}")
    if len(culprits) > REASONS:
        lines.append(f"\n{len(culprits) - REASONS} more functions are not listed.\n")
    for kind, mark in MARKS.items():
        lines += [f"- {mark}{sentence_with_names(finding.text)}" for finding in ranked(case, kind)]
    return "\n".join(lines)


def _details_of(finding: Finding) -> list[str]:
    figures = "; ".join(culprit_figures(finding))
    called = f"called by {prose(callers(finding))}" if finding.callers else ""
    return [line for line in (figures, called) if line]


def _facts(comparison: Comparison) -> list[str]:
    return [
        settings_fact(comparison.settings),
        f"base: {build_facts(comparison.base)}",
        f"head: {build_facts(comparison.head)}",
    ]
