"""Change points of series, events of commits, and drift: each of these tests fails where its rule is not kept."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from zerolap.judge import (
    IDENTICAL,
    SeriesChanges,
    SeriesLevels,
    SeriesSearch,
    budget_answer,
    commit_events,
    history_changes,
    series_changes,
    time_drift,
)


def noise(seed: int, points: int) -> list[float]:
    seeded = random.Random(seed)
    return [seeded.gauss(0, 1) for _ in range(points)]


def series(values: Sequence[float], name: str = "get-100B", first: int = 0) -> SeriesLevels:
    return SeriesLevels(name, tuple(range(first, first + len(values))), tuple(values))


def stepped(values: Sequence[float], at: int, size: float) -> list[float]:
    return [value + (size if index >= at else 0) for index, value in enumerate(values)]


def test_a_change_has_its_commit_and_the_one_measured_before_it() -> None:
    levels = series(stepped(noise(1, 100), 60, 5))
    # Every third commit was measured.
    found = series_changes(replace(levels, positions=tuple(range(0, 300, 3))))
    [change] = found.changes
    assert (change.position, change.previous) == (180, 177)
    assert change.first <= 180 <= change.last
    assert change.low < 5 < change.high
    assert change.kind == "step"


def test_points_one_by_one_and_at_once_give_the_same() -> None:
    values = stepped(stepped(noise(2, 150), 50, 3), 90, -6)
    whole = series(values)
    growing = SeriesSearch(whole.name, known_variances=False)
    for position, value in enumerate(values):
        growing.extend(series([value], first=position))
        if position % 10 == 9:
            assert growing.changes() == series_changes(series(values[: position + 1]))
    assert growing.changes() == series_changes(whole)


@pytest.mark.parametrize("seed", range(20))
def test_the_other_direction_is_the_mirror_image(seed: int) -> None:
    values = stepped(stepped(noise(seed, 120), 40, 3), 80, -2)
    found, other = (series_changes(series([sign * value for value in values])) for sign in (1, -1))
    assert [change.position for change in found.changes] == [change.position for change in other.changes]
    assert [(change.low, change.high) for change in found.changes] == [
        (-change.high, -change.low) for change in other.changes
    ]


def test_a_commit_with_identical_code_has_no_change() -> None:
    levels = series(stepped(noise(3, 100), 50, 8))
    penalties = tuple(0.0 if position == 51 else IDENTICAL for position in levels.positions)
    assert [change.position for change in series_changes(replace(levels, penalties=penalties)).changes] == [51]
    assert series_changes(replace(levels, penalties=(IDENTICAL,) * 100)).changes == ()


def test_a_spike_at_the_end_is_no_change_until_it_is_confirmed() -> None:
    values = noise(4, 100)
    for confirmed in range(1, 6):
        found = series_changes(series([*values, *(10.0 for _ in range(confirmed))]))
        assert bool(found.changes) == (confirmed >= 3)


def test_series_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="ascend"):
        SeriesLevels("get", (1, 1), (0.0, 0.0))
    with pytest.raises(ValueError, match="equally long"):
        SeriesLevels("get", (1, 2), (0.0,))
    search = SeriesSearch("get", known_variances=False)
    search.extend(series([0.0], first=5))
    with pytest.raises(ValueError, match="ascend"):
        search.extend(series([0.0], first=5))
    with pytest.raises(ValueError, match="variances"):
        search.extend(SeriesLevels("get", (6,), (0.0,), variances=(1.0,)))
    with pytest.raises(ValueError, match="finite"):
        series_changes(series([0.0, math.nan]))
    with pytest.raises(ValueError, match="not between"):
        series_changes(series([0.0]), level=0.5)


def test_a_commit_that_changes_some_series_is_one_event() -> None:
    levels = [series(stepped(noise(number, 200), 120, 4 if number < 5 else 0), str(number)) for number in range(40)]
    [event] = history_changes(levels).commit_events
    assert event.position == 120
    assert not event.of_platform
    assert {each.name for each in event.changes} == {"0", "1", "2", "3", "4"}


def test_a_step_of_all_series_is_one_event_of_the_platform_and_a_commit_beside_it_another() -> None:
    sizes = random.Random(5)
    levels = []
    for number in range(100):
        values = stepped(noise(number, 200), 100, sizes.choice((-1, 1)) * sizes.uniform(2, 6))
        levels.append(series(stepped(values, 150, 8 if number == 7 else 0), str(number)))
    platform, commit = history_changes(levels).commit_events
    assert (platform.position, platform.of_platform, len(platform.changes)) == (100, True, 100)
    assert (commit.position, commit.of_platform, [each.name for each in commit.changes]) == (150, False, ["7"])


def test_what_chance_makes_of_many_series_is_no_event() -> None:
    """A change that would be one in a series alone is none where as many were searched as chance needs for it."""
    level = 0.01
    chance: list[SeriesChanges] = []
    for seed in range(1000, 2000):
        found = series_changes(series(noise(seed, 300), str(seed)), level)
        if found.changes and found.changes[0].p > 0.002:
            chance.append(found)
            break
    flat = [series_changes(series([0.0] * 300, str(number))) for number in range(100)]
    assert commit_events(chance, horizon=100)
    assert commit_events([*chance, *flat], horizon=100) == []


def test_events_that_were_named_allow_for_more() -> None:
    certain = [series_changes(series(stepped(noise(number, 200), 50, 9), str(number))) for number in range(2)]
    first, _ = certain
    later = series_changes(series(stepped(noise(9, 200), 100, 9), "later"))
    shares = {event.position: event.share for event in commit_events([first, later])}
    assert shares[100] == 2 * shares[50]


def test_a_drift_that_no_commit_owns_is_named_before_it_adds_up() -> None:
    seeded = random.Random(6)
    values = [0.0005 * commit + seeded.gauss(0, 0.01) for commit in range(100)]
    levels = SeriesLevels("get", tuple(range(100)), tuple(values), variances=(1e-4,) * 100)
    drift = time_drift(levels, series_changes(levels))
    assert drift is not None
    assert drift.position * 0.0005 < 0.03
    assert drift.slope_low < 0.0005 < drift.slope_high
    mirrored = replace(levels, values=tuple(-value for value in levels.values))
    other = time_drift(mirrored, series_changes(mirrored))
    assert other is not None
    assert (other.start, other.position, other.slope) == (drift.start, drift.position, -drift.slope)


def test_a_spike_is_no_drift() -> None:
    levels = SeriesLevels("get", tuple(range(50)), (0.0,) * 30 + (5.0,) + (0.0,) * 19, variances=(1e-4,) * 50)
    assert time_drift(levels, series_changes(levels)) is None


def test_a_budget_is_kept_broken_or_not_decided() -> None:
    assert budget_answer(0.001, 0.003, 20, budget=0.02) == "within"
    assert budget_answer(0.04, 0.003, 20, budget=0.02) == "beyond"
    assert budget_answer(-0.04, 0.003, 20, budget=0.02) == "beyond"
    assert budget_answer(0.018, 0.003, 20, budget=0.02) == "unsure"
