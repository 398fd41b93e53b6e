"""The answer on work where counted figures of a case speak against each other, and the sentence on it."""

import math
from dataclasses import replace
from typing import Any, cast

import pytest
from made_records import a_verdict

from zerolap.build import BuiltServer
from zerolap.cases import core_suite
from zerolap.documents.case_trials import CaseResults, Trials
from zerolap.explain import explain_opposed_work
from zerolap.judge import case_answers
from zerolap.lab.reasons import Explainer
from zerolap.records import METRICS, Finding, TimeWord, Validity, Verdict, VerdictWord
from zerolap.store import Blobs

INSTRUCTIONS, ALONE, TICK = "instructions_per_op", "instructions_alone_per_op", "instructions_per_tick"
SYSCALLS, ALLOCATIONS, CLOCK = "syscalls_per_op", "allocations_per_op", "clock_readings_per_op"
MIN_EFFECT = 0.005
WIDTH = 0.004


def counted(metric: str, base: float, head: float, width: float = WIDTH, word: VerdictWord | None = None) -> Verdict:
    """A verdict on a count that changed, by its interval; its change is relative to rare events where it was 0."""
    unit = base or 0.001
    change = (head - base) / unit
    low, high = change - width, change + width
    if word is None:
        is_changed = low * high > 0 and abs(change) > MIN_EFFECT
        word = ("regression" if change > 0 else "improvement") if is_changed else "same"
    figures = {"base": base, "head": head, "change": change, "low": low, "high": high, "detectable": width}
    return a_verdict(word, metric, q=0.0001, min_effect=MIN_EFFECT, **figures)


FEWER, MORE = counted(INSTRUCTIONS, 3419, 3351), counted(INSTRUCTIONS, 3419, 3487)
EQUAL = counted(INSTRUCTIONS, 3419, 3420)

MIXED = {
    "work that moved to the timers": ([FEWER, counted(TICK, 56_000, 560_000)], "unsure", TICK),
    "requests that come alone lose more": (
        [counted(INSTRUCTIONS, 3419, 3385), counted(ALONE, 4748, 7122)],
        "regression",
        ALONE,
    ),
    "requests that come alone lose less": (
        [counted(INSTRUCTIONS, 3419, 3000), counted(ALONE, 4748, 4800)],
        "unsure",
        ALONE,
    ),
    "twice the allocations, four times the clock readings": (
        [counted(INSTRUCTIONS, 3419, 3385), counted(ALLOCATIONS, 3.06, 6.12), counted(CLOCK, 2.19, 8.76)],
        "unsure",
        CLOCK,
    ),
    "an allocation more, and much less work": (
        [counted(INSTRUCTIONS, 3419, 2700), counted(ALLOCATIONS, 3, 4)],
        "improvement",
        INSTRUCTIONS,
    ),
    "few system calls less, many instructions more": (
        [
            counted(INSTRUCTIONS, 3489, 3873, 0.033),
            counted(ALLOCATIONS, 4.06, 4, 0.01, "improvement"),
            counted(SYSCALLS, 0.25, 0.1875, 0.01),
            counted(ALONE, 4700, 5828),
        ],
        "regression",
        INSTRUCTIONS,
    ),
    "what cancels in pipelines, and requests alone lose": (
        [
            counted(INSTRUCTIONS, 3462, 3724, 0.037),
            counted(ALLOCATIONS, 4.06, 4, 0.001),
            counted(SYSCALLS, 0.25, 0.1875, 0.001),
            counted(CLOCK, 2.25, 2.7),
            counted(ALONE, 4687, 5693, 0.04),
        ],
        "regression",
        ALONE,
    ),
    "few system calls more, many instructions less": (
        [counted(INSTRUCTIONS, 3873, 3489, 0.033), counted(SYSCALLS, 0.1875, 0.25, 0.01)],
        "improvement",
        INSTRUCTIONS,
    ),
    "a system call less, few instructions more": ([MORE, counted(SYSCALLS, 1.0, 0.0)], "improvement", SYSCALLS),
    "a system call more, few instructions less": ([FEWER, counted(SYSCALLS, 0.0, 1.0)], "regression", SYSCALLS),
    "a system call less, and requests alone lose": (
        [MORE, counted(SYSCALLS, 1.0, 0.0), counted(ALONE, 4748, 12_000)],
        "regression",
        ALONE,
    ),
    "what weighs as much": ([FEWER, counted(SYSCALLS, 0.25, 0.273)], "unsure", SYSCALLS),
    "other counts beside equal instructions": (
        [EQUAL, counted(ALLOCATIONS, 4, 3), counted(ALONE, 4748, 5700)],
        "regression",
        ALONE,
    ),
    "requests alone against timers": (
        [EQUAL, counted(ALONE, 4748, 3800), counted(TICK, 56_000, 560_000)],
        "unsure",
        TICK,
    ),
    "more for each request, less for the timers": ([MORE, counted(TICK, 560_000, 56_000)], "regression", INSTRUCTIONS),
}


