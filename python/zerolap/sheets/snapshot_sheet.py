"""What a save in the background costs, over sizes of data, as it is shown."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from zerolap.byte_counts import GIB, MIB, shown_bytes
from zerolap.fail_on import FailOn
from zerolap.records import (
    BASE,
    LineFit,
    MeasuredServer,
    SnapshotPoint,
    SnapshotReport,
    Verdict,
    VerdictWord,
)
from zerolap.sheets.fork_trace_section import fork_trace_section
from zerolap.sheets.format import (
    ARROW,
    COMMIT_DIGITS,
    NO_VALUE,
    change,
    count,
    counted,
    duration,
    first_of,
    interval,
    listing,
    share,
)
from zerolap.sheets.outcome_words import failed_check, word_counts
from zerolap.sheets.sheet import Cell, Column, Fact, Sentence, Sheet, Table, name

EVENTS: Final = {
    "bgsave": "BGSAVE",
    "bgrewriteaof": "BGREWRITEAOF",
    "replica": "a replica that is attached",
    "none": "no event",
}
MOST_NAMES: Final = 5
LARGEST_CHANGE: Final = 100.0
"""A bound beyond a hundredfold says that nothing is known: it is written as infinite."""


@dataclass(frozen=True)
class SnapshotFigure:
    """A figure of a repetition: how it is called, its unit, by what values are divided, and its column."""

    heading: str
    unit: str = ""
    divisor: float = 1.0
    is_share: bool = False
    has_interval: bool = False
    rank: int = 0


FIGURES: Final = {
    "fork_us": SnapshotFigure("fork", "ms", 1000, has_interval=True),
    "longest_pause_us": SnapshotFigure("longest pause", "ms", 1000, has_interval=True),
    "event_seconds": SnapshotFigure("event", "s", rank=3),
    "cow_bytes": SnapshotFigure("copied", "MiB", MIB, rank=4),
    "throughput_lost": SnapshotFigure("throughput lost", is_share=True, rank=2),
    "seconds_until_normal": SnapshotFigure("normal after", "s", rank=1),
}
LATENCIES: Final = {"p50": 1, "p99": 0, "p99_9": 0, "p99_99": 2, "max": 0}
"""The percentiles of the table of latencies, each with the rank of its column."""
DURING_P99_9: Final = SnapshotFigure("p99.9 during", "ms", 1000)


def snapshot_sheet(report: SnapshotReport) -> Sheet:
    """Return what the event costs: verdicts, pauses and latencies by size and load, and the traced events."""
    return Sheet(
        kind="snapshot",
        title=snapshot_headline(report),
        remark=_subject(report),
        sentences=[Sentence(text=sentence) for sentence in _sentences(report)],
        tables=[*_verdict_tables(report), _pauses(report), _latencies(report)],
        sections=[fork_trace_section(trace) for trace in report.traces],
        notes=[*_warnings(report), *report.notes],
        closing=[
            Fact(label="measured in", text=duration(report.machine_seconds)),
            *([Fact(label="shown again", text=f"zerolap explain {report.id}")] if report.id else []),
            Fact(label="seed", text=str(report.settings.seed)),
        ],
    )


def snapshot_headline(report: SnapshotReport) -> str:
    """Write what the event costs: the verdicts, or else the pause at the least and the greatest size."""
    event = EVENTS[report.settings.event]
    if report.verdicts:
        words = word_counts(verdict.verdict for judged in report.verdicts for verdict in judged.verdicts)
        return f"{event}: {words}"
    first = report.points[0]
    of_one_load = [point for point in report.points if (point.load, point.side) == (first.load, first.side)]
    ends = of_one_load if len(of_one_load) == 1 else [of_one_load[0], of_one_load[-1]]
    metric = "fork_us" if all("fork_us" in point.metrics for point in ends) else "longest_pause_us"
    pauses = [f"{_milliseconds(point.metrics[metric].median)} ms at {shown_bytes(point.size_bytes)}" for point in ends]
    return f"{event}: {FIGURES[metric].heading} of {' to '.join(pauses)}"


def snapshot_servers(report: SnapshotReport) -> str:
    """Write the server, base and head, or the servers that what was varied comes to, each once."""
    if not report.sides:
        return described_server(report.server, with_settings=True)
    if report.sides[0].name == BASE:
        return ", ".join(f"{side.name} {described_server(side.server, with_settings=True)}" for side in report.sides)
    return ", ".join(dict.fromkeys(described_server(side.server, with_settings=False) for side in report.sides))


def described_server(server: MeasuredServer, *, with_settings: bool) -> str:
    """Write the name of a server with its commit, version and, if wanted, settings."""
    commit = f" at {server.commit[:COMMIT_DIGITS]}" if server.commit else ""
    version = f" {server.version}" if server.version else ""
    config = server.config if with_settings else {}
    return f"{server.name}{commit}{version}{''.join(f' {name}={value}' for name, value in config.items())}"


def _subject(report: SnapshotReport) -> str:
    settings = report.settings
    load = f"SET of {settings.value_bytes:,} bytes on {counted(settings.connections, 'connection', 'connections')}"
    rate = f", open loop at {settings.rate_per_second:,} requests a second" if "open" in settings.loads else ""
    repetitions = counted(settings.repetitions, "repetition", "repetitions")
    return f"{snapshot_servers(report)} on {report.platform.name}; {load}{rate}; {repetitions}"


def _sentences(report: SnapshotReport) -> Iterator[str]:
    """Yield how the fork grows with the data, how long the first ones took, and what a closed loop does not show."""
    for name_of_side, fits in ({side.name: side.fits for side in report.sides} or {"": report.fits}).items():
        for sentence in (_growth(fits.get("fork_us")), _first_forks(report, name_of_side)):
            if sentence:
                yield f"{name_of_side}: {sentence}" if name_of_side else sentence
    last = {point.load: point for point in report.points}
    if report.settings.event != "none" and not report.sides and "open" in last and "closed" in last:
        opened, closed = (_latency(last[load], "during", "p99_9") for load in ("open", "closed"))
        yield (
            f"p99.9 during the event at {shown_bytes(last['open'].size_bytes)}: {opened} ms where requests are due "
            f"at a fixed rate, {closed} ms in a closed loop, which sends nothing while the server pauses"
        )


def _growth(fit: LineFit | None) -> str:
    if fit is None:
        return ""
    grows = f"the fork takes {fit.slope_per_gib / 1000:.1f} ms more for each GiB of resident memory"
    return f"{grows} (r² {fit.r2:.3f}, {counted(fit.repetitions, 'repetition', 'repetitions')})"


def _first_forks(report: SnapshotReport, side: str) -> str:
    """Write how long the forks that came first after filling took; nothing where the server reports none."""
    first: dict[int, list[float]] = {}
    for start in report.starts:
        if start.side == side and start.first_fork_us is not None:
            first.setdefault(start.size_bytes, []).append(start.first_fork_us)
    took = [f"{_milliseconds(median(forks))} ms at {shown_bytes(size)}" for size, forks in sorted(first.items())]
    return f"the first fork after filling, which is not among the repetitions, took {listing(took)}" if took else ""


def _warnings(report: SnapshotReport) -> Iterator[str]:
    """Yield what keeps figures from being the server's alone, each with how many repetitions of a load it concerns."""
    yield from (f"{shown_bytes(size.size_bytes)} failed: {size.reason}" for size in report.failed)
    for point in report.points:
        warned = []
        for repetition in point.repetitions:
            failed = [check for check in repetition.checks if not check.ok]
            texts = (failed_check(check.check, check.value, check.limit) for check in failed)
            warned += [*repetition.warnings, *texts][:1]
        if warned:
            of_all = f"{len(warned)} of {counted(len(point.repetitions), 'repetition', 'repetitions')}"
            side = f", {point.side}" if point.side else ""
            yield f"{shown_bytes(point.size_bytes)}{side}, {point.load} loop, {of_all}: {warned[0]}"


