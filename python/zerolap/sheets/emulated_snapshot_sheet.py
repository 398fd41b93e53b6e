"""Counts of forks in emulated machines as they are shown; no count is shown as a time."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from zerolap.byte_counts import MIB, shown_bytes
from zerolap.records import EmulatedPoint, EmulatedSide, EmulatedSnapshotReport
from zerolap.sheets.format import NO_VALUE, count, counted, duration, rough_percent, share
from zerolap.sheets.sheet import Cell, Column, Fact, Sentence, Sheet, Table, name
from zerolap.sheets.snapshot_sheet import described_server

MILLION: Final = 1e6
NOT_TIME: Final = "M instr. are millions of instructions; an emulated machine measures no time"
FORK, LONGEST, LONGEST_VIRTUAL = "kernel_fork_ticks", "wait_server_longest", "wait_ticks_longest"


@dataclass(frozen=True)
class EmulatedFigure:
    """A figure of a run: its column, and how it is made of the run's counts; none where one is missing."""

    column: Column
    value: Callable[[Mapping[str, int]], float | None]
    is_share: bool = False

    def text(self, point: EmulatedPoint) -> str:
        """Write the figure of the first run of a point."""
        value = self.value(point.runs[0])
        if value is None:
            return NO_VALUE
        return share(value) if self.is_share else count(value)


def _counted(key: str, heading: str, unit: str = "", divisor: float = 1.0, rank: int = 0) -> EmulatedFigure:
    column = Column(key=key, heading=heading, unit=unit, is_number=True, rank=rank)
    return EmulatedFigure(column, lambda run: run[key] / divisor if key in run else None)


def _deferred(run: Mapping[str, int]) -> float | None:
    if "kernel_tables_deferred" not in run or "kernel_fork_tables" not in run:
        return None
    tables = run["kernel_tables_deferred"] + run["kernel_fork_tables"]
    return run["kernel_tables_deferred"] / tables if tables else 0.0


FIGURES: Final = (
    _counted(FORK, "fork", "M instr.", MILLION),
    _counted("kernel_fork_entries", "entries copied by fork", rank=4),
    _counted("kernel_child_entries", "by child", rank=5),
    _counted("kernel_hook_entries", "by hooks", rank=6),
    EmulatedFigure(Column(key="deferred", heading="deferred tables", is_number=True, rank=7), _deferred, is_share=True),
    _counted(LONGEST, "longest wait", "server M instr.", MILLION),
    _counted(LONGEST_VIRTUAL, "with all processes", "", MILLION, rank=2),
    _counted("wait_server_p99", "p99 wait", "server M instr.", MILLION, rank=3),
    _counted("requests", "requests", rank=8),
    _counted("copied_on_write_bytes", "copied", "MiB", MIB, rank=9),
)


def emulated_snapshot_sheet(report: EmulatedSnapshotReport) -> Sheet:
    """Return the counts over sizes of data, what sides come to beside the first, and whether runs are equal."""
    return Sheet(
        kind="emulated-snapshot",
        title=emulated_headline(report),
        remark=_subject(report),
        sentences=[Sentence(text=sentence) for sentence in _sentences(report)],
        tables=[_table(report)],
        notes=[*_warnings(report), *report.notes, NOT_TIME],
        closing=[
            Fact(label="emulated in", text=duration(report.machine_seconds)),
            *([Fact(label="shown again", text=f"zerolap explain {report.id}")] if report.id else []),
            Fact(label="seed", text=str(report.settings.seed)),
        ],
    )


def emulated_headline(report: EmulatedSnapshotReport) -> str:
    """Write what the fork costs at the greatest size: of one side, or of the last beside the first."""
    largest = max(point.size_bytes for point in report.points)
    points = [point for point in report.points if point.size_bytes == largest]
    first, last = points[0], points[-1]
    called, metric = ("fork", FORK) if FORK in first.runs[0] else ("longest wait", LONGEST)
    base = first.runs[0][metric]
    at = f"at {shown_bytes(largest)}"
    if first is last or metric not in last.runs[0]:
        return f"{called}: {count(base / MILLION)} million instructions of the server {at}"
    other = last.runs[0][metric]
    return (
        f"{called} {at}: {count(base / MILLION)} million instructions with {first.side}, "
        f"{count(other / MILLION)} with {last.side} ({share(other / base)})"
    )


