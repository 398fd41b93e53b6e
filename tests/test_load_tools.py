"""Load tools: what their adapters send and read, and each of them against a real server where it is installed."""

import json
import shutil
from pathlib import Path

import pytest
from command_line import Zerolap, path_without
from engine_place import job_of, measured, place_in
from machine import failed_by_the_server

from zerolap.cases import core_suite, load_cases
from zerolap.engines.loaded import Loaded
from zerolap.load import LoadWork
from zerolap.load.tools import load_tool_named
from zerolap.records import Case, CaseRefused, Dataset, Expect, Keys, Measurement, TrialFailed, WrittenClient

pytestmark = pytest.mark.slow

TOOLS = ("zerolap-load", "memtier_benchmark", "redis-benchmark", "valkey-benchmark")
FIRST = 10**12
STRINGS = Keys(prefix="key:", minimum=FIRST, maximum=FIRST + 999)


def reading(**fields: object) -> Case:
    """Return a case that every tool can send, with other fields of itself or of its client."""
    dataset = Dataset(name="d", load=["SET __key__ __data__"], keys=STRINGS.model_copy(update={"pattern": "parallel"}))
    expect = Expect(reply="bulk", hit_rate=">= 0.99")
    own = {name: value for name, value in fields.items() if name in Case.model_fields}
    others = {name: value for name, value in fields.items() if name not in own}
    client = WrittenClient.model_validate({"commands": ["GET __key__"], "keys": STRINGS} | others).client
    return Case(name="get", group="g", client=client, dataset=dataset, expect=expect).model_copy(update=own)


def work(case: Case, tmp_path: Path) -> LoadWork:
    return LoadWork(case, 32_000, 7, tmp_path / "socket", tmp_path / "result", (1,))


