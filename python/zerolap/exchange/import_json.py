"""Series in JSON: a history of Zerolap, what TS.MRANGE answers, and lists of results by time."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import from_json

from zerolap.exchange.collected_points import (
    CollectedPoints,
    PointRefused,
    SeriesName,
    checked_time,
    checked_value,
    checked_version,
)
from zerolap.exchange.import_csv import RELATIVE
from zerolap.exchange.public_series import PublicSeries, collect_public
from zerolap.records import HistoryCommit, HistorySeries, UsageError

HISTORIES: Final = "zerolap.history/1"
LABELS_OF_RESULTS: Final = ("branch", "git_repo")
MOST_LABELS_OF_REPLY: Final = 200


def read_json(content: bytes, points: CollectedPoints) -> None:
    """Read series from a JSON document; raises `UsageError` for one that holds none."""
    try:
        document = from_json(content, allow_inf_nan=False)
    except ValueError as fault:
        raise UsageError(f"the file is no JSON: {str(fault)[:200]}") from None
    if isinstance(document, dict) and "schema" in document:
        _read_history(document, points)
    elif isinstance(document, dict):
        collect_public(_of_reply(list(document.items()), points), points)
    elif isinstance(document, list) and document and all(isinstance(part, dict) for part in document):
        for result in document:
            _read_result(result, points)
    elif isinstance(document, list):
        collect_public(_of_reply(document, points), points)
    else:
        raise UsageError(
            "the file holds no series",
            hint="it may be a document of zerolap history --json, or what redis-cli --json TS.MRANGE prints",
        )


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
        try:
            if not 0 <= point.position < len(commits):
                raise PointRefused("a point is of no commit of the history")
            commit = commits[point.position]
            time, version = checked_time(commit.time), checked_version(commit.commit)
            if point.value is None:
                # Of a timed metric only contrasts are known.
                name = SeriesName.checked(series.case, series.metric, labels | {"value": RELATIVE})
                value = checked_value(math.exp(min(point.level, 700.0)))
            else:
                name = SeriesName.checked(series.case, series.metric, labels)
                value = checked_value(point.value)
            points.add(name, time, version, value)
        except PointRefused as refused:
            points.refuse(str(refused))


def _read_result(result: Mapping[str, Any], points: CollectedPoints) -> None:
    """Read one of a list of results: `timestamp`, `metrics` of name and value, and `attributes` with the commit."""
    attributes = result.get("attributes")
    attributes = attributes if isinstance(attributes, dict) else {}
    labels = {name: attributes[name] for name in LABELS_OF_RESULTS if isinstance(attributes.get(name), str)}
    case = next((result[name] for name in ("case", "test", "test_name") if name in result), "results")
    try:
        time, version = checked_time(result.get("timestamp")), checked_version(attributes.get("git_commit"))
    except PointRefused as refused:
        points.refuse(str(refused))
        return
    for metric in _list(result.get("metrics")):
        try:
            if not isinstance(metric, dict):
                raise PointRefused("a metric cannot be read")
            name = SeriesName.checked(case, metric.get("name", ""), labels)
            points.add(name, time, version, checked_value(metric.get("value")))
        except PointRefused as refused:
            points.refuse(str(refused))


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
