"""Series in and out: what is read of other tools, what is refused of hostile files and servers, what dashboards get."""

import contextlib
import io
import json
import math
import os
import random
import re
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import Zerolap
from hostile_texts import HOSTILE_TEXTS
from made_records import a_measurement
from markdown_page import READERS
from played_time_series import PlayedKey, PlayedTimeSeries
from redis_process import PASSWORD, RedisProcess
from rich.console import Console
from stored_run import DISTURBED, REQUEST, RUN, record_trials, stored_run
from test_benchfmt import read as read_benchfmt
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource

from zerolap.errors import UsageError
from zerolap.exchange import (
    METRICS_OF_MEMTIER,
    CollectedPoints,
    PublicNames,
    SeriesServerFailed,
    TimeSeriesServer,
    collected_points as collecting,
    import_csv,
    imported_history,
    public_lists_of,
    public_series_of,
    read_file,
    read_server,
    with_imported,
)
from zerolap.exchange.collected_points import PointRefused, checked_time, checked_value
from zerolap.exchange.public_series import PublicSeries, collect_public
from zerolap.history import HistoryRange, with_absolute_values
from zerolap.records import (
    Build,
    History,
    HistoryCommit,
    HistoryPoint,
    HistorySeries,
    ImportedPoint,
    ImportedSeries,
    Platform,
    Revision,
    RevisionSource,
)
from zerolap.report import document_json, history_benchfmt, history_csv, sheet_markdown, show_sheet
from zerolap.sheets import history_sheet
from zerolap.store import Store

OTAVA_TABLE = """\
time,commit,branch,metric1,metric2
2024.01.01 3:00:00 +0100,aaa0,main,154023,10.43
2024.01.02 3:00:00 +0100,aaa1,main,138455,10.23
2024.01.03 3:00:00 +0100,aaa2,feature-x,143112,
"""
HISTOGRAM_LOG = """\
#logging stats for session scenario_1
#[Histogram log format version 1.0]
#[StartTime: 1649352325.178 (seconds since epoch), Thu Apr 07 17:25:25 UTC 2022]
#[TimeUnit: NANOSECONDS]
#Tag,Interval_Start,Interval_Length,count,p50,p99,max
Tag=init.tokens,2.616,2.385,2028,1061887,1351679,15114239
Tag=init.delay,3.434,1.621,0,0,0,0
Tag=init.tokens,5.001,2.385,2030,1071887,1361679,15114240
"""
COMMITS = [f"{number:040x}" for number in (0xA1B2C3D4E5F6, 0xB1B2C3D4E5F6, 0xC1B2C3D4E5F6)]
COMMITS = [commit[::-1] for commit in COMMITS]
MACHINE = Platform(name="bench-1", fingerprint="p-1", cpu="A CPU", cores=2, kernel="6.1")
NAMES = PublicNames("redis", "redis", "unstable", build_variant="gcc-default", platform="x86-1")
OPS = "ALL_STATS.Totals.Ops/sec"
DAY = 86_400_000
FIRST = 1_704_067_200_000
"""2024-01-01 in milliseconds."""


def a_history(**changes: Any) -> History:
    """A history of three commits: a counted series, and a timed one of which only ratios are known."""
    commits = [
        HistoryCommit(commit=commit, time=f"2024-01-0{day}T00:00:00Z", subject="s", tags=tags, node=day)
        for day, (commit, tags) in enumerate(zip(COMMITS, ((), ("v7.2.0",), ()), strict=True), start=1)
    ]
    counted = [
        HistoryPoint(position=at, level=math.log(value / 1000), low=0.0, high=0.0, value=value)
        for at, value in enumerate((1000.0, 1000.0, 1100.0))
    ]
    timed = [
        HistoryPoint(position=at, level=level, low=level - 0.01, high=level + 0.01)
        for at, level in ((0, 0.0), (2, 0.1))
    ]
    common = {"case": "get-100B", "group": "string", "topology": "standalone"}
    series = (
        HistorySeries(**common, metric="instructions_per_op", engine="counted", points=tuple(counted)),
        HistorySeries(**common, metric="cpu_ns_per_op", engine="timed", points=tuple(timed)),
    )
    fields: dict[str, Any] = {
        "created": "2024-01-04T00:00:00Z",
        "command_line": "zerolap history",
        "repository": "/r",
        "range": "A..B",
        "variant": "default",
        "config": {},
        "platform": MACHINE,
        "commits": tuple(commits),
        "series": series,
    }
    return History(**(fields | changes))


def a_build(digest: str) -> Build:
    return Build(build=digest, version="7.2.4", build_id="ff", flags="-O2", variant="default", image="same")


def read_text(directory: Path, text: str | bytes, name: str = "results.csv", case: str | None = None) -> Any:
    path = directory / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    points = CollectedPoints("others")
    read_file(path, case, points)
    return points.result()


def values_of(series: ImportedSeries) -> list[tuple[str, str, float]]:
    return [(point.time, point.version, point.value) for point in series.points]


def labels_of(case: str, by: str, value: str, **more: str) -> dict[str, str]:
    return {
        "github_org": "redis",
        "github_repo": "redis",
        "triggering_env": "ci",
        "running_platform": "x86-1",
        "deployment_type": "oss-standalone",
        "deployment_name": "oss-standalone",
        "test_name": case,
        "metric": OPS,
        "metric_name": OPS,
        by: value,
        f"deployment_name+{by}": f"oss-standalone {value}",
        **more,
    }


def key_of(case: str, by: str, value: str) -> str:
    return f"ci.benchmarks.redis/by.{by}/ci/redis/redis/{case}/x86-1/oss-standalone/{value}/{OPS}"


def fill_as_public_tool(
    server: PlayedTimeSeries, case: str = "get", values: tuple[float, ...] = (100.0, 110.0)
) -> None:
    """Leave in a server what the public tool writes for commits of the branch `unstable`, a day apart."""
    of_branch: dict[int, float] = {}
    for number, value in enumerate(values):
        time, commit = FIRST + number * DAY, COMMITS[number]
        of_branch[time] = value
        labels = labels_of(case, "hash", commit, branch="unstable")
        server.keys[key_of(case, "hash", commit)] = PlayedKey(labels, {time: value})
    server.keys[key_of(case, "branch", "unstable")] = PlayedKey(labels_of(case, "branch", "unstable"), of_branch)


