"""The table of versions and commands: what it adds up, by which weights, and what of a change is the build's."""

import itertools
import json
import math
import random
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import Zerolap
from made_records import a_history, a_step
from redis_process import PASSWORD, RedisProcess
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource

from zerolap.build import Variant, build_differences
from zerolap.cases import load_cases
from zerolap.history import (
    BuildShares,
    TableQuestion,
    version_table,
)
from zerolap.judge import LogChange
from zerolap.records import (
    Build,
    Case,
    CaseWeights,
    EnvironmentMissing,
    History,
    HistoryChange,
    HistoryCommit,
    HistoryPoint,
    HistorySeries,
    StatedWeights,
    UsageError,
    VersionTable,
)
from zerolap.report import document_json, sheet_markdown, show_sheet
from zerolap.server import case_weights, read_login, usage_weights
from zerolap.sheets import version_table_sheet

METRIC = "instructions_per_op"
SUITE = """
group: some
cases:
  - {name: get, commands: ["GET __key__"]}
  - {name: get-long, commands: ["GET __key__"], pipeline: 5}
  - {name: set, commands: ["SET __key__ __data__"]}
  - {name: queue, commands: ["RPUSH list __data__", "LPOP list"]}
"""


@pytest.fixture
def suite(tmp_path: Path) -> list[Case]:
    """Four cases, two of the same command."""
    file = tmp_path / "cases.yml"
    file.write_text(SUITE)
    return load_cases(file)


def history_of_levels(
    levels: dict[str, Sequence[float | None]], changes: dict[str, Sequence[HistoryChange]] | None = None
) -> History:
    """Return a counted history of releases 1.0, 1.1 and so on, with a level of each case at each of them, if any."""
    versions = max(map(len, levels.values()))
    commits = [
        HistoryCommit(commit=f"{number:040x}", time="2026-01-01T00:00:00Z", subject="work", tags=(f"1.{number}",))
        for number in range(versions)
    ]
    series = [
        HistorySeries(
            case=case,
            group="some",
            metric=METRIC,
            engine="counted",
            topology="standalone",
            points=tuple(
                HistoryPoint(position=position, level=level, low=level, high=level, value=1000 * math.exp(level))
                for position, level in enumerate(of_case)
                if level is not None
            ),
            changes=tuple((changes or {}).get(case, ())),
        )
        for case, of_case in levels.items()
    ]
    return a_history(commits, series)


def equal(cases: Sequence[Case]) -> CaseWeights:
    return case_weights("equal", cases)


def table_of(history: History, cases: Sequence[Case], builds: BuildShares | None = None, **asked: Any) -> VersionTable:
    weights = asked.pop("weights", None) or equal(cases)
    return version_table(history, cases, TableQuestion(METRIC, weights, **asked), builds)


def whole(change: Any) -> float:
    assert change is not None
    value: float = change.whole.change
    return value


# Sums.


def test_changes_from_release_to_release_add_up_to_that_of_the_range(suite: list[Case]) -> None:
    source = random.Random(1)
    levels = {case.name: [0.0, *(source.gauss(0, 0.2) for _ in range(5))] for case in suite}
    table = table_of(history_of_levels(levels), suite)
    for row in table.rows:
        steps = [cell.step for cell in row.cells[1:]]
        assert math.prod(1 + whole(step) for step in steps) == pytest.approx(1 + whole(row.cells[0].since))
    steps = [total.step for total in table.totals[1:]]
    assert math.prod(1 + whole(step) for step in steps) == pytest.approx(1 + whole(table.totals[0].since))
    assert whole(table.totals[-1].since) == 0.0


def test_a_range_read_backwards_is_mirrored(suite: list[Case]) -> None:
    levels = {"get": [0.0, 0.3, -0.1], "set": [0.0, -0.2, 0.4]}
    backwards = {name: [level - of_case[-1] for level in reversed(of_case)] for name, of_case in levels.items()}
    there, back = (table_of(history_of_levels(one), suite).totals[0].since for one in (levels, backwards))
    assert (1 + whole(there)) * (1 + whole(back)) == pytest.approx(1.0)


