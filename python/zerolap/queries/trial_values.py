"""The values of trials over time, as they were measured, aggregated for the pixels of a chart."""

from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import Field

from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.queries.series_chart import DEFAULT_METRICS, Names
from zerolap.records import Record
from zerolap.store import TrialSeries

MOST_LINES: Final = 8
MOST_VALUES: Final = 50_000
"""The most values that are read, the newest of each series."""


class TrialValuesParameters(Parameters):
    """Which values; each parameter of names may be repeated."""

    case: Annotated[Names, Field(description="Cases.")] = ()
    metric: Annotated[Names, Field(description="Metrics; by default instructions per request.")] = ()
    platform: Annotated[Names, Field(description="Platforms, by name or fingerprint; by default all.")] = ()
    pixels: Annotated[int, Field(ge=10, le=2_000, description="The most points of a line.")] = 500


class TrialLine(Record):
    """A series by columns: each point is the mean of `counts` trials in a row, with 95 % bounds and extremes.

    `times` are when the last of them began (ISO 8601, UTC), empty where that is not recorded. A single trial has no
    bounds.
    """

    series: str
    case: str
    metric: str
    engine: str
    topology: str
    variant: str
    platform_name: str
    times: tuple[str, ...]
    means: tuple[float, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]
    counts: tuple[int, ...]


class TrialValues(Record):
    """The series that are asked for; `left_out` is true where there are more. `most_values` of each are read."""

    lines: tuple[TrialLine, ...]
    left_out: bool
    most_values: int


def _read(sources: QuerySources, parameters: TrialValuesParameters) -> TrialValues:
    measured = sources.store.measured
    metrics = parameters.metric or DEFAULT_METRICS
    series = measured.trial_series(parameters.case, metrics, parameters.platform, MOST_LINES + 1)
    shown = series[:MOST_LINES]
    most_values = MOST_VALUES // max(1, len(shown))
    return TrialValues(
        lines=tuple(_line(sources, of_one, parameters.pixels, most_values) for of_one in shown),
        left_out=len(series) > MOST_LINES,
        most_values=most_values,
    )


def _line(sources: QuerySources, series: TrialSeries, pixels: int, most_values: int) -> TrialLine:
    groups = sources.store.measured.over_time(series.id, pixels, most_values)
    names = ("case", "metric", "engine", "topology", "variant", "platform_name")
    return TrialLine(
        **{name: getattr(series, name) for name in names},
        series=series.id,
        times=tuple(group.began for group in groups),
        means=tuple(group.mean for group in groups),
        lows=tuple(None if group.half_width is None else group.mean - group.half_width for group in groups),
        highs=tuple(None if group.half_width is None else group.mean + group.half_width for group in groups),
        least=tuple(group.least for group in groups),
        most=tuple(group.most for group in groups),
        counts=tuple(group.trials for group in groups),
    )


def _rows(answer: TrialValues) -> Iterable[TableRow]:
    yield (
        *("time", "series", "case", "metric", "platform", "variant"),
        *("mean", "low", "high", "least", "most", "trials"),
    )
    for line in answer.lines:
        columns = (line.times, line.means, line.lows, line.highs, line.least, line.most, line.counts)
        for began, *numbers in zip(*columns, strict=True):
            yield (began, line.series, line.case, line.metric, line.platform_name, line.variant, *numbers)


TRIAL_VALUES: Final = PageQuery(
    name="trial-values",
    summary="Values of trials over time, as they were measured: means, bounds and extremes of trials in a row",
    parameters=TrialValuesParameters,
    result=TrialValues,
    read=_read,
    table=_rows,
)
