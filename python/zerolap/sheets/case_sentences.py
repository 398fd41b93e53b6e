"""What happened to a case and how sure that is, for a reader who knows neither the lab nor its words."""

import math
from collections.abc import Sequence
from typing import Final

from zerolap.records import CHANGED, METRICS, UNCHANGED, Answer, CaseResult, Finding, PerSide, Verdict, WildStarts
from zerolap.sheets.case_words import CaseAnswer, answers, failed_on, ranked, unconfirmed
from zerolap.sheets.format import count, metric_label, percent, plain
from zerolap.sheets.outcome_words import failed_check
from zerolap.sheets.phrases import phrase_of
from zerolap.sheets.tails import open_tail, tail_sentence

LONGEST_SUBJECT: Final = 80
LONGEST_REASON: Final = 300
MOST_COMMANDS: Final = 3
SMALLEST_CALLS: Final = 0.05
"""A function that is called so much more or less often, as a part, is called another number of times."""
MOSTLY: Final = 0.5
ALLOCATION: Final = "allocation"
"""The kind of the findings that name where more or fewer bytes are allocated."""
EXPLAINED: Final = 0.5
"""The part of a change of time that the work has to account for, to be called the reason."""


SAID: Final[dict[str, str]] = {"regression": "a regression", "improvement": "an improvement", "same": "the same"}
"""Answers, as they are said of work, time and memory; the others are said as they are."""
NOUNS: Final[dict[Answer, str]] = {
    "work": "Work, which is what the code does",
    "time": "Time, which is what users feel",
    "memory": "Memory, which is what the data take",
}


def case_sentences(case: CaseResult) -> list[str]:
    """Return what happened to the case, how sure that is, and what its other answer is; one sentence a line."""
    if case.verdict == "invalid":
        return [_invalid(case)]
    answered = answers(case)
    leading = _leading(case, answered)
    if leading is None:
        return [f"{_subject(case)} has no verdict: nothing of it could be decided."]
    # That the bytes are the same is said by the figures.
    stated = [other for other in answered if other is not leading and not _is_quiet(other)]
    others = [_work_beside_time(case, leading, other) or _other(other) for other in stated]
    sentences = (_happened(case, leading), *_sureness(case, leading), *others, tail_sentence(case))
    return [sentence for sentence in sentences if sentence]


def short_case_sentences(case: CaseResult) -> list[str]:
    """Return what happened to the case, and what its figures do not show: what leaves it open, what is beside it."""
    answered = answers(case)
    leading = _leading(case, answered)
    if case.verdict == "invalid" or leading is None:
        return case_sentences(case)
    opened = [
        _open(answer.decided)
        for answer in answered
        if answer.word == "unsure" and answer.decided is not None and not answer.has_open_tail
    ]
    beside = [_work_beside_time(case, leading, other) for other in answered if other is not leading]
    beside += [_other(other) for other in answered if other is not leading and _is_changed_memory(other)]
    return [sentence for sentence in (_happened(case, leading), *_caution(case), *opened, *beside) if sentence]


def by_chance(changes: Sequence[Verdict]) -> str | None:
    """Return how rarely chance alone shows a change as large as any of these; None without a figure."""
    chances = [change.q for change in changes if change.q is not None]
    return f"chance alone shows such a change {_odds(max(chances))}" if chances else None


def _leading(case: CaseResult, answered: list[CaseAnswer]) -> CaseAnswer | None:
    """Return the answer that the case's verdict rests on."""
    for answer in answered:
        if answer.decided is not None and answer.decided.metric == case.deciding:
            return answer
    changed = [answer for answer in answered if answer.word in CHANGED]
    return next(iter(changed or answered), None)


def _is_changed_memory(answer: CaseAnswer) -> bool:
    return answer.answer == "memory" and answer.word in CHANGED


def _is_quiet(answer: CaseAnswer) -> bool:
    return answer.answer == "memory" and answer.word in UNCHANGED


def _subject(case: CaseResult) -> str:
    names = case.commands or [case.case]
    more = f" and {len(names) - MOST_COMMANDS} more" if len(names) > MOST_COMMANDS else ""
    subject = plain(" + ".join(names[:MOST_COMMANDS]), LONGEST_SUBJECT) + more
    return f"{subject} ({plain(case.regime, LONGEST_SUBJECT)})" if case.regime else subject