def test_the_mean_is_weighted_and_cases_of_one_command_are_summed(suite: list[Case]) -> None:
    levels = {"get": [0.0, 0.1], "get-long": [0.0, 0.3], "set": [0.0, -0.4]}
    weights = CaseWeights(StatedWeights(kind="equal"), {"get": 1.0, "get-long": 3.0, "set": 4.0})
    table = table_of(history_of_levels(levels), suite, weights=weights)
    assert math.log1p(whole(table.totals[0].since)) == pytest.approx((0.1 + 3 * 0.3 - 4 * 0.4) / 8)
    get = next(command for command in table.commands if command.commands == ("GET",))
    assert (get.cases, get.weight) == (("get", "get-long"), 0.5)
    assert math.log1p(whole(get.totals[0].since)) == pytest.approx((0.1 + 3 * 0.3) / 4)


def test_a_case_that_a_release_lacks_is_in_no_mean_of_it(suite: list[Case]) -> None:
    table = table_of(history_of_levels({"get": [0.0, 0.1, 0.2], "set": [None, 0.0, 0.5]}), suite)
    new = next(row for row in table.rows if row.case == "set")
    assert new.cells[0].since is None
    assert new.cells[1].step is None
    assert math.log1p(whole(new.cells[1].since)) == pytest.approx(0.5)
    first, second = table.totals[0], table.totals[1]
    assert (first.since_cases, second.since_cases, second.step_cases) == (1, 2, 1)
    assert math.log1p(whole(first.since)) == pytest.approx(0.2)
    assert "1.0: the mean since then is over 1 of 2 cases" in version_table_sheet(table).notes


def test_counts_that_nothing_joins_are_not_compared(suite: list[Case]) -> None:
    history = history_of_levels({"get": [0.0, 0.0, 0.1]})
    points = list(history.series[0].points)
    # The level stays, as the step is not known, and the other windows give another value.
    points[1] = points[1].model_copy(update={"value": 1300.0})
    series = history.series[0].model_copy(update={"points": tuple(points)})
    cells = table_of(history.model_copy(update={"series": (series,)}), suite).rows[0].cells
    assert cells[0].since is None
    assert cells[1].step is None
    assert math.log1p(whole(cells[1].since)) == pytest.approx(0.1)


def test_bounds_of_time_hold_those_of_both_levels_and_narrow_over_cases(suite: list[Case]) -> None:
    history = history_of_levels({case.name: [0.0, 0.1, 0.1] for case in suite})
    timed = [
        series.model_copy(
            update={
                "engine": "timed",
                "points": tuple(
                    point.model_copy(update={"low": point.level - 0.03, "high": point.level + 0.03, "value": None})
                    for point in series.points
                ),
            }
        )
        for series in history.series
    ]
    table = table_of(history.model_copy(update={"series": tuple(timed)}), suite)
    cell, total = table.rows[0].cells[0].since, table.totals[0].since
    assert cell is not None
    assert total is not None
    assert math.log1p(cell.whole.high) == pytest.approx(0.1 + math.hypot(0.03, 0.03))
    assert math.log1p(total.whole.high) == pytest.approx(0.1 + math.hypot(0.03, 0.03) / 2)


def test_only_releases_and_the_ends_are_versions(suite: list[Case]) -> None:
    history = history_of_levels({"get": [0.0, 0.1, 0.2, 0.3]})
    commits = [
        commit.model_copy(update={"tags": () if at != 1 else commit.tags}) for at, commit in enumerate(history.commits)
    ]
    table = table_of(history.model_copy(update={"commits": tuple(commits)}), suite, since="1.1")
    assert [version.commit[-1] for version in table.versions] == ["0", "1", "3"]
    assert table.since == 1


