"""The words of all reports on a comparison: sentences, the order of cases, the metric that a column is named after."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.records import CHANGED, TAIL, UNCHANGED, Answer, CaseResult, Comparison, Finding, Settings, Verdict
from zerolap.sheets.format import (
    ARROW,
    change as written_change,
    count,
    counted,
    duration,
    interval,
    metric_label,
    one_line,
    per_side,
    percent,
    probability,
)
from zerolap.sheets.outcome_words import WORDS, Word, word_counts
from zerolap.sheets.sheet import DrawnChange, as_name
from zerolap.sheets.tails import open_tail, tail_margin, tail_of

AS_BUILT_COST = "as_built_cpu_ns_per_op"
ANSWERS: tuple[Answer, ...] = ("work", "time", "memory")
NOT_MEASURED = "not measured"
COSTS = ("cycles_per_op", "cpu_ns_per_op")
THROUGHPUT = "elapsed_ns_per_op"
STATES: dict[str, str] = {
    "running": "not finished: interrupted, or still going on; this is what was recorded",
    "interrupted": "interrupted: this is what was recorded until then",
    "failed": "failed: this is what was recorded until then",
}
FINDING_LABELS = {
    "moved": "moved cost",
    "diffuse": "diffuse",
    "cause": "cause",
    "allocation": "allocation",
    "identity": "code",
    "limits": "limits",
}
"""What is written before a finding, by its kind; culprits are listed by number."""


@dataclass(frozen=True)
class CaseAnswer:
    """The answer on a case's work, time or memory; `decided` is the deciding verdict, if there is any.

    `cost` is the verdict on what a request costs in time, where that is decided and throughput or the tail is not.
    `tail` is the p99 of an open loop, where time is the same or nothing else is open.
    """

    answer: Answer
    word: Word
    decided: Verdict | None
    cost: Verdict | None = None
    tail: Verdict | None = None

    @property
    def has_open_tail(self) -> bool:
        """Whether the tail alone is open."""
        return self.tail is not None and self.tail is self.decided


def word(case: CaseResult) -> Word:
    """Return the verdict of a case, or `failed` if it was not measured at all."""
    if case.verdict == "invalid" and case.failure is not None:
        return "failed"
    return case.verdict


def answers(case: CaseResult) -> list[CaseAnswer]:
    """Return the answers on a case's work, time and memory, as far as they were measured."""
    by_metric = {verdict.metric: verdict for verdict in case.verdicts}
    answered = []
    if case.work is not None:
        answered.append(CaseAnswer("work", case.work, by_metric.get(case.work_deciding or "")))
    if case.time is not None:
        decided = by_metric.get(case.time_deciding or "")
        cost = next((by_metric[metric] for metric in COSTS if metric in by_metric), None)
        is_open = case.time == "unsure" and decided is not None and decided.metric in (THROUGHPUT, TAIL)
        is_same = is_open and cost is not None and cost.verdict == "same"
        tail = tail_of(case) if case.time == "same" or case.has_open_tail else None
        answered.append(CaseAnswer("time", case.time, decided, cost if is_same else None, tail))
    if case.memory is not None:
        answered.append(CaseAnswer("memory", case.memory, by_metric.get(case.memory_deciding or "")))
    return answered


def answer_of(case: CaseResult, wanted: Answer) -> CaseAnswer | None:
    """Return the answer on a case's work, time or memory; None if it was not measured."""
    return next((answered for answered in answers(case) if answered.answer == wanted), None)


def is_missing(case: CaseResult, answer: Answer) -> bool:
    """Return whether a case that was measured has no answer on its work or time, though it could differ.

    Not every server reports its memory.
    """
    if answer == "memory":
        return False
    return case.verdict != "invalid" and case.work != "identical" and answer_of(case, answer) is None


def has_changed(case: CaseResult) -> bool:
    """Return whether work, time or memory changed."""
    return any(answered.word in CHANGED for answered in answers(case))


def is_plain(case: CaseResult) -> bool:
    """Return whether a case is unchanged, by its answers and by its other metrics, with figures within their limits."""
    return set(case_outcomes(case)) <= set(UNCHANGED) and not others(case) and not is_same_by_string_places(case)


def is_same_by_string_places(case: CaseResult) -> bool:
    """Return whether a metric of a case is `same` at a change for which the places of strings account."""
    return any(verdict.is_same_by_string_places for verdict in case.verdicts)


def case_outcomes(case: CaseResult) -> list[Word]:
    """Return the words on a case, its work and its time, where these are decided or have to be."""
    return [word(case), *(answered.word for answered in answers(case) if not _is_undecided_sample(case, answered))]


