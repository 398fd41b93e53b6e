"""Verdicts from made-up timed starts: what starts say, what the bank adds, and when another look is worth it."""

import math
import random

import pytest

from zerolap.explain import explain_cause
from zerolap.judge import (
    LOOKS,
    TimedPair,
    case_answers,
    judge_timed,
    next_look,
    spread_of_starts,
    wants_more_starts,
)
from zerolap.records import METRICS, SliceRecord, Spread, Timeline, Validity, Verdict, VerdictWord

METRIC = "cpu_ns_per_op"
VALID = Validity(valid=True, checks=[])


def timeline(values: list[float], metric: str = METRIC) -> Timeline:
    slices = [
        SliceRecord(
            requests=1000,
            seconds=0.02,
            client_busy=0.3,
            server_busy=0.95,
            requests_per_read=16.0,
            requests_per_cycle=None,
            metrics={metric: value},
        )
        for value in values
    ]
    return Timeline(slices=slices, histogram_ns=[])


def starts(change: float, count: int, seed: int, *, start_sd: float = 0.01, metric: str = METRIC) -> list[TimedPair]:
    """Starts whose head is slower by `change`; each start has its own shift, slices scatter, some are disturbed."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        shift = math.exp(chance.gauss(0, start_sd))
        base = [1000 * math.exp(chance.gauss(0, 0.02)) for _ in range(24)]
        head = [one * (1 + change) * shift * math.exp(chance.gauss(0, 0.02)) for one in base]
        for place in chance.sample(range(24), 4):
            head[place] *= 2
        found.append(TimedPair.of(timeline(base, metric), timeline(head, metric)))
    return found


def same_cases(count: int, seed: int = 100) -> dict[str, list[TimedPair]]:
    return {f"case-{number}": starts(0.0, 6, seed + number) for number in range(count)}


def test_a_change_beyond_the_smallest_effect_is_found_and_others_are_not() -> None:
    judged = judge_timed(METRIC, {**same_cases(11), "slow": starts(0.08, 6, 7)}, 0.02)
    words = {name: one.verdict.verdict for name, one in judged.items()}
    assert words.pop("slow") == "regression"
    assert set(words.values()) <= {"same", "unsure"}
    slow = judged["slow"].verdict
    assert slow.low < 0.08 < slow.high
    assert (slow.samples, slow.pairs) == (6, 144)


def test_of_throughput_less_is_worse() -> None:
    cases = {f"case-{number}": starts(-0.08, 6, number, metric="ops_per_sec") for number in range(6)}
    judged = judge_timed("ops_per_sec", cases, 0.02)
    assert {one.verdict.verdict for one in judged.values()} == {"regression"}


def test_disturbed_slices_do_not_move_a_start() -> None:
    assert spread_of_starts(METRIC, starts(0.0, 6, 3, start_sd=0.0)).variance < 0.01**2  # type: ignore[union-attr]


def test_the_bank_lets_a_single_case_speak() -> None:
    cases = {"slow": starts(0.04, 4, 11, start_sd=0.006)}
    bank = [Spread(variance=(0.005 + 0.0005 * number) ** 2, degrees=5.0) for number in range(12)]
    alone, helped = judge_timed(METRIC, cases, 0.02)["slow"], judge_timed(METRIC, cases, 0.02, bank)["slow"]
    assert helped.verdict.high - helped.verdict.low < alone.verdict.high - alone.verdict.low
    assert helped.verdict.verdict == "regression"


def test_a_metric_that_a_slice_lacks_has_no_verdict() -> None:
    assert judge_timed("usec_per_call", same_cases(3), 0.02) == {}


def test_looks_end() -> None:
    assert [next_look(count) for count in (0, LOOKS[0], LOOKS[-1])] == [LOOKS[0], LOOKS[1], None]
    unsure = judge_timed(METRIC, {**same_cases(4), "noisy": starts(0.01, 6, 5, start_sd=0.1)}, 0.02)["noisy"]
    assert unsure.verdict.verdict == "unsure"
    assert wants_more_starts(unsure, LOOKS[0], 5)
    assert not wants_more_starts(unsure, LOOKS[-1], 5)


def verdict(metric: str, word: VerdictWord, change: float) -> Verdict:
    return Verdict(
        metric=metric,
        engine=METRICS[metric].engine,
        verdict=word,
        base=100.0,
        head=100.0 * (1 + change),
        change=change,
        low=change - 0.01,
        high=change + 0.01,
        q=None,
        samples=6,
        pairs=6,
        min_effect=0.02,
        detectable=0.01,
    )


def both(work: VerdictWord, time: VerdictWord, work_change: float = 0.1, time_change: float = 0.1) -> list[Verdict]:
    return [verdict("instructions_per_op", work, work_change), verdict(METRIC, time, time_change)]


@pytest.mark.parametrize(
    ("work", "time", "case", "confirmed"),
    [
        ("regression", "regression", "regression", True),
        ("regression", "unsure", "unsure", False),
        ("regression", "same", "same", False),
        ("same", "regression", "regression", True),
        ("same", "unsure", "unsure", False),
        ("improvement", "regression", "regression", True),
        ("identical", "regression", "regression", True),
        # Of identical code a few starts that decide nothing say nothing.
        ("identical", "unsure", "same", False),
    ],
)
def test_the_verdict_is_time_where_it_was_asked_for(
    work: VerdictWord, time: VerdictWord, case: str, confirmed: bool
) -> None:
    answers = case_answers(both(work, time), VALID, time_asked=True)
    assert (answers.work, answers.time) == (work, time)
    assert (answers.verdict, answers.confirmed) == (case, confirmed)
    is_of_work = work == "identical" and time == "unsure"
    assert answers.deciding == (answers.work_deciding if is_of_work else answers.time_deciding)


def test_time_that_was_asked_for_and_not_measured_is_never_the_same() -> None:
    for word in ("same", "regression"):
        [work, _] = both(word, "same")
        answers = case_answers([work], VALID, time_asked=True)
        assert (answers.work, answers.time, answers.verdict, answers.deciding) == (word, "unsure", "unsure", None)
    [work, _] = both("identical", "same")
    answers = case_answers([work], VALID, time_asked=True)
    assert (answers.work, answers.time, answers.verdict) == ("identical", None, "same")


@pytest.mark.parametrize(
    ("time", "metric", "change", "answer", "cause"),
    [
        ("same", "ops_per_sec", -0.1, "regression", "it waits more"),
        ("unsure", "ops_per_sec", -0.12, "regression", None),
        ("unsure", "ops_per_sec", 0.12, "improvement", None),
        # Not beyond doubt: the interval reaches into the minimum effect.
        ("same", "ops_per_sec", -0.025, "same", None),
        ("unsure", "ops_per_sec", -0.025, "unsure", None),
        ("same", "latency_p99_us", 0.4, "regression", None),
        ("same", "latency_p50_us", 0.4, "regression", None),
        # It is part of the CPU time, and stands beside it.
        ("same", "usec_per_call", 0.4, "same", None),
        ("regression", "ops_per_sec", -0.1, "regression", "the same work runs slower"),
        # A regression is not hidden by a gain.
        ("regression", "ops_per_sec", 0.5, "regression", "more is served for more CPU time"),
        ("improvement", "latency_p99_us", 0.4, "regression", None),
    ],
)
def test_what_is_served_cannot_be_hidden_by_cpu_time(
    time: VerdictWord, metric: str, change: float, answer: str, cause: str | None
) -> None:
    grew_is_worse = metric != "ops_per_sec"
    word: VerdictWord = "regression" if (change > 0) == grew_is_worse else "improvement"
    time_change = {"regression": 0.1, "improvement": -0.1}.get(time, 0.0)
    verdicts = [*both("same", time, 0.0, time_change), verdict(metric, word, change)]
    answers = case_answers(verdicts, VALID, time_asked=True)
    assert (answers.time, answers.verdict) == (answer, answer)
    assert answers.work == "same"
    assert answers.deciding == answers.time_deciding
    decided = next(one for one in verdicts if one.metric == answers.deciding)
    assert decided.verdict == answer
    found = explain_cause(verdicts)
    assert cause is None or (found is not None and cause in found.text)


def test_work_in_bursts_shows_in_whole_starts_alone() -> None:
    """A timer that takes long falls into few slices, which the typical slice leaves out."""
    chance = random.Random(5)

    def start_with_bursts() -> TimedPair:
        base = [1000 * math.exp(chance.gauss(0, 0.02)) for _ in range(40)]
        head = [one * math.exp(chance.gauss(0, 0.02)) for one in base]
        for place in chance.sample(range(40), 2):
            head[place] *= 3
        whole = {"whole_cpu_ns_per_op": (sum(base), sum(head))}
        return TimedPair.of(timeline(base), timeline(head), whole)

    cases = {f"case-{number}": [start_with_bursts() for _ in range(6)] for number in range(4)}
    typical = {name: judged.verdict for name, judged in judge_timed(METRIC, cases, 0.02).items()}
    whole = {name: judged.verdict for name, judged in judge_timed("whole_cpu_ns_per_op", cases, 0.02).items()}
    assert {verdict.verdict for verdict in typical.values()} == {"same"}
    assert {verdict.verdict for verdict in whole.values()} == {"regression"}
    finding = explain_cause([typical["case-0"], whole["case-0"].model_copy(update={"q": 1e-6})])
    assert finding is not None
    assert "whole starts" in finding.text
    assert "timers" in finding.text
    assert (
        explain_cause([typical["case-0"], typical["case-0"].model_copy(update={"metric": "whole_cpu_ns_per_op"})])
        is None
    )


def test_time_without_work_points_to_caches_and_locks() -> None:
    finding = explain_cause(both("same", "regression", 0.0))
    assert finding is not None
    assert finding.kind == "cause"
    assert "caches" in finding.text
    assert "locks" in finding.text
    assert "slower" in finding.text


def test_work_without_time_and_time_against_work_are_told() -> None:
    cheap = explain_cause(both("regression", "same", 0.1, 0.0))
    assert cheap is not None
    assert "did not by as much as matters" in cheap.text
    against = explain_cause(both("improvement", "regression", -0.1, 0.1))
    assert against is not None
    assert "less work that runs slower" in against.text


@pytest.mark.parametrize(
    ("work", "time"), [("same", "same"), ("identical", "same"), ("regression", "regression"), ("same", "unsure")]
)
def test_agreement_needs_no_words(work: VerdictWord, time: VerdictWord) -> None:
    assert explain_cause(both(work, time)) is None
