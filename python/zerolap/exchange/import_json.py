"""Series in JSON: histories of Zerolap, what TS.MRANGE answers, lists of results, data of github-action-benchmark."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import from_json

from zerolap.exchange.collected_points import (
    CollectedName,
    CollectedPoints,
    PointRefused,
    checked_time,
    checked_value,
    checked_version,
)
from zerolap.exchange.import_csv import CASES, LABELS, RELATIVE, REPEATS, TIMES, VERSIONS
from zerolap.exchange.imported_history import BETTER
from zerolap.exchange.public_series import PublicSeries, collect_public
from zerolap.records import HistoryCommit, HistorySeries, UsageError

HISTORIES: Final = "zerolap.history/1"
LABELS_OF_RESULTS: Final = ("branch", "git_repo")
SETTINGS_OF_RECORDS: Final = ("requests", "duration", "warmup", "valkey_benchmark_threads")
"""Numbers in a flat record that were set, not measured."""
BETTER_OF_TOOLS: Final = {"customBiggerIsBetter": "more", "customSmallerIsBetter": "less"}
"""The tools of github-action-benchmark whose name says which values are better."""
MOST_LABELS_OF_REPLY: Final = 200
MOST_SHOWN: Final = 5
SHAPES: Final = (
    "these are read: documents of zerolap history --json, what redis-cli --json TS.MRANGE prints, "
    "lists of results with a time, the data of github-action-benchmark"
)


def read_json(content: bytes, points: CollectedPoints) -> None:
    """Read series from a JSON document; raises `UsageError` for one that holds none."""
    try:
        document = from_json(content, allow_inf_nan=False)
    except ValueError as fault:
        raise UsageError(f"the file is no JSON: {str(fault)[:200]}") from None
    if isinstance(document, dict) and "schema" in document:
        _read_history(document, points)
    elif isinstance(document, dict) and isinstance(document.get("entries"), dict):
        _read_action_data(document["entries"], points)
    elif isinstance(document, dict) and any(isinstance(value, list) and len(value) == 3 for value in document.values()):
        collect_public(_of_reply(list(document.items()), points), points)
    elif isinstance(document, list) and document and all(isinstance(part, dict) for part in document):
        for result in document:
            if isinstance(result.get("metrics"), list):
                _read_result(result, points)
            else:
                _read_record(result, points)
    elif isinstance(document, list) and all(isinstance(part, list) for part in document):
        collect_public(_of_reply(document, points), points)
    else:
        raise _unknown_shape(document)


def _unknown_shape(document: Any) -> UsageError:
    """Return the error for JSON that holds no series, with what it holds."""
    if not isinstance(document, dict):
        return UsageError("the file holds no series, but a list of neither objects nor series", hint=SHAPES)
    results = document.get("results")
    first = results[0] if isinstance(results, list) and results else None
    if isinstance(first, dict) and "command" in first and ("mean" in first or "times" in first):
        return UsageError(
            "the file holds results of hyperfine, which have neither a time nor a commit",
            hint="write a table with the columns time, commit and mean, a row for each run",
        )
    keys = [f"`{key[:40]}`" for key in document if key.isprintable()]
    shown = ", ".join(keys[:MOST_SHOWN]) + (", ..." if len(keys) > MOST_SHOWN else "")
    return UsageError(f"the file holds no series, but an object with the keys {shown or '(none)'}", hint=SHAPES)


def _read_history(document: Mapping[str, Any], points: CollectedPoints) -> None:
    """Read a document of `zerolap history`, of this version or another; a bad series fails alone."""
    if document["schema"] != HISTORIES:
        raise UsageError(f"`{str(document['schema'])[:60]}` is no schema of a history", hint=HISTORIES)
    try:
        listed = document.get("commits")
        commits = [HistoryCommit.model_validate(commit, extra="ignore") for commit in _list(listed)]
    except ValidationError:
        raise UsageError("the commits of the history cannot be read") from None
    platform = document.get("platform")
    measured_on = platform.get("name") if isinstance(platform, dict) else None
    origin = {"platform": measured_on, "variant": document.get("variant")}
    for written in _list(document.get("series")):
        try:
            series = HistorySeries.model_validate(written, extra="ignore")
        except ValidationError:
            points.refuse("a series of the history cannot be read")
            continue
        of_series = origin | {"engine": series.engine, "topology": series.topology} | series.labels
        labels = {name: text for name, text in of_series.items() if isinstance(text, str) and text}
        _read_series(series, commits, labels, points)


def _read_series(
    series: HistorySeries, commits: list[HistoryCommit], labels: dict[str, str], points: CollectedPoints
) -> None:
    for point in series.points:
        with points.failing_alone():
            if not 0 <= point.position < len(commits):
                raise PointRefused("a point is of no commit of the history")
            commit = commits[point.position]
            time, version = checked_time(commit.time), checked_version(commit.commit)
            if point.value is None:
                # Of a timed metric only contrasts are known.
                name = CollectedName.checked(series.case, series.metric, labels | {"value": RELATIVE})
                value = checked_value(math.exp(min(point.level, 700.0)))
            else:
                name = CollectedName.checked(series.case, series.metric, labels)
                value = checked_value(point.value)
            points.add(name, time, version, value)


def _read_result(result: Mapping[str, Any], points: CollectedPoints) -> None:
    """Read one of a list of results: `timestamp`, `metrics` of name and value, and `attributes` with the commit."""
    attributes = result.get("attributes")
    attributes = attributes if isinstance(attributes, dict) else {}
    labels = {name: attributes[name] for name in LABELS_OF_RESULTS if isinstance(attributes.get(name), str)}
    case = next((result[name] for name in ("case", "test", "test_name") if name in result), "results")
    with points.failing_alone():
        time, version = checked_time(result.get("timestamp")), checked_version(attributes.get("git_commit"))
        for metric in _list(result.get("metrics")):
            with points.failing_alone():
                if not isinstance(metric, dict):
                    raise PointRefused("a metric cannot be read")
                name = CollectedName.checked(case, metric.get("name", ""), labels)
                points.add(name, time, version, checked_value(metric.get("value")))


def _read_record(record: Mapping[str, Any], points: CollectedPoints) -> None:
    """Read a flat object, such as those of valkey-perf-benchmark: its fields mean what columns of a table mean."""
    fields = {str(name).strip().lower(): (str(name).strip(), value) for name, value in record.items()}

    def first(names: tuple[str, ...]) -> Any:
        return next((fields[name][1] for name in names if name in fields), None)

    distinguishing = {name: fields[name][1] for name in (*LABELS, *SETTINGS_OF_RECORDS) if name in fields}
    labels: dict[str, str] = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in distinguishing.items()
        if value is not None
    }
    meant = {*TIMES, *VERSIONS, *CASES, *REPEATS, *distinguishing}
    with points.failing_alone():
        if first(TIMES) is None:
            raise PointRefused(f"a result has none of the fields {', '.join(TIMES)}")
        time, version = checked_time(first(TIMES)), checked_version(first(VERSIONS))
        for name, (written, value) in fields.items():
            if name not in meant and isinstance(value, int | float) and not isinstance(value, bool):
                with points.failing_alone():
                    of = CollectedName.checked(first(CASES) or "results", written, labels)
                    points.add(of, time, version, checked_value(value))


def _read_action_data(entries: Mapping[str, Any], points: CollectedPoints) -> None:
    """Read the data of github-action-benchmark: for each suite the runs, of a commit each, with their benchmarks."""
    for suite, runs in entries.items():
        for run in _list(runs):
            with points.failing_alone():
                commit = run.get("commit") if isinstance(run, dict) else None
                if not isinstance(commit, dict):
                    raise PointRefused("a run names no commit")
                time = checked_time(commit.get("timestamp") or run.get("date"))
                version = checked_version(commit.get("id"))
                better = BETTER_OF_TOOLS.get(str(run.get("tool")))
                labels = {"suite": suite} | ({} if better is None else {BETTER: better})
                for measured in _list(run.get("benches")):
                    with points.failing_alone():
                        if not isinstance(measured, dict):
                            raise PointRefused("a benchmark cannot be read")
                        name = CollectedName.checked(measured.get("name", ""), measured.get("unit") or "value", labels)
                        points.add(name, time, version, checked_value(measured.get("value")))


def _of_reply(reply: list[Any], points: CollectedPoints) -> Iterator[PublicSeries]:
    """Yield the series of a reply to TS.MRANGE WITHLABELS, in the forms of RESP2 and RESP3."""
    for part in reply:
        parts = list(part) if isinstance(part, list | tuple) else []
        if len(parts) == 2 and isinstance(parts[1], list):
            parts = [parts[0], *parts[1]]
        labels, samples = (parts[1], parts[-1]) if len(parts) >= 3 else (None, None)
        if isinstance(labels, list):
            pairs = [pair for pair in labels if isinstance(pair, list) and len(pair) == 2]
            labels = {pair[0]: pair[1] for pair in pairs if isinstance(pair[0], str)}
        if not isinstance(labels, dict) or not isinstance(samples, list) or not isinstance(parts[0], str):
            points.refuse("a series of the reply cannot be read")
            continue
        texts = {str(name): value for name, value in labels.items() if isinstance(value, str)}
        if len(texts) > MOST_LABELS_OF_REPLY:
            points.refuse("a series has too many labels")
            continue
        yield PublicSeries(parts[0], texts, tuple(_pairs(samples, points)))


def _pairs(samples: list[Any], points: CollectedPoints) -> Iterator[tuple[object, object]]:
    for sample in samples:
        if isinstance(sample, list) and len(sample) == 2:
            yield sample[0], sample[1]
        else:
            points.refuse("a sample cannot be read")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
