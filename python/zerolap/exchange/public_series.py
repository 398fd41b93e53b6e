"""The time series of the public tool, redis-benchmarks-specification: its keys and labels, in and out.

It writes each value up to three times, into the keys `ci.benchmarks.redis/by.{branch,version,hash}/ENVIRONMENT/ORG/
REPOSITORY/TEST/[BUILD VARIANT/][PLATFORM/]TYPE[/NAME]/VALUE/METRIC`. The time of a sample is that of the commit in
milliseconds, or of the run; where the key has a sample of that time, the next free millisecond.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from zerolap.exchange.collected_points import (
    CollectedName,
    CollectedPoints,
    PointRefused,
    checked_time,
    checked_value,
    checked_version,
    milliseconds_of,
)
from zerolap.records import SHORT_COMMIT, History, HistoryPoint, HistorySeries

PREFIX: Final = "ci.benchmarks.redis"
KEYS: Final = f"{PREFIX}/by.*"
"""A glob of all keys with series of results."""
CASE, METRIC, BRANCH, VERSION, HASH = "test_name", "metric", "branch", "version", "hash"
IDENTITY: Final = (
    *("github_org", "github_repo", "triggering_env", "build_variant", "running_platform"),
    *("deployment_type", "deployment_name"),
)
"""Labels that tell series from each other, beside test, metric, and what they are broken by; others repeat these."""
MOST_SHIFT: Final = 100
"""Milliseconds by which the public tool moves a sample to a free time."""
TOPOLOGIES: Final = {"standalone": "oss-standalone"}
"""Names of the public tool for topologies of the lab; those of others are the same."""
METRICS_OF_MEMTIER: Final = {
    "ops_per_sec": ('"ALL STATS".Totals."Ops/sec"', 1.0),
    "latency_p50_us": ('"ALL STATS".Totals."Percentile Latencies"."p50.00"', 1000.0),
    "latency_p99_us": ('"ALL STATS".Totals."Percentile Latencies"."p99.00"', 1000.0),
}
"""Metrics that dashboards of the public tool show, by their paths in memtier_benchmark's JSON, and a divisor."""
NOT_IN_LABELS: Final = str.maketrans("(),", "___")
"""The module refuses values of labels with these characters, which have a meaning in filters."""
_KEY: Final = re.compile(rf"{re.escape(PREFIX)}/by\.(branch|version|hash)/")
_RELEASE: Final = re.compile(r"[a-zA-Z_-]*(\d+(?:\.\d+)+)", re.ASCII)


@dataclass(frozen=True)
class PublicSeries:
    """A key with its labels and samples: time in milliseconds, and value, as they were read."""

    key: str
    labels: Mapping[str, str]
    samples: Sequence[tuple[object, object]]


@dataclass
class _Broken:
    """The samples of one series by what it is broken by: times of `hashes` and values lead to commits."""

    branches: list[tuple[int, float]] = field(default_factory=list)
    hashes: dict[int, list[tuple[float, str]]] = field(default_factory=lambda: defaultdict(list))


def collect_public(series: Iterable[PublicSeries], points: CollectedPoints) -> None:
    """Take the points of the public tool's series, and of any others with labels.

    What is broken by branch and by hash is one series, whose points have the commits that the hashes tell. What is
    broken by version is another, with the label `by`. Series of targets, which nobody has measured, are left out.
    """
    broken: dict[CollectedName, _Broken] = defaultdict(_Broken)
    for public in series:
        try:
            if public.labels.get("is_target") == "true":
                raise PointRefused("a series is a target, not a measurement")
            kind = _KEY.match(public.key)
            name = _name_of(public, kind[1] if kind else "")
            version = checked_version(public.labels.get(VERSION if kind and kind[1] == VERSION else HASH))
        except PointRefused as refused:
            points.refuse(str(refused))
            continue
        for milliseconds, value in _samples(public, points):
            if kind is None or kind[1] == VERSION:
                points.add(name, checked_time(milliseconds), version, value)
            elif kind[1] == HASH:
                broken[name].hashes[milliseconds].append((value, version))
            else:
                broken[name].branches.append((milliseconds, value))
    for name, of_name in broken.items():
        for milliseconds, version, value in _joined(of_name):
            points.add(name, checked_time(milliseconds), version, value)


def _samples(public: PublicSeries, points: CollectedPoints) -> Iterator[tuple[int, float]]:
    for time, value in public.samples:
        with points.failing_alone():
            number = checked_value(time)
            # Checked here: a number that is no time would be refused where it cannot be counted.
            checked_time(int(number))
            yield int(number), checked_value(value)


def _name_of(public: PublicSeries, kind: str) -> CollectedName:
    labels = public.labels
    metric, context = labels.get(METRIC, "value"), labels.get("metric_context_path", "")
    if context and public.key.endswith(f"/{metric}/{context}"):
        metric = f"{metric}/{context}"
    kept = {name: labels[name] for name in IDENTITY if labels.get(name, "").strip()}
    if not kind:
        # A series of another tool: all of its labels may tell it from others.
        kept = {name: text for name, text in labels.items() if name not in (CASE, METRIC) and text.strip()}
    elif kind == VERSION:
        kept["by"] = VERSION
    elif labels.get(BRANCH, "").strip():
        kept[BRANCH] = labels[BRANCH]
    return CollectedName.checked(labels.get(CASE) or public.key, metric, kept)


def _joined(broken: _Broken) -> Iterator[tuple[int, str, float]]:
    """Yield the points of a branch with their commits, then those that only series by hash have."""
    for milliseconds, value in sorted(broken.branches):
        yield milliseconds, _commit_at(broken.hashes, milliseconds, value), value
    for milliseconds, commits in broken.hashes.items():
        yield from ((milliseconds, commit, value) for value, commit in commits)