def test_a_pre_release_at_an_end_is_named_by_its_tag(suite: list[Case]) -> None:
    history = history_of_levels({"get": [0.0, 0.1, 0.2, 0.3]})
    candidate = {"tags": (), "pre_release": "1.4-rc1"}
    commits = [commit.model_copy(update=candidate if at >= 2 else {}) for at, commit in enumerate(history.commits)]
    table = table_of(history.model_copy(update={"commits": tuple(commits)}), suite, since="1.1")
    # One within the range is no version of the table.
    assert [version.name for version in table.versions] == ["1.0", "1.1", "1.4-rc1"]
    table = table_of(history.model_copy(update={"commits": tuple(commits)}), suite, since="1.4-rc1")
    assert table.since == 2


def test_a_release_that_is_not_measured_is_no_version(suite: list[Case]) -> None:
    history = history_of_levels({"get": [0.0, None, None, 0.3]})
    failed = history.commits[1].model_copy(update={"failure": "it does not build"})
    table = table_of(history.model_copy(update={"commits": (history.commits[0], failed, *history.commits[2:])}), suite)
    assert [version.name for version in table.versions] == ["1.0", "1.3"]
    assert table.notes == (
        "1.1 is not measured: it does not build",
        "releases of the range that are not measured yet: 1",
    )
    with pytest.raises(UsageError, match="no measured version"):
        table_of(history, suite, since="1.1")


def test_a_history_of_one_version_has_no_table(suite: list[Case]) -> None:
    with pytest.raises(UsageError, match="no two versions"):
        table_of(history_of_levels({"get": [0.0]}), suite)


def test_a_case_without_a_weight_is_shown_and_counts_nowhere(suite: list[Case]) -> None:
    levels = {"get": [0.0, 0.1, 0.1], "set": [0.0, 0.9, 0.9], "queue": [0.0, 0.3, 0.3]}
    text = "cmdstat_get:calls=1,usec=30\ncmdstat_lpop:calls=1,usec=10"
    table = table_of(history_of_levels(levels), suite, weights=usage_weights(text, "a file", suite))
    assert [(row.case, row.weight) for row in table.rows] == [("get", 0.6), ("set", 0.0), ("queue", 0.4)]
    assert (table.weighted_cases, table.totals[0].since_cases) == (2, 2)
    assert math.log1p(whole(table.totals[0].since)) == pytest.approx(0.6 * 0.1 + 0.4 * 0.3)
    written = sheet_markdown(version_table_sheet(table))
    assert "`SET`" in written
    assert "over 2 cases (weighted by a file, 100.0 %" in written


# Reasons.


def test_the_reason_is_that_of_the_largest_change_of_the_same_direction(suite: list[Case]) -> None:
    changes = [
        a_step(0, 1, 0.9, reasons=("before",)),
        a_step(1, 2, 0.2, reasons=("small",)),
        a_step(2, 3, 0.5, reasons=("large",)),
        a_step(3, 4, -0.4, reasons=("the other way",)),
    ]
    levels = list(itertools.accumulate((math.log1p(change.change) for change in changes), initial=0.0))
    table = table_of(history_of_levels({"get": levels}, {"get": changes}), suite, since="1.1")
    cause = table.rows[0].cause
    assert cause is not None
    assert (cause.after, cause.commit, cause.reasons) == ("1.2", "1.3", ("large",))