def _happened(case: CaseResult, answer: CaseAnswer) -> str:
    subject, decided = _subject(case), answer.decided
    if decided is not None and answer.has_open_tail:
        return f"{subject} is {open_tail(decided)}."
    return _known(case, answer, subject, decided)


def _known(case: CaseResult, answer: CaseAnswer, subject: str, decided: Verdict | None) -> str:
    if answer.word == "identical":
        takes = "takes the same bytes on both sides"
        executes = "executes the same machine instructions on both sides, equally often"
        return f"{subject} {takes if answer.answer == 'memory' else executes}."
    if decided is None:
        return f"The {answer.answer} of {subject} is {answer.word}: no metric decides it."
    change = f"{_signed(decided.change)} ({_span(decided, is_signed=True)})"
    if answer.word == "same":
        limit = percent(decided.margin or decided.min_effect)
        within = f"the difference of {change} is within the ±{limit} that count as no change"
        if decided.is_same_by_string_places:
            cause = "depends on where strings lie in memory"
            within = f"the difference of {change} {cause}; less than {limit} is left without it"
        return f"{_unchanged(subject, decided)}: {within}."
    if answer.word == "unsure" and decided.low * decided.high > 0 and decided.verdict == "unsure":
        limit = percent(decided.margin or decided.min_effect)
        return f"It is open whether {_enough(subject, decided)}: the estimate is {change}; up to {limit} count as none."
    if answer.word == "unsure":
        return f"It is open whether {_wondered(subject, decided)}: the estimate is {change}."
    return f"{_changed(subject, decided)}{_because(case, answer)}."


def _changed(subject: str, decided: Verdict) -> str:
    phrase, size = phrase_of(decided.metric), percent(round(abs(decided.change), 3))
    span = _span(decided, is_signed=False)
    if phrase is None:
        direction = "higher" if decided.change > 0 else "lower"
        return f"{_capital(metric_label(decided.metric))} of {subject} is {size} {direction} ({span})"
    direction = phrase.direction(decided.change)
    return f"{subject} {phrase.verb} {size} {direction} {phrase.object} ({span})"


def _unchanged(subject: str, decided: Verdict) -> str:
    phrase = phrase_of(decided.metric)
    if phrase is None:
        return f"{_capital(metric_label(decided.metric))} of {subject} has not changed"
    amount = "as many" if phrase.less == "fewer" else "as much"
    return f"{subject} {phrase.verb} {amount} {phrase.object} as before"


def _wondered(subject: str, decided: Verdict) -> str:
    phrase = phrase_of(decided.metric)
    if phrase is None:
        return f"{metric_label(decided.metric)} of {subject} has changed"
    return f"{subject} {phrase.verb} more or {phrase.less} {phrase.object}"


def _enough(subject: str, decided: Verdict) -> str:
    phrase = phrase_of(decided.metric)
    if phrase is None:
        return f"the change of {metric_label(decided.metric)} of {subject} is large enough to count"
    direction = phrase.direction(decided.change)
    return f"{subject} {phrase.verb} enough {direction} {phrase.object} to count as a change"


def _because(case: CaseResult, answer: CaseAnswer) -> str:
    if answer.answer == "memory":
        grown = ranked(case, ALLOCATION)
        return f", as {plain(grown[0].text, LONGEST_REASON).removesuffix('.')}" if grown else ""
    reasons = ranked(case, "culprit")
    written = _reason(reasons[0]) if reasons else None
    if written is None or not _is_explained(case, answer, reasons[0]):
        return ""
    share = reasons[0].share_of_change
    weight = "" if share is None or share >= 1 else "mostly " if share >= MOSTLY else "partly "
    return f", {weight}because {written}"


def _is_explained(case: CaseResult, answer: CaseAnswer, culprit: Finding) -> bool:
    """Whether what a culprit changed is enough to be the reason: of a change of time, where the work follows it."""
    if answer.answer == "work":
        return True
    is_counted = culprit.instructions_per_op is not None or culprit.self_instructions_per_op is not None
    if not is_counted and (culprit.cpu_ns_per_op is not None or culprit.self_cpu_ns_per_op is not None):
        return True
    work, decided = _work(case), answer.decided
    if work is None or decided is None:
        return False
    time_change = _cost_change(decided)
    return time_change != 0 and _cost_change(work) / time_change >= EXPLAINED