def _pauses(report: SnapshotReport) -> Table:
    shown = {
        metric: figure for metric, figure in FIGURES.items() if any(metric in point.metrics for point in report.points)
    }
    columns = [
        Column(key="resident", heading="resident", unit="GiB", is_number=True, rank=5),
        *(
            Column(key=metric, heading=figure.heading, unit=figure.unit, is_number=True, rank=figure.rank)
            for metric, figure in shown.items()
        ),
    ]

    def cells(point: SnapshotPoint) -> list[str]:
        resident = point.metrics.get("resident_bytes")
        size = NO_VALUE if resident is None else f"{resident.median / GIB:.2f}"
        return [size, *(_figure(point, metric, figure) for metric, figure in shown.items())]

    return _by_point(report.points, "medians of the repetitions", columns, cells)


def _latencies(report: SnapshotReport) -> Table:
    columns = [
        Column(key=percentile, heading=percentile.replace("_", "."), unit="ms", is_number=True, rank=rank)
        for percentile, rank in LATENCIES.items()
    ]

    def cells(point: SnapshotPoint) -> list[str]:
        parts = ("outside", "during")
        return [f" {ARROW} ".join(_latency(point, part, name) for part in parts) for name in LATENCIES]

    return _by_point(report.points, f"latency outside of the event {ARROW} during it", columns, cells)