def loaded(case: Case, directory: Path, tool: str | None = None) -> Measurement:
    """Measure a real server under the load of a tool, by default the lab's own."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("not installed: redis-server")
    place = place_in(directory)
    return measured(Loaded(), job_of("loaded", case, Path(program), place, load_tool=tool), place)


def installed(name: str) -> str:
    missing = load_tool_named(name).missing()
    if missing is not None:
        pytest.skip(missing)
    return name


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_measures_a_real_server(tmp_path: Path, name: str) -> None:
    measurement = loaded(reading(), tmp_path, installed(name))
    assert failed_by_the_server(measurement.validity.checks) == []
    metrics = measurement.metrics
    assert metrics["ops_per_sec"] > 0
    assert 0 < metrics["latency_p50_us"] <= metrics["latency_p99_us"] <= metrics["latency_max_us"]
    assert metrics["cpu_ns_per_op"] >= metrics["main_thread_ns_per_op"] > 0
    assert metrics["client_cpu_ns_per_op"] > 0
    checks = {check.check: check.value for check in measurement.validity.checks}
    assert checks["errors"] == 0
    assert checks["hit_rate"] == 1.0


@pytest.mark.parametrize("name", TOOLS)
def test_misses_and_errors_are_seen_whatever_the_tool_tells(tmp_path: Path, name: str) -> None:
    tool = installed(name)
    missing = reading(keys=STRINGS.model_copy(update={"prefix": "other:"}))
    found = loaded(missing, tmp_path / "misses", tool).validity
    assert "hit_rate" in {check.check for check in found.failed}
    all_refused = reading(commands=["LPUSH __key__ x"], expect=Expect())
    half_refused = reading(commands=["LPUSH __key__ x", "GET __key__"], ratios=[1, 1], expect=Expect())
    if name in ("redis-benchmark", "valkey-benchmark"):
        with pytest.raises(TrialFailed, match="failed"):
            loaded(all_refused, tmp_path / "errors", tool)
    else:
        found = loaded(half_refused, tmp_path / "errors", tool).validity
        assert "errors" in {check.check for check in found.failed}


def test_a_tool_that_is_not_installed_ends_the_run_before_anything_is_measured(
    zerolap: Zerolap, redis_server: Path, tmp_path: Path
) -> None:
    without = path_without(tmp_path / "bin", "redis-benchmark")
    asked = zerolap("run", "get-100B", "--server", redis_server, "--load-tool", "redis-benchmark", environment=without)
    asked.fails_with(3, "the load tool `redis-benchmark` cannot be used: redis-benchmark is not on the PATH")


@pytest.mark.parametrize("name", ["redis-benchmark", "valkey-benchmark"])
def test_random_keys_of_twelve_digits(tmp_path: Path, name: str) -> None:
    case = reading(commands=["SET __key__ __data__"], data_size=5, connections=4, pipeline=8)
    command = load_tool_named(name).command(work(case, tmp_path))
    assert command[0] == name
    assert command[-3:] == ["SET", "key:1__rand_int__", "xxxxx"]
    options = dict(zip(command[1::2], command[2::2], strict=False))
    assert (options["-c"], options["-P"], options["-n"], options["-r"]) == ("4", "8", "32000", "1000")
    one = reading(keys=Keys(prefix="k", minimum=5, maximum=5))
    assert load_tool_named(name).command(work(one, tmp_path))[-2:] == ["GET", "k5"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"keys": Keys(minimum=1, maximum=1000)}, "its keys end with 12 digits"),
        ({"keys": Keys(minimum=FIRST + 1, maximum=FIRST + 2)}, "its keys end with 12 digits"),
        ({"keys": Keys(minimum=FIRST, maximum=2 * FIRST)}, "its keys end with 12 digits"),
        ({"keys": STRINGS.model_copy(update={"pattern": "sequential"})}, "the pattern sequential"),
        ({"commands": ["GET __key__", "GET k"], "ratios": [1, 1]}, "one command at a time"),
        ({"commands": ["SET k __data__"], "random_data": True}, "the same each time"),
        ({"commands": ['SET k "\\x00"']}, "no plain text"),
    ],
)
def test_what_redis_benchmark_cannot_send_is_refused(tmp_path: Path, fields: dict[str, object], reason: str) -> None:
    with pytest.raises(CaseRefused, match=f"redis-benchmark cannot send this case: .*{reason}"):
        load_tool_named("redis-benchmark").command(work(reading(**fields), tmp_path))


def test_cases_that_use_up_their_data_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CaseRefused, match="used up"):
        loaded(reading(state="drains"), tmp_path)


@pytest.mark.parametrize("case", core_suite(), ids=lambda case: case.name)
def test_memtier_gets_arguments_that_it_has(tmp_path: Path, case: Case) -> None:
    command = load_tool_named("memtier_benchmark").command(work(case, tmp_path))
    assert command[0] == "memtier_benchmark"
    assert not {"--cpus", "--seed", "--lockstep"} & set(command)
    assert command[command.index("--requests") + 1] == str(32_000 // case.client.connections)
    lines = [one.line for one in case.client.commands]
    assert [command[place + 1] for place, word in enumerate(command) if word == "--command"] == lines


def test_arguments_of_a_public_suite_are_taken_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "suite.yml"
    file.write_text(
        "version: 0.4\nname: suite\ndescription: d\ndbconfig:\n  check: {keyspacelen: 0}\n"
        "tested-groups: [string]\ntested-commands: [set]\nredis-topologies: [oss-standalone]\n"
        "clientconfig:\n  run_image: i\n  tool: memtier_benchmark\n"
        "  arguments: --test-time 180 -c 3 -t 2 --pipeline 5 --ratio 1:0 --key-pattern G:G --key-stddev 10 -d 7\n"
        "  resources: {requests: {cpus: '4', memory: 2g}}\npriority: 1\n"
    )
    (case,) = load_cases(file)
    command = load_tool_named("memtier_benchmark").command(work(case, tmp_path))
    assert {"--key-pattern=G:G", "--key-stddev=10", "--data-size=7", "--pipeline=5", "--ratio=1:0"} <= set(command)
    assert "--distinct-client-seed" not in command
    assert not any(word.startswith(("--test-time", "--threads=2")) for word in command)
    with pytest.raises(CaseRefused, match="memtier_benchmark's"):
        load_tool_named("redis-benchmark").command(work(case, tmp_path))


def test_what_memtier_tells(tmp_path: Path) -> None:
    totals = {
        "Count": 2000,
        "Ops/sec": 9795.71,
        "Max Latency": 12.479,
        "Percentile Latencies": {"p50.00": 0.031, "p99.00": 4.047, "p99.90": 8.159},
    }
    (tmp_path / "result").write_text(json.dumps({"ALL STATS": {"Totals": totals}}))
    outcome = load_tool_named("memtier_benchmark").outcome(work(reading(), tmp_path), "")
    assert (outcome.requests, outcome.ops_per_sec, outcome.errors) == (2000, 9795.71, None)
    latencies = [outcome.p50_us, outcome.p99_us, outcome.p99_9_us, outcome.max_us]
    assert latencies == pytest.approx([31.0, 4047.0, 8159.0, 12479.0])