def _work(case: CaseResult) -> Verdict | None:
    """Return the verdict that the answer on the work rests on."""
    return next((answer.decided for answer in answers(case) if answer.answer == "work"), None)


def _cost_change(verdict: Verdict) -> float:
    """Return a change of what requests cost: positive where they cost more, whichever way the metric counts."""
    metric = METRICS.get(verdict.metric)
    if metric is None or metric.less_is_better:
        return verdict.change
    return -verdict.change / (1 + verdict.change) if verdict.change > -1 else math.inf


def _work_beside_time(case: CaseResult, leading: CaseAnswer, other: CaseAnswer) -> str | None:
    """Write a change of work that does not explain that of time, and the function that most of it is in.

    None where there is no such change, or no words for it.
    """
    reasons, work = ranked(case, "culprit"), other.decided
    is_beside = other.answer == "work" and other.word in CHANGED and leading.word in CHANGED
    if not is_beside or work is None or leading.decided is None or not reasons:
        return None
    if _is_explained(case, leading, reasons[0]):
        return None
    phrase, [main, *_] = phrase_of(work.metric), reasons
    if phrase is None:
        return None
    direction = phrase.direction(work.change)
    share, is_together = main.share_of_change, _cost_change(work) * _cost_change(leading.decided) > 0
    where = f", mostly in {_code(main.function)}" if main.function and share is not None and share >= MOSTLY else ""
    begin = "It also" if is_together else "But it"
    return f"{begin} {phrase.verb} {percent(round(abs(work.change), 3))} {direction} {phrase.object}{where}."


def _reason(finding: Finding) -> str | None:
    """Return a culprit as a clause: `createStreamIDString` is called 2 times per request instead of 1."""
    if finding.function is None:
        return None
    name = _code(finding.function)
    if finding.replaces is not None:
        return f"{name} is called instead of {_code(finding.replaces)}"
    if finding.parts and finding.parts[0].function != finding.function:
        instead = _instead(finding.instructions_per_op)
        return f"{name} and what it calls execute {instead}" if instead else f"the cost of {name} has changed"
    calls, own = finding.calls_per_op, _instead(finding.self_instructions_per_op)
    called = None if calls is None else _called(calls)
    if called is not None:
        return f"{name} is {called}"
    return f"{name} itself executes {own}" if own is not None else f"the cost of {name} has changed"


def _called(calls: PerSide) -> str | None:
    """Return how much more or less often a function is called; none where it is called as often."""
    if calls.base is None and calls.head is not None:
        return f"called now, {_times(calls.head)} per request"
    if calls.base is not None and calls.head is None:
        return "not called any more"
    if calls.base and calls.head and abs(calls.head / calls.base - 1) > SMALLEST_CALLS:
        return f"called {_times(calls.head)} per request instead of {_times(calls.base)}"
    return None


def _instead(instructions: PerSide | None) -> str | None:
    if instructions is None or instructions.base is None or instructions.head is None:
        return None
    if instructions.base == instructions.head:
        return None
    return f"{count(instructions.head)} instructions per request instead of {count(instructions.base)}"


def _code(function: str) -> str:
    return f"`{plain(function, LONGEST_REASON).replace('`', '')}`"


def _times(calls: float) -> str:
    return "once" if calls == 1 else "twice" if calls == 2 else f"{count(calls)} times"


def _sureness(case: CaseResult, answer: CaseAnswer) -> list[str]:
    """Return what the answer rests on, and what it leaves open."""
    decided = answer.decided
    if answer.word == "unsure" and decided is not None:
        return [_open(decided)]
    if answer.word not in CHANGED or decided is None:
        return []
    chance = "" if decided.q is None else f"By chance alone a change this large appears {_odds(decided.q)}."
    if answer.answer == "memory":
        return [chance]
    if answer.answer == "work" or not case.confirmed:
        return [chance, *_caution(case)]
    starts = f"Each server was started {decided.samples} times, with its code at other places in memory each time"
    return [chance, f"{starts}, so that the change does not come from where the code lies."]


