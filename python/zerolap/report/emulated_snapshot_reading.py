"""How counts of forks in emulated machines are read: columns, headline and sentences. No count is shown as a time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from zerolap.byte_counts import MIB, shown_bytes
from zerolap.records import EmulatedPoint, EmulatedReading, EmulatedSide, EmulatedSnapshotReport, ReadingTable
from zerolap.report.snapshot_reading import described_server
from zerolap.sheets import NO_VALUE, count, counted, one_line, rough_percent, share

MILLION: Final = 1e6
NOT_TIME: Final = "M instr. are millions of instructions; an emulated machine measures no time"
FORK, LONGEST, LONGEST_VIRTUAL = "kernel_fork_ticks", "wait_server_longest", "wait_ticks_longest"


@dataclass(frozen=True)
class EmulatedColumn:
    """A column of the table: its header, and how its value is made of a run's counts; none where one is missing."""

    header: str
    value: Callable[[Mapping[str, int]], float | None]
    is_share: bool = False
    dispensable: int = 0


def _scaled(name: str, divisor: float = 1.0) -> Callable[[Mapping[str, int]], float | None]:
    return lambda run: run[name] / divisor if name in run else None


def _sum(*names: str) -> Callable[[Mapping[str, int]], float | None]:
    return lambda run: sum(run[name] for name in names) if all(name in run for name in names) else None


def _deferred(run: Mapping[str, int]) -> float | None:
    """Return which share of the tables of the last level fork left to the child."""
    if "kernel_tables_deferred" not in run or "kernel_fork_tables" not in run:
        return None
    tables = run["kernel_tables_deferred"] + run["kernel_fork_tables"]
    return run["kernel_tables_deferred"] / tables if tables else 0.0


EMULATED_COLUMNS: Final = (
    EmulatedColumn("fork, M instr.", _scaled(FORK, MILLION)),
    EmulatedColumn("entries copied by fork", _scaled("kernel_fork_entries"), dispensable=4),
    EmulatedColumn("by child", _scaled("kernel_child_entries"), dispensable=5),
    EmulatedColumn("by hooks", _scaled("kernel_hook_entries"), dispensable=6),
    EmulatedColumn("deferred tables", _deferred, is_share=True, dispensable=7),
    EmulatedColumn("longest wait, server M instr.", _scaled(LONGEST, MILLION)),
    EmulatedColumn("with all processes", _scaled(LONGEST_VIRTUAL, MILLION), dispensable=2),
    EmulatedColumn("p99 wait, server M instr.", _scaled("wait_server_p99", MILLION), dispensable=3),
    EmulatedColumn("requests", _scaled("requests"), dispensable=8),
    EmulatedColumn("copied MiB", _scaled("copied_on_write_bytes", MIB), dispensable=9),
)


def shown_columns(report: EmulatedSnapshotReport) -> list[EmulatedColumn]:
    """Return the columns of which some point has a value."""
    return [
        column for column in EMULATED_COLUMNS if any(column.value(point.runs[0]) is not None for point in report.points)
    ]


def emulated_figure(point: EmulatedPoint, column: EmulatedColumn) -> str:
    """Write the value of a column, of the first run of a point."""
    value = column.value(point.runs[0])
    if value is None:
        return NO_VALUE
    return share(value) if column.is_share else count(value)


def emulated_table(report: EmulatedSnapshotReport) -> ReadingTable:
    """Return the counts of the first run of each point; sides have a column where there are several."""
    columns, sides = shown_columns(report), ["side"] if len(report.sides) > 1 else []
    return ReadingTable(
        heading="counts over sizes of data",
        columns=["data", *sides, *(column.header for column in columns)],
        rows=[
            [
                shown_bytes(point.size_bytes),
                *([one_line(point.side)] if sides else []),
                *(emulated_figure(point, column) for column in columns),
            ]
            for point in report.points
        ],
        names=1 + len(sides),
    )


def with_emulated_reading(report: EmulatedSnapshotReport) -> EmulatedSnapshotReport:
    """Return the document with the words in which it is read."""
    reading = EmulatedReading(
        headline=emulated_headline(report),
        subject=emulated_subject(report),
        sentences=emulated_sentences(report),
        warnings=emulated_warnings(report),
        table=emulated_table(report),
        units=NOT_TIME,
    )
    return report.model_copy(update={"reading": reading})