@pytest.fixture
def played() -> Iterator[PlayedTimeSeries]:
    with PlayedTimeSeries.running() as server:
        yield server


# Files.


def test_a_table_of_commits_is_a_series_for_each_metric_and_branch(tmp_path: Path) -> None:
    read = read_text(tmp_path, OTAVA_TABLE, "nightly.csv")
    by_name = {(each.metric, each.labels["branch"]): values_of(each) for each in read.series}
    assert {each.case for each in read.series} == {"nightly"}
    assert by_name["metric1", "main"] == [
        ("2024-01-01T02:00:00.000Z", "aaa0", 154023.0),
        ("2024-01-02T02:00:00.000Z", "aaa1", 138455.0),
    ]
    assert by_name["metric1", "feature-x"] == [("2024-01-03T02:00:00.000Z", "aaa2", 143112.0)]
    # An empty cell is no value, and no fault.
    assert ("metric2", "feature-x") not in by_name
    assert read.notes == ()


def test_a_log_of_histograms_is_a_series_for_each_tag_and_percentile(tmp_path: Path) -> None:
    read = read_text(tmp_path, HISTOGRAM_LOG)
    by_name = {(each.case, each.metric): values_of(each) for each in read.series}
    assert by_name["init.tokens", "p99"] == [
        ("2022-04-07T17:25:27.794Z", "", 1351679.0),
        ("2022-04-07T17:25:30.179Z", "", 1361679.0),
    ]
    # An interval without events says nothing of their times.
    assert {case for case, _ in by_name} == {"init.tokens"}


def test_lists_of_results_are_read(tmp_path: Path) -> None:
    result = {
        "timestamp": 1690391261,
        "metrics": [{"name": "load", "value": 29347, "unit": "tx/s"}, {"name": "bad", "value": "many"}],
        "attributes": {"branch": "main", "git_commit": COMMITS[0]},
    }
    read = read_text(tmp_path, json.dumps([result]))
    (series,) = read.series
    assert (series.metric, dict(series.labels)) == ("load", {"branch": "main"})
    assert values_of(series) == [("2023-07-26T17:07:41.000Z", COMMITS[0], 29347.0)]
    assert read.notes == ("1 left out: a value is not a number",)


@pytest.mark.parametrize(("written", "name"), [(history_csv, "h.csv"), (document_json, "h.json")])
def test_what_a_history_writes_is_read_again(tmp_path: Path, written: Any, name: str) -> None:
    read = read_text(tmp_path, written(a_history()), name)
    by_metric = {each.metric: each for each in read.series}
    assert [value for *_, value in values_of(by_metric["instructions_per_op"])] == [1000.0, 1000.0, 1100.0]
    assert [version for _, version, _ in values_of(by_metric["instructions_per_op"])] == COMMITS
    # Of time only ratios are known; an import says so.
    timed = by_metric["cpu_ns_per_op"]
    assert timed.labels["value"] == "relative"
    assert [value for *_, value in values_of(timed)] == pytest.approx([1.0, math.exp(0.1)], rel=1e-5)
    assert read.notes == ()


@pytest.mark.parametrize("resp3", [False, True])
def test_what_redis_cli_prints_of_time_series_is_read(tmp_path: Path, resp3: bool) -> None:
    labels = labels_of("get", "branch", "unstable")
    key = key_of("get", "branch", "unstable")
    samples = [[FIRST, "100"], [FIRST + DAY, "110.5"]]
    document: Any = [[key, [list(pair) for pair in labels.items()], samples]]
    if resp3:
        document = {key: [labels, {"aggregators": []}, [[time, float(value)] for time, value in samples]]}
    (series,) = read_text(tmp_path, json.dumps(document)).series
    assert (series.case, series.metric, series.labels["branch"]) == ("get", OPS, "unstable")
    assert [value for *_, value in values_of(series)] == [100.0, 110.5]


def test_several_values_of_a_commit_become_their_median_and_are_counted(tmp_path: Path) -> None:
    rows = [
        f"2024-02-{day:02}T00:00:00Z,{day:040x},{run},{130 if run == 5 and day > 10 else 98 + run}"
        for day in range(1, 21)
        for run in (5, 1, 2, 3, 4)
    ]
    # Of each commit the third of five, whatever the last one is.
    read = read_text(tmp_path, "\n".join(["time,commit,run,latency", *rows]))
    (series,) = read.series
    assert (series.metric, {point.value for point in series.points}) == ("latency", {101.0})
    assert len(series.points) == 20
    assert read.notes == ("100 values read; 100 of them, up to 5 of one series, time and commit, became 20 medians",)
    assert imported_history([series], "others").series[0].changes == ()


def test_columns_that_tell_rows_apart_are_series_of_their_own(tmp_path: Path) -> None:
    lines = ["date,commit,benchmark,clients,iteration,rps", "2024-01-01,a,get,50,1,10", "2024-01-01,a,get,50,2,30"]
    lines += ["2024-01-01,a,set,50,1,7", "2024-01-01,a,set,100,1,8"]
    read = read_text(tmp_path, "\n".join(lines))
    assert {(each.case, each.metric, each.labels["clients"]): values_of(each)[0][2] for each in read.series} == {
        ("get", "rps", "50"): 20.0,
        ("set", "rps", "50"): 7.0,
        ("set", "rps", "100"): 8.0,
    }
    assert read.notes == ("4 values read; 2 of them, up to 2 of one series, time and commit, became 1 median",)


