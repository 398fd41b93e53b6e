"""Reads what the trials of a comparison or a run left in the store and puts it into pictures."""

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic import ValidationError

from zerolap import _core
from zerolap.documents.picture_lines import (
    LineBounds,
    SourceTexts,
    StackPasses,
    lined_functions,
    named_functions,
    sampled_lines,
)
from zerolap.judge import side_error
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
    TracedCase,
    Trial,
    latencies_us,
    sum_of_histograms,
)
from zerolap.store import BlobDamaged, Blobs, StackEngine, Store

SIDES: tuple[DrawnSide, ...] = ("base", "head")
POINTS_PER_DECADE = 8
DECADES = 5
"""Percentiles are drawn up to 99.999 %."""
NAMED_SHARES = (0.5, 0.95)
"""Percentiles that are asked for by name and lie between the even ones."""
MOST_POINTS = 200


@dataclass(frozen=True)
class _Cost:
    """What a side's request takes, null where it was not timed, and the bounds of the change between the sides."""

    cpu_ns_per_op: float | None = None
    low: float = 0.0
    high: float = 0.0

    @property
    def error(self) -> float:
        """The standard error of the figure as a part of it; those of both sides make the interval of the change."""
        return side_error(self.low, self.high)


_Costs: TypeAlias = Mapping[DrawnSide, _Cost]
_Trials: TypeAlias = Sequence[tuple[Trial, Measurement]]


class _Frames:
    def __init__(self) -> None:
        self.all: list[StackFrame] = []
        self._numbers: dict[tuple[str, str | None, str, bool], int] = {}

    def number(self, frame: Mapping[str, Any]) -> int:
        key = (frame["function"], frame["file"], frame["object"], frame["inlined"])
        if key not in self._numbers:
            self._numbers[key] = len(self.all)
            self.all.append(StackFrame(function=key[0], file=key[1], object=key[2], inlined=key[3]))
        return self._numbers[key]


@dataclass(frozen=True)
class _CaseSource:
    costs: _Costs
    trials: _Trials
    named: Sequence[tuple[str, str | None]]

    def stacks(self, engine: StackEngine) -> dict[DrawnSide, list[str]]:
        """Return the digests of the stacks of each side; none where a pass of either side is not valid."""
        passes = [(trial.side, measurement) for trial, measurement in self.trials if trial.engine == engine]
        if not all(measurement.validity.valid for _, measurement in passes):
            # As the findings state.
            return {}
        digests = {
            side: [measurement.stacks for of, measurement in passes if of == side and measurement.stacks is not None]
            for side in self.costs
        }
        return {side: of_side for side, of_side in digests.items() if of_side}


def read_pictures(document: Comparison | RunReport, store: Store) -> Pictures:
    """Return the pictures of a stored comparison, or of a run, all of one side; cases without any are left out."""
    return _pictures(document.cases, store.measurements(document.id), store.blobs)


def read_case_pictures(case: CaseResult | RunCase, identity: str, store: Store) -> Pictures:
    """Return the pictures of one case of the stored comparison or run with that id; empty without any."""
    numbered = store.reports.trials_of(identity, case.case)
    trials = [(each.trial, each.measurement) for each in numbered if each.measurement is not None]
    return _pictures([case], trials, store.blobs)


def _pictures(cases: Sequence[CaseResult | RunCase], trials: _Trials, blobs: Blobs) -> Pictures:
    by_case: dict[str, list[tuple[Trial, Measurement]]] = {}
    for trial, measurement in trials:
        by_case.setdefault(trial.case, []).append((trial, measurement))
    valid = {case.case: case for case in cases if case.validity.valid}
    sampled = sum(any(trial.engine == "sampled" for trial, _ in by_case.get(name, ())) for name in valid)
    drawing = _Drawing(blobs, LineBounds.of(sampled))
    drawn: dict[str, CasePictures] = {}
    for name, case in valid.items():
        try:
            pictures = drawing.of_case(_CaseSource(_costs(case), by_case.get(name, []), named_functions(case)))
        except (BlobDamaged, ValueError) as fault:
            # The rest of what was recorded stays readable.
            reason = fault.message if isinstance(fault, BlobDamaged) else "they were recorded by another version"
            pictures = CasePictures(latency=None, throughput=None, stacks=None, missing=reason)
        if pictures is not None:
            drawn[name] = pictures
    return Pictures(frames=drawing.frames.all, sources=drawing.sources.all(), cases=drawn)