def test_reports_name_the_headline_and_what_lost_most(suite: list[Case], capsys: pytest.CaptureFixture[str]) -> None:
    levels = {
        "get": [0.0, math.log(1.1)],
        "get-long": [0.0, 0.0],
        "set": [0.0, math.log(0.7)],
        "queue": [0.0, math.log(1.4)],
    }
    changes = {"queue": [a_step(0, 1, 0.4, reasons=("`push` calls `pop` (1 -> 2 per request)",))]}
    table = table_of(history_of_levels(levels, changes), suite)
    from rich.console import Console

    show_sheet(version_table_sheet(table), Console(width=100))
    shown = capsys.readouterr().out
    assert "since 1.0: 1.9 % more instructions per request over 4 cases (each case weighted equally)" in shown
    assert shown.index("queue  +40.0 %") < shown.index("get  +10.0 %") < shown.index("set  -30.0 %")
    assert "`push` calls `pop`" in shown
    written = sheet_markdown(version_table_sheet(table))
    assert "| `GET` | 2 cases | +4.9 % |" in written
    assert "| `RPUSH, LPOP` | `queue` | +40.0 % |" in written
    document = json.loads(document_json(table))
    assert document["schema"] == "zerolap.version-table/1"
    assert VersionTable.model_validate(document) == table


# Code and build.


def test_the_parts_of_code_and_build_make_up_the_whole(suite: list[Case]) -> None:
    history = history_of_levels({"get": [0.0, 0.1, -0.3], "set": [0.0, 0.0, -0.2]})
    shares = {("get", 2): LogChange(-0.5), ("set", 2): LogChange(-0.3)}
    table = table_of(history, suite, BuildShares((), shares, frozenset({1})))
    since = next(row for row in table.rows if row.case == "get").cells[0].since
    assert since is not None
    assert since.code is not None
    assert since.build is not None
    assert (1 + since.code.change) * (1 + since.build.change) == pytest.approx(1 + since.whole.change)
    assert math.log1p(since.build.change) == pytest.approx(-0.5)
    total = table.totals[0].since
    assert total is not None
    assert total.build is not None
    assert math.log1p(total.build.change) == pytest.approx(-0.4)


def test_a_build_whose_part_is_not_known_leaves_the_change_whole(suite: list[Case]) -> None:
    table = table_of(history_of_levels({"get": [0.0, 0.1, 0.2]}), suite, BuildShares((), {}, frozenset({2})))
    first, second = (cell.since for cell in table.rows[0].cells[:2])
    assert first is not None
    assert first.code is None
    assert first.build is None
    assert second is not None
    assert second.build is not None
    assert second.build.change == 0.0


BUILT = Build(
    build="b", version="1", build_id="", flags="-O2 -g -std=c11", compiler="GNU C11 12.2.0", allocator="jemalloc-5.2.1"
)


@pytest.mark.parametrize(
    ("newer", "variant", "not_split"),
    [
        ({"flags": "-O3 -g -std=c11 -flto=auto"}, "-O3,-flto", ()),
        ({"flags": "-O2 -g -std=c11 -O1 -O3"}, "-O3", ()),
        ({"flags": "-O2 -ggdb -std=c11 -fdebug-prefix-map=/a=/b"}, None, ()),
        ({"flags": "-O2 -std=c11 -march=x86-64-v3 -fno-omit-frame-pointer"}, "frame-pointers,-march=x86-64-v3", ()),
        ({"flags": "-Os -std=gnu11"}, None, ("-O2 → -Os", "-std=c11 → -std=gnu11")),
        ({"allocator": "libc"}, "libc", ()),
        ({"allocator": "jemalloc-5.3.0"}, None, ("jemalloc-5.2.1 → jemalloc-5.3.0",)),
        ({"compiler": "clang version 19.1"}, None, ("GNU 12.2.0 → clang version 19.1",)),
        ({"flags": "-O2 -std=c99", "compiler": "GNU C99 12.2.0"}, None, ("-std=c11 → -std=c99",)),
        ({"flags": ""}, None, ()),
    ],
)
def test_differences_of_builds(newer: dict[str, str], variant: str | None, not_split: tuple[str, ...]) -> None:
    differences = build_differences(BUILT, BUILT.model_copy(update=newer), Variant())
    assert (None if differences.variant is None else differences.variant.name) == variant
    assert differences.not_split == not_split