@pytest.mark.parametrize(("verdicts", "work", "metric"), MIXED.values(), ids=MIXED)
def test_figures_that_speak_against_each_other(verdicts: list[Verdict], work: str, metric: str) -> None:
    for ordered in (verdicts, verdicts[::-1]):
        answers = case_answers(ordered, Validity.of([]))
        assert (answers.work, answers.work_deciding, answers.verdict) == (work, metric, work)


@pytest.mark.parametrize(
    ("verdicts", "work"),
    [
        # Some readings of a clock more or less, of which there are three, are worth no change of instructions.
        ([EQUAL, counted(CLOCK, 3.07, 3.07, 0.014, "unsure")], "same"),
        ([EQUAL, counted(ALLOCATIONS, 2.0, 2.0, 0.02, "unsure")], "same"),
        ([EQUAL, counted(CLOCK, 3.07, 3.07, 0.3, "unsure")], "unsure"),
        ([EQUAL, counted(CLOCK, 3.07, 3.07, math.inf, "unsure")], "unsure"),
        ([EQUAL, counted(ALONE, 4748, 4748, 0.03, "unsure")], "unsure"),
        ([EQUAL, counted(TICK, 56_000, 56_000, 3.0, "unsure")], "unsure"),
        ([counted(INSTRUCTIONS, 3419, 3419, 0.02, "unsure"), counted(ALONE, 4748, 5700)], "regression"),
    ],
)
def test_what_is_undecided_decides_only_where_it_matters(verdicts: list[Verdict], work: str) -> None:
    assert case_answers(verdicts, Validity.of([])).work == work


def test_what_is_unsure_has_its_sentence() -> None:
    opposed = [verdicts for verdicts, work, _ in MIXED.values() if work == "unsure"]
    assert len(opposed) == 5
    for verdicts in opposed:
        finding = explain_opposed_work(verdicts)
        assert finding is not None
        for verdict in verdicts:
            assert (f"{METRICS[verdict.metric].label} (" in finding.text) == (verdict.verdict != "same")
    of_timers = explain_opposed_work(MIXED["work that moved to the timers"][0])
    assert of_timers is not None
    assert "56,000 → 560,000, +900.0%" in of_timers.text
    assert explain_opposed_work([FEWER]) is None
    assert explain_opposed_work([MORE, counted(ALLOCATIONS, 4, 5)]) is None


class Labelled(Explainer):
    """Gives what the change of a count, or of time, is explained by as a label."""

    def _explain_work(self, trials: Trials, metric: str) -> list[Finding]:
        return [Finding(kind="culprit", rank=0, text=metric)]

    def _explain_times(self, times: object, timed: object) -> list[Finding]:
        return [Finding(kind="culprit", rank=0, text="time")]


@pytest.mark.parametrize("time", ["regression", "improvement", "same", None])
def test_what_stays_unsure_has_the_reasons_of_the_count_that_lost_whatever_time_did(time: TimeWord | None) -> None:
    verdicts = [counted(INSTRUCTIONS, 3489.0, 3754.0, 0.0375), counted(SYSCALLS, 0.25, 0.1875)]
    answers = replace(case_answers(verdicts, Validity.of([])), time=time)
    assert (answers.work, answers.work_deciding) == ("unsure", INSTRUCTIONS)
    case = core_suite()[0]
    trials = Trials(case, {})
    measured = CaseResults(case, None, trials, None, None, {})
    explainer = Labelled(cast("BuiltServer", None), cast("BuiltServer", None), cast("Any", ()), cast("Blobs", None))
    first, *_ = explainer.findings(answers, verdicts, measured)
    assert first.text == INSTRUCTIONS