@dataclass
class _Drawing:
    """Draws the cases of one page, which share functions and lines of source code."""

    blobs: Blobs
    bounds: LineBounds
    frames: _Frames = field(default_factory=_Frames)
    sources: SourceTexts = field(default_factory=SourceTexts)

    def of_case(self, source: _CaseSource) -> CasePictures | None:
        """Return the pictures of a case; none where it has none. Raises where what was recorded cannot be read."""
        starts = _starts(source.costs.keys(), source.trials, self.blobs)
        passes = {side: self._passes(digests) for side, digests in source.stacks("sampled").items()}
        # The passes themselves are too short to measure what a request costs.
        stacks = {side: self._tree(of_side.merged, source.costs[side]) for side, of_side in passes.items()}
        waits = {
            side: self._tree(self._passes(digests).merged, _Cost(self._off_ns_per_op(source, side)))
            for side, digests in source.stacks("traced").items()
        }
        if not starts and not stacks and not waits:
            return None
        latency = {side: latency_points(start[side] for start in starts) for side in source.costs}
        throughput, starts_at = _throughput(starts)
        functions = lined_functions(stacks.values(), self.frames.all, source.named)
        return CasePictures(
            latency=latency if all(latency.values()) else None,
            throughput=throughput if starts else None,
            starts_at=starts_at,
            stacks=stacks or None,
            waits=waits or None,
            lines=sampled_lines(passes, functions, self.bounds, self.sources),
        )

    def _passes(self, digests: Sequence[str]) -> StackPasses:
        return StackPasses([self.blobs.get(digest) for digest in digests])

    def _tree(self, merged: bytes, cost: _Cost) -> StackTree:
        tree = json.loads(_core.stack_tree(merged))
        numbers = [self.frames.number(frame) for frame in tree["frames"]]
        nodes = tree["nodes"]
        return StackTree(
            event=tree["event"],
            samples=tree["samples"],
            lost=tree["lost"],
            cpu_ns_per_op=cost.cpu_ns_per_op,
            cpu_error=cost.error,
            threads=tree["threads"],
            nodes=StackNodes(
                thread=nodes["thread"],
                parent=nodes["parent"],
                frame=[numbers[frame] for frame in nodes["frame"]],
                samples=nodes["samples"],
            ),
        )

    def _off_ns_per_op(self, source: _CaseSource, side: DrawnSide) -> float | None:
        passes = [of for trial, of in source.trials if trial.engine == "traced" and trial.side == side]
        return off_cpu_ns_per_op(passes, self.blobs)


def off_cpu_ns_per_op(passes: Sequence[Measurement], blobs: Blobs) -> float | None:
    """Return the time off the processor of a request in traced passes, all threads together.

    None where a pass cannot be read, and where there is none.
    """
    try:
        traced = [
            TracedCase.model_validate_json(blobs.get(of_pass.traced))
            for of_pass in passes
            if of_pass.traced is not None
        ]
    except (ValidationError, BlobDamaged):
        return None
    off_ns = [sum(thread.off_ns_per_op for thread in of_pass.threads) for of_pass in traced]
    return sum(off_ns) / len(off_ns) if off_ns else None


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


def _costs(case: CaseResult | RunCase) -> _Costs:
    if not isinstance(case, CaseResult):
        return {"head": _Cost(case.metrics.get("cpu_ns_per_op"))}
    timed = next((verdict for verdict in case.verdicts if verdict.metric == "cpu_ns_per_op"), None)
    if timed is None:
        return {"base": _Cost(), "head": _Cost()}
    return {
        side: _Cost(cost, timed.low, timed.high) for side, cost in zip(SIDES, (timed.base, timed.head), strict=True)
    }
