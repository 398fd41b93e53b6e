"""The rules of statistics behind verdicts, on simulated data: each of these tests fails where its rule is not kept."""

import itertools
import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import pytest

from zerolap.judge import (
    COUNTED_LOOKS,
    EQUIVALENCE_LEVEL,
    LOOKS,
    MIN_BLOCKS,
    Q,
    TimedPair,
    UnadjustedVerdict,
    adjusted,
    judge_blocks,
    judge_timed,
    share_of_look,
    wants_more_starts,
)
from zerolap.judge.look_levels import PartOfError
from zerolap.judge.verdict_rule import Change, Look
from zerolap.records import METRICS, Measurement, Validity, Verdict, VerdictWord

INSTRUCTIONS, CPU = "instructions_per_op", "cpu_ns_per_op"
VerdictOn: TypeAlias = Callable[[Sequence[float], float], Verdict]
CHANGED = ("regression", "improvement")
VALID = Validity.of([])


def judged_counts(ratios: Sequence[float], min_effect: float = 0.0) -> UnadjustedVerdict:
    """Return what is concluded on blocks whose log ratios are given."""
    base = [Measurement(metrics={INSTRUCTIONS: 1000.0}, validity=VALID)] * len(ratios)
    head = [Measurement(metrics={INSTRUCTIONS: 1000 * math.exp(ratio)}, validity=VALID) for ratio in ratios]
    judged = judge_blocks(METRICS[INSTRUCTIONS], base, head, min_effect)
    assert judged is not None
    return judged


def counted(ratios: Sequence[float], min_effect: float) -> Verdict:
    """Return the verdict on blocks whose log ratios are given."""
    return judged_counts(ratios, min_effect).verdict


def starts(ratios: Sequence[float]) -> list[TimedPair]:
    """Return starts whose log ratios are given."""
    return [
        TimedPair(slices=1, changes={CPU: ratio}, centres={CPU: 2 * math.log(1000)}, rates={}, reads={}, cycles={})
        for ratio in ratios
    ]


def judged_starts(ratios: Sequence[float], min_effect: float = 0.0) -> UnadjustedVerdict:
    """Return what is concluded on starts whose log ratios are given."""
    return judge_timed(CPU, {"case": starts(ratios)}, min_effect)["case"]


def timed(ratios: Sequence[float], min_effect: float) -> Verdict:
    """Return the verdict on starts whose log ratios are given."""
    return judged_starts(ratios, min_effect).verdict


ENGINES = pytest.mark.parametrize(
    ("verdict_on", "looks"), [(counted, COUNTED_LOOKS), (timed, LOOKS)], ids=["counted", "timed"]
)


# A regression


@pytest.mark.parametrize(
    ("change", "low", "high", "word"),
    [
        # The interval lies beyond 0 and the estimate beyond the minimum effect; the interval may reach into it.
        (0.021, 0.001, 0.041, "regression"),
        (-0.021, -0.041, -0.001, "improvement"),
        (0.019, 0.010, 0.028, "unsure"),
        (0.030, -0.001, 0.061, "unsure"),
        (0.010, 0.001, 0.019, "same"),
    ],
)
def test_a_regression_is_beyond_0_and_its_estimate_beyond_the_minimum_effect(
    change: float, low: float, high: float, word: str
) -> None:
    def change_at(confidence: float) -> Change:
        return Change(change, low, high, detectable=0.01, p=0.001)

    assert Look(METRICS[CPU], change_at, PartOfError(0.3), 0.02, Q).judged()[0] == word


# Looks


@ENGINES
def test_looking_repeatedly_raises_no_more_false_alarms(verdict_on: VerdictOn, looks: Sequence[int]) -> None:
    """Uncorrected, over 2 % of comparisons without a change have one at some look."""
    chance = random.Random(11)
    comparisons = 1500
    alarms = 0
    for _ in range(comparisons):
        ratios = [chance.gauss(0, 0.01) for _ in range(looks[-1])]
        alarms += any(verdict_on(ratios[:count], 0.0).verdict in CHANGED for count in looks)
    assert alarms <= 1.3 * Q * comparisons


