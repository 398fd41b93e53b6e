"""Reads what a comparison's trials left in the store and puts it into pictures."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from zerolap import _core
from zerolap.engines import latencies_us, sum_of_histograms
from zerolap.lab.timed_start import FIRST_PACED_BLOCK
from zerolap.records import (
    CasePictures,
    CaseResult,
    Comparison,
    Measurement,
    Pictures,
    Side,
    StackFrame,
    StackNodes,
    StackTree,
    Timeline,
    Trial,
    Verdict,
)
from zerolap.store import BlobDamaged, Blobs, Store

SIDES: tuple[Side, ...] = ("base", "head")
POINTS_PER_DECADE = 8
DECADES = 5
"""Percentiles are drawn up to 99.999 %."""
NAMED_SHARES = (0.5, 0.95)
"""Percentiles that are asked for by name and lie between the even ones."""
MOST_POINTS = 200
INTERVAL_ERRORS = 3.0
"""About so many standard errors an interval reaches to either side."""


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
    trials: dict[str, list[tuple[Trial, Measurement]]] = {}
    for trial, measurement in store.measurements(comparison.id):
        trials.setdefault(trial.case, []).append((trial, measurement))
    frames = _Frames()
    cases: dict[str, CasePictures] = {}
    for case in comparison.cases:
        if not case.validity.valid:
            continue
        try:
            pictures = _of_case(case, trials.get(case.case, []), frames, store.blobs)
        except (BlobDamaged, ValueError) as fault:
            # The rest of what was recorded stays readable.
            told = fault.message if isinstance(fault, BlobDamaged) else "they were recorded by another version"
            pictures = CasePictures(latency=None, throughput=None, stacks=None, missing=told)
        if pictures is not None:
            cases[case.case] = pictures
    return Pictures(frames=frames.all(), cases=cases)


def _of_case(
    case: CaseResult, trials: Sequence[tuple[Trial, Measurement]], frames: _Frames, blobs: Blobs
) -> CasePictures | None:
    starts = _starts(trials, blobs)
    stacks = {side: tree for side in SIDES if (tree := _tree(side, case, trials, frames, blobs)) is not None}
    if not starts and not stacks:
        return None
    latency = {side: _percentiles(start[side] for start in starts) for side in SIDES}
    throughput, starts_at = _throughput(starts)
    return CasePictures(
        latency=latency if all(latency.values()) else None,
        throughput=throughput if starts else None,
        starts_at=starts_at,
        stacks=stacks or None,
    )


def _starts(trials: Iterable[tuple[Trial, Measurement]], blobs: Blobs) -> list[dict[Side, Timeline]]:
    """Return the starts at full speed, in order; those that were disturbed on a side are left out on both."""
    by_block: dict[int, dict[Side, str]] = {}
    for trial, measurement in trials:
        is_chosen = trial.engine == "timed" and trial.block < FIRST_PACED_BLOCK and measurement.validity.valid
        if is_chosen and measurement.profile is not None:
            by_block.setdefault(trial.block, {})[trial.side] = measurement.profile
    return [
        {side: Timeline.model_validate_json(blobs.get(digest)) for side, digest in profiles.items()}
        for _, profiles in sorted(by_block.items())
        if profiles.keys() == set(SIDES)
    ]


def _throughput(starts: Sequence[Mapping[Side, Timeline]]) -> tuple[dict[Side, list[tuple[float, float]]], list[float]]:
    """Return a point for each slice by side, or for several in a row where there are too many, and when starts were."""
    together = max(1, -(-sum(len(start["base"].slices) for start in starts) // MOST_POINTS))
    points: dict[Side, list[tuple[float, float]]] = {side: [] for side in SIDES}
    starts_at, now = [], 0.0
    for start in starts:
        starts_at.append(round(now, 3))
        for first in range(0, len(start["base"].slices), together):
            parts = {side: start[side].slices[first : first + together] for side in SIDES}
            seconds = {side: sum(one.seconds for one in part) for side, part in parts.items()}
            now += sum(seconds.values())
            for side, part in parts.items():
                rate = sum(one.requests for one in part) / seconds[side]
                points[side].append((round(now, 3), float(round(rate))))
    return points, starts_at


def _percentiles(timelines: Iterable[Timeline]) -> list[tuple[float, float]]:
    """Return latencies in microseconds at shares that lie evenly on the axis of 1 / (1 - share), and at named ones."""
    histogram = sum_of_histograms(timeline.histogram_ns for timeline in timelines)
    if not histogram:
        return []
    total = sum(count for _, count in histogram)
    even = [1 - 10 ** (-step / POINTS_PER_DECADE) for step in range(POINTS_PER_DECADE * DECADES + 1)]
    shares = sorted(share for share in {*NAMED_SHARES, *(round(one, 6) for one in even)} if total * (1 - share) >= 1)
    shares.append(1.0)
    return list(zip(shares, latencies_us(histogram, shares), strict=True))


def _tree(
    side: Side, case: CaseResult, trials: Iterable[tuple[Trial, Measurement]], frames: _Frames, blobs: Blobs
) -> StackTree | None:
    found = [
        measurement
        for trial, measurement in trials
        if trial.side == side and trial.engine == "sampled" and measurement.validity.valid
    ]
    if not found or found[-1].profile is None:
        return None
    tree = json.loads(_core.stack_tree(blobs.get(found[-1].profile)))
    timed = next((one for one in case.verdicts if one.metric == "cpu_ns_per_op"), None)
    places = [frames.place(frame) for frame in tree["frames"]]
    nodes = tree["nodes"]
    return StackTree(
        event=tree["event"],
        samples=tree["samples"],
        lost=tree["lost"],
        # One pass alone says too little of it to compare the sides by.
        cpu_ns_per_op=None if timed is None else timed.base if side == "base" else timed.head,
        cpu_error=0.0 if timed is None else _error(timed),
        threads=tree["threads"],
        nodes=StackNodes(
            thread=nodes["thread"],
            parent=nodes["parent"],
            frame=[places[frame] for frame in nodes["frame"]],
            samples=nodes["samples"],
        ),
    )


def _error(timed: Verdict) -> float:
    """Return the standard error of a side's figure as a part of it; both sides' make the interval of the change."""
    return math.log((1 + timed.high) / (1 + timed.low)) / (2 * INTERVAL_ERRORS * math.sqrt(2))