@pytest.mark.parametrize(
    ("delimiter", "numbers", "values"),
    [
        (";", ["12,51", "13,5", "1.234,5"], [12.51, 13.5, 1234.5]),
        (";", ["12.345", "12,5"], [12345.0, 12.5]),
        (";", ["12.345", "12.5"], [12.345, 12.5]),
        (";", ["12.345", "13.456"], [12.345, 13.456]),
        (";", ["1,234", "1.5"], [1234.0, 1.5]),
        (";", ["1.234.567", "3"], [1234567.0, 3.0]),
        (";", ["-1,5E+03", "1\u202f234,5"], [-1500.0, 1234.5]),
        ("\t", ["12,51", "1 234,5"], [12.51, 1234.5]),
        ("\t", ["12.51", "1'234.5"], [12.51, 1234.5]),
        (",", ['"1,234.5"', '"1,234"', "7.125"], [1234.5, 1234.0, 7.125]),
        (",", ['"12,5"', '"13,25"', "7"], [12.5, 13.25, 7.0]),
    ],
)
def test_numbers_are_read_as_spreadsheets_write_them(
    tmp_path: Path, delimiter: str, numbers: list[str], values: list[float]
) -> None:
    rows = [f"2024-01-{day:02}{delimiter}c{day}{delimiter}{number}" for day, number in enumerate(numbers, 1)]
    for first in ("", f"sep={delimiter}\r\n"):
        read = read_text(tmp_path, first + "\r\n".join([delimiter.join(("time", "commit", "latency")), *rows]))
        assert [value for *_, value in values_of(read.series[0])] == values
        assert read.notes == ()


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (
            ["a;12,5", "b;1.234", "c;1.5"],
            "a decimal comma (`12,5` in line 2) and with a decimal point (`1.5` in line 4)",
        ),
        (["a;1.5", "b;1.234.567"], "decimal comma (`1.234.567` in line 3)"),
        (["a;1,234", "b;5,678"], "`1,234` in line 2 may have a decimal comma or a comma between thousands"),
    ],
)
def test_a_mixture_of_decimal_marks_is_refused_with_both(tmp_path: Path, lines: list[str], why: str) -> None:
    rows = [f"2024-01-01;{line}" for line in lines]
    with pytest.raises(UsageError, match=re.escape(why)):
        read_text(tmp_path, "\n".join(["time;commit;latency", *rows]))


def test_a_comma_in_a_number_without_quotes_is_named(tmp_path: Path) -> None:
    read = read_text(tmp_path, "time,commit,latency\n2024-01-01,a,12,5\n")
    assert read.notes == (
        "1 left out: a line has 4 cells, and there are 3 names of columns: a comma in a number needs quotes",
    )


def test_flat_records_are_read_as_rows_of_a_table(tmp_path: Path) -> None:
    def record(commit: str, rps: float, **more: Any) -> dict[str, Any]:
        known = {"timestamp": "2025-06-01T10:00:00Z", "commit": commit, "command": "SET", "data_size": 16}
        return known | {"pipeline": 10, "cluster_mode": False, "tls": False, "requests": 1000, "rps": rps} | more

    records = [record("a", 10.0), record("a", 20.0), record("b", 5.0, tls=True, p99_latency_ms=1.5, env_os="x")]
    read = read_text(tmp_path, json.dumps([*records, {"rps": 1.0}]))
    by_name = {(each.metric, each.labels["tls"]): values_of(each) for each in read.series}
    time = "2025-06-01T10:00:00.000Z"
    assert by_name == {
        ("rps", "false"): [(time, "a", 15.0)],
        ("rps", "true"): [(time, "b", 5.0)],
        ("p99_latency_ms", "true"): [(time, "b", 1.5)],
    }
    assert {each.case for each in read.series} == {"SET"}
    assert "1 left out: a result has none of the fields time, timestamp, date" in read.notes


@pytest.mark.parametrize("prefix", ["", "window.BENCHMARK_DATA = "])
def test_the_data_of_github_action_benchmark_is_read(tmp_path: Path, prefix: str) -> None:
    commit = {"id": COMMITS[0], "timestamp": "2024-01-01T12:00:00+02:00", "message": "m"}
    benches = [{"name": "get", "value": 12.5, "unit": "ns/iter", "range": "± 3"}, {"name": "bad", "value": "x"}]
    run = {"commit": commit, "date": 1704103200000, "tool": "customSmallerIsBetter", "benches": benches}
    data = {"lastUpdate": 1, "repoUrl": "u", "entries": {"Suite": [run, {"date": 1}]}}
    read = read_text(tmp_path, prefix + json.dumps(data), "data.js")
    (series,) = read.series
    assert (series.case, series.metric) == ("get", "ns/iter")
    assert dict(series.labels) == {"suite": "Suite", "better": "less"}
    assert values_of(series) == [("2024-01-01T10:00:00.000Z", COMMITS[0], 12.5)]
    assert len(read.notes) == 2


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (
            {"results": [{"command": "x", "mean": 1.0, "times": [1.0]}]},
            "results of hyperfine, which have neither a time",
        ),
        ({"ALL STATS": {}, "run information": {}}, "an object with the keys `ALL STATS`, `run information`"),
        ({}, "the keys (none)"),
        ([1, 2], "a list of neither objects nor series"),
    ],
)
def test_json_of_another_shape_is_refused_by_what_it_holds(tmp_path: Path, document: Any, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        read_text(tmp_path, json.dumps(document))


def test_a_bad_row_fails_alone_and_is_counted(tmp_path: Path) -> None:
    lines = ["time,commit,rps", "2024-01-01,a1,10"]
    lines += ["2024-13-01,a2,10", "yesterday,a3,10", "2024-01-02,a4", '2024-01-02,"a5,10', "1,a6,10"]
    lines += ["2024-01-02,a7,ten", "2024-01-02,a8,nan", "2024-01-02,a9,1e999", f"2024-01-02,{'a' * 400},10"]
    lines += ["2024-01-02,\x1b[2Jb,10", "2024-01-03,b1,12"]
    read = read_text(tmp_path, "\n".join(lines))
    (series,) = read.series
    assert [version for _, version, _ in values_of(series)] == ["a1", "b1"]
    assert sum(int(note.split()[0]) for note in read.notes) == len(lines) - 3


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff" * 100,
        b"#a comment\n" * 100,
        b"name,value\nget,1\n",
        b"time,commit\n2024-01-01,a\n",
        b"{",
        b"[1, 2",
        b'{"schema": "zerolap.comparison/1"}',
        b'{"schema": "zerolap.history/1", "commits": [1]}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"1",
        b'{"schema": {}}',
        b"[NaN]",
        b"#[Histogram log format version 1.0]\nTag=a,1,2,3\n",
    ],
)
def test_a_file_without_series_is_refused_or_empty(tmp_path: Path, content: bytes) -> None:
    try:
        read = read_text(tmp_path, content)
    except UsageError:
        return
    assert read.series == ()


