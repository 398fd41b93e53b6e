"""Starts that lie far from the others, on one side or both: what is the same then, what is unsure, what is stated."""

import random
from collections.abc import Mapping, Sequence

import pytest

from zerolap.explain import explain_slow_starts
from zerolap.judge import LOOKS, SnapshotPairs, TimedPair, judge_snapshots, judge_timed, wants_more_starts
from zerolap.judge.lopsided_starts import are_lopsided
from zerolap.judge.wild_starts import BoundedStarts
from zerolap.records import Verdict

METRIC = "cpu_ns_per_op"
SPREAD = 0.012
CASES = 12


def a_start(change: float, metric: str) -> TimedPair:
    return TimedPair(1, {metric: change}, {metric: 0.0}, {}, {}, {})


def judged(
    wild: Mapping[int, Sequence[float]], starts: int = 12, change: float = 0.0, metric: str = METRIC, seed: int = 1
) -> list[Verdict]:
    """The verdicts on cases of so many starts, of which those in `wild` have first starts that are so far off.

    `change` is that of the first case.
    """
    chance = random.Random(seed)
    cases = {}
    for case in range(CASES):
        ratios = [chance.gauss(change if case == 0 else 0.0, SPREAD) for _ in range(starts)]
        for place, distance in enumerate(wild.get(case, ())):
            ratios[place] += distance
        cases[str(case)] = [a_start(ratio, metric) for ratio in ratios]
    return [of_case.verdict for of_case in judge_timed(metric, cases, 0.02).values()]


@pytest.mark.parametrize(("share", "distance", "starts"), [(1, 0.7, 12), (4, 0.7, 36), (2, 1.6, 36), (4, 0.22, 36)])
def test_a_side_that_is_slow_in_some_starts_is_not_the_same(share: int, distance: float, starts: int) -> None:
    for sign, side in ((1, "head"), (-1, "base")):
        first, *others = judged({0: [sign * distance] * share}, starts)
        assert first.verdict == "unsure"
        assert first.wild_starts is not None
        assert (first.wild_starts.reason, getattr(first.wild_starts, side)) == ("mean", share)
        assert first.wild_starts.head + first.wild_starts.base == share
        assert first.wild_starts.mean_change * sign > 0.02 > abs(first.change)
        assert {other.verdict for other in others} == {"same"}


def test_more_starts_are_taken_where_one_is_slow() -> None:
    chance = random.Random(1)
    cases = {str(case): [a_start(chance.gauss(0, 0.008), METRIC) for _ in range(12)] for case in range(CASES)}
    cases["0"][3] = a_start(0.7, METRIC)
    of_cases = judge_timed(METRIC, cases, 0.02)
    assert wants_more_starts(of_cases["0"], 12, CASES)
    assert not wants_more_starts(of_cases["1"], 12, CASES)
    assert not wants_more_starts(of_cases["0"], LOOKS[-1], CASES)


def test_wild_starts_of_both_sides_are_noise() -> None:
    first, *_ = judged({0: [0.12, -0.12, 0.1, -0.11]}, 36)
    assert first.verdict == "same"
    assert first.wild_starts is not None
    assert (first.wild_starts.base, first.wild_starts.head, first.wild_starts.reason) == (2, 2, None)


def test_many_on_one_side_are_no_chance_however_small() -> None:
    first, *_ = judged({0: [0.08] * 6}, 80)
    assert first.wild_starts is not None
    assert abs(first.wild_starts.mean_change) < 0.02
    assert (first.verdict, first.wild_starts.reason) == ("unsure", "sides")


def test_what_most_cases_have_holds_for_the_others() -> None:
    verdicts = judged({case: [0.06] for case in range(7)}, 24)
    assert {verdict.verdict for verdict in verdicts} == {"unsure"}
    last = verdicts[-1].wild_starts
    assert last is not None
    assert (last.base, last.head, last.reason) == (0, 0, "other cases")
    on_both_sides = judged({case: [0.06 * (-1) ** case] for case in range(7)}, 24)
    assert {verdict.verdict for verdict in on_both_sides} == {"same"}


def test_a_gain_of_typical_starts_is_none_where_the_mean_loses() -> None:
    gained = judged({}, 24, change=-0.04)[0]
    lost = judged({0: [0.7] * 3}, 24, change=-0.04)[0]
    assert (gained.verdict, lost.verdict) == ("improvement", "unsure")
    assert lost.wild_starts is not None
    assert lost.wild_starts.mean_change > 0


def test_a_change_stands_where_a_start_of_the_other_side_is_wild() -> None:
    assert judged({0: [-0.4]}, 24, change=0.06)[0].verdict == "regression"


def test_of_throughput_the_slow_side_has_less() -> None:
    first = judged({0: [-0.7] * 2}, 24, metric="ops_per_sec")[0]
    assert first.wild_starts is not None
    assert (first.wild_starts.base, first.wild_starts.head) == (0, 2)


def test_the_pauses_of_snapshots_too() -> None:
    """Of two versions, one takes ten times as long in one of ten repetitions."""
    chance = random.Random(2)

    def pause() -> float:
        return 0.01 * 2 ** chance.gauss(0, 0.02)

    def place(*, slow: bool) -> SnapshotPairs:
        base, head = ([{"fork_us": pause()} for _ in range(10)] for _ in range(2))
        if slow:
            head[4]["fork_us"] *= 10
        return SnapshotPairs(load="open", base=base, head=head)

    quiet, slow = judge_snapshots([place(slow=False), place(slow=True)], 0.1)
    assert [verdict.verdict for verdict in quiet] == ["same"]
    assert [verdict.verdict for verdict in slow] == ["unsure"]


def test_any_number_of_cases_is_judged() -> None:
    """The chances of more than a thousand cases are no floating-point numbers."""
    one_side = [BoundedStarts([0.0], [1.0])] * 1_100
    both_sides = [BoundedStarts([0.0], [sign]) for sign in (1.0, -1.0)] * 550
    assert are_lopsided(one_side)
    assert not are_lopsided(both_sides)


def test_it_is_stated_which_side_was_slow() -> None:
    finding = explain_slow_starts(judged({0: [0.7]}))
    assert finding is not None
    assert "in 1 of 12 starts the head took far longer than in the others, up to 2." in finding.text
    others = explain_slow_starts(judged({case: [0.06] for case in range(7)}, 24)[7:])
    assert others is not None
    assert "none of 24 starts lies far from the others" in others.text
    assert explain_slow_starts(judged({})) is None