@ENGINES
def test_intervals_hold_the_truth_at_their_level_at_all_looks_together(
    verdict_on: VerdictOn, looks: Sequence[int]
) -> None:
    chance = random.Random(12)
    comparisons, truth = 1500, 0.03
    missed = 0
    for _ in range(comparisons):
        ratios = [chance.gauss(math.log1p(truth), 0.01) for _ in range(looks[-1])]
        verdicts = [verdict_on(ratios[:count], 0.02) for count in looks]
        missed += any(not one.low <= truth <= one.high for one in verdicts)
    assert missed <= 1.3 * Q * comparisons


@pytest.mark.parametrize("looks", [COUNTED_LOOKS, LOOKS])
def test_of_the_error_the_power_three_halves_of_what_was_measured_is_spent(looks: Sequence[int]) -> None:
    spent = list(itertools.accumulate(share_of_look(looks, samples) for samples in looks))
    assert spent == pytest.approx([(samples / looks[-1]) ** 1.5 for samples in looks])
    # Where a budget ended between two looks, the part of the one that was to come is left.
    assert share_of_look(looks, 2) == share_of_look(looks, looks[0])
    assert share_of_look((6, 12), 7) == share_of_look((6, 12), 12)


@ENGINES
def test_the_p_of_a_look_is_below_q_where_its_interval_leaves_0_out(
    verdict_on: VerdictOn, looks: Sequence[int]
) -> None:
    """The change has the p of the whole error: at that of the look's share, the interval ends at 0."""
    judge = {counted: judged_counts, timed: judged_starts}[verdict_on]
    for samples in looks:
        scatter = [0.01 * (-1) ** number for number in range(samples)]
        centred = [one - sum(scatter) / samples for one in scatter]
        within = verdict_on(centred, 0.0)
        to_0 = math.log1p(within.high)
        beyond, short = (judge([one + to_0 * factor for one in centred]) for factor in (1.001, 0.999))
        assert beyond.verdict.low > 0 > short.verdict.low
        assert beyond.p < Q < short.p


def test_counts_that_repeat_to_a_tenth_of_a_percent_have_an_interval_of_a_few_tenths() -> None:
    """Log ratios of instructions in blocks of the demo; with three blocks and equal parts it was +-1.8 %."""
    verdict = counted([0.09783, 0.09798, 0.09586, 0.09572, 0.09749][:MIN_BLOCKS], 0.005)
    assert verdict.verdict == "regression"
    assert verdict.high - verdict.low < 0.007


def test_most_noisy_cases_without_a_change_are_called_the_same_in_the_end() -> None:
    """Starts differ by 3 %: 80 % of such cases are with equal parts of the error."""
    chance = random.Random(15)
    comparisons, number_of_cases = 60, 12
    same = 0
    for _ in range(comparisons):
        # A case's own spread is near that of the others, and not the same.
        spreads = [0.03 * math.exp(chance.gauss(0, 0.25)) for _ in range(number_of_cases)]
        ratios = [[chance.gauss(0, spread) for _ in range(LOOKS[-1])] for spread in spreads]
        decided = set()
        for count in LOOKS:
            verdicts = judge_timed(CPU, {str(case): starts(own[:count]) for case, own in enumerate(ratios)}, 0.02)
            decided |= {case for case, judged in verdicts.items() if judged.verdict.verdict == "same"}
        same += len(decided)
    assert same / (comparisons * number_of_cases) > 0.84


# Equivalence


