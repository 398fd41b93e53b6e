"""Reads what a comparison's trials left in the store and puts it into pictures."""

import json
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
)
from zerolap.store import Blobs, Store

SIDES: tuple[Side, ...] = ("base", "head")
POINTS_PER_DECADE = 8
DECADES = 5
"""Percentiles are drawn up to 99.999 %."""
NAMED_SHARES = (0.5, 0.95)
"""Percentiles that are asked for by name and lie between the even ones."""
MOST_POINTS = 200


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
    cases = {
        case.case: pictures
        for case in comparison.cases
        if case.validity.valid and (pictures := _of_case(case, trials.get(case.case, []), frames, store.blobs))
    }
    return Pictures(frames=frames.all(), cases=cases)


def _of_case(
    case: CaseResult, trials: Sequence[tuple[Trial, Measurement]], frames: _Frames, blobs: Blobs
) -> CasePictures | None:
    timelines = {side: _timelines(side, trials, blobs) for side in SIDES}
    stacks = {side: tree for side in SIDES if (tree := _tree(side, case, trials, frames, blobs)) is not None}
    timed = all(timelines.values())
    if not timed and not stacks:
        return None
    return CasePictures(
        latency={side: _percentiles(timelines[side]) for side in SIDES} if timed else None,
        throughput={side: _throughput(timelines[side]) for side in SIDES} if timed else None,
        stacks=stacks or None,
    )


def _timelines(side: Side, trials: Iterable[tuple[Trial, Measurement]], blobs: Blobs) -> list[Timeline]:
    """Return the starts at full speed, in order; disturbed ones are left out."""
    return [
        Timeline.model_validate_json(blobs.get(measurement.profile))
        for trial, measurement in trials
        if trial.side == side
        and trial.engine == "timed"
        and trial.block < FIRST_PACED_BLOCK
        and measurement.validity.valid
        and measurement.profile is not None
    ]


def _throughput(timelines: Iterable[Timeline]) -> list[tuple[float, float]]:
    """Return a point for each slice, or for several in a row where there are more than can be told apart."""
    slices = [one for timeline in timelines for one in timeline.slices]
    together = -(-len(slices) // MOST_POINTS)
    points, end = [], 0.0
    for first in range(0, len(slices), together):
        part = slices[first : first + together]
        seconds = sum(one.seconds for one in part)
        end += seconds
        points.append((round(end, 3), float(round(sum(one.requests for one in part) / seconds))))
    return points


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
    cpu_ns = found[-1].metrics["cpu_ns_per_op"] if timed is None else timed.base if side == "base" else timed.head
    places = [frames.place(frame) for frame in tree["frames"]]
    nodes = tree["nodes"]
    return StackTree(
        event=tree["event"],
        samples=tree["samples"],
        lost=tree["lost"],
        cpu_ns_per_op=cpu_ns,
        threads=tree["threads"],
        nodes=StackNodes(
            thread=nodes["thread"],
            parent=nodes["parent"],
            frame=[places[frame] for frame in nodes["frame"]],
            samples=nodes["samples"],
        ),
    )