def test_a_flag_that_is_gone_is_none_that_a_variant_takes_away() -> None:
    older = BUILT.model_copy(update={"flags": f"{BUILT.flags} -fwrapv -flto"})
    differences = build_differences(older, BUILT, Variant(compiler="gcc"))
    assert differences.variant is not None
    assert differences.variant.name == "gcc,-fno-lto"
    assert differences.not_split == ("without -fwrapv",)


# Weights.

STATISTICS = """# Commandstats\r
cmdstat_get:calls=21,usec=600,usec_per_call=8.33,rejected_calls=0,failed_calls=0\r
cmdstat_rpush:calls=3,usec=100,usec_per_call=4.00\r
cmdstat_lpop:calls=3,usec=100,usec_per_call=4.00\r
cmdstat_config|get:calls=1,usec=200,usec_per_call=9.00\r
"""


def test_weights_by_usage_are_the_time_in_the_commands_of_a_case(suite: list[Case]) -> None:
    weights = usage_weights(STATISTICS, "a file", suite)
    assert weights.by_case == {"get": 300, "get-long": 300, "set": 0, "queue": 200}
    assert weights.stated.covered == pytest.approx(0.8)


def test_each_command_weighs_the_same_however_many_cases_it_has(suite: list[Case]) -> None:
    assert case_weights("command", suite).by_case == {"get": 0.5, "get-long": 0.5, "set": 1.0, "queue": 1.0}


def test_weights_by_priority_fall_with_the_rank(suite: list[Case]) -> None:
    ranks: dict[str, int | None] = {"get": 1, "get-long": 2, "set": 10, "queue": None}
    ranked = [case.model_copy(update={"priority": ranks[case.name]}) for case in suite]
    assert case_weights("priority", ranked).by_case == {"get": 1.0, "get-long": 0.5, "set": 0.1, "queue": 0.1}
    with pytest.raises(UsageError, match="no case has a priority"):
        case_weights("priority", suite)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Commandstats\n",
        "cmdstat_get\n",
        "cmdstat_get:calls=1\n",
        "cmdstat_get:calls=1,usec=-5\n",
        "cmdstat_get:calls=1,usec=1e9\n",
        "cmdstat_get:calls=1,usec=" + "9" * 1000 + "\n",
        "cmdstat_get:calls=٣,usec=٣\n",
        "cmdstat_flushall:calls=1,usec=5\n",
        "cmdstat_get:calls=0,usec=0\n",
        "cmdstat_get:calls=1,usec=1\n" + "".join(f"cmdstat_c{number}:calls=1,usec=1\n" for number in range(10_000)),
    ],
)
def test_what_is_no_statistics_of_these_commands_is_refused(suite: list[Case], text: str) -> None:
    with pytest.raises(UsageError, match="--weights"):
        usage_weights(text, "a file", suite)


def test_a_file_that_is_none_or_too_long_is_refused(suite: list[Case], tmp_path: Path) -> None:
    long = tmp_path / "long"
    long.write_bytes(b"cmdstat_get:calls=1,usec=1\n" + b"#" * (1 << 20))
    for path in (tmp_path / "missing", tmp_path, long):
        with pytest.raises(UsageError, match=re.escape(str(path))):
            case_weights(str(path), suite)


def test_a_running_server_is_asked(suite: list[Case], tmp_path: Path, redis_server: Path) -> None:
    with RedisProcess.on_a_port(redis_server, tmp_path / "redis") as server:
        server.start()
        address = f"tcp://127.0.0.1:{server.port}"
        for number in range(50):
            server.client.set(f"key{number}", "value")
        with pytest.raises(EnvironmentMissing, match="NOAUTH") as raised:
            case_weights(address, suite)
        assert "--password-file" in raised.value.hint
        file = tmp_path / "password"
        file.write_text("another\n")
        with pytest.raises(EnvironmentMissing, match="WRONGPASS"):
            case_weights(address, suite, read_login(file, None))
        file.write_text(f"{PASSWORD}\nof the server\n")
        weights = case_weights(address, suite, read_login(file, None))
        server.client.acl_setuser("asks", enabled=True, passwords=[f"+{PASSWORD}"], commands=["+info"])
        assert case_weights(address, suite, read_login(file, "asks")).by_case["set"] > 0
    assert weights.by_case["set"] > 0
    assert weights.by_case["queue"] == 0
    assert (weights.stated.kind, weights.stated.source) == ("usage", address)


