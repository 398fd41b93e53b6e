"""The estimate of what random placement leaves of the bias of a layout, on numbers that are known."""

import random

import pytest

from benches.truth.layouts import Group, Sample, figure_of, spread_of


def drawn(effect: float, error: float) -> list[Group]:
    chance = random.Random(1)
    return [Group(chance.gauss(0.0, (effect**2 + error**2) ** 0.5), error**2) for _ in range(200)]


def test_a_spread_beyond_the_error_of_sampling_is_found_with_its_interval() -> None:
    spread = spread_of(drawn(effect=0.01, error=0.01))
    assert spread.low < 0.01 < spread.high
    assert spread.low < spread.deviation < spread.high
    assert spread.low > 0.005


def test_the_error_of_sampling_alone_is_no_spread() -> None:
    spread = spread_of(drawn(effect=0.0, error=0.01))
    assert spread.low == 0.0
    assert spread.deviation < 0.004


def test_a_bias_that_all_additions_share_is_a_part_of_it() -> None:
    chance = random.Random(2)
    samples = [
        Sample("b-1", "get", str(addition), seed, 0.02 + chance.gauss(0.0, 0.002))
        for addition in range(20)
        for seed in range(6)
    ]
    figure = figure_of(samples)
    assert figure.value == pytest.approx(2.0, abs=0.1)
    assert figure.trials == len(figure.samples) == 120