def test_files_of_any_bytes_end_in_points_or_a_refusal(tmp_path: Path) -> None:
    generator = random.Random(1)
    seeds = [OTAVA_TABLE, HISTOGRAM_LOG, document_json(a_history()), history_csv(a_history())]
    seeds += ["time;commit;latency\n2024-01-01;a;1.234,5\n2024-01-02;b;12,5\n" * 3, "sep=;\ntime;rps\n1706659200;1.5\n"]
    seeds += ['window.BENCHMARK_DATA = {"entries": {"s": [{"commit": {"id": "a"}, "benches": [{"value": 1}]}]}};']
    for number in range(300):
        content = bytearray(seeds[number % len(seeds)].encode())
        for _ in range(generator.randint(1, 20)):
            content[generator.randrange(len(content))] = generator.randrange(256)
        try:
            read = read_text(tmp_path, bytes(content))
        except UsageError:
            continue
        assert all(math.isfinite(point.value) for each in read.series for point in each.points)


def test_a_pipe_and_a_directory_are_no_files(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, tmp_path / "missing"):
        with pytest.raises(UsageError):
            read_file(path, None, CollectedPoints("others"))


def test_an_import_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "MOST_POINTS", 3)
    rows = "\n".join(f"2024-01-01,c{number},1" for number in range(4))
    with pytest.raises(UsageError, match="more than 3 points"):
        read_text(tmp_path, f"time,commit,rps\n{rows}")
    monkeypatch.setattr(collecting, "MOST_SERIES", 2)
    with pytest.raises(UsageError, match="more than 2 series"):
        read_text(tmp_path, "time,commit,a,b,c\n2024-01-01,c,1,2,3")
    # Numbers of which it is not known how they are written are kept until that shows.
    monkeypatch.setattr(import_csv, "MOST_VALUES", 2)
    unclear = "\n".join(f"2024-01-01;c{number};1,234" for number in range(3))
    with pytest.raises(UsageError, match="more than 2 values"):
        read_text(tmp_path, f"time;commit;rps\n{unclear}")


@pytest.mark.parametrize(
    ("given", "time"),
    [
        ("2024-01-31T12:00:00Z", "2024-01-31T12:00:00.000Z"),
        ("2024-01-31 12:00:00.25+02:00", "2024-01-31T10:00:00.250Z"),
        ("2024.01.31 3:00:00 +0100", "2024-01-31T02:00:00.000Z"),
        ("2024-01-31", "2024-01-31T00:00:00.000Z"),
        ("1706659200", "2024-01-31T00:00:00.000Z"),
        (1706659200123, "2024-01-31T00:00:00.123Z"),
    ],
)
def test_times(given: object, time: str) -> None:
    assert checked_time(given) == time


@pytest.mark.parametrize(
    "given", ["", "now", "2024-02-30", "-5", 0, 10**400, 1e300, True, None, "\u0662\u0660\u0662\u0664-01-01", "9" * 90]
)
def test_what_is_no_time(given: object) -> None:
    with pytest.raises(PointRefused):
        checked_time(given)


@pytest.mark.parametrize(
    "given", ["", "1_000", "inf", "NaN", "0x10", "1e999", "9" * 400, True, None, [], 10**400, "\u0661"]
)
def test_what_is_no_value(given: object) -> None:
    with pytest.raises(PointRefused):
        checked_value(given)


# The public tool's series.


def test_points_of_a_branch_get_their_commits_from_the_series_by_hash(played: PlayedTimeSeries) -> None:
    fill_as_public_tool(played)
    points = CollectedPoints("lab")
    read_server(played.url, [], points)
    (series,) = points.result().series
    assert (series.case, series.metric, series.labels["branch"]) == ("get", OPS, "unstable")
    assert values_of(series) == [
        ("2024-01-01T00:00:00.000Z", COMMITS[0], 100.0),
        ("2024-01-02T00:00:00.000Z", COMMITS[1], 110.0),
    ]
    # What other labels repeat is not kept.
    assert "deployment_name+branch" not in series.labels


def test_a_sample_that_was_moved_to_a_free_millisecond_is_of_its_commit() -> None:
    same_time = {key_of("get", "hash", commit): commit for commit in COMMITS[:2]}
    public = [
        PublicSeries(key, labels_of("get", "hash", commit, branch="unstable"), ((FIRST, value),))
        for (key, commit), value in zip(same_time.items(), (5.0, 6.0), strict=True)
    ]
    samples = ((FIRST, 5.0), (FIRST + 1, 6.0), (FIRST + 2, 7.0))
    public.append(PublicSeries(key_of("get", "branch", "unstable"), labels_of("get", "branch", "unstable"), samples))
    points = CollectedPoints("lab")
    collect_public(public, points)
    (series,) = points.result().series
    assert [(version, value) for _, version, value in values_of(series)] == [
        (COMMITS[0], 5.0),
        (COMMITS[1], 6.0),
        ("", 7.0),
    ]


def test_versions_are_a_series_of_their_own_and_targets_none() -> None:
    public = [
        PublicSeries(key_of("get", "version", version), labels_of("get", "version", version), ((time, value),))
        for version, time, value in (("7.0.0", FIRST, 1.0), ("7.2.0", FIRST + DAY, 2.0))
    ]
    target = labels_of("get", "branch", "unstable", is_target="true")
    public.append(PublicSeries(key_of("get", "branch", "unstable"), target, ((FIRST, 9.0),)))
    points = CollectedPoints("lab")
    collect_public(public, points)
    read = points.result()
    (series,) = read.series
    assert [version for _, version, _ in values_of(series)] == ["7.0.0", "7.2.0"]
    assert series.labels["by"] == "version"
    assert read.notes == ("1 left out: a series is a target, not a measurement",)


def test_only_series_with_a_label_are_read(played: PlayedTimeSeries) -> None:
    fill_as_public_tool(played, "get")
    fill_as_public_tool(played, "set")
    points = CollectedPoints("lab")
    read_server(played.url, ["test_name=set"], points)
    assert {each.case for each in points.result().series} == {"set"}


def test_a_key_that_cannot_be_read_fails_alone(played: PlayedTimeSeries) -> None:
    fill_as_public_tool(played)
    played.keys[key_of("bad", "branch", "unstable")] = PlayedKey(
        {"test_name": "b\x1b[2Jad", "metric": OPS}, {FIRST: 1.0}
    )
    played.keys[key_of("odd", "branch", "unstable")] = PlayedKey(labels_of("odd", "branch", "unstable"), {5: 1.0})
    points = CollectedPoints("lab")
    read_server(played.url, [], points)
    read = points.result()
    assert {each.case for each in read.series} == {"get"}
    assert len(read.notes) == 2


