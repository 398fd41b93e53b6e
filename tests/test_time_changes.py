"""Time over a range of commits: what is compared, which steps and drifts are candidates, and what confirms them."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zerolap.cases import core_suite
from zerolap.history import HistoryRange
from zerolap.history.commit_times import CaseTimes, FreshContrast, missing_contrasts, read_times
from zerolap.history.commit_work import CaseWork, WorkPoints
from zerolap.history.nodes import Nodes
from zerolap.history.platform_series import platform_events_of
from zerolap.history.time_changes import TimeChange, time_changes, unconfirmed
from zerolap.judge import Contrast, levels_of
from zerolap.records import Platform, SeriesKey
from zerolap.store import AbsoluteTime, CountedPoint, RecordedContrast

CPU, INSTRUCTIONS = "cpu_ns_per_op", "instructions_per_op"
NOISE = 0.01
STARTS = 6
CASE = core_suite()[0]


def contrast(levels: Sequence[float], base: int, head: int, seed: int) -> Contrast:
    randoms = random.Random(f"{seed} {base} {head}")
    return Contrast(base, head, tuple(levels[head] - levels[base] + randoms.gauss(0, NOISE) for _ in range(STARTS)))


def times_of(levels: Sequence[float], seed: int = 1, fresh: Sequence[FreshContrast] = ()) -> CaseTimes:
    """Return the times of commits that all have other code, each compared with the first and with its neighbour."""
    pairs = [(0, head) for head in range(1, len(levels))] + [(head - 1, head) for head in range(2, len(levels))]
    contrasts = [contrast(levels, base, head, seed) for base, head in pairs]
    return CaseTimes(CASE, tuple(range(len(levels))), {CPU: contrasts}, fresh)


def triples_of(times: CaseTimes, releases: Sequence[int] = ()) -> list[tuple[int | None, int, int]]:
    """Return the anchor, the earlier and the later commit of each comparison that is missing, in their order."""
    missing = missing_contrasts({CASE.name: times}, releases)
    return [(contrast.anchor, contrast.after, contrast.position) for contrast in missing]


def changes_of(levels: Sequence[float], seed: int = 1, releases: Sequence[int] = ()) -> list[TimeChange]:
    return time_changes({CASE.name: times_of(levels, seed)}, releases)


@pytest.mark.parametrize("commits", [3, 8, 30])
def test_a_step_is_a_candidate_at_its_commit_and_nothing_else_is(commits: int) -> None:
    step = commits // 2
    changes = changes_of([0.05 * (position >= step) for position in range(commits)])
    assert [(change.kind, change.after, change.position) for change in changes] == [("step", step - 1, step)]
    assert abs(changes[0].log_change - 0.05) < 0.015
    assert changes[0].comparison is None


def test_intervals_of_steps_hold_the_truth_about_as_often_as_they_say() -> None:
    steps = [changes_of([0.05 * (position >= 4) for position in range(8)], seed)[0] for seed in range(200)]
    assert 0.90 <= sum(step.low < 0.05 < step.high for step in steps) / len(steps) <= 0.99


@pytest.mark.parametrize("seed", range(20))
def test_flat_series_have_no_candidates_that_matter(seed: int) -> None:
    assert changes_of([0.0] * 30, seed) == []


@pytest.mark.parametrize(("measured_with", "count"), [({"new-setting": "7"}, 1), ({}, 0), ({"new-setting": "8"}, 0)])
def test_times_with_other_settings_of_the_case_are_none_of_its_series(
    measured_with: dict[str, str], count: int
) -> None:
    case = CASE.model_copy(update={"config": {"new-setting": "7"}})
    recorded = replace(confirming(0, 1, "same", 0.0).recorded, case_digest=case.digest, case_config=measured_with)
    store: Any = SimpleNamespace(history=SimpleNamespace(contrasts=lambda *_: [recorded]))
    nodes = Nodes((0, 1), {"b-1": 0, "b-2": 1})
    machine = Platform(name="bench-1", fingerprint="p-1", cpu="a cpu", cores=2, kernel="6.1")
    asked = HistoryRange(Path("repository"), "A..B", (), [case], platform=machine)
    times = read_times(asked, nodes, {case.name: CaseWork(case, nodes, {})}, store, machine.fingerprint)
    assert len(times[case.name].contrasts.get(CPU, ())) == count


def starts_around(mean: float, spread: float) -> tuple[float, ...]:
    """Return six log ratios with a mean and half their range."""
    return tuple(mean + spread * step for step in (-1.0, -0.6, -0.2, 0.2, 0.6, 1.0))


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize(
    ("log_ratios", "outcome"),
    [
        (starts_around(0.044, 0.004), "confirmed"),
        (starts_around(0.001, 0.004), "refuted"),
        (starts_around(-0.044, 0.004), "refuted"),
        # Neither answer is certain, nor is that of too few starts.
        (starts_around(0.015, 0.03), "candidate"),
        (starts_around(0.001, 0.004)[1:], "candidate"),
    ],
)
def test_a_fresh_comparison_of_both_ends_confirms_a_drift_or_refutes_it(
    log_ratios: tuple[float, ...], outcome: str, is_reversed: bool
) -> None:
    levels = [0.004 * position for position in range(12)]
    base, head = (11, 0) if is_reversed else (0, 11)
    fresh = confirming(base, head, "same", 0.0)
    signed = tuple(-ratio if is_reversed else ratio for ratio in log_ratios)
    fresh = replace(fresh, recorded=replace(fresh.recorded, log_ratios=signed))
    changes = time_changes({CASE.name: times_of(levels, fresh=[fresh])})
    drifts = [change.comparison for change in changes if change.kind == "drift"]
    assert drifts == {"confirmed": ["c-1"], "refuted": [], "candidate": [None]}[outcome]


def test_swapping_the_direction_of_time_mirrors_a_step() -> None:
    slower = changes_of([0.05 * (position >= 4) for position in range(8)])
    faster = changes_of([-0.05 * (position >= 4) for position in range(8)])
    assert [change.position for change in slower] == [change.position for change in faster]
    assert slower[0].log_change > 0 > faster[0].log_change


def test_small_losses_of_many_commits_are_a_drift_that_names_the_largest() -> None:
    levels = [0.004 * position for position in range(12)]
    drift = next(change for change in changes_of(levels) if change.kind == "drift")
    assert (drift.after, drift.position) == (0, 11)
    assert 0.02 < drift.log_change < 0.06
    assert drift.parts == tuple(sorted(drift.parts, key=lambda part: -part[1]))


def test_a_drift_of_time_names_commits_whose_work_changed_too() -> None:
    """Of the steps between neighbours the largest are of chance, where the levels scatter by more than the drift."""
    levels = [0.004 * position for position in range(12)]
    times = times_of(levels)
    named = drift_of_time(times)
    assert len(named) > 2
    dearer, cheaper = named[:2]
    counted = counted_work([1000.0 * (1.004 if position >= dearer else 1.0) for position in range(12)])
    assert drift_of_time(replace(times, work=counted)) == [dearer]
    # Where strings lie in memory accounts for the count.
    by_places = replace(counted, log_by_places=lambda _: math.log(1.004))
    assert drift_of_time(replace(times, work=by_places)) == []
    counted = counted_work([1000.0 * (0.996 if position >= cheaper else 1.0) for position in range(12)])
    assert drift_of_time(replace(times, work=counted)) == []


def drift_of_time(times: CaseTimes) -> list[int]:
    """Return the positions that the drift of a case names."""
    [drift] = [change for change in time_changes({CASE.name: times}) if change.kind == "drift"]
    return [position for position, _ in drift.parts]


def counted_work(values: Sequence[float]) -> CaseWork:
    """Return the work of commits that are programs of their own and take so many instructions."""
    key = SeriesKey.model_construct(metric=INSTRUCTIONS, compiler="gcc 12", libc="")
    points = {
        node: {"": CountedPoint(f"b-{node}", key, (10, 20), value, None, None, node)}
        for node, value in enumerate(values)
    }
    nodes = Nodes(tuple(range(len(values))), {f"b-{node}": node for node in range(len(values))})
    return CaseWork(CASE, nodes, {INSTRUCTIONS: WorkPoints(points)})


def test_a_drift_is_looked_for_from_the_last_release() -> None:
    levels = [0.004 * position for position in range(12)] + [0.044] * 6
    assert [change for change in changes_of(levels, releases=[11]) if change.kind == "drift"] == []


def test_a_step_is_no_part_of_a_drift() -> None:
    changes = changes_of([0.08 * (position >= 5) for position in range(10)])
    assert [change.kind for change in changes] == ["step"]


def confirming(base: int, head: int, verdict: str, log_ratio: float) -> FreshContrast:
    recorded = RecordedContrast(
        comparison="c-1",
        base_build="b-1",
        head_build="b-2",
        case=CASE.name,
        topology=CASE.topology.name,
        metric=CPU,
        engine="timed",
        log_ratios=(log_ratio,) * STARTS,
        base_config={},
        head_config={},
        verdict=verdict,
    )
    return FreshContrast(base, head, recorded)


@pytest.mark.parametrize(
    ("fresh", "is_confirmed"),
    [
        (confirming(3, 4, "regression", 0.05), True),
        (confirming(4, 3, "improvement", -0.05), True),
        (confirming(3, 4, "same", 0.0), False),
        (confirming(3, 4, "improvement", -0.05), False),
        (confirming(2, 4, "regression", 0.05), False),
    ],
)
def test_a_fresh_comparison_of_both_commits_confirms_a_step(fresh: FreshContrast, is_confirmed: bool) -> None:
    levels = [0.05 * (position >= 4) for position in range(8)]
    changes = time_changes({CASE.name: times_of(levels, fresh=[fresh])})
    assert [change.comparison for change in changes] == ["c-1" if is_confirmed else None]
    assert unconfirmed(changes) == ({} if is_confirmed else {(3, 4): [CASE.name]})


def test_commits_are_compared_with_their_anchor_and_their_neighbour() -> None:
    times = CaseTimes(CASE, (0, 1, 1, 2, 3), {})
    assert triples_of(times) == [(0, 3, 4), (0, 1, 3), (None, 0, 1)]


def test_what_has_one_of_both_contrasts_is_compared_for_the_other_alone() -> None:
    levels = [0.0, 0.01, 0.02]
    measured = [contrast(levels, 0, 1, 1), contrast(levels, 0, 2, 1)]
    assert triples_of(CaseTimes(CASE, (0, 1, 2), {CPU: measured})) == [(None, 1, 2)]


def test_commits_that_execute_the_same_as_two_others_are_not_compared_again() -> None:
    assert triples_of(CaseTimes(CASE, (0, 1, 0, 2), {})) == [(None, 0, 3), (None, 0, 1)]


def test_the_anchor_is_the_release_before_and_releases_are_joined() -> None:
    times = CaseTimes(CASE, (0, 1, 2, 3, 4), {})
    assert triples_of(times, releases=[0, 2]) == [(0, 1, 2), (2, 3, 4), (None, 0, 1), (None, 2, 3)]


def test_a_range_of_releases_has_its_first_one_as_the_anchor() -> None:
    times = CaseTimes(CASE, (0, 1, 2), {})
    assert triples_of(times, releases=[0, 1, 2]) == [(0, 1, 2), (None, 0, 1)]


def test_contrasts_that_have_their_starts_are_not_measured_again() -> None:
    levels = [0.0, 0.01, 0.02]
    assert list(missing_contrasts({CASE.name: times_of(levels)})) == []


def test_commits_that_execute_the_same_have_one_level() -> None:
    contrasts = [contrast([0.0, 0.05], 0, 1, 1)]
    times = CaseTimes(CASE, (0, 1, 1, 0), {CPU: contrasts})
    levels, positions = times.levels(CPU) or (None, [])
    assert levels is not None
    assert positions == [0, 1, 2, 3]
    by_position = [levels.nodes[group] for group in (0, 1, 1, 0)]
    assert by_position[1] == by_position[2]
    assert by_position[0] == by_position[3]


@pytest.mark.parametrize("seed", range(5))
def test_levels_do_not_walk_away_from_the_anchor(seed: int) -> None:
    count = 60
    chain = [contrast([0.0] * count, node - 1, node, seed) for node in range(1, count)]
    held = chain + [contrast([0.0] * count, 0, node, seed + 100) for node in range(1, count)]
    walked = levels_of(count, chain, 0).nodes[-1]
    anchored = levels_of(count, held, 0).nodes[-1]
    assert walked is not None
    assert anchored is not None
    assert anchored.variance < walked.variance / 20


def absolute_times(step_at: int | None, sessions: int = 60, cases: int = 12) -> list[AbsoluteTime]:
    randoms = random.Random(5)
    return [
        AbsoluteTime(
            build="b-1",
            series=f"s-{case}",
            comparison=f"c-{session}",
            began=f"2026-01-01T{session // 60:02}:{session % 60:02}:00Z",
            facts="later" if step_at is not None and session >= step_at else "before",
            value=500 * (1 + case) * (1 + randoms.gauss(0, 0.01)) * (1.08 if step_at and session >= step_at else 1.0),
        )
        for session in range(sessions)
        for case in range(cases)
    ]


def test_a_step_of_all_cases_of_one_build_is_one_event_of_the_platform() -> None:
    events = platform_events_of(absolute_times(step_at=40))
    seen = [(event.since, event.series, event.facts_changed) for event in events]
    assert seen == [("2026-01-01T00:40:00Z", 12, True)]
    assert 0.06 < events[0].change < 0.10


def test_a_platform_that_stays_as_it_is_has_no_events() -> None:
    assert platform_events_of(absolute_times(step_at=None)) == []


def test_an_accepted_drift_of_time_stays_accepted_when_the_range_goes_on() -> None:
    times = {CASE.name: times_of([0.003 * min(position, 15) for position in range(22)])}

    def beginnings(accepted: tuple[str, str]) -> list[int]:
        changes = time_changes(times, accepted=lambda case, metric: [15] if (case, metric) == accepted else [])
        return [change.after for change in changes if change.kind == "drift"]

    assert beginnings(("another-case", CPU)) == [0]
    times = {CASE.name: replace(times[CASE.name], groups=(*times[CASE.name].groups[:15], None, *range(16, 22)))}
    assert beginnings((CASE.name, CPU)) == [0], "the case was not measured there"
    times = {CASE.name: times_of([0.003 * min(position, 15) for position in range(22)])}
    assert beginnings((CASE.name, "elapsed_ns_per_op")) == [0]
    assert beginnings((CASE.name, CPU)) == []
