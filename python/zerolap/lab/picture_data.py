"""Reads what the trials of a comparison or a run left in the store and puts it into pictures."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeAlias

from zerolap import _core
from zerolap.load import latencies_us, sum_of_histograms
from zerolap.records import (
    CasePictures,
    CaseResult,
    Comparison,
    DrawnSide,
    Measurement,
    Pictures,
    RunCase,
    RunReport,
    StackFrame,
    StackNodes,
    StackTree,
    Timeline,
    Trial,
)
from zerolap.store import BlobDamaged, Blobs, Store

SIDES: tuple[DrawnSide, ...] = ("base", "head")
POINTS_PER_DECADE = 8
DECADES = 5
"""Percentiles are drawn up to 99.999 %."""
NAMED_SHARES = (0.5, 0.95)
"""Percentiles that are asked for by name and lie between the even ones."""
MOST_POINTS = 200
INTERVAL_ERRORS = 3.0
"""About so many standard errors an interval reaches to either side."""


@dataclass(frozen=True)
class _Cost:
    """What a side's request takes, null where it was not timed, and the bounds of the change between the sides."""

    cpu_ns_per_op: float | None = None
    low: float = 0.0
    high: float = 0.0

    @property
    def error(self) -> float:
        """The standard error of the figure as a part of it; those of both sides make the interval of the change."""
        return math.log((1 + self.high) / (1 + self.low)) / (2 * INTERVAL_ERRORS * math.sqrt(2))


_Costs: TypeAlias = Mapping[DrawnSide, _Cost]
_Trials: TypeAlias = Sequence[tuple[Trial, Measurement]]