def test_a_password_is_sent_and_never_told(played: PlayedTimeSeries) -> None:
    fill_as_public_tool(played)
    played.password = "s3cret"
    read_server(played.url, [], CollectedPoints("lab"))
    for url in (played.url.replace("s3cret", "wr0ng"), f"redis://:s3cret@127.0.0.1:{played.port}@"):
        with pytest.raises((SeriesServerFailed, UsageError)) as caught:
            read_server(url, [], CollectedPoints("lab"))
        assert "wr0ng" not in str(caught.value) + caught.value.hint
        assert "s3cret" not in str(caught.value) + caught.value.hint


@pytest.mark.parametrize(
    "answer",
    [
        b"garbage\r\n",
        b"*1000000000\r\n",
        b"$1000000000000\r\n",
        b"*2\r\n" * 1000,
        b":1\r\n",
        b"*2\r\n$1\r\n0\r\n:5\r\n",
        b"-ERR \x1b[2J\r\n",
        b"",
    ],
)
@pytest.mark.parametrize("command", ["SCAN", "TS.INFO", "TS.REVRANGE", "TS.QUERYINDEX"])
def test_a_server_that_answers_anything_does_no_harm(played: PlayedTimeSeries, command: str, answer: bytes) -> None:
    if not answer or answer.startswith((b"*1000000000", b"$10")):
        # The rest never comes: the server hangs up.
        answer += b"*1\r\n"
    fill_as_public_tool(played)
    played.answers[command] = answer
    played.hangs_up_after = command
    points = CollectedPoints("lab")
    with contextlib.suppress(SeriesServerFailed):
        read_server(played.url, [], points)
    assert all(each.points for each in points.result().series)


def test_what_a_server_says_does_not_steer_the_terminal(played: PlayedTimeSeries) -> None:
    played.answers["SCAN"] = b"-ERR \x1b[2J\x07 no\r\n"
    with pytest.raises(SeriesServerFailed) as caught:
        read_server(played.url, [], CollectedPoints("lab"))
    assert caught.value.message.isprintable()


def test_a_server_without_the_module_is_named(tmp_path: Path, zerolap: Zerolap) -> None:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("not installed: redis-server")
    with RedisProcess.on_a_port(Path(program), tmp_path / "redis") as server:
        server.start()
        if any(module[b"name"] == b"timeseries" for module in server.client.module_list() if b"name" in module):
            pytest.skip("this redis-server has the module")
        ended = zerolap("history", "import", server.url, "--store", tmp_path / "store")
        ended.fails_with(3, "has no TimeSeries module")
        assert PASSWORD not in ended.err
        server.kill()
        zerolap("history", "import", server.url, "--store", tmp_path / "store").fails_with(3, "cannot connect")


@pytest.mark.parametrize("url", ["redis://", "redis://:pw@", "rediss://h:99999999", "redis://h:port", "unix://"])
def test_a_wrong_url_is_refused(url: str, zerolap: Zerolap, tmp_path: Path) -> None:
    zerolap("history", "import", url, "--store", tmp_path / "store").fails_with(2, "is not valid")


# Out.


def test_a_history_is_exported_under_the_public_keys_and_labels(played: PlayedTimeSeries) -> None:
    history = a_history()
    with TimeSeriesServer.connected(played.url) as server:
        for series in public_series_of(history, NAMES):
            server.write(series)
        for key, members in public_lists_of(history, NAMES).items():
            server.list_members(key, members)
    end = "gcc-default/x86-1/oss-standalone"
    key = f"ci.benchmarks.redis/by.branch/ci/redis/redis/get-100B/{end}/unstable/instructions_per_op"
    assert played.keys[key].samples == {FIRST: 1000.0, FIRST + DAY: 1000.0, FIRST + 2 * DAY: 1100.0}
    labels = played.keys[key].labels
    assert labels["test_name"] == "get-100B"
    assert labels["branch"] == "unstable"
    assert labels["deployment_name+branch"] == "oss-standalone unstable"
    assert labels["github_org/github_repo"] == "redis/redis"
    assert labels["test_name:build_variant"] == "get-100B:gcc-default"
    by_hash = key.replace("by.branch", "by.hash").replace("/unstable/", f"/{COMMITS[2]}/")
    assert played.keys[by_hash].samples == {FIRST + 2 * DAY: 1100.0}
    assert (played.keys[by_hash].labels["hash"], played.keys[by_hash].labels["branch"]) == (COMMITS[2], "unstable")
    by_version = key.replace("by.branch", "by.version").replace("/unstable/", "/7.2.0/")
    assert played.keys[by_version].samples == {FIRST + DAY: 1000.0}
    # Of time only ratios are known, and the name says to which commit.
    relative = key.replace("instructions_per_op", f"cpu_ns_per_op.relative_to.{COMMITS[0][:12]}")
    assert played.keys[relative].samples == {FIRST: 1.0, FIRST + 2 * DAY: math.exp(0.1)}
    prefix = "ci.benchmarks.redis/ci/redis/redis"
    assert played.sets[f"{prefix}:testcases"] == {"get-100B"}
    assert played.sorted_sets[f"{prefix}:branches:zset"] == {"unstable": FIRST + 2 * DAY}
    assert played.sets[f"{prefix}:versions"] == {"7.2.0"}


def test_labels_have_nothing_that_the_module_refuses(played: PlayedTimeSeries) -> None:
    names = PublicNames("redis", "redis", "main", build_variant="-O3,-flto", platform="A CPU (R)")
    with TimeSeriesServer.connected(played.url) as server:
        for series in public_series_of(a_history(), names):
            server.write(series)
    variants = {series.labels["build_variant"] for series in played.keys.values()}
    platforms = {series.labels["running_platform"] for series in played.keys.values()}
    assert (variants, platforms) == ({"-O3_-flto"}, {"A CPU _R_"})


