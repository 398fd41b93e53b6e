"""Steps of a history at which some counts gain and others lose: which are shown, and which are no gain."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest
from made_records import a_series_key

from zerolap.build import RangedCommit
from zerolap.cases import core_suite
from zerolap.history.commit_work import CaseWork, WorkPoints
from zerolap.history.history_range import MEMORY, WORK, AcceptedChanges, HistoryRange
from zerolap.history.nodes import Nodes
from zerolap.history.step_reasons import WorkReasons
from zerolap.history.work_series import WorkSeries
from zerolap.lab import Lab
from zerolap.records import HistorySeries, Platform, Revision, RevisionSource
from zerolap.store import CountedPoint

INSTRUCTIONS, ALONE, TICK = "instructions_per_op", "instructions_alone_per_op", "instructions_per_tick"
SYSCALLS, ALLOCATIONS, CLOCK = "syscalls_per_op", "allocations_per_op", "clock_readings_per_op"
USUAL = {INSTRUCTIONS: 3419.0, ALONE: 4748.0, TICK: 56_000.0, SYSCALLS: 0.1875, ALLOCATIONS: 3.0625, CLOCK: 2.19}
PLATFORM = Platform(name="here", fingerprint="1" * 16, cpu="any", cores=2, kernel="6.1")
[CASE, *_] = core_suite()


def series_of(changed: Mapping[str, float]) -> dict[str, HistorySeries]:
    """The series of a case over two commits, of which the second one has changed these counts."""
    revisions = [Revision(repository="/r", commit=name * 40) for name in "ab"]
    sources = [RevisionSource(name=of.commit[:7], repository=Path("/r"), revision=of) for of in revisions]
    commits = [RangedCommit(source) for source in sources]
    asked = HistoryRange(Path(), "a..b", commits, [CASE], platform=PLATFORM)
    points = {
        metric: WorkPoints({0: {"": _point(metric, 0, value)}, 1: {"": _point(metric, 1, changed.get(metric, value))}})
        for metric, value in USUAL.items()
    }
    work = CaseWork(CASE, Nodes((0, 1), {"b-0": 0, "b-1": 1}), points)
    # Without call graphs there are no reasons, and no builds are asked for.
    reasons = WorkReasons(asked, cast("Lab", None))
    made = WorkSeries(asked, AcceptedChanges(asked, []), reasons).of_case(work)
    return {series.metric: series for series in made}


def _point(metric: str, node: int, value: float) -> CountedPoint:
    key = a_series_key(case=CASE.name, case_digest=CASE.digest, metric=metric, platform=PLATFORM.fingerprint)
    return CountedPoint(f"b-{node}", key, (100, 200), value, f"code {node}", None)


def test_what_a_history_follows_is_all_that_is_counted() -> None:
    assert set(WORK) - set(MEMORY) == set(USUAL)


@pytest.mark.parametrize(
    "changed",
    [
        {INSTRUCTIONS: 3351.0, TICK: 560_000.0},
        {INSTRUCTIONS: 3385.0, ALONE: 7122.0},
        {INSTRUCTIONS: 3385.0, ALLOCATIONS: 6.125, CLOCK: 8.76},
        {INSTRUCTIONS: 3385.0, SYSCALLS: 1.1875},
    ],
)
def test_less_work_of_one_kind_is_no_gain_where_there_is_more_of_another(changed: dict[str, float]) -> None:
    series = series_of(changed)
    assert set(series) == set(changed)
    [gain] = series[INSTRUCTIONS].changes
    assert gain.is_opposed
    assert "speak against each other" in gain.reasons[0]
    for metric in set(changed) - {INSTRUCTIONS}:
        [loss] = series[metric].open_regressions
        assert (loss.position, loss.is_opposed) == (1, False)


@pytest.mark.parametrize(
    "changed",
    [
        {INSTRUCTIONS: 3351.0},
        {INSTRUCTIONS: 3000.0, ALONE: 4300.0},
        {INSTRUCTIONS: 2700.0, ALLOCATIONS: 4.0625},
        # Ticks differ by less than matters.
        {INSTRUCTIONS: 3351.0, TICK: 90_000.0},
    ],
)
def test_less_work_is_a_gain_otherwise(changed: dict[str, float]) -> None:
    [gain] = series_of(changed)[INSTRUCTIONS].changes
    assert not gain.is_opposed
    assert gain.reasons == ()


def test_requests_alone_are_shown_where_they_changed_otherwise_than_the_others() -> None:
    assert ALONE not in series_of({INSTRUCTIONS: 3487.0, ALONE: 4830.0})
    assert ALONE in series_of({INSTRUCTIONS: 3487.0, ALONE: 5900.0})
    assert ALONE in series_of({INSTRUCTIONS: 3351.0, ALONE: 4830.0})
    assert ALONE in series_of({ALONE: 5900.0})
    assert set(series_of({TICK: 90_000.0})) == {INSTRUCTIONS}