def emulated_server(report: EmulatedSnapshotReport) -> str:
    """Write the server, with its settings where all sides have them."""
    return described_server(report.server, with_settings=len(report.sides) == 1)


def emulated_kernel(report: EmulatedSnapshotReport) -> str:
    """Write the kernel: its version and patches."""
    return f"Linux {report.kernel.version}{''.join(f' with {patch.name}' for patch in report.kernel.patches)}"


def _subject(report: EmulatedSnapshotReport) -> str:
    settings = report.settings
    return (
        f"{emulated_server(report)} on {emulated_kernel(report)}, emulated by {settings.emulator} with one processor; "
        f"SET of {settings.value_bytes:,} bytes, one at a time; {counted(settings.repetitions, 'run', 'runs')}"
    )


def _table(report: EmulatedSnapshotReport) -> Table:
    """Return the counts of the first run of each point; sides have a column where there are several."""
    shown = [figure for figure in FIGURES if any(figure.value(point.runs[0]) is not None for point in report.points)]
    has_sides = len(report.sides) > 1
    return Table(
        heading="counts over sizes of data",
        columns=[
            Column(key="data", heading="data"),
            *([Column(key="side", heading="side")] if has_sides else []),
            *(figure.column for figure in shown),
        ],
        rows=[
            [
                Cell(text=shown_bytes(point.size_bytes)),
                *([name(point.side)] if has_sides else []),
                *(Cell(text=figure.text(point)) for figure in shown),
            ]
            for point in report.points
        ],
    )


def _sentences(report: EmulatedSnapshotReport) -> Iterator[str]:
    yield from (_growth(side) for side in report.sides if FORK in side.fits)
    largest = max(point.size_bytes for point in report.points)
    base, *others = [point for point in report.points if point.size_bytes == largest]
    for point in others:
        compared = [
            f"{words} {share(point.runs[0][metric] / base.runs[0][metric])}"
            for words, metric in (
                ("the fork", FORK),
                ("the longest wait in instructions of the server", LONGEST),
                ("with those of all processes", LONGEST_VIRTUAL),
            )
            if metric in point.runs[0] and base.runs[0].get(metric)
        ]
        yield f"{point.side} beside {base.side} at {shown_bytes(largest)}: {', '.join(compared)}"
    repeated = [point.is_repeated for point in report.points if point.is_repeated is not None]
    if repeated and all(repeated):
        yield f"all {report.settings.repetitions} runs counted the same at each size"


def _growth(side: EmulatedSide) -> str:
    fit = side.fits[FORK]
    begin = f"{side.name}: " if side.name else ""
    slope = count(fit.slope_per_gib / MILLION)
    return f"{begin}the fork takes {slope} million instructions more for each GiB of resident memory (r² {fit.r2:.3f})"


def _warnings(report: EmulatedSnapshotReport) -> Iterator[str]:
    """Yield what failed, where runs differ, and what keeps counts from being what they seem."""
    yield from (f"{shown_bytes(failed.size_bytes)} failed: {failed.reason}" for failed in report.failed)
    for point in report.points:
        if point.is_repeated is False:
            where = ", ".join(filter(None, [shown_bytes(point.size_bytes), point.side]))
            yield f"{where}: runs differ by {_difference(point)} in the instructions of the fork"
    if all(FORK not in point.runs[0] for point in report.points):
        yield "the kernel has no /proc/async_fork: its forks were not counted, only what clients waited"


def _difference(point: EmulatedPoint) -> str:
    counts = [run.get(FORK, run[LONGEST]) for run in point.runs]
    return rough_percent((max(counts) - min(counts)) / max(1, min(counts)))
