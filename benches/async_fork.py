"""Async-fork beside fork in emulated machines, and whether its kernel is right: figures of `make bench-snapshots`.

The kernel is that of Debian's `linux-source-6.1` with the patch in `kernel/async-fork/`. It is kept below `.bench/`, so
that it is built once. Counts do not depend on the machine, only on the versions of kernel, server and emulator.
"""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benches.comparing import SERVER
from benches.figures import DIRECTORY, Figure
from zerolap import open_store
from zerolap.build import KernelSource, resolve
from zerolap.byte_counts import MIB, shown_bytes
from zerolap.lab import Factor, Lab, emulated_request, sides_of, snapshot
from zerolap.records import EmulatedPoint, EmulatedSnapshotReport, EmulatedSweep, RequestedServer
from zerolap.report import document_json
from zerolap.sheets import with_sweep_reading

PATCHED: Final = Path("kernel/async-fork")
SOURCE: Final = Path("/usr/src/linux-source-6.1.tar.xz")
COPY, ASYNC = "fork=copy", "fork=async"
REPEATED_SIZE: Final = 64 * MIB
RUNS: Final = 3
COMPARED_PAGES: Final = 100_000_000
TESTING_SECONDS: Final = 6 * 3600
STORE: Final = DIRECTORY / "async-fork"
"""It is kept, with the kernel."""
TESTED: Final = re.compile(r"^([a-z]\w*) (\d+)$", re.MULTILINE)


def patched_source() -> KernelSource:
    """Return what the kernel of `make async-fork-demo` is built of."""
    return KernelSource(SOURCE, [PATCHED / "async-fork.patch"], [Path("demo/async-fork.config")])


def emulated(sizes: Sequence[int] | None, repetitions: int) -> EmulatedSnapshotReport:
    """Count both forks at sizes of data, by default the usual ones."""
    sweep = EmulatedSweep(kernel=patched_source().files, sizes_bytes=tuple(sizes or ()), repetitions=repetitions)
    server = RequestedServer(source=resolve(SERVER, None))
    sides = sides_of(server, None, [Factor("fork", ["copy", "async"])])
    request = emulated_request(sides, sweep, "make bench-snapshots")
    with open_store(STORE) as results:
        report = snapshot(request, Lab(results, lambda event: print(event, file=sys.stderr)))
    assert isinstance(report, EmulatedSnapshotReport)
    return report


def counted_forks(sizes: Sequence[int] | None) -> dict[str, Figure]:
    """Count forks over sizes, and three times at one of them; the documents are written beside the figures."""
    swept = emulated(sizes, repetitions=1)
    repeated = emulated([REPEATED_SIZE], RUNS)
    for name, report in (("sweep", swept), ("repeated", repeated)):
        DIRECTORY.joinpath(f"emulated-forks-{name}.json").write_text(document_json(with_sweep_reading(report)))
    return figures_of(swept) | {"counts_repeat": repeat_figure(repeated)}


def figures_of(report: EmulatedSnapshotReport) -> dict[str, Figure]:
    """Return what Async-fork comes to beside fork at the largest size, and by its slope over the memory."""
    pairs = [(point, counterpart(report, point)) for point in report.points if point.side == ASYNC]
    largest, base = pairs[-1]
    slopes = {
        side.name: side.fits["kernel_fork_ticks"].slope_per_gib
        for side in report.sides
        if "kernel_fork_ticks" in side.fits
    }
    at = f"at {shown_bytes(largest.size_bytes)}"
    growth = [f"slope over the memory: {slopes[ASYNC] / slopes[COPY]:.4f} of fork's"] if len(slopes) == 2 else []
    return {
        "async_parent_share": Figure(
            value=share_of(largest, base, "kernel_fork_ticks"),
            unit="of fork's instructions",
            samples=[*samples_of(pairs, "kernel_fork_ticks"), slopes],
            trials=len(report.points),
            notes=[at, *growth],
        ),
        "longest_wait_share": Figure(
            value=share_of(largest, base, "wait_server_longest"),
            unit="of fork's longest wait",
            samples=samples_of(pairs, "wait_server_longest"),
            trials=len(report.points),
            notes=[
                f"{at}, in instructions of the server",
                f"{share_of(largest, base, 'wait_ticks_longest'):.3f} with those of all processes",
            ],
        ),
    }


def counterpart(report: EmulatedSnapshotReport, point: EmulatedPoint) -> EmulatedPoint:
    """Return the point of fork at the same size."""
    [base] = [other for other in report.points if (other.side, other.size_bytes) == (COPY, point.size_bytes)]
    return base


def share_of(point: EmulatedPoint, base: EmulatedPoint, name: str) -> float:
    """Return a count as a share of that of the other fork."""
    return point.runs[0][name] / base.runs[0][name]


def samples_of(
    pairs: Sequence[tuple[EmulatedPoint, EmulatedPoint]], name: str
) -> list[dict[str, int] | dict[str, float]]:
    """Return a count of both forks by size."""
    return [
        {"size_bytes": point.size_bytes, ASYNC: point.runs[0][name], COPY: base.runs[0][name]} for point, base in pairs
    ]


def repeat_figure(report: EmulatedSnapshotReport) -> Figure:
    """Return how many runs of each fork counted exactly what the first one did."""
    equal = [sum(run == point.runs[0] for run in point.runs) for point in report.points]
    return Figure(
        value=min(equal),
        unit=f"equal runs of {report.settings.repetitions}",
        samples=[{"side": point.side, "runs": point.runs} for point in report.points],
        trials=sum(len(point.runs) for point in report.points),
        notes=[f"at {shown_bytes(REPEATED_SIZE)}, all counts of each fork"],
    )


def checked_kernel(_sizes: Sequence[int] | None) -> dict[str, Figure]:
    """Carry out the hostile test and the kernel's own tests under both forks; sizes have no effect."""
    command = [str(PATCHED / "test" / "run"), "--source", str(SOURCE), "--work", str(DIRECTORY / "async-fork-tests")]
    command += ["--pages", str(COMPARED_PAGES), "--hostile-seconds", str(TESTING_SECONDS // 2)]
    command += ["--seconds", str(TESTING_SECONDS)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return tested_figures(done.stdout)


def tested_figures(output: str) -> dict[str, Figure]:
    """Return the figures in what the tests of the patch print; raises `SystemExit` where they did not end."""
    values = {name: int(value) for name, value in TESTED.findall(output)}
    needed = (
        "pages_compared",
        "pages_wrong",
        "children_lost",
        "selftests_new_failures",
        "hooks_left_out",
        "hooks_left_out_undetected",
    )
    missing = [name for name in needed if name not in values]
    if missing:
        raise SystemExit(
            f"the tests of the patch did not end: no {', '.join(missing)} in their output\n{output[-2000:]}"
        )
    return {
        "snapshot_wrong": Figure(
            # A child that ended before it could compare may have had wrong pages.
            value=values["pages_wrong"] + values["children_lost"],
            unit="wrong pages and lost children",
            samples=[values],
            trials=values["pages_compared"],
            notes=[
                f"{values['pages_compared']:,} pages compared",
                f"of {values['hooks_left_out']} hooks left out, {values['hooks_left_out_undetected']} undetected",
            ],
        ),
        "selftests": Figure(
            value=values["selftests_new_failures"],
            unit="new failures",
            samples=[values],
            trials=values.get("selftests_run", 0),
        ),
    }