@pytest.fixture
def hostile_server() -> Iterator[Callable[[bytes], str]]:
    """Starts servers that answer the first connection with these bytes; returns their address."""
    listeners: list[socket.socket] = []

    def start(answer: bytes) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        return f"tcp://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for listener in listeners:
        listener.close()


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 200 OK\r\n", b":1\r\n", b"$-1\r\n", b"$9999999999\r\n", b"*1000\r\n"]
)
def test_a_server_that_sends_something_else_is_refused(
    suite: list[Case], hostile_server: Callable[[bytes], str], answer: bytes
) -> None:
    with pytest.raises(EnvironmentMissing):
        case_weights(hostile_server(answer), suite)


@pytest.mark.parametrize("address", ["tcp://", "tcp://host", "tcp://host:port", "tcp://host:0", "tcp://host:70000"])
def test_an_address_without_a_port_is_refused(suite: list[Case], address: str) -> None:
    with pytest.raises(UsageError, match="no address"):
        case_weights(address, suite)


# The whole, with real builds.


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_a_release_with_other_flags_is_split_into_code_and_build(zerolap: Zerolap, tmp_path: Path) -> None:
    toy = ToySource(tmp_path / "source")
    toy.git("tag", "1.0.0")
    toy.replace("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE)
    toy.commit("checksum twice")
    toy.replace("Makefile", "OPTIMIZATION?=-O2", "OPTIMIZATION?=-O1")
    toy.commit("fewer optimizations")
    toy.git("tag", "1.1.0")
    common = ["--repo", toy.path, "--cases", CASES, "--store", tmp_path / "store"]
    measured = zerolap("history", *common, "--measure", "tags:1.0.0..HEAD", "--engine", "counted", "--quiet")
    assert measured.code == 0, measured.err

    arguments = ["history", "table", *common, "--range", "tags:1.0.0..HEAD", "--json", "-"]
    before = zerolap(*arguments).document()
    assert [row["cells"][0]["since"]["build"] for row in before["rows"]] == [None] * 3
    ended = zerolap(*arguments, "--split-builds")
    assert ended.code == 0, ended.err
    document = ended.document()
    assert [(one["after"], one["variant"], one["not_split"]) for one in document["builds"]] == [("1.0.0", "-O1", [])]
    since = {row["case"]: row["cells"][0]["since"] for row in document["rows"]}
    # The checksum is in the way of `GET` alone; the flags are in everybody's.
    assert since["toy-get"]["code"]["change"] > 0.01
    assert abs(since["toy-work"]["code"]["change"]) < 0.001
    assert since["toy-work"]["build"]["change"] > 0.01
    for change in since.values():
        parts = (1 + change["code"]["change"]) * (1 + change["build"]["change"])
        assert parts == pytest.approx(1 + change["whole"]["change"])
    # All of it is measured now.
    again = zerolap(*arguments, "--split-builds")
    assert again.document()["rows"] == document["rows"]
    assert "counting" not in again.err

    shown = zerolap("history", "table", *common, "--range", "tags:1.0.0..HEAD")
    assert "since 1.0.0: " in shown.out
    assert "1.1.0 is built differently from 1.0.0: -O2 → -O1" in shown.out
    zerolap("history", "table", *common, "--range", "tags:1.0.0..HEAD", "--metric", "ops_per_sec").fails_with(
        2, "follow"
    )
    zerolap.leaves_nothing()