def _caution(case: CaseResult) -> list[str]:
    """Return why a change is not confirmed, and that it is not where only its work was counted."""
    match unconfirmed(case):
        case "work" if case.time is None:
            return ["This is what the code does, counted exactly; whether its users notice it was not timed."]
        case "work":
            return ["It is counted alone: timing does not confirm it."]
        case "time":
            return [
                "It is not confirmed: all starts had their code at the same place in memory, which alone can make a"
                " command some percent faster or slower."
            ]
    return []


def _open(decided: Verdict) -> str:
    """Return why an answer is unsure."""
    slow = None if decided.wild_starts is None else _slow_starts(decided, decided.wild_starts)
    if slow is not None:
        return slow
    if decided.verdict != "unsure":
        return "It is left open, as other figures speak against it."
    if not math.isfinite(decided.detectable):
        return "Its figures are too few to decide."
    able = f"a change of {percent(decided.detectable)} or more would have been detected"
    return f"With {decided.samples} starts of each server, {able}."


def _slow_starts(decided: Verdict, wild: WildStarts) -> str | None:
    """Return why starts that lie far from the others leave time open; none where they do not."""
    if wild.reason is None:
        return None
    number = wild.base + wild.head
    if not number:
        return "In most other cases one server took far longer in some starts, which may be so here too."
    sides = "the head" if not wild.base else "the base" if not wild.head else "one server"
    return f"In {number} of {decided.samples} starts {sides} took far longer than in the others: its average is open."


def _odds(q: float) -> str:
    """Return an adjusted p in words, which bounds how often a change is reported where there is none."""
    if q <= 0:
        return "practically never"
    times = 1 / q
    if times >= 1_000_000:
        return "less than once in a million comparisons"
    digits = 10 ** max(0, math.floor(math.log10(times)) - 1)
    return f"less than once in {math.floor(times / digits) * digits:,.0f} comparisons like this"


def _other(answer: CaseAnswer) -> str:
    """Return the answer that the verdict does not rest on."""
    noun = NOUNS[answer.answer]
    if answer.word == "identical" and answer.answer == "memory":
        return f"{noun}, is identical: both sides take the same bytes."
    if answer.word == "identical":
        return f"{noun}, is identical: both sides execute the same instructions."
    decided = answer.decided
    if decided is not None and answer.has_open_tail:
        return f"{noun}, is {open_tail(decided)}."
    if decided is None:
        return f"{noun}, is {SAID.get(answer.word, answer.word)}."
    change = f"{_signed(decided.change)} ({_span(decided, is_signed=True)})"
    return f"{noun}, is {SAID.get(answer.word, answer.word)}: {metric_label(decided.metric)} {change}."


def _invalid(case: CaseResult) -> str:
    subject, failed = _subject(case), case.validity.failed
    sides = "on both sides" if len(case.failed_sides) > 1 else "".join(f"on the {side}" for side in case.failed_sides)
    if case.failure is not None:
        happened = case.failure.partition("\n")[0]
        for side in case.failed_sides[:1]:
            # The sentence names the side before the message does.
            happened = happened.removeprefix(f"{side}: ")
        message = plain(happened, LONGEST_REASON)
        return f"{subject} could not be measured{' ' + sides if sides else ''}: {message}"
    checks = plain("; ".join(failed_check(check.check, check.value, check.limit) for check in failed), LONGEST_REASON)
    where = failed_on(case)
    reason = "" if not checks else f": {checks}" if where is None else f", as {where} {checks}"
    return f"{subject} was measured, but its figures cannot be used{reason}. It has no verdict."


def _signed(fraction: float) -> str:
    return f"{fraction * 100:+.{_decimals(fraction)}f} %" if math.isfinite(fraction) else "an unknown amount"


def _span(decided: Verdict, *, is_signed: bool) -> str:
    """Return the bounds of a change; without a sign, if both have the one of the change, the smaller first."""
    low, high = decided.low, decided.high
    if not (math.isfinite(low) and math.isfinite(high)):
        return "bounds unknown"
    decimals = _decimals(max(abs(low), abs(high)))
    if is_signed or low * high <= 0:
        return f"{low * 100:+.{decimals}f} to {high * 100:+.{decimals}f} %"
    smaller, larger = sorted((abs(low), abs(high)))
    return f"{smaller * 100:.{decimals}f} to {larger * 100:.{decimals}f} %"


def _decimals(fraction: float) -> int:
    return 1 if fraction == 0 or abs(fraction) >= 0.00995 else 2


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