@ENGINES
def test_a_change_of_the_minimum_effect_is_called_the_same_at_the_level_of_equivalence(
    verdict_on: VerdictOn, looks: Sequence[int]
) -> None:
    chance = random.Random(13)
    comparisons, min_effect = 1500, 0.02
    called = 0
    for _ in range(comparisons):
        ratios = [chance.gauss(math.log1p(min_effect), 0.005) for _ in range(looks[-1])]
        called += any(verdict_on(ratios[:count], min_effect).verdict == "same" for count in looks)
    assert 0.2 * EQUIVALENCE_LEVEL * comparisons <= called <= 1.1 * EQUIVALENCE_LEVEL * comparisons


@pytest.mark.parametrize(
    ("verdict", "min_effect"),
    [(counted([0.0033, -0.0033] * 4, 0.005), 0.005), (timed([0.009, -0.009] * 3, 0.02), 0.02)],
    ids=["counted", "timed"],
)
def test_all_engines_call_a_metric_the_same_by_the_test_of_equivalence(verdict: Verdict, min_effect: float) -> None:
    """The interval, whose level is that of a change, need not lie within the minimum effect."""
    assert verdict.verdict == "same"
    assert verdict.low < -min_effect < min_effect < verdict.high


def rare(head: Sequence[float]) -> VerdictWord:
    base = [Measurement(metrics={"syscalls_per_op": 0.0}, validity=VALID)] * len(head)
    others = [Measurement(metrics={"syscalls_per_op": value}, validity=VALID) for value in head]
    judged = judge_blocks(METRICS["syscalls_per_op"], base, others, 0.005)
    assert judged is not None
    return judged.verdict.verdict


def test_rare_events_are_the_same_by_the_test_of_equivalence_and_not_by_their_mean() -> None:
    assert rare([0.0, 0.002, 0.001]) == "same"
    # Their mean is less than what matters, but that of the next block may not be.
    assert rare([0.0, 0.02, 0.0]) == "unsure"
    assert rare([0.02, 0.02, 0.02]) == "regression"


# What is detectable


@pytest.mark.parametrize("starts", [LOOKS[0], pytest.param(LOOKS[-1], marks=pytest.mark.slow)])
def test_what_is_detectable_is_detected_in_about_nine_of_ten_comparisons(starts: int) -> None:
    """Of one case among twelve, by the whole rule: interval, minimum effect and the adjustment for all cases.

    Six starts are few: some vary so much by chance that they are judged alone, which detects less.
    """
    chance = random.Random(starts)

    def comparison(change: float) -> Verdict:
        cases = {
            f"case-{number}": [
                TimedPair(1, {CPU: chance.gauss(change if number == 0 else 0.0, 0.02)}, {CPU: 0.0}, {}, {}, {})
                for _ in range(starts)
            ]
            for number in range(12)
        }
        judged = judge_timed(CPU, cases, 0.02)
        return adjusted([[one] for one in judged.values()])[0][0]

    detectable = sum(comparison(0.0).detectable for _ in range(20)) / 20
    detected = sum(comparison(math.log1p(detectable)).verdict == "regression" for _ in range(400)) / 400
    assert 0.75 <= detected <= 0.97


CASES, METRICS_OF_A_CASE = 12, 10
FEWEST_FOUND = 0.8


def looked_at(change: float, sd: float, chance: random.Random) -> Verdict:
    """Return the verdict on the first of twelve cases, at the look that decides it or at the last one.

    It alone changed, in one of its metrics: what is detectable is stated for that.
    """
    ratios = [
        [chance.gauss(math.log1p(change) if case == 0 else 0.0, sd) for _ in range(LOOKS[-1])] for case in range(CASES)
    ]
    for at in LOOKS:
        found = judge_timed(CPU, {str(case): starts(of_case[:at]) for case, of_case in enumerate(ratios)}, 0.02)
        if not wants_more_starts(found["0"], at, CASES * METRICS_OF_A_CASE):
            break
    families = [[one, *[replace(one, p=1.0)] * (METRICS_OF_A_CASE - 1)] for one in found.values()]
    return adjusted(families)[0][0]


