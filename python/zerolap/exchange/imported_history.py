"""Series that others have measured as histories: beside those of a range of commits, or by themselves.

Their points are single values whose errors nobody knows: noise is estimated from the series, and a change of one is a
hint, which no fresh comparison has confirmed.
"""

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal, TypeAlias

from zerolap.exchange.collected_points import milliseconds_of
from zerolap.exchange.public_series import MOST_SHIFT
from zerolap.judge import LevelChange, SeriesLevels, series_changes
from zerolap.records import (
    METRICS,
    SHORT_COMMIT,
    History,
    HistoryChange,
    HistoryCommit,
    HistoryPoint,
    HistorySeries,
    ImportedPoint,
    ImportedSeries,
    Platform,
    now,
)

Better: TypeAlias = Literal["less", "more"]

ENGINE: Final = "imported"
BETTER: Final = "better"
"""The label by which an import states which values of a metric are better."""
SHORTEST_COMMIT: Final = 7
"""Digits from which on a commit is taken for its beginning."""
FALSE_CHANGES: Final = 0.05
"""The probability of a change in any of the series of a source where there is none; see `_level`."""
HIGHEST_LEVEL, LOWEST_LEVEL = 0.01, 0.001
BOUNDS_95: Final = 1.959964
OTHERS: Final = Platform(name="others", fingerprint="", cpu="", cores=0, kernel="")

_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}", re.ASCII)
_VERSION: Final = re.compile(r"[a-zA-Z_-]*(\d+(?:\.\d+)+)", re.ASCII)
_MORE: Final = re.compile(r"ops/sec|ops_per_sec|hits/sec|kb/sec|messagerate|qps|throughput|\brps\b|tx/s", re.IGNORECASE)
_LESS: Final = re.compile(r"latenc|duration|_ns\b|_us\b|_ms\b|(?<![a-z0-9])p\d{2,3}(?![0-9])|misses", re.IGNORECASE)


def with_imported(history: History, series: Sequence[ImportedSeries]) -> History:
    """Return a history of a range of commits with imported series beside its own.

    A point is placed at the commit that its version names, by its id, the beginning of it or a tag; a point without a
    version at the commit of its time. What is of no commit of the range is left out, and noted.
    """
    place = _Placement.of(history.commits)
    shown, notes = _histories(series, place.position_of, history.commits)
    return history.model_copy(update={"series": (*history.series, *shown), "notes": (*history.notes, *notes)})


def imported_history(series: Sequence[ImportedSeries], sources: str, command_line: str = "") -> History:
    """Return imported series by themselves, over their own versions and times; `sources` is what was asked for."""
    commits, positions = _own_commits(series)
    shown, notes = _histories(series, lambda point: positions[point.version or point.time], commits)
    return History(
        created=now(),
        command_line=command_line,
        repository="",
        range=sources,
        variant="",
        config={},
        platform=OTHERS,
        commits=tuple(commits),
        series=tuple(shown),
        notes=tuple(notes),
    )


def better_of(metric: str, labels: Mapping[str, str]) -> Better | None:
    """Return which values of a foreign metric are better: as its import states, or as its name says; else None."""
    if labels.get(BETTER) == "more":
        return "more"
    if labels.get(BETTER) == "less":
        return "less"
    if metric in METRICS:
        return "less" if METRICS[metric].less_is_better else "more"
    return "more" if _MORE.search(metric) else "less" if _LESS.search(metric) else None


@dataclass(frozen=True)
class _Placement:
    commits: Sequence[tuple[str, int]]
    tags: Mapping[str, int]
    times: Mapping[int, int | None]

    @classmethod
    def of(cls, commits: Sequence[HistoryCommit]) -> "_Placement":
        tags, times = dict[str, int](), dict[int, int | None]()
        for position, commit in enumerate(commits):
            for tag in commit.tags:
                tags[tag] = position
                if (release := _VERSION.fullmatch(tag)) is not None:
                    tags.setdefault(release[1], position)
            milliseconds = milliseconds_of(commit.time)
            # Of several commits of one second the time alone names none.
            times[milliseconds] = None if milliseconds in times else position
        return cls(sorted((commit.commit, position) for position, commit in enumerate(commits)), tags, times)

    def position_of(self, point: ImportedPoint) -> int | None:
        """Return the position of the commit that a point is of; none where it is of none, or of an unclear one."""
        if not point.version:
            milliseconds = milliseconds_of(point.time)
            start = milliseconds - milliseconds % 1000
            return self.times.get(start) if milliseconds - start <= MOST_SHIFT else None
        if point.version in self.tags:
            return self.tags[point.version]
        if len(point.version) < SHORTEST_COMMIT:
            return None
        at = bisect_left(self.commits, (point.version, -1))
        matching = [position for commit, position in self.commits[at : at + 2] if commit.startswith(point.version)]
        return matching[0] if len(matching) == 1 else None


