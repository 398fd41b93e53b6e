"""The series that there are, to choose from: cases with their metrics, and the histories that they belong to."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from zerolap.queries.published_changes import MOST_HISTORIES
from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.records import PublishedHistory, Record
from zerolap.store import NamedSeries

MOST_SERIES: Final = 20_000


class SeriesCase(Record):
    """A case with the metrics and the histories (by number) that it has series in."""

    case: str
    group: str
    commands: tuple[str, ...]
    metrics: tuple[str, ...]
    histories: tuple[int, ...]


class SeriesList(Record):
    """All series by cases; `metrics` are those of any, the one with most series first."""

    histories: tuple[PublishedHistory, ...]
    cases: tuple[SeriesCase, ...]
    metrics: tuple[str, ...]


def _read(sources: QuerySources, _: Parameters) -> SeriesList:
    kept = sources.store.published_histories
    names = kept.names(MOST_SERIES)
    by_case: dict[tuple[str, str], list[NamedSeries]] = {}
    for name in names:
        by_case.setdefault((name.case, name.group), []).append(name)
    counts = Counter(name.metric for name in names)
    return SeriesList(
        histories=tuple(kept.histories(MOST_HISTORIES)),
        cases=tuple(_case(series) for series in by_case.values()),
        metrics=tuple(sorted(counts, key=lambda metric: (-counts[metric], metric))),
    )


def _case(series: Sequence[NamedSeries]) -> SeriesCase:
    first = series[0]
    return SeriesCase(
        case=first.case,
        group=first.group,
        commands=first.commands,
        metrics=tuple(dict.fromkeys(of_one.metric for of_one in series)),
        histories=tuple(dict.fromkeys(of_one.history for of_one in series)),
    )


def _rows(answer: SeriesList) -> Iterable[TableRow]:
    yield ("case", "group", "commands", "metrics")
    for of_one in answer.cases:
        yield (of_one.case, of_one.group, " ".join(of_one.commands), " ".join(of_one.metrics))


SERIES_LIST: Final = PageQuery(
    name="series-list",
    summary="The series of published histories, to choose from",
    parameters=Parameters,
    result=SeriesList,
    read=_read,
    table=_rows,
)
