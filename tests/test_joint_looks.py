"""Bounds of looks that hold for all looks together: as computed, no more errors than stated, and fewer starts."""

import math
import random
from collections.abc import Sequence

import pytest

from benches.look_levels import nominal_levels
from zerolap.judge import ALL_LOOKS, LOOKS, TimedPair, UnadjustedVerdict, judge_timed, look_at_time, wants_more_starts
from zerolap.judge.look_level_tables import ERRORS
from zerolap.judge.look_levels import EQUIVALENCE_ERROR, PartOfError
from zerolap.judge.looks import EQUIVALENCE_EXPONENT, look_shares, spent_on_time

CPU = "cpu_ns_per_op"
EFFECT = 0.02


def judged(changes: Sequence[float], min_effect: float = EFFECT, others: int = 0) -> UnadjustedVerdict:
    """What is concluded on a case, beside others whose starts differ as much."""
    spread = [0.01 * (-1) ** number for number in range(len(changes))]
    cases = {"case": changes} | {str(number): spread for number in range(others)}
    starts = {
        name: [TimedPair(1, {CPU: change}, {CPU: 0.0}, {}, {}, {}) for change in of_case]
        for name, of_case in cases.items()
    }
    return judge_timed(CPU, starts, min_effect)["case"]


@pytest.mark.parametrize("min_effect", [EFFECT, EFFECT / 2])
@pytest.mark.parametrize("error", [ERRORS[2], ERRORS[5], ERRORS[7]])
def test_levels_are_those_that_the_joint_distribution_gives(min_effect: float, error: float) -> None:
    computed = nominal_levels(ALL_LOOKS, error, lambda samples: spent_on_time(min_effect, samples))
    found = [look_at_time(min_effect, look).at_look(error) for look in ALL_LOOKS]
    assert found == pytest.approx(computed, rel=0.01)
    of_same = nominal_levels(
        ALL_LOOKS, EQUIVALENCE_ERROR, lambda samples: spent_on_time(min_effect, samples, EQUIVALENCE_EXPONENT)
    )
    found = [look_at_time(min_effect, look).of_equivalence(EQUIVALENCE_ERROR) for look in ALL_LOOKS]
    assert found == pytest.approx(of_same, rel=0.01)


def test_a_look_may_err_more_than_its_part_of_the_error() -> None:
    spent = [0.0, *(spent_on_time(EFFECT, look) for look in ALL_LOOKS)]
    for look, now, before in zip(ALL_LOOKS, spent[1:], spent, strict=False):
        level = look_at_time(EFFECT, look).at_look(0.01)
        assert level >= PartOfError(now - before).at_look(0.01) * 0.99
        assert level <= 0.01


def test_all_of_the_error_is_spent_and_looks_are_every_two_starts() -> None:
    for min_effect in (EFFECT, EFFECT / 2):
        shares = look_shares(min_effect, [])["timed"]
        assert tuple(shares) == ALL_LOOKS
        assert sum(shares.values()) == pytest.approx(1.0, abs=0.001)
    assert LOOKS[:5] == (6, 8, 10, 12, 14)


@pytest.mark.parametrize("p", [1e-20, 1e-9, 1e-4, 0.003, 0.05])
@pytest.mark.parametrize("starts", [6, 7, 20, 36])
def test_the_error_of_all_looks_is_the_one_at_whose_level_a_look_is(p: float, starts: int) -> None:
    look = look_at_time(EFFECT, starts)
    error = look.of_all(p)
    assert p < error <= 1.0
    assert error == 1.0 or look.at_look(error) == pytest.approx(p, rel=0.02)


def test_between_two_looks_a_look_is_the_one_that_was_to_come() -> None:
    assert look_at_time(EFFECT, 7) == look_at_time(EFFECT, 8)
    assert look_at_time(EFFECT, 500) == look_at_time(EFFECT, ALL_LOOKS[-1])


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["normal", "t3", "bimodal"])
def test_what_changed_by_the_minimum_effect_is_seldom_called_the_same(shape: str) -> None:
    """At all looks together, and whatever starts are distributed like: few of them, and Student's t."""
    chance, comparisons = random.Random(5), 1000

    def start() -> float:
        if shape == "normal":
            return chance.gauss(0, 0.014)
        if shape == "t3":
            return 0.01 * chance.gauss(0, 1) / math.sqrt(chance.gammavariate(1.5, 2) / 3)
        return chance.gauss(0, 0.01) + 0.02 * ((chance.random() < 0.3) - (chance.random() < 0.3))

    same = 0
    for _ in range(comparisons):
        changes = [math.log1p(EFFECT) + start() for _ in range(LOOKS[-1])]
        same += any(judged(changes[:look]).verdict.verdict == "same" for look in LOOKS)
    assert same <= 1.3 * 0.05 * comparisons


def test_quiet_cases_end_sooner_than_by_parts_of_the_error() -> None:
    def ends(looks: Sequence[int], *, is_joint: bool) -> float:
        chance, ended = random.Random(3), 0
        for _ in range(100):
            changes = [chance.gauss(0, 0.014) for _ in range(LOOKS[-1])]
            ended += next((look for look in looks if is_same(changes[:look], look, is_joint=is_joint)), looks[-1])
        return ended / 100

    def is_same(changes: Sequence[float], starts: int, *, is_joint: bool) -> bool:
        cases = {"case": [TimedPair(1, {CPU: change}, {CPU: 0.0}, {}, {}, {}) for change in changes]}
        parts = {6: 0.068, 12: 0.124, 18: 0.161, 24: 0.19, 36: 0.457}
        found = judge_timed(
            CPU,
            cases,
            EFFECT,
            look_at=look_at_time if is_joint else lambda _effect, starts, _degrees: PartOfError(parts[starts]),
        )
        assert starts == len(changes)
        return found["case"].verdict.verdict == "same"

    assert ends(LOOKS, is_joint=True) < 0.9 * ends((6, 12, 18, 24, 36), is_joint=False)


def test_a_certain_change_that_may_be_as_large_as_matters_is_looked_at_longer() -> None:
    def goes_on(change: float, starts: int = LOOKS[-1], scatter: float = 0.01) -> bool:
        changes = [change + scatter * (-1) ** number for number in range(starts)]
        return wants_more_starts(judged(changes, others=4), starts, 12)

    assert goes_on(0.018)
    assert not goes_on(0.018, ALL_LOOKS[-1])
    assert not goes_on(0.012), "it is certain to be smaller"
    assert not goes_on(0.018, scatter=0.05), "it is not certain"
    assert not goes_on(0.03), "it is decided"