def test_an_export_again_changes_nothing_but_what_changed(played: PlayedTimeSeries) -> None:
    for _ in range(2):
        with TimeSeriesServer.connected(played.url) as server:
            for series in public_series_of(a_history(), NAMES):
                server.write(series)
    samples = {key: dict(series.samples) for key, series in played.keys.items()}
    changed = a_history()
    counted = changed.series[0]
    corrected = counted.points[2].model_copy(update={"value": 1200.0})
    counted = counted.model_copy(update={"points": (*counted.points[:2], corrected)})
    with TimeSeriesServer.connected(played.url) as server:
        for series in public_series_of(changed.model_copy(update={"series": (counted,)}), NAMES):
            server.write(series)
    differing = {key for key, series in played.keys.items() if dict(series.samples) != samples[key]}
    assert differing
    assert all("instructions_per_op" in key for key in differing)
    assert all(FIRST + 2 * DAY in played.keys[key].samples for key in differing)


def test_throughput_and_latency_have_the_names_of_the_public_tool() -> None:
    point = HistoryPoint(position=0, level=0.0, low=0.0, high=0.0, value=150.0)
    common = {"case": "get", "group": "g", "engine": "timed", "topology": "cluster-3", "points": (point,)}
    series = tuple(HistorySeries(**common, metric=metric) for metric in ("ops_per_sec", "latency_p99_us"))
    exported = public_series_of(a_history(series=series), NAMES)
    by_metric = {each.labels["metric"]: each for each in exported if "by.branch" in each.key}
    assert by_metric[OPS].samples == {FIRST: 150.0}
    assert by_metric[OPS].labels["metric_jsonpath"] == '"ALL STATS".Totals."Ops/sec"'
    # Milliseconds, as memtier_benchmark has them.
    latency = by_metric["ALL_STATS.Totals.Percentile_Latencies.p99.00"]
    assert latency.samples == {FIRST: 0.15}
    assert "/cluster-3/unstable/" in latency.key


def test_a_commit_has_the_median_of_all_valid_starts_of_its_program(either_store: Store, tmp_path: Path) -> None:
    stored_run(either_store)
    starts = [a_measurement(metrics={"ops_per_sec": value}) for value in (100.0, 300.0, 120.0)]
    starts.append(a_measurement(metrics={"ops_per_sec": 1.0}, validity=DISTURBED))
    record_trials(either_store, "hset", "timed", starts)
    # perf takes time of its own.
    record_trials(either_store, "hset", "sampled", [a_measurement(metrics={"ops_per_sec": 1.0})])
    # Two commits that are one program: the second one was never measured itself.
    for commit, digest in zip(COMMITS, (RUN.server.build, "b-2"), strict=False):
        revision = Revision(repository="/r", commit=commit, parents=(), time="2024-01-01T00:00:00Z", subject="")
        source = RevisionSource(name=commit, repository=Path("/r"), revision=revision)
        either_store.record_build(a_build(digest), source)
    case = next(case for case in REQUEST.cases if case.name == "hset")
    asked = HistoryRange(tmp_path, "A..B", (), [case], config=RUN.server.config)
    commits = tuple(commit.model_copy(update={"node": 0}) for commit in a_history().commits[:2])
    history = a_history(commits=commits, series=(), platform=RUN.platform)
    (series,) = with_absolute_values(history, asked, list(METRICS_OF_MEMTIER), either_store).series
    assert (series.case, series.metric, series.better) == ("hset", "ops_per_sec", "more")
    assert [(point.position, point.value) for point in series.points] == [(0, 120.0), (1, 120.0)]
    otherwise = HistoryRange(tmp_path, "A..B", (), [case], config={"io-threads": "4"})
    assert with_absolute_values(history, otherwise, list(METRICS_OF_MEMTIER), either_store).series == ()


def test_commits_of_one_second_do_not_replace_each_other() -> None:
    history = a_history()
    commits = tuple(commit.model_copy(update={"time": "2024-01-01T00:00:00Z"}) for commit in history.commits)
    exported = public_series_of(history.model_copy(update={"commits": commits}), NAMES)
    of_branch = next(each for each in exported if "by.branch" in each.key and each.key.endswith("instructions_per_op"))
    assert of_branch.samples == {FIRST: 1000.0, FIRST + 1: 1000.0, FIRST + 2: 1100.0}


def test_what_was_exported_is_imported_with_its_commits(played: PlayedTimeSeries) -> None:
    with TimeSeriesServer.connected(played.url) as server:
        for series in public_series_of(a_history(), NAMES):
            server.write(series)
    points = CollectedPoints("back")
    read_server(played.url, [], points)
    counted = [
        each for each in points.result().series if each.metric == "instructions_per_op" and "branch" in each.labels
    ]
    assert [(version, value) for _, version, value in values_of(counted[0])] == [
        (COMMITS[0], 1000.0),
        (COMMITS[1], 1000.0),
        (COMMITS[2], 1100.0),
    ]


def test_series_of_others_are_not_exported() -> None:
    imported = ImportedSeries("lab", "get", OPS, {}, (ImportedPoint("2024-01-01T00:00:00.000Z", COMMITS[0], 5.0),))
    history = with_imported(a_history(series=()), [imported])
    assert history.series
    assert public_series_of(history, NAMES) == []


def test_a_server_that_refuses_a_sample_fails_the_export(played: PlayedTimeSeries) -> None:
    played.answers["TS.ADD"] = b"-NOPERM no permission\r\n"
    with TimeSeriesServer.connected(played.url) as server, pytest.raises(SeriesServerFailed, match="NOPERM"):
        server.write(public_series_of(a_history(), NAMES)[0])


# Shown.


def stepped(source: str = "lab", metric: str = OPS, **labels: str) -> ImportedSeries:
    """A noisy series of sixty versions that steps down by a fifth at the fortieth."""
    generator = random.Random(3)
    points = tuple(
        ImportedPoint(
            f"2024-{1 + day // 28:02}-{1 + day % 28:02}T00:00:00.000Z",
            f"{day:02x}{'0' * 37}f",
            generator.gauss(100.0 if day < 40 else 80.0, 1.0),
        )
        for day in range(60)
    )
    return ImportedSeries(source, "get", metric, labels, points)