class _Frames:
    """The frames of all pictures, each once."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str | None, str, bool], int] = {}

    def place(self, frame: Mapping[str, Any]) -> int:
        key = (frame["function"], frame["file"], frame["object"], frame["inlined"])
        return self._places.setdefault(key, len(self._places))

    def all(self) -> list[StackFrame]:
        return [
            StackFrame(function=function, file=file, object=binary, inlined=inlined)
            for function, file, binary, inlined in self._places
        ]


def read_pictures(comparison: Comparison, store: Store) -> Pictures:
    """Return the pictures of a stored comparison; cases without any are left out."""
    costs = {case.case: {side: _cost(case, side) for side in SIDES} for case in comparison.cases if case.validity.valid}
    return _pictures(costs, store.measurements(comparison.id), store.blobs)


def read_run_pictures(report: RunReport, store: Store) -> Pictures:
    """Return the pictures of a stored run, all of one side; cases without any are left out."""
    costs: dict[str, _Costs] = {
        case.case: {"head": _Cost(case.metrics.get("cpu_ns_per_op"))} for case in report.cases if case.validity.valid
    }
    return _pictures(costs, store.measurements(report.id), store.blobs)


def read_case_pictures(case: CaseResult | RunCase, identity: str, store: Store) -> Pictures:
    """Return the pictures of one case of the stored comparison or run with that id; empty without any."""
    if not case.validity.valid:
        return Pictures()
    costs: dict[DrawnSide, _Cost] = (
        {side: _cost(case, side) for side in SIDES}
        if isinstance(case, CaseResult)
        else {"head": _Cost(case.metrics.get("cpu_ns_per_op"))}
    )
    numbered = store.reports.trials_of(identity, case.case)
    trials = [(each.trial, each.measurement) for each in numbered if each.measurement is not None]
    return _pictures({case.case: costs}, trials, store.blobs)


def _pictures(costs: Mapping[str, _Costs], trials: _Trials, blobs: Blobs) -> Pictures:
    """Return the pictures of the cases whose costs are given, of the sides that these are of."""
    by_case: dict[str, list[tuple[Trial, Measurement]]] = {}
    for trial, measurement in trials:
        by_case.setdefault(trial.case, []).append((trial, measurement))
    frames = _Frames()
    cases: dict[str, CasePictures] = {}
    for name, of_sides in costs.items():
        try:
            pictures = _of_case(of_sides, by_case.get(name, []), frames, blobs)
        except (BlobDamaged, ValueError) as fault:
            # The rest of what was recorded stays readable.
            reason = fault.message if isinstance(fault, BlobDamaged) else "they were recorded by another version"
            pictures = CasePictures(latency=None, throughput=None, stacks=None, missing=reason)
        if pictures is not None:
            cases[name] = pictures
    return Pictures(frames=frames.all(), cases=cases)


def _of_case(costs: _Costs, trials: _Trials, frames: _Frames, blobs: Blobs) -> CasePictures | None:
    starts = _starts(costs.keys(), trials, blobs)
    trees = {side: _tree(side, cost, trials, frames, blobs) for side, cost in costs.items()}
    stacks = {side: tree for side, tree in trees.items() if tree is not None}
    if not starts and not stacks:
        return None
    latency = {side: latency_points(start[side] for start in starts) for side in costs}
    throughput, starts_at = _throughput(starts)
    return CasePictures(
        latency=latency if all(latency.values()) else None,
        throughput=throughput if starts else None,
        starts_at=starts_at,
        stacks=stacks or None,
    )


def _starts(sides: Set[DrawnSide], trials: _Trials, blobs: Blobs) -> list[dict[DrawnSide, Timeline]]:
    """Return the starts at full speed, in order; those that were disturbed on a side are left out on all."""
    by_block: dict[int, dict[DrawnSide, str]] = {}
    for trial, measurement in trials:
        is_chosen = trial.engine == "timed" and trial.per_second is None and measurement.validity.valid
        if is_chosen and measurement.timeline is not None:
            drawn = by_block.setdefault(trial.block, {})
            drawn |= {side: measurement.timeline for side in sides if side == trial.side}
    return [
        {side: Timeline.model_validate_json(blobs.get(digest)) for side, digest in profiles.items()}
        for _, profiles in sorted(by_block.items())
        if profiles.keys() == sides
    ]


def _throughput(
    starts: Sequence[Mapping[DrawnSide, Timeline]],
) -> tuple[dict[DrawnSide, list[tuple[float, float]]], list[float]]:
    """Return a point for each slice by side, or for several in a row where there are too many, and when starts were."""
    # All sides of a start have as many slices.
    lengths = [len(next(iter(start.values())).slices) for start in starts]
    together = max(1, -(-sum(lengths) // MOST_POINTS))
    points: dict[DrawnSide, list[tuple[float, float]]] = {side: [] for start in starts[:1] for side in start}
    starts_at, now = [], 0.0
    for start, length in zip(starts, lengths, strict=True):
        starts_at.append(round(now, 3))
        for first in range(0, length, together):
            parts = {side: timeline.slices[first : first + together] for side, timeline in start.items()}
            seconds = {side: sum(one.seconds for one in part) for side, part in parts.items()}
            now += sum(seconds.values())
            for side, part in parts.items():
                rate = sum(one.requests for one in part) / seconds[side]
                points[side].append((round(now, 3), float(round(rate))))
    return points, starts_at


def latency_points(timelines: Iterable[Timeline]) -> list[tuple[float, float]]:
    """Return latencies in microseconds at shares that lie evenly on the axis of 1 / (1 - share), and at named ones."""
    histogram = sum_of_histograms(timeline.histogram_ns for timeline in timelines)
    if not histogram:
        return []
    total = sum(count for _, count in histogram)
    even = [1 - 10 ** (-step / POINTS_PER_DECADE) for step in range(POINTS_PER_DECADE * DECADES + 1)]
    shares = sorted(share for share in {*NAMED_SHARES, *(round(one, 6) for one in even)} if total * (1 - share) >= 1)
    shares.append(1.0)
    return list(zip(shares, latencies_us(histogram, shares), strict=True))


def _tree(side: DrawnSide, cost: _Cost, trials: _Trials, frames: _Frames, blobs: Blobs) -> StackTree | None:
    sampled = [(trial.side, measurement) for trial, measurement in trials if trial.engine == "sampled"]
    if not all(measurement.validity.valid for _, measurement in sampled):
        # As the findings state: there are no stacks where a pass of either side is not valid.
        return None
    stacks = [measurement.stacks for of, measurement in sampled if of == side and measurement.stacks is not None]
    if not stacks:
        return None
    tree = json.loads(_core.stack_tree(_core.merge_stacks([blobs.get(digest) for digest in stacks])))
    places = [frames.place(frame) for frame in tree["frames"]]
    nodes = tree["nodes"]
    return StackTree(
        event=tree["event"],
        samples=tree["samples"],
        lost=tree["lost"],
        # The passes themselves are too short to measure it.
        cpu_ns_per_op=cost.cpu_ns_per_op,
        cpu_error=cost.error,
        threads=tree["threads"],
        nodes=StackNodes(
            thread=nodes["thread"],
            parent=nodes["parent"],
            frame=[places[frame] for frame in nodes["frame"]],
            samples=nodes["samples"],
        ),
    )


def _cost(case: CaseResult, side: DrawnSide) -> _Cost:
    """Return a side's cost as it was timed."""
    timed = next((one for one in case.verdicts if one.metric == "cpu_ns_per_op"), None)
    if timed is None:
        return _Cost()
    return _Cost(timed.base if side == "base" else timed.head, timed.low, timed.high)