def _own_commits(series: Sequence[ImportedSeries]) -> tuple[list[HistoryCommit], dict[str, int]]:
    """Return what the points are of in the order of time: versions, each at its first time, and times without one."""
    first: dict[str, str] = {}
    for one_series in series:
        for point in one_series.points:
            name = point.version or point.time
            first[name] = min(point.time, first.get(name, point.time))
    names = sorted(first, key=lambda name: (first[name], name))
    commits = []
    for name in names:
        is_commit = _COMMIT.fullmatch(name) is not None
        is_time = name == first[name]
        shown = f"{name[:16]}Z" if is_time else name
        commits.append(
            HistoryCommit(
                commit="" if is_time else name, time=first[name], subject="", tags=() if is_commit else (shown,)
            )
        )
    return commits, {name: position for position, name in enumerate(names)}


def _histories(
    series: Sequence[ImportedSeries],
    position_of: Callable[[ImportedPoint], int | None],
    commits: Sequence[HistoryCommit],
) -> tuple[list[HistorySeries], list[str]]:
    """Return the series that have points at commits, and notes on what has none."""
    sources: dict[str, list[ImportedSeries]] = defaultdict(list)
    for one_series in series:
        sources[one_series.source].append(one_series)
    shown, notes = [], []
    for source, of_source in sources.items():
        told_by = _differing_labels(of_source)
        elsewhere = not_positive = 0
        for one_series in of_source:
            values: dict[int, list[float]] = defaultdict(list)
            for point in one_series.points:
                position = position_of(point)
                if position is None:
                    elsewhere += 1
                elif point.value > 0:
                    values[position].append(point.value)
                else:
                    not_positive += 1
            if values:
                labels = {name: text for name, text in one_series.labels.items() if name in told_by}
                by_position = {position: median(values[position]) for position in sorted(values)}
                shown.append(_history_of(one_series, labels, by_position, commits, _level(len(of_source))))
        if elsewhere:
            notes.append(f"{elsewhere:,} points of `{source}` are of no commit of the range")
        if not_positive:
            notes.append(f"{not_positive:,} points of `{source}` are not above 0, and have no ratio to others")
    return shown, notes


def _differing_labels(series: Sequence[ImportedSeries]) -> set[str]:
    """Return the labels that not all series of a source have with the same value."""
    names = {name for one_series in series for name in one_series.labels} - {BETTER}
    return {name for name in names if len({one_series.labels.get(name) for one_series in series}) > 1}


def _level(series: int) -> float:
    """Return the level at which each of so many series is searched: by Bonferroni, as far as thresholds are known."""
    return min(HIGHEST_LEVEL, max(LOWEST_LEVEL, FALSE_CHANGES / series))


def _history_of(
    series: ImportedSeries,
    labels: dict[str, str],
    values: Mapping[int, float],
    commits: Sequence[HistoryCommit],
    level: float,
) -> HistorySeries:
    positions, logarithms = tuple(values), tuple(map(math.log, values.values()))
    found = series_changes(SeriesLevels(series.case, positions, logarithms), level)
    # A level is a difference of two points, each with that noise.
    error = BOUNDS_95 * found.noise_sd * math.sqrt(2.0)
    points = []
    for position, logarithm in zip(positions, logarithms, strict=True):
        relative = logarithm - logarithms[0]
        points.append(
            HistoryPoint(
                position=position,
                level=relative,
                low=relative - error,
                high=relative + error,
                value=values[position],
            )
        )
    return HistorySeries(
        case=series.case,
        group="",
        metric=series.metric,
        engine=ENGINE,
        topology=series.labels.get("topology") or series.labels.get("deployment_name") or "unknown",
        points=tuple(points),
        changes=tuple(_change_of(series, change, commits[change.position]) for change in found.changes),
        better=better_of(series.metric, series.labels),
        is_imported=True,
        source=series.source,
        labels=labels,
    )


def _change_of(series: ImportedSeries, change: LevelChange, commit: HistoryCommit) -> HistoryChange:
    name = commit.commit[:SHORT_COMMIT] or commit.name
    return HistoryChange(
        id=f"{series.source}:{name}:{series.case}:{series.metric}",
        kind="step",
        after=change.previous,
        position=change.position,
        change=change.change,
        low=math.expm1(change.low),
        high=math.expm1(change.high),
        p=change.p,
        confirmed=False,
    )