def test_a_step_of_an_imported_series_is_shown_as_a_hint_of_others() -> None:
    history = imported_history([stepped()], "lab")
    (series,) = history.series
    (change,) = series.changes
    assert history.commits[change.position].commit.startswith("28")
    assert change.change == pytest.approx(-0.2, abs=0.03)
    assert change.low < change.change < change.high
    assert not change.confirmed
    assert series.is_imported
    # Fewer requests per second are worse; but no gate and no notice comes of a hint.
    assert series.is_worse(change.change)
    assert series.open_regressions == []
    assert "series of `lab` are measured by others" in sheet_markdown(history_sheet(history))


@pytest.mark.parametrize(
    ("metric", "labels", "better"),
    [
        (OPS, {}, "more"),
        ("ALL_STATS.Totals.Percentile_Latencies.p99.00", {}, "less"),
        ("cpu_ns_per_op", {}, "less"),
        ("ops_per_sec", {}, "more"),
        ("metric1", {}, None),
        ("metric1", {"better": "more"}, "more"),
        (OPS, {"better": "less"}, "less"),
    ],
)
def test_which_way_is_better(metric: str, labels: dict[str, str], better: str | None) -> None:
    (series,) = imported_history([stepped(metric=metric, **labels)], "lab").series
    assert series.better == better
    (change,) = series.changes
    assert (series.is_worse(change.change), series.is_better(change.change)) == (better == "more", better == "less")


def test_points_are_placed_at_their_commits_and_others_are_left_out() -> None:
    points = [
        ("2023-06-01T00:00:00.000Z", COMMITS[0][:12], 1.0),
        ("2023-06-01T00:00:00.000Z", COMMITS[0][:10], 9.0),
        ("2023-06-01T00:00:00.000Z", "7.2.0", 2.0),
        ("2024-01-03T00:00:00.005Z", "", 3.0),
        ("2024-01-03T12:00:00.000Z", "", 4.0),
        ("2024-01-01T00:00:00.000Z", "f" * 40, 5.0),
        # The beginning of two commits, and too short a one.
        ("2024-01-01T00:00:00.000Z", COMMITS[0][:6], 6.0),
    ]
    imported = ImportedSeries("lab", "get", OPS, {}, tuple(ImportedPoint(*point) for point in points))
    history = with_imported(a_history(), [imported])
    series = history.series[-1]
    assert [(point.position, point.value) for point in series.points] == [(0, 1.0), (1, 2.0), (2, 3.0)]
    assert history.notes == ("4 points of `lab` are of no commit of the range",)
    # Those of the lab stay as they are.
    assert history.series[:-1] == a_history().series


def test_values_without_a_ratio_are_not_shown() -> None:
    days = [("2024-01-01T00:00:00.000Z", 5.0), ("2024-01-02T00:00:00.000Z", 0.0), ("2024-01-03T00:00:00.000Z", -1.0)]
    imported = ImportedSeries("lab", "get", "m", {}, tuple(ImportedPoint(time, "", value) for time, value in days))
    history = imported_history([imported], "lab")
    assert [point.value for point in history.series[0].points] == [5.0]
    assert history.notes == ("2 points of `lab` are not above 0, and have no ratio to others",)


def test_repeated_measurements_of_a_commit_are_one_point() -> None:
    times = ("2024-01-01T00:00:00.000Z", "2024-01-01T01:00:00.000Z", "2024-01-01T02:00:00.000Z")
    points = tuple(ImportedPoint(time, "a" * 40, value) for time, value in zip(times, (9.0, 1.0, 5.0), strict=True))
    history = imported_history([ImportedSeries("lab", "get", "m", {}, points)], "lab")
    assert [point.value for point in history.series[0].points] == [5.0]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("hostile", HOSTILE_TEXTS, ids=lambda hostile: hostile.would)
def test_foreign_names_are_texts_in_all_reports(hostile: Any, reader: str) -> None:
    def shown(name: str) -> History:
        renamed = [
            replace(
                stepped(name, name, branch=branch),
                case=name,
                points=tuple(
                    replace(point, version=name if number == 40 else point.version)
                    for number, point in enumerate(stepped().points)
                ),
            )
            for branch in (name, "b")
        ]
        return imported_history(renamed, name)

    history, harmless = shown(" ".join(hostile.text.split())), shown("word")
    assert all(series.changes for series in history.series)
    page, harmless_page = (READERS[reader](sheet_markdown(history_sheet(of))) for of in (history, harmless))
    assert [tag for tag in page.tags if tag != "code"] == [tag for tag in harmless_page.tags if tag != "code"]
    assert page.acts == harmless_page.acts
    document = read_benchfmt(re.sub(r"(?m)^tags:$", "tags: -", history_benchfmt(history)))
    assert len(document.results) == 120
    assert len(history_csv(history).splitlines()) == 121
    output = io.StringIO()
    show_sheet(history_sheet(history), Console(file=output, width=200))
    assert all(character.isprintable() for line in output.getvalue().split("\n") for character in line)


def test_a_history_in_benchfmt_has_commits_units_and_values() -> None:
    text = history_benchfmt(a_history())
    document = read_benchfmt(text.replace("tags:\n", "tags: -\n"))
    name = "Zerolap/case=get-100B/topology=standalone/by=counted"
    assert document.values(name, "instructions/op") == [1000.0, 1000.0, 1100.0]
    assert document.values(name.replace("counted", "timed"), "cpu-ratio") == [1.0, math.exp(0.1)]
    assert document.units["instructions/op"] == "better=lower"
    lines = text.splitlines()
    at = [lines.index(f"commit: {commit}") for commit in COMMITS]
    assert at == sorted(at)
    assert lines[at[1] + 1 : at[1] + 3] == ["commit-time: 2024-01-02T00:00:00Z", "tags: v7.2.0"]
    # The commit after a release has not its tags.
    assert lines[at[2] + 2] == "tags:"


def test_changes_in_a_csv_are_relative() -> None:
    lines = [line.split(",") for line in history_csv(a_history()).splitlines()]
    header, last_counted = lines[0], lines[3]
    assert float(last_counted[header.index("change")]) == pytest.approx(0.1)
    assert last_counted[header.index("measured_by")] == "zerolap"


# The store.