def _commit_at(hashes: dict[int, list[tuple[float, str]]], milliseconds: int, value: float) -> str:
    """Return the commit that was measured with that value at that time, or shortly before, and take it out."""
    for time in range(milliseconds, milliseconds - MOST_SHIFT - 1, -1):
        for index, (measured, commit) in enumerate(hashes.get(time, ())):
            if measured == value:
                del hashes[time][index]
                return commit
    return ""


@dataclass(frozen=True)
class PublicNames:
    """What the keys and labels of exported series name beside case and metric."""

    organization: str
    repository: str
    branch: str
    environment: str = "ci"
    build_variant: str = "default"
    platform: str = ""

    @property
    def prefix(self) -> str:
        """The beginning of the keys of lists, which fill the menus of dashboards."""
        return f"{PREFIX}/{self.environment}/{self.organization}/{self.repository}"


@dataclass(frozen=True)
class ExportedSeries:
    """A key as it is written: with labels, and samples by time in milliseconds."""

    key: str
    labels: Mapping[str, str]
    samples: dict[int, float]


def public_series_of(history: History, names: PublicNames) -> list[ExportedSeries]:
    """Return the series of a history under the public tool's keys: by branch, by hash, and of releases by version.

    Series that others have measured are left out. A counted metric has its values. Of a timed one, of which only
    contrasts are known, the values are ratios to the first commit of the series, which ends the name of the metric.
    """
    exported: dict[str, ExportedSeries] = {}
    times = _times(history)
    for series in history.series:
        if series.is_imported or not series.points:
            continue
        first = history.commits[series.points[0].position].commit[:SHORT_COMMIT]
        for point in series.points:
            commit = history.commits[point.position]
            broken = [("branch", names.branch), ("hash", commit.commit)]
            broken += [("version", found[1]) for tag in commit.tags if (found := _RELEASE.fullmatch(tag))]
            metric, value = _metric_and_value(series, point, first)
            for by, by_value in broken:
                labels = _labels(series, metric, names, by, by_value)
                if by == "hash":
                    labels |= {"branch": names.branch}
                key = _key(series, metric, names, by, by_value)
                of_key = exported.setdefault(key, ExportedSeries(key, labels, {}))
                of_key.samples[times[point.position]] = value
    return list(exported.values())


def public_lists_of(history: History, names: PublicNames) -> dict[str, dict[str, int]]:
    """Return the lists from which dashboards take their menus: members with the times of their newest commits."""
    times = _times(history)
    own = [series for series in history.series if not series.is_imported and series.points]
    measured = {point.position for series in own for point in series.points}
    newest = max((times[position] for position in measured), default=0)
    lists: dict[str, dict[str, int]] = {
        "testcases": {series.case: times[series.points[-1].position] for series in own},
        "deployment_names": {_topology(series): newest for series in own},
        "branches": {names.branch: newest},
        "platforms": {names.platform: newest},
        "build_variants": {names.build_variant: newest},
        "versions": {
            found[1]: times[position]
            for position in measured
            for tag in history.commits[position].tags
            if (found := _RELEASE.fullmatch(tag))
        },
    }
    return {f"{names.prefix}:{name}": members for name, members in lists.items() if members}


def _times(history: History) -> list[int]:
    """Return the times of commits in milliseconds; of commits of the same time the later ones are moved on."""
    times: list[int] = []
    used: set[int] = set()
    for commit in history.commits:
        milliseconds = milliseconds_of(commit.time)
        while milliseconds in used:
            milliseconds += 1
        used.add(milliseconds)
        times.append(milliseconds)
    return times


def _metric_and_value(series: HistorySeries, point: HistoryPoint, first: str) -> tuple[str, float]:
    if point.value is not None and series.metric in METRICS_OF_MEMTIER:
        path, divisor = METRICS_OF_MEMTIER[series.metric]
        return path.replace('"', "").replace(" ", "_"), point.value / divisor
    if point.value is not None:
        return series.metric, point.value
    return f"{series.metric}.relative_to.{first}", math.exp(point.level)


def _topology(series: HistorySeries) -> str:
    return TOPOLOGIES.get(series.topology, series.topology)


def _key(series: HistorySeries, metric: str, names: PublicNames, by: str, by_value: str) -> str:
    owner = f"{names.environment}/{names.organization}/{names.repository}"
    measured = f"{series.case}/{names.build_variant}/{names.platform}/{_topology(series)}"
    return f"{PREFIX}/by.{by}/{owner}/{measured}/{by_value}/{metric}"


def _labels(series: HistorySeries, metric: str, names: PublicNames, by: str, by_value: str) -> dict[str, str]:
    topology = _topology(series)
    labels = {
        "github_org": names.organization,
        "github_repo": names.repository,
        "github_org/github_repo": f"{names.organization}/{names.repository}",
        "deployment_type": topology,
        "deployment_name": topology,
        "triggering_env": names.environment,
        "build_variant": names.build_variant,
        "running_platform": names.platform,
        by: by_value,
        f"deployment_name+{by}": f"{topology} {by_value}",
        f"running_platform+{by}": f"{names.platform} {by_value}",
        f"target+{by}": f"{by_value} {names.repository}",
        "test_name": series.case,
        "test_name:build_variant": f"{series.case}:{names.build_variant}",
        "metric": metric,
        "metric_name": metric,
        "metric_jsonpath": METRICS_OF_MEMTIER.get(series.metric, (metric,))[0],
        "measured_by": "zerolap",
    }
    return {name: text.translate(NOT_IN_LABELS) for name, text in labels.items() if text}