def _is_undecided_sample(case: CaseResult, answered: CaseAnswer) -> bool:
    """Whether a case was timed only to check that identical code takes the same time, which nothing contradicts."""
    return answered.answer == "time" and case.work == "identical" and answered.word == "unsure"


def others(case: CaseResult) -> list[Verdict]:
    """Return the other verdicts that are not `same`; those of times only if they are changes.

    What is known of the programs as built is beside a change in any case.
    """
    decided = [answered.decided for answered in answers(case)]
    return [
        verdict
        for verdict in case.verdicts
        if verdict not in decided
        and (
            verdict.metric == AS_BUILT_COST
            or (verdict.verdict not in UNCHANGED and (verdict.engine == "counted" or verdict.verdict != "unsure"))
        )
    ]


def usual_metric(cases: Sequence[CaseResult], answer: Answer) -> str | None:
    """Return the metric that decides work or time of most cases; None if nothing was measured."""
    answered = [given for case in cases if (given := answer_of(case, answer)) is not None]
    decided = [given.cost if given.has_open_tail and given.cost is not None else given.decided for given in answered]
    metrics = Counter(verdict.metric for verdict in decided if verdict is not None)
    return max(metrics, key=lambda metric: metrics[metric], default=None)


def telling_word(case: CaseResult, *, time_asked: bool = False) -> Word:
    """Return the first of the words on a case, its work and its time, in the order in which cases are shown.

    A case whose time was asked for and not measured is unsure where nothing else is.
    """
    missing: list[Word] = ["unsure"] if time_asked and is_missing(case, "time") else []
    return min([*case_outcomes(case), *missing], key=WORDS.index)


def rank_of(case: CaseResult, *, time_asked: bool = False) -> tuple[int, int, float]:
    """Return what cases are ordered by: a change of work or time comes first, the larger before the smaller."""
    changes = [
        abs(answered.decided.change)
        for answered in answers(case)
        if answered.decided is not None and answered.word in CHANGED
    ]
    first = WORDS.index(telling_word(case, time_asked=time_asked))
    return first, WORDS.index(word(case)), -max(changes, default=0.0)


def in_order(cases: Sequence[CaseResult]) -> list[CaseResult]:
    """Return the cases by `rank_of`."""
    return sorted(cases, key=rank_of)


def answer_lines(comparison: Comparison) -> list[tuple[Answer, str]]:
    """Return the outcome by answer where there is work and time: `work`, `2 regressions, 9 identical, 1 same`.

    A sample of identical cases that decides nothing is counted only where nothing else is. Memory that changed, or is
    unsure, is beside work alone too.
    """
    has_memory = any(case.memory not in (None, *UNCHANGED) for case in comparison.cases)
    answered = {
        answer: [(case, given) for case in comparison.cases if (given := answer_of(case, answer)) is not None]
        for answer in ANSWERS
    }
    if not (answered["work"] and (answered["time"] or has_memory)):
        return []
    lines: list[tuple[Answer, str]] = []
    for answer in (answer for answer in ANSWERS if answered[answer]):
        decided = [given.word for case, given in answered[answer] if not _is_undecided_sample(case, given)]
        missing = sum(is_missing(case, answer) for case in comparison.cases)
        counts = word_counts(decided or [given.word for _, given in answered[answer]])
        lines.append((answer, counts + (f", {missing:,} {NOT_MEASURED}" if missing else "")))
    return lines


def state_line(comparison: Comparison) -> str | None:
    """Return the note on a comparison that is not done, None for a comparison that is."""
    return STATES.get(comparison.state)


def effort(comparison: Comparison) -> str:
    """Return how much was measured, and how: cases, engines, machine time, and the level of the intervals."""
    cases, settings = counted(len(comparison.cases), "case", "cases"), comparison.settings
    level = "" if settings.level is None else f", intervals of {percent(settings.level)}"
    return f"{cases}, {trials(settings, comparison.summary.machine_seconds)}{level}"


def trials(settings: Settings, seconds: float) -> str:
    """Return the engines and the time of the trials: `counted and timed, 6 min 52 s of trials`."""
    quick = ", quick" if settings.quick else ""
    return f"{' and '.join(settings.engines)}{quick}, {duration(seconds)} of trials"