@pytest.mark.parametrize(
    "sd", [0.01, pytest.param(0.03, marks=pytest.mark.slow), pytest.param(0.04, marks=pytest.mark.slow)]
)
def test_a_change_as_large_as_the_printed_detectable_is_found_and_one_of_half_its_size_is_not(sd: float) -> None:
    """As users read it: a comparison that found no change prints it, and a later one has a change of that size."""
    chance = random.Random(24)
    printed = statistics.median(looked_at(0.0, sd, chance).detectable for _ in range(20))

    def found(change: float) -> float:
        return sum(looked_at(change, sd, chance).verdict == "regression" for _ in range(200)) / 200

    assert found(printed) >= FEWEST_FOUND
    assert found(printed / 2) < FEWEST_FOUND / 2


# Cases, then metrics


def judged(word: VerdictWord, p: float) -> UnadjustedVerdict:
    verdict = counted([0.1] * 3, 0.005).model_copy(update={"verdict": word})
    return UnadjustedVerdict(verdict, p, lambda _: verdict.detectable, lambda _: (verdict.low, verdict.high))


def words(cases: Sequence[Sequence[UnadjustedVerdict]]) -> list[list[str]]:
    return [[verdict.verdict for verdict in verdicts] for verdicts in adjusted(cases)]


def test_a_change_is_not_lost_to_the_metrics_of_other_cases() -> None:
    """Over all metrics at once it would be one of 100, and its q 8 times as large."""
    changed = [judged("regression", Q / 12)]
    others = [[judged("same", 0.5)] * 9 for _ in range(11)]
    assert words([changed, *others])[0] == ["regression"]


def test_a_case_that_changed_in_all_metrics_does_not_let_others_through() -> None:
    """Over all metrics at once its 8 changes would make room for a false one elsewhere."""
    large = [judged("regression", 0.0)] * 8
    weak = [judged("regression", Q * 8 / 19)]
    others = [[judged("same", 0.5)] for _ in range(10)]
    assert words([large, weak, *others])[:2] == [["regression"] * 8, ["unsure"]]


def test_within_a_case_metrics_are_held_against_the_share_of_cases_that_changed() -> None:
    alone = [judged("regression", 0.0), judged("regression", Q / 3)]
    unchanged = [[judged("same", 0.5)] * 2 for _ in range(5)]
    assert words([alone, *unchanged])[0] == ["regression", "unsure"]
    assert words([alone])[0] == ["regression", "regression"]
    assert words([alone] * 6)[0] == ["regression", "regression"]


@pytest.mark.slow
def test_the_share_of_false_changes_is_kept_on_the_average_over_the_selected_cases() -> None:
    """A quarter of the cases change, in half of their metrics."""
    chance = random.Random(14)
    shares = []
    for _ in range(1500):
        cases = [
            [judged("regression", 1e-7 if number < 3 and metric < 3 else chance.random()) for metric in range(6)]
            for number in range(12)
        ]
        concluded = words(cases)
        selected = [
            sum(word == "regression" and not (number < 3 and metric < 3) for metric, word in enumerate(found))
            / found.count("regression")
            for number, found in enumerate(concluded)
            if "regression" in found
        ]
        shares.append(sum(selected) / len(selected))
        assert all(found[:3] == ["regression"] * 3 for found in concluded[:3])
    assert 0 < sum(shares) / len(shares) <= 1.2 * Q


def test_q_grows_with_p_within_a_case() -> None:
    values = [Q / 100, Q / 20, Q / 2, 0.2, 0.9]
    [verdicts, _] = adjusted([[judged("regression", p) for p in values], [judged("unsure", 0.7)]])
    found = [verdict.q for verdict in verdicts if verdict.q is not None]
    assert all(small <= large for small, large in itertools.pairwise(found))
    assert all(p <= q <= 1 for p, q in zip(values, found, strict=True))