def test_the_store_keeps_series_and_replaces_points(either_store: Store) -> None:
    first = ImportedSeries("lab", "get", "m", {"branch": "b"}, (ImportedPoint("2024-01-01T00:00:00.000Z", "v1", 1.0),))
    later = ImportedSeries(
        "lab",
        "get",
        "m",
        {"branch": "b"},
        (ImportedPoint("2024-01-01T00:00:00.000Z", "v1", 2.0), ImportedPoint("2024-01-02T00:00:00.000Z", "v2", 3.0)),
    )
    other = ImportedSeries("other", "get", "m", {}, first.points)
    either_store.imported.keep([first, other])
    either_store.imported.keep([later])
    assert either_store.imported.series("lab") == [later]
    assert [(each.name, each.series, each.points) for each in either_store.imported.sources()] == [
        ("lab", 1, 2),
        ("other", 1, 1),
    ]
    assert either_store.imported.remove("lab") == 1
    assert either_store.imported.series("*") == [other]


def test_the_longest_names_fit_into_both_databases(either_store: Store) -> None:
    name = collecting.CollectedName.checked("\U0001f600" * 100, "\U0001f600" * 100, {"a": "\U0001f600" * 200})
    points = CollectedPoints("\U0001f600" * collecting.LONGEST_SOURCE)
    points.add(name, "2024-01-01T00:00:00.000Z", "\U0001f600" * collecting.LONGEST_NAME, 1.0)
    either_store.imported.keep(points.result().series)
    assert either_store.imported.series() == list(points.result().series)


# The command line.


def test_import_show_and_remove(zerolap: Zerolap, tmp_path: Path) -> None:
    (tmp_path / "nightly.csv").write_text(OTAVA_TABLE)
    place = ("--store", tmp_path / "store")
    ended = zerolap("history", "import", tmp_path / "nightly.csv", "--better", "metric1=more", *place)
    assert ended.code == 0, ended.err
    assert "imported 5 points of 3 series as `nightly`" in ended.out
    again = zerolap("history", "import", tmp_path / "nightly.csv", "--better", "metric1=more", "--json", "-", *place)
    assert (again.document()["points"], again.document()["replaced"]) == (5, 5)
    listed = zerolap("history", "imported", "--json", "-", *place).document()
    assert [(each["name"], each["points"]) for each in listed["sources"]] == [("nightly", 5)]
    shown = zerolap("history", "imported", "night*", "--metric", "metric1", "--json", "-", *place).document()
    assert {series["better"] for series in shown["series"]} == {"more"}
    assert all(series["is_imported"] for series in shown["series"])
    table = zerolap("history", "imported", "nightly", *place)
    assert "measured by others" in table.out
    zerolap("history", "imported", "nightly", "--metric", "x", *place).fails_with(2, "no series")
    zerolap("history", "imported", "weekly", *place).fails_with(2, "nothing is imported as `weekly`", "nightly")
    assert zerolap("history", "imported", "nightly", "--remove", *place).code == 0
    assert "nothing is imported" in zerolap("history", "imported", *place).out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["missing.csv"], "there is no file missing.csv"),
        (["bad.csv"], "holds no series"),
        (["bad.csv", "--filter", "a=b"], "selects series of a server"),
        (["redis://127.0.0.1:1", "--filter", "a"], "is not valid"),
        (["good.csv", "--better", "rps"], "is not valid"),
        (["good.csv", "--source", "a\nb"], "not printable"),
        (["empty.csv"], "no points"),
    ],
)
def test_wrong_imports(zerolap: Zerolap, tmp_path: Path, arguments: list[str], why: str) -> None:
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    (tmp_path / "good.csv").write_text("time,rps\n2024-01-01,1\n")
    (tmp_path / "empty.csv").write_text("time,rps\n2024-01-01,many\n")
    ended = zerolap("history", "import", *arguments, "--store", tmp_path / "store")
    ended.fails_with(2, why)


def test_an_import_of_a_server(zerolap: Zerolap, tmp_path: Path, played: PlayedTimeSeries) -> None:
    fill_as_public_tool(played)
    place = ("--store", tmp_path / "store")
    ended = zerolap("history", "import", played.url, "--source", "lab", *place)
    assert ended.code == 0, ended.err
    shown = zerolap("history", "imported", "lab", "--csv", "-", *place)
    assert [line.split(",")[0] for line in shown.out.splitlines()[1:]] == COMMITS[:2]


@pytest.mark.slow
def test_a_measured_history_goes_out_and_stands_beside_an_imported_one(
    zerolap: Zerolap, tmp_path: Path, played: PlayedTimeSeries
) -> None:
    source = ToySource(tmp_path / "toy")
    first = source.git("rev-parse", "HEAD").strip()
    source.replace("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE)
    last = source.commit("checksum twice")
    rest: list[str | Path] = ["--repo", tmp_path / "toy", "--cases", CASES, "--store", tmp_path / "store"]
    wanted = f"{first}..{last}"
    measured = zerolap("history", "--measure", wanted, "--engine", "counted", "--quiet", *rest)
    assert measured.code == 0, measured.err
    (tmp_path / "nightly.csv").write_text(f"time,commit,rps\n2024-01-01,{first},100\n2024-01-02,{last[:12]},90\n")
    assert zerolap("history", "import", tmp_path / "nightly.csv", "--store", tmp_path / "store").code == 0
    shown = zerolap("history", "--range", wanted, "--imported", "nightly", "--json", "-", *rest).document()
    assert [point["position"] for point in shown["series"][-1]["points"]] == [0, 1]
    assert not shown["series"][0]["is_imported"]
    benchfmt = zerolap("history", "--range", wanted, "--benchfmt", "-", *rest)
    assert f"commit: {last}" in benchfmt.out
    unnamed = zerolap("history", "export", "--range", wanted, "--to", played.url, *rest)
    unnamed.fails_with(2, "--project ORG/REPO")
    ended = zerolap("history", "export", "--range", wanted, "--to", played.url, "--project", "redis/toy", *rest)
    assert ended.code == 0, ended.err
    by_hash = [key for key in played.keys if f"/{last}/instructions_per_op" in key]
    assert by_hash
    assert all("ci.benchmarks.redis/by.hash/ci/redis/toy/" in key for key in by_hash)


def test_threads_of_the_played_server_end() -> None:
    before = set(threading.enumerate())
    with PlayedTimeSeries.running() as server:
        read_server(server.url, [], CollectedPoints("lab"))
    # Others of before may have ended meanwhile.
    assert set(threading.enumerate()) <= before
