"""From the repetitions of a sweep to its points, lines and verdicts."""

from collections.abc import Callable, Sequence
from typing import Final

from zerolap.judge import SnapshotPairs, judge_snapshots, line_fit, median_estimate
from zerolap.records import (
    LineFit,
    MedianEstimate,
    SnapshotLoad,
    SnapshotPoint,
    SnapshotRepetition,
    SnapshotStart,
    SnapshotVerdicts,
    SweepRepetition,
)

FORK: Final = "fork_us"
PAUSE: Final = "longest_pause_us"


def points_of(
    measured: Sequence[SweepRepetition], sizes: Sequence[int], sides: Sequence[str], loads: Sequence[SnapshotLoad]
) -> list[SnapshotPoint]:
    """Return the points by size, side and load, each with its repetitions in order."""
    points = []
    for size in sizes:
        for side in sides:
            for load in loads:
                kept = [one for one in measured if (one.size_bytes, one.side, one.load) == (size, side, load)]
                if kept:
                    points.append(_point(sorted(kept, key=lambda one: one.number)))
    return points


def starts_of(measured: Sequence[SweepRepetition], sizes: Sequence[int]) -> list[SnapshotStart]:
    """Return the starts that the repetitions at these sizes belong to, each once, in the order of the repetitions."""
    starts = (one.start for one in measured if one.size_bytes in sizes)
    return list(dict.fromkeys(start for start in starts if start is not None))


def _point(kept: Sequence[SweepRepetition]) -> SnapshotPoint:
    first = kept[0]
    repetitions = [one.repetition for one in kept]
    return SnapshotPoint(
        side=first.side,
        size_bytes=first.size_bytes,
        data_bytes=first.data_bytes,
        keys=first.keys,
        load=first.load,
        metrics=medians_of(repetitions),
        repetitions=repetitions,
    )


def medians_of(repetitions: Sequence[SnapshotRepetition]) -> dict[str, MedianEstimate]:
    """Return the median of each metric that all repetitions have, with its interval."""
    common = [name for name in repetitions[0].metrics if all(name in one.metrics for one in repetitions)]
    return {name: median_estimate([one.metrics[name] for one in repetitions]) for name in common}


def fits_of(points: Sequence[SnapshotPoint]) -> dict[str, LineFit]:
    """Return the lines of fork and pause over the resident memory, as far as several sizes show one."""
    wanted: dict[str, tuple[str, Callable[[SnapshotPoint], bool]]] = {
        FORK: (FORK, lambda _: True),
        f"open_{PAUSE}": (PAUSE, lambda point: point.load == "open"),
        f"closed_{PAUSE}": (PAUSE, lambda point: point.load == "closed"),
    }
    fits = {}
    for name, (metric, is_wanted) in wanted.items():
        measured = [
            (repetition.metrics["resident_bytes"], repetition.metrics[metric])
            for point in points
            if is_wanted(point)
            for repetition in point.repetitions
            if metric in repetition.metrics
        ]
        fit = line_fit([size for size, _ in measured], [value for _, value in measured])
        if fit is not None:
            fits[name] = fit
    return fits


def verdicts_of(points: Sequence[SnapshotPoint], sides: Sequence[str], min_effect: float) -> list[SnapshotVerdicts]:
    """Return the verdicts of each side but the first beside it, by size, side and load."""
    base, *others = sides
    of_place = {(point.size_bytes, point.load, point.side): point for point in points}
    heads = [point for point in points if point.side in others and (point.size_bytes, point.load, base) in of_place]
    bases = [of_place[point.size_bytes, point.load, base] for point in heads]
    pairs = [
        SnapshotPairs(head.load, _metrics(base_point), _metrics(head))
        for base_point, head in zip(bases, heads, strict=True)
    ]
    return [
        SnapshotVerdicts(base=base, head=head.side, size_bytes=head.size_bytes, load=head.load, verdicts=verdicts)
        for head, verdicts in zip(heads, judge_snapshots(pairs, min_effect), strict=True)
        if verdicts
    ]


def _metrics(point: SnapshotPoint) -> list[dict[str, float]]:
    return [repetition.metrics for repetition in point.repetitions]
