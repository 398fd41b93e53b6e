"""How a sweep of snapshots is read: its headline, its sentences, and how its figures are written."""

from dataclasses import dataclass
from statistics import median
from typing import Final

from zerolap.byte_counts import shown_bytes
from zerolap.records import (
    BASE,
    LineFit,
    MeasuredServer,
    MedianEstimate,
    SnapshotPoint,
    SnapshotReading,
    SnapshotRepetition,
    SnapshotReport,
)
from zerolap.report.reading import failed_check, word_counts
from zerolap.report.snapshot_trace_reading import snapshot_trace_reading
from zerolap.sheets import COMMIT_DIGITS, NO_VALUE, count, counted, listing, one_line, share

EVENTS: Final = {
    "bgsave": "BGSAVE",
    "bgrewriteaof": "BGREWRITEAOF",
    "replica": "a replica that is attached",
    "none": "no event",
}
GIB: Final = 1 << 30
MIB: Final = 1 << 20


@dataclass(frozen=True)
class FigureColumn:
    """A column of the table: its header, the metric, and by what its values are divided; `is_share` is in percent."""

    header: str
    metric: str
    divisor: float = 1.0
    is_share: bool = False
    with_interval: bool = False
    dispensable: int = 0


FIGURE_COLUMNS: Final = (
    FigureColumn("fork ms", "fork_us", 1000, with_interval=True),
    FigureColumn("longest pause ms", "longest_pause_us", 1000, with_interval=True),
    FigureColumn("event s", "event_seconds", dispensable=3),
    FigureColumn("copied MiB", "cow_bytes", MIB, dispensable=4),
    FigureColumn("throughput lost", "throughput_lost", is_share=True, dispensable=2),
    FigureColumn("normal after s", "seconds_until_normal", dispensable=1),
)
LATENCY_COLUMNS: Final = (
    ("p50", "p50_us", 1),
    ("p99", "p99_us", 0),
    ("p99.9", "p99_9_us", 0),
    ("p99.99", "p99_99_us", 2),
    ("max", "max_us", 0),
)
"""Header and metric of each percentile; where a terminal is narrow, the one with the highest number goes first."""
DURING, OUTSIDE = "during", "outside"


def with_snapshot_reading(report: SnapshotReport) -> SnapshotReport:
    """Return the document with the words in which it is read."""
    reading = SnapshotReading(
        headline=snapshot_headline(report),
        subject=snapshot_server_line(report),
        sentences=snapshot_sentences(report),
        warnings=snapshot_warnings(report),
        traces=[snapshot_trace_reading(trace) for trace in report.traces],
    )
    return report.model_copy(update={"reading": reading})


def snapshot_headline(report: SnapshotReport) -> str:
    """Write what the event costs: the verdicts, or else the pause at the least and the greatest size."""
    event = EVENTS[report.settings.event]
    if report.verdicts:
        words = word_counts(verdict.verdict for place in report.verdicts for verdict in place.verdicts)
        return f"{event}: {words}"
    first = report.points[0]
    of_one_load = [point for point in report.points if (point.load, point.side) == (first.load, first.side)]
    ends = of_one_load if len(of_one_load) == 1 else [of_one_load[0], of_one_load[-1]]
    forks = all("fork_us" in point.metrics for point in ends)
    name, metric = ("fork", "fork_us") if forks else ("longest pause", "longest_pause_us")
    pauses = [f"{milliseconds(point.metrics[metric].median)} ms at {shown_bytes(point.size_bytes)}" for point in ends]
    return f"{event}: {name} of {' to '.join(pauses)}"


def snapshot_sentences(report: SnapshotReport) -> list[str]:
    """Write how the fork grows with the data, how long the first ones took, and what a closed loop does not show."""
    fits = {side.name: side.fits for side in report.sides} or {"": report.fits}
    sentences = [
        (f"{one_line(name)}: " if name else "") + sentence
        for name, of_side in fits.items()
        for sentence in (_growth(of_side.get("fork_us")), _first_forks(report, name))
        if sentence
    ]
    last = {point.load: point for point in report.points}
    if report.settings.event != "none" and not report.sides and "open" in last and "closed" in last:
        opened, closed = (latency(last[load], DURING, "p99_9_us") for load in ("open", "closed"))
        at = shown_bytes(last["open"].size_bytes)
        sentences.append(
            f"p99.9 during the event at {at}: {opened} ms where requests are due at a fixed rate, {closed} ms in a "
            f"closed loop, which sends nothing while the server pauses"
        )
    return sentences


