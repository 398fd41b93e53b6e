"""A history in the format of Go's benchmarks, so that `benchstat` and `benchseries` read it.

Each commit is a configuration of its own: its lines `commit:` and `commit-time:` hold for the results below them.
"""

import math
from collections.abc import Iterator

from zerolap.records import METRICS, History, HistoryPoint, HistorySeries
from zerolap.report.benchfmt import BENCHMARK, escaped, unit_of
from zerolap.sheets import one_line

RATIO = "ratio"
"""Ends the unit of a metric of which only contrasts are known: 1 is the first commit of its series."""
TIME_PER_REQUEST = "_ns_per_op"
"""Is left out of such a unit: benchstat would take a ratio for a time."""


def history_benchfmt(history: History) -> str:
    """Return all points of a history, a line each, under the commit that they are of.

    A counted metric has its value and unit, such as `instructions/op`. A timed one, of which only contrasts are known,
    has the ratio to the first commit of its series, in a unit such as `cpu-ratio`.
    """
    configuration = {
        "platform": history.platform.name,
        "cpu": history.platform.cpu,
        "variant": history.variant,
        "range": history.range,
    }
    lines = [_configured(key, text) for key, text in configuration.items() if text]
    lines += _units(history)
    by_position: dict[int, list[str]] = {}
    for series in history.series:
        for point in series.points:
            by_position.setdefault(point.position, []).append(_result(series, point))
    tags: tuple[str, ...] = ()
    for position in sorted(by_position):
        commit = history.commits[position]
        lines += [_configured("commit", commit.commit), _configured("commit-time", commit.time)]
        if commit.tags != tags:
            # Without tags the line takes those of the commit before away.
            lines.append(_configured("tags", " ".join(commit.tags)))
            tags = commit.tags
        lines += by_position[position]
    return "\n".join(lines) + "\n"


def _configured(key: str, text: str) -> str:
    return f"{key}: {one_line(text)}".rstrip()


def _units(history: History) -> Iterator[str]:
    known: dict[str, str] = {}
    for series in history.series:
        better = {"less": "lower", "more": "higher"}.get(series.better or "")
        if better is not None and (series.is_imported or series.metric in METRICS):
            known.update({_unit(series, point): better for point in series.points})
    yield from (f"Unit {unit} better={better}" for unit, better in known.items())


def _result(series: HistorySeries, point: HistoryPoint) -> str:
    labels = [f"{escaped(name)}={escaped(value)}" for name, value in sorted(series.labels.items())]
    source = [f"source={escaped(series.source)}"] if series.is_imported else []
    # What comes last must not end in a number: tools take `-8` for the number of processors.
    name = "/".join(
        [
            BENCHMARK,
            f"case={escaped(series.case)}",
            f"topology={escaped(series.topology)}",
            *source,
            *labels,
            f"by={'others' if series.is_imported else escaped(series.engine)}",
        ]
    )
    value = math.exp(point.level) if point.value is None else point.value
    return f"{name} 1 {value!r} {_unit(series, point)}"


def _unit(series: HistorySeries, point: HistoryPoint) -> str:
    if point.value is None:
        return f"{unit_of(series.metric.removesuffix(TIME_PER_REQUEST))}-{RATIO}"
    return unit_of(series.metric)
