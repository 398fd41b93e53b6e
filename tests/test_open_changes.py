"""What of a history is open, what counts as failed, and which counts make up its series."""

from collections.abc import Sequence

import pytest
from made_records import a_history, a_series_key, a_step

from zerolap.cases import core_suite
from zerolap.fail_on import FailOn
from zerolap.history import history_gate_sentence, open_changes
from zerolap.history.commit_times import CaseTimes
from zerolap.history.commit_work import CaseWork, WorkPoints
from zerolap.history.nodes import Nodes
from zerolap.history.time_changes import TimeChange, _shows, time_changes
from zerolap.judge import Contrast, WorkStep, drifts_of
from zerolap.records import (
    History,
    HistoryChange,
    HistoryCommit,
    HistoryPoint,
    HistorySeries,
)
from zerolap.store import CountedPoint

CASE = core_suite()[0]
CPU, INSTRUCTIONS = "cpu_ns_per_op", "instructions_per_op"


def series(levels: Sequence[float], errors: float, changed: HistoryChange, engine: str) -> HistorySeries:
    points = tuple(
        HistoryPoint(position=position, level=level, low=level - errors, high=level + errors)
        for position, level in enumerate(levels)
    )
    metric = INSTRUCTIONS if engine == "counted" else CPU
    return HistorySeries(
        case=CASE.name, group="string", metric=metric, engine=engine, topology="", points=points, changes=(changed,)
    )


def history(*of_series: HistorySeries) -> History:
    commits = tuple(HistoryCommit(commit=f"{number:040x}", time="", subject="") for number in range(10))
    return a_history(commits, of_series)


def open_in(document: History) -> int:
    return sum(len(of_one.changes) for of_one in open_changes(document).series)


@pytest.mark.parametrize(
    ("last", "error", "is_open"),
    [
        (0.05, 0.0, True),
        (0.0, 0.0, False),
        (-0.02, 0.0, False),
        (0.02, 0.03, True),  # may be as before, or not
        (-0.05, 0.03, False),
    ],
)
def test_a_regression_is_open_until_it_is_certainly_made_good(last: float, error: float, is_open: bool) -> None:
    levels = [0.0, 0.0, 0.05, 0.05, last]
    assert open_in(history(series(levels, error, a_step(1, 2, 0.05), "timed"))) == is_open


@pytest.mark.parametrize(
    "changed",
    [a_step(1, 2, -0.05), a_step(1, 2, 0.05, confirmed=False), a_step(1, 2, 0.05, accepted="agreed on with all")],
)
def test_what_is_better_or_a_candidate_or_accepted_is_not_open(changed: HistoryChange) -> None:
    assert open_in(history(series([0.0, 0.0, 0.05], 0.0, changed, "timed"))) == 0


@pytest.mark.parametrize(
    ("engine", "failing"), [("counted", {"work", "regression", "unsure"}), ("timed", {"time", "regression", "unsure"})]
)
def test_work_fails_on_work_and_time_on_time(engine: str, failing: set[FailOn]) -> None:
    other = "timed" if engine == "counted" else "counted"
    worse, flat = (
        series([0.0, 0.0, 0.05], 0.0, a_step(1, 2, 0.05), engine),
        series([0.0] * 3, 0.0, a_step(1, 2, -0.05), other),
    )
    document = history(worse, flat)
    every: tuple[FailOn, ...] = ("never", "work", "time", "regression", "unsure")
    assert {when for when in every if history_gate_sentence(document, [CASE.name], when)} == failing


def test_a_loss_is_a_drift_beside_a_larger_gain() -> None:
    steps = [WorkStep(at, at + 1, -0.004) for at in range(15)] + [WorkStep(at, at + 1, 0.004) for at in range(15, 25)]
    assert [round(drift.log_change, 3) for drift in drifts_of(steps, 0)] == [0.04, -0.06]


def point(value: float, comparison: str = "") -> CountedPoint:
    key = a_series_key(case=CASE.name)
    return CountedPoint("b", key, (1, 2), value, None, None, 0, comparison)


def work_of(points: dict[int, dict[str, CountedPoint]], commits: int) -> CaseWork:
    nodes = Nodes(tuple(range(commits)), {f"b-{node}": node for node in range(commits)})
    return CaseWork(CASE, nodes, {INSTRUCTIONS: WorkPoints(points)})


def test_a_comparison_of_commits_between_others_does_not_part_them() -> None:
    counted = {0: {"history": point(1000.0)}, 20: {"history": point(1100.0)}}
    compared = {5: {"c-1": point(900.0, "c-1")}, 10: {"c-1": point(901.0, "c-1")}}
    steps = work_of(counted | compared, 21).counted(INSTRUCTIONS).steps
    assert [*steps] == [(0, 20)]
    assert steps[0, 20].log_change == pytest.approx(0.0953, abs=1e-4)


def test_comparisons_go_on_from_the_last_counted_commit() -> None:
    points = {
        0: {"history": point(1000.0)},
        1: {"history": point(1100.0), "c-1": point(500.0, "c-1")},
        2: {"c-1": point(510.0, "c-1")},
    }
    steps = work_of(points, 3).counted(INSTRUCTIONS).steps
    assert [*steps] == [(0, 1), (1, 2)]


def test_comparisons_alone_are_a_series() -> None:
    points = {0: {"c-1": point(500.0, "c-1")}, 1: {"c-1": point(510.0, "c-1")}}
    assert len(work_of(points, 2).counted(INSTRUCTIONS).steps) == 1


def starts(change_of: float) -> tuple[float, ...]:
    return tuple(change_of + offset for offset in (-0.002, -0.001, 0.0, 0.0, 0.001, 0.002))


def test_levels_begin_where_contrasts_do_and_not_at_an_untimed_first_commit() -> None:
    times = CaseTimes(CASE, (0, 1, 2, 3), {CPU: [Contrast(1, 2, starts(0.05)), Contrast(2, 3, starts(0.0))]})
    changes = time_changes({CASE.name: times})
    assert [(found.after, found.position) for found in changes] == [(1, 2)]


def test_a_range_that_ends_as_it_began_has_no_drift() -> None:
    groups = (0, 1, 2, 3, 4, 5, 0)
    contrasts = [Contrast(0, node, starts(0.01 * node)) for node in range(1, 6)] + [Contrast(2, 3, starts(0.09))]
    assert all(found.kind == "step" for found in time_changes({CASE.name: CaseTimes(CASE, groups, {CPU: contrasts})}))


@pytest.mark.parametrize(("whole", "is_shown"), [(-0.03, True), (0.03, True), (-0.06, False)])
def test_a_drift_is_confirmed_by_what_is_left_of_a_comparison_without_the_steps(whole: float, is_shown: bool) -> None:
    beside = -0.06 if whole < 0 else 0.0
    drift = TimeChange(CASE.name, CPU, 0, 9, 0.03, 0.02, 0.04, 0.001, kind="drift", beside=beside)
    assert _shows(drift, starts(whole)) == is_shown


def test_the_steps_of_a_drift_that_go_its_way_are_named_first() -> None:
    changes = [0.004, 0.004, -0.0045, 0.003, 0.004, 0.004, 0.004, 0.004, 0.004]
    [drift] = drifts_of([WorkStep(at, at + 1, change) for at, change in enumerate(changes)], 0)
    assert [step.log_change for step in drift.steps][-2:] == [0.003, -0.0045]