def emulated_headline(report: EmulatedSnapshotReport) -> str:
    """Write what the fork costs at the greatest size: of one side, or of the last beside the first."""
    largest = max(point.size_bytes for point in report.points)
    points = [point for point in report.points if point.size_bytes == largest]
    first, last = points[0], points[-1]
    name, metric = ("fork", FORK) if FORK in first.runs[0] else ("longest wait", LONGEST)
    base = first.runs[0][metric]
    at = f"at {shown_bytes(largest)}"
    if first is last or metric not in last.runs[0]:
        return f"{name}: {count(base / MILLION)} million instructions of the server {at}"
    other = last.runs[0][metric]
    return (
        f"{name} {at}: {count(base / MILLION)} million instructions with {one_line(first.side)}, "
        f"{count(other / MILLION)} with {one_line(last.side)} ({share(other / base)})"
    )


def emulated_subject(report: EmulatedSnapshotReport) -> str:
    """Write what was run, and where."""
    settings = report.settings
    return (
        f"{emulated_server(report)} on {emulated_kernel(report)}, emulated by {one_line(settings.emulator)} with one "
        f"processor; SET of {settings.value_bytes:,} bytes, one at a time; "
        f"{counted(settings.repetitions, 'run', 'runs')}"
    )


def emulated_server(report: EmulatedSnapshotReport) -> str:
    """Write the server, with its settings where all sides have them."""
    return described_server(report.server, with_settings=len(report.sides) == 1)


def emulated_kernel(report: EmulatedSnapshotReport) -> str:
    """Write the kernel: its version and patches."""
    patches = "".join(f" with {one_line(patch.name)}" for patch in report.kernel.patches)
    return f"Linux {one_line(report.kernel.version)}{patches}"


def emulated_sentences(report: EmulatedSnapshotReport) -> list[str]:
    """Write how counts grow with the memory, what sides come to beside the first, and whether runs are equal."""
    sentences = [_growth(side) for side in report.sides if FORK in side.fits]
    largest = max(point.size_bytes for point in report.points)
    base, *others = [point for point in report.points if point.size_bytes == largest]
    for point in others:
        compared = [
            f"{words} {share(point.runs[0][name] / base.runs[0][name])}"
            for words, name in (
                ("the fork", FORK),
                ("the longest wait in instructions of the server", LONGEST),
                ("with those of all processes", LONGEST_VIRTUAL),
            )
            if name in point.runs[0] and base.runs[0].get(name)
        ]
        of_base = f"{one_line(point.side)} beside {one_line(base.side)} at {shown_bytes(largest)}"
        sentences.append(f"{of_base}: {', '.join(compared)}")
    repeated = [point.is_repeated for point in report.points if point.is_repeated is not None]
    if repeated and all(repeated):
        sentences.append(f"all {report.settings.repetitions} runs counted the same at each size")
    return sentences


def _growth(side: EmulatedSide) -> str:
    fit = side.fits[FORK]
    name = f"{one_line(side.name)}: " if side.name else ""
    slope = count(fit.slope_per_gib / MILLION)
    return f"{name}the fork takes {slope} million instructions more for each GiB of resident memory (r² {fit.r2:.3f})"


def emulated_warnings(report: EmulatedSnapshotReport) -> list[str]:
    """Write what failed, where runs differ, and what keeps counts from being what they seem."""
    warnings = [f"{shown_bytes(failed.size_bytes)} failed: {one_line(failed.reason)}" for failed in report.failed]
    for point in report.points:
        if point.is_repeated is False:
            where = ", ".join(filter(None, [shown_bytes(point.size_bytes), one_line(point.side)]))
            warnings.append(f"{where}: runs differ by {_difference(point)} in the instructions of the fork")
    if all(FORK not in point.runs[0] for point in report.points):
        warnings.append("the kernel has no /proc/async_fork: its forks were not counted, only what clients waited")
    return [*warnings, *map(one_line, report.notes)]


def _difference(point: EmulatedPoint) -> str:
    counts = [run.get(FORK, run[LONGEST]) for run in point.runs]
    return rough_percent((max(counts) - min(counts)) / max(1, min(counts)))