def _by_point(
    points: Sequence[SnapshotPoint],
    heading: str,
    columns: Sequence[Column],
    cells: Callable[[SnapshotPoint], list[str]],
) -> Table:
    has_sides = any(point.side for point in points)
    sides = [Column(key="side", heading="server")] if has_sides else []
    point_columns = [Column(key="data", heading="data"), Column(key="load", heading="load")]
    return Table(
        heading=heading,
        columns=[*sides, *point_columns, *columns],
        rows=[
            [
                *([name(point.side)] if has_sides else []),
                Cell(text=shown_bytes(point.size_bytes)),
                Cell(text=point.load),
                *(Cell(text=text) for text in cells(point)),
            ]
            for point in points
        ],
    )


def _figure(point: SnapshotPoint, metric: str, figure: SnapshotFigure) -> str:
    estimate = point.metrics.get(metric)
    if estimate is None:
        return NO_VALUE
    if figure.is_share:
        # Without the sign of a loss that rounds to none.
        return share(round(estimate.median, 3) + 0.0)
    middle, low, high = (count(value / figure.divisor) for value in (estimate.median, estimate.low, estimate.high))
    return f"{middle} ({low} to {high})" if figure.has_interval and estimate.low != estimate.high else middle


def _latency(point: SnapshotPoint, part: str, percentile: str) -> str:
    estimate = point.metrics.get(f"{part}_{percentile}_us")
    return NO_VALUE if estimate is None else _milliseconds(estimate.median)


def _milliseconds(us: float) -> str:
    return count(us / 1000)


def _judged(metric: str) -> SnapshotFigure:
    return DURING_P99_9 if metric == "during_p99_9_us" else FIGURES[metric]


def _verdict_tables(report: SnapshotReport) -> list[Table]:
    rows: dict[str, list[list[Cell]]] = {}
    for judged in report.verdicts:
        rows.setdefault(f"{judged.base} {ARROW} {judged.head}", []).extend(
            [Cell(text=shown_bytes(judged.size_bytes)), Cell(text=judged.load), *_verdict_cells(verdict)]
            for verdict in judged.verdicts
        )
    columns = [
        Column(key="data", heading="data"),
        Column(key="load", heading="load"),
        Column(key="metric", heading="metric"),
        Column(key="values", heading="values", is_number=True, rank=1),
        Column(key="change", heading="change", is_number=True),
        Column(key="interval", heading="interval", is_number=True, rank=2),
        Column(key="verdict", heading="verdict"),
    ]
    return [Table(heading=pair, columns=columns, rows=of_pair) for pair, of_pair in rows.items()]


def _verdict_cells(verdict: Verdict) -> list[Cell]:
    judged = _judged(verdict.metric)
    base, head = (count(value / judged.divisor) for value in (verdict.base, verdict.head))
    texts = [
        f"{judged.heading}, {judged.unit}",
        f"{base} {ARROW} {head}",
        change(verdict.change),
        interval(verdict.low, verdict.high if verdict.high < LARGEST_CHANGE else math.inf),
    ]
    return [*(Cell(text=text) for text in texts), Cell(text=verdict.verdict, mark=verdict.verdict)]


def snapshot_gate_sentence(report: SnapshotReport, when: FailOn) -> str | None:
    """Return why a sweep counts as failed, or None if it does not.

    For example `--fail-on regression applies: regression of fork at 4 GiB, open loop`. `unsure` includes regressions,
    sizes that failed, and a sweep without any verdict; `time` is as `regression`, since all its metrics are of time.
    """
    if when == "never":
        return None
    if not any(judged.verdicts for judged in report.verdicts):
        return f"--fail-on {when} applies: there are no verdicts, so a regression cannot be ruled out"
    regressions = _shown_points(report, "regression")
    undecided = _shown_points(report, "unsure") if when == "unsure" else []
    failed = [shown_bytes(failure.size_bytes) for failure in report.failed] if when == "unsure" else []
    parts = [
        *([f"regression of {first_of(regressions, MOST_NAMES)}"] if regressions else []),
        *([f"undecided: {first_of(undecided, MOST_NAMES)}"] if undecided else []),
        *([f"failed: {first_of(failed, MOST_NAMES)}"] if failed else []),
    ]
    return f"--fail-on {when} applies: {'; '.join(parts)}" if parts else None


def _shown_points(report: SnapshotReport, word: VerdictWord) -> list[str]:
    heads = {judged.head for judged in report.verdicts}
    return [
        f"{_judged(verdict.metric).heading} at {shown_bytes(judged.size_bytes)}, {judged.load} loop"
        + (f" with {judged.head}" if len(heads) > 1 else "")
        for judged in report.verdicts
        for verdict in judged.verdicts
        if verdict.verdict == word
    ]
