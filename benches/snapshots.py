"""How snapshots are measured on this machine: `make bench-snapshots`.

Several figures come from one sweep of BGSAVE over the usual sizes, under both loads. Sizes in bytes as arguments
replace the usual ones, which the file states. The whole document is written to `.bench/snapshots-sweep.json`.
`planted_stall` traces a server that waits after its fork, and one that does not. What needs a kernel to be built
(`benches/async_fork.py`) is measured only by its name.
"""

import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from benches.async_fork import checked_kernel, counted_forks
from benches.comparing import SERVER, empty_store
from benches.figures import DIRECTORY, Figure, read_figures, show_figures, write_figures
from benches.planted_stall import planted_stall
from zerolap import open_store
from zerolap.build import resolve
from zerolap.lab import Lab, sides_of, snapshot, snapshot_request
from zerolap.records import (
    RequestedServer,
    SnapshotLoad,
    SnapshotPoint,
    SnapshotRepetition,
    SnapshotReport,
    SnapshotSweep,
)
from zerolap.report import document_json
from zerolap.sheets import with_sweep_reading

REPETITIONS: Final = 5
RATE_PER_SECOND: Final = 5000
CONNECTIONS: Final = 50
AGREES_SHARE, AGREES_US = 0.2, 1000.0
"""The pause that a client saw agrees with the server's if they differ by no more than this, together."""


def sweep(sizes: Sequence[int] | None, store: Path) -> SnapshotReport:
    """Carry out the sweep that `zerolap snapshot redis-server` does."""
    wanted = SnapshotSweep(
        sizes_bytes=tuple(sizes or ()),
        rate_per_second=RATE_PER_SECOND,
        connections=CONNECTIONS,
        repetitions=REPETITIONS,
    )
    sides = sides_of(RequestedServer(source=resolve(SERVER, None)), None, [])
    request = snapshot_request(sides, wanted, "make bench-snapshots", seed=1)
    with open_store(store) as results:
        report = snapshot(request, Lab(results, lambda event: print(event, file=sys.stderr)))
    assert isinstance(report, SnapshotReport)
    return report


def figures_of(report: SnapshotReport) -> dict[str, Figure]:
    """Return the figures of a sweep."""
    forks = [sample_of(point, repetition) for point, repetition in repetitions_of(report)]
    opened = [(point, repetition) for point, repetition in repetitions_of(report) if point.load == "open"]
    tails = {load: tail_of(report, load) for load in report.settings.loads}
    sizes = [f"{size / (1 << 30):g} GiB" for size in report.settings.sizes_bytes]
    trials = len(forks)
    fit = report.fits["fork_us"]
    return {
        "pause_fit_r2": Figure(
            value=fit.r2,
            unit="r2",
            samples=forks,
            trials=trials,
            notes=[f"{fit.slope_per_gib / 1000:.1f} ms more for each GiB", f"sizes {', '.join(sizes)}"],
        ),
        "seen_by_client": Figure(
            value=sum(agrees(repetition) for _, repetition in opened),
            unit=f"of {len(opened)} events",
            samples=[sample_of(point, repetition) for point, repetition in opened],
            trials=len(opened),
        ),
        "closed_loop_hides": Figure(
            value=statistics.median(tails["open"]) / statistics.median(tails["closed"]),
            unit="ratio of p99.9",
            samples=[tails],
            trials=len(tails["open"]) + len(tails["closed"]),
            notes=[f"at {sizes[-1]}"],
        ),
        "sweep_minutes": Figure(
            value=report.machine_seconds / 60, unit="minutes", samples=[report.machine_seconds], trials=trials
        ),
    }


def repetitions_of(report: SnapshotReport) -> Iterator[tuple[SnapshotPoint, SnapshotRepetition]]:
    """Yield all repetitions with the point that they belong to."""
    for point in report.points:
        for repetition in point.repetitions:
            yield point, repetition


def agrees(repetition: SnapshotRepetition) -> bool:
    """Whether the longest pause that a client saw is the fork that the server reports."""
    pause_us, fork_us = repetition.metrics["longest_pause_us"], repetition.metrics["fork_us"]
    return abs(pause_us - fork_us) <= AGREES_SHARE * fork_us + AGREES_US


def sample_of(point: SnapshotPoint, repetition: SnapshotRepetition) -> dict[str, str | float]:
    """Return what a repetition measured, with its size and load."""
    return {"load": point.load, "size_bytes": point.size_bytes, **repetition.metrics}


def tail_of(report: SnapshotReport, load: SnapshotLoad) -> list[float]:
    """Return the p99.9 in microseconds of each event at the greatest size."""
    [point] = [point for point in report.points if point.load == load][-1:]
    return [repetition.metrics["during_p99_9_us"] for repetition in point.repetitions]


def measured_sweep(sizes: Sequence[int] | None) -> dict[str, Figure]:
    """Carry out the sweep, write its document, and return all its figures."""
    report = sweep(sizes, empty_store("snapshots"))
    DIRECTORY.joinpath("snapshots-sweep.json").write_text(document_json(with_sweep_reading(report)))
    return figures_of(report)


def measured_stall(_sizes: Sequence[int] | None) -> dict[str, Figure]:
    """Trace servers with a planted wait and without it; sizes have no effect."""
    return {"planted_stall": planted_stall()}


Measure: TypeAlias = Callable[[Sequence[int] | None], dict[str, Figure]]
MEASURES: Final[Mapping[str, Measure]] = {
    **dict.fromkeys(("pause_fit_r2", "seen_by_client", "closed_loop_hides", "sweep_minutes"), measured_sweep),
    "planted_stall": measured_stall,
    **dict.fromkeys(("async_parent_share", "longest_wait_share", "counts_repeat"), counted_forks),
    **dict.fromkeys(("snapshot_wrong", "selftests"), checked_kernel),
}
"""What measures each figure; what measures several is called once."""
BY_NAME: Final = (counted_forks, checked_kernel)
"""What takes an hour and a kernel: it is measured only where a figure of it is named."""


def wanted_figures(words: Sequence[str]) -> list[str]:
    """Return the figures that are named, by default all but those of kernels; raises `SystemExit` for others."""
    names = [word for word in words if not word.isdecimal()]
    unknown = [name for name in names if name not in MEASURES]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; figures: {', '.join(MEASURES)}; sizes are in bytes")
    return names or [name for name, measure in MEASURES.items() if measure not in BY_NAME]


def main() -> None:
    """Measure, print and write; figures that are not measured keep their place in the file."""
    wanted = wanted_figures(sys.argv[1:])
    sizes = [int(word) for word in sys.argv[1:] if word.isdecimal()] or None
    measured: dict[str, Figure] = {}
    for measure in dict.fromkeys(MEASURES[name] for name in wanted):
        measured |= {name: figure for name, figure in measure(sizes).items() if name in wanted}
    path = write_figures("snapshots", read_figures("snapshots") | measured)
    print(f"written to {path}", file=sys.stderr)
    show_figures(measured)


if __name__ == "__main__":
    main()