def statement(answered: CaseAnswer) -> str:
    """Write an answer: `work regression: instructions per request +10.2 %`, with its evidence.

    An unsure answer has the reason: too few samples, or figures that contradict the deciding figure.
    """
    begin = f"{answered.answer} {answered.word}"
    decided = answered.decided
    if decided is not None and answered.has_open_tail:
        return f"{begin}: {open_tail(decided)}"
    if decided is None:
        return f"{begin}: no metric decides it"
    cost = "" if answered.cost is None else f"{metric_label(answered.cost.metric)} is the same; whether "
    text = f"{begin}: {cost}{sentence(decided)}" + (" is too, is open" if cost else "")
    if answered.word != "unsure":
        return text if answered.tail is None else f"{text}; {tail_margin(answered.tail)}"
    if decided.verdict == "unsure" and decided.wild_starts is not None and decided.wild_starts.reason is not None:
        return f"{text}; single starts in which one side is far slower leave it open"
    if decided.verdict == "unsure":
        able = f"these {decided.samples} samples a side can detect a change of {percent(decided.detectable)}"
        return f"{text}; {able} or more"
    return f"{begin}: {decided.verdict} of {sentence(decided)}; other figures speak against it"


def unconfirmed(case: CaseResult) -> Answer | None:
    """Return what a change that is not confirmed rests on: work alone, or time in one layout of each side.

    One of memory needs no confirmation: what is counted is what users pay for.
    """
    if word(case) not in CHANGED or case.confirmed or rests_on_memory(case):
        return None
    return "time" if case.time in CHANGED else "work"


def rests_on_memory(case: CaseResult) -> bool:
    """Return whether the verdict of a case is that on its memory."""
    return case.deciding is not None and case.deciding == case.memory_deciding


def remark(case: CaseResult) -> str | None:
    """Return what stands beside a verdict: what a change that is not confirmed rests on, or the sides that fail."""
    rests_on = unconfirmed(case)
    if rests_on is None:
        return "memory" if rests_on_memory(case) else failed_on(case)
    return "counted only" if rests_on == "work" else "one layout"


def sentence(verdict: Verdict) -> str:
    """Write a verdict in a line: metric, values, change, interval, q."""
    certainty = "" if verdict.q is None else f", q {probability(verdict.q)}"
    bounds = interval(verdict.low, verdict.high)
    values = f"{count(verdict.base)} {ARROW} {count(verdict.head)}"
    return f"{metric_label(verdict.metric)} {values}, {written_change(verdict.change)} {bounds}{certainty}"


def drawn_change(verdict: Verdict) -> DrawnChange:
    """Return a change as a page draws it."""
    values = f"{count(verdict.base)} {ARROW} {count(verdict.head)}"
    return DrawnChange(
        change=verdict.change, low=verdict.low, high=verdict.high, least=verdict.min_effect, values=values
    )


def ranked(case: CaseResult, kind: str) -> list[Finding]:
    """Return the findings of a kind by rank."""
    return sorted((finding for finding in case.findings if finding.kind == kind), key=lambda finding: finding.rank)


def failed_on(case: CaseResult) -> str | None:
    """Write which sides make a case invalid, `on the head only`; None where it is not due to a side."""
    if not case.failed_sides:
        return None
    return f"on the {case.failed_sides[0]} only" if len(case.failed_sides) == 1 else "on both sides"


def culprit_figures(finding: Finding) -> list[str]:
    """Return a culprit's numbers in words: share, calls, instructions and time per request."""
    figures = []
    if finding.share_of_change is not None:
        figures.append(f"{finding.share_of_change * 100:.0f} % of the change")
    if finding.calls_per_op is not None:
        figures.append(f"calls per request {per_side(finding.calls_per_op)}")
    if finding.instructions_per_op is not None:
        own = finding.self_instructions_per_op
        of_its_own = f" (its own {per_side(own)})" if own is not None else ""
        figures.append(f"{metric_label('instructions_per_op')} {per_side(finding.instructions_per_op)}{of_its_own}")
    if finding.cpu_ns_per_op is not None:
        own = finding.self_cpu_ns_per_op
        of_its_own = f" (its own {per_side(own)})" if own is not None else ""
        figures.append(f"sampled ns per request {per_side(finding.cpu_ns_per_op)}{of_its_own}")
    return figures


def location(finding: Finding) -> str:
    """Return a culprit's file, with its first line where it is known."""
    line = f":{finding.lines[0]}" if finding.lines else ""
    return one_line(f"{finding.file}{line}")


def callers(finding: Finding) -> str:
    """Return who calls a culprit, each with its calls per request."""
    return one_line(
        ", ".join(
            f"{as_name(caller.function)} {per_side(caller.calls_per_op)}{' (in this change)' if caller.in_diff else ''}"
            for caller in finding.callers
        )
    )