def _first_forks(report: SnapshotReport, side: str) -> str:
    """Write how long the forks that came first after filling took; nothing where the server reports none."""
    first: dict[int, list[float]] = {}
    for start in report.starts:
        if start.side == side and start.first_fork_us is not None:
            first.setdefault(start.size_bytes, []).append(start.first_fork_us)
    took = [f"{milliseconds(median(forks))} ms at {shown_bytes(size)}" for size, forks in sorted(first.items())]
    return f"the first fork after filling, which is not among the repetitions, took {listing(took)}" if took else ""


def _growth(fit: LineFit | None) -> str:
    """Write how the fork grows with the memory; nothing where there is no line."""
    if fit is None:
        return ""
    grows = f"the fork takes {fit.slope_per_gib / 1000:.1f} ms more for each GiB of resident memory"
    return f"{grows} (r² {fit.r2:.3f}, {counted(fit.repetitions, 'repetition', 'repetitions')})"


def snapshot_server_line(report: SnapshotReport) -> str:
    """Write which servers they are, where they were measured, and how."""
    settings = report.settings
    load = f"SET of {settings.value_bytes:,} bytes on {counted(settings.connections, 'connection', 'connections')}"
    rate = f", open loop at {settings.rate_per_second:,} requests a second" if "open" in settings.loads else ""
    repetitions = counted(settings.repetitions, "repetition", "repetitions")
    return f"{snapshot_servers(report)} on {one_line(report.platform.name)}; {load}{rate}; {repetitions}"


def snapshot_servers(report: SnapshotReport) -> str:
    """Write the server, base and head, or the servers that what was varied comes to, each once."""
    if not report.sides:
        return described_server(report.server, with_settings=True)
    if report.sides[0].name == BASE:
        return ", ".join(f"{side.name} {described_server(side.server, with_settings=True)}" for side in report.sides)
    return ", ".join(dict.fromkeys(described_server(side.server, with_settings=False) for side in report.sides))


def described_server(server: MeasuredServer, *, with_settings: bool) -> str:
    """Write the name of a server with its commit, version and, if wanted, settings."""
    commit = f" at {one_line(server.commit)[:COMMIT_DIGITS]}" if server.commit else ""
    version = f" {one_line(server.version)}" if server.version else ""
    config = server.config if with_settings else {}
    settings = "".join(f" {one_line(f'{name}={value}')}" for name, value in config.items())
    return f"{one_line(server.name)}{commit}{version}{settings}"


def snapshot_warnings(report: SnapshotReport) -> list[str]:
    """Write what keeps figures from being the server's alone, each with how many repetitions of a load it concerns."""
    warnings = [f"{shown_bytes(failed.size_bytes)} failed: {one_line(failed.reason)}" for failed in report.failed]
    for point in report.points:
        warned = [words for words in map(repetition_warnings, point.repetitions) if words]
        if warned:
            of_all = f"{len(warned)} of {counted(len(point.repetitions), 'repetition', 'repetitions')}"
            side = f", {one_line(point.side)}" if point.side else ""
            where = f"{shown_bytes(point.size_bytes)}{side}, {point.load} loop, {of_all}"
            warnings.append(f"{where}: {one_line(warned[0][0])}")
    return [*warnings, *map(one_line, report.notes)]


def repetition_warnings(repetition: SnapshotRepetition) -> list[str]:
    """Write what keeps the figures of a repetition from being the server's alone."""
    failed = [failed_check(check.check, check.value, check.limit) for check in repetition.checks if not check.ok]
    return [*repetition.warnings, *failed]


def figure(point: SnapshotPoint, column: FigureColumn) -> str:
    """Write the value of a column."""
    estimate = point.metrics.get(column.metric)
    if estimate is None:
        return NO_VALUE
    if column.is_share:
        # Without the sign of a loss that rounds to none.
        return share(round(estimate.median, 3) + 0.0)
    scaled = scaled_estimate(estimate, column.divisor)
    if not column.with_interval or scaled.low == scaled.high:
        return count(scaled.median)
    return f"{count(scaled.median)} ({count(scaled.low)} to {count(scaled.high)})"


def latency(point: SnapshotPoint, part: str, metric: str) -> str:
    """Write a percentile in milliseconds during the event or outside of it."""
    estimate = point.metrics.get(f"{part}_{metric}")
    return NO_VALUE if estimate is None else milliseconds(estimate.median)


def scaled_estimate(estimate: MedianEstimate, divisor: float) -> MedianEstimate:
    """Return an estimate in a larger unit."""
    values = {name: getattr(estimate, name) / divisor for name in ("median", "low", "high")}
    return MedianEstimate.model_validate(values)


def milliseconds(us: float) -> str:
    """Write microseconds in milliseconds."""
    return count(us / 1000)


def measured_size(point: SnapshotPoint) -> str:
    """Write the resident memory of the server before the events of a point."""
    resident = point.metrics.get("resident_bytes")
    return NO_VALUE if resident is None else f"{resident.median / GIB:.2f}"
