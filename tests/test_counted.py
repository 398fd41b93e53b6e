"""The counted engine on real servers: it repeats, its checks see what is wrong, and the world outside is pinned."""

import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest
from engine_place import job_of, place_in
from toy_server import ToySource, compile_toy

from zerolap.build import Program
from zerolap.cases import core_suite, load_cases, scaled
from zerolap.engines import counted_checks as checks, pin
from zerolap.engines.counted import Counted, CountedTrial, count
from zerolap.engines.pin import Pin
from zerolap.load import generator as load
from zerolap.load.generator import packaged
from zerolap.records import (
    HEAD,
    STANDALONE,
    Amounts,
    CallGraph,
    Case,
    Expect,
    Measurement,
    ServerSpec,
    TrialDone,
    TrialFailed,
    Windows,
    now,
)
from zerolap.server import Launch, running_server as running, start
from zerolap.server.connection import CommandConnection

QUICK = 0.1


def trial(
    program: Path, case: Case, directory: Path, seed: int = 1, windows: Windows | None = None, scale: float = QUICK
) -> tuple[Measurement, bytes]:
    directory.mkdir()
    measurement, recorded = count(
        CountedTrial(
            program=Program(program),
            source_root="",
            case=scaled(case, QUICK),
            server=ServerSpec(build="b-1", topology=STANDALONE),
            seed=seed,
            directory=directory,
            windows=windows,
            scale=scale,
        )
    )
    return measurement, recorded.graphs["graph"]


def measured(program: Path, case: Case, directory: Path, seed: int = 1, scale: float = QUICK) -> Measurement:
    measurement, _ = trial(program, case, directory, seed=seed, scale=scale)
    return measurement


def failed_checks(measurement: Measurement) -> list[str]:
    return [check.check for check in measurement.validity.failed]


def test_a_good_trial(redis_server: Path, cases: dict[str, Case], tmp_path: Path) -> None:
    measurement, call_graph = trial(redis_server, cases["good"], tmp_path / "t", scale=1)
    assert measurement.validity.valid
    assert [check.check for check in measurement.validity.checks] == [
        "keys", "clock_pinned", "randomness_pinned", "errors", "hit_rate", "reply", "executed", "windows_agree",
    ]  # fmt: skip
    assert measurement.metrics["instructions_per_op"] > 100
    assert measurement.metrics["clock_readings_per_op"] > 0
    # `serverCron`, which goes over databases and clients.
    assert 1_000 < measurement.metrics["instructions_per_tick"] < 10_000_000
    graph = CallGraph.model_validate_json(call_graph)
    assert graph.totals.instructions == pytest.approx(measurement.metrics["instructions_per_op"])
    by_name = {function.name: function for function in graph.functions}
    assert by_name.get("getCommand", by_name.get("call", graph.functions[0])).calls >= 0
    windows = measurement.amounts.windows
    assert windows is not None
    assert windows.large > windows.small


def test_a_trial_has_its_time_and_a_digest_of_what_it_executed(
    redis_server: Path, cases: dict[str, Case], tmp_path: Path
) -> None:
    before = now()
    measurements = []
    for name in ("first", "second"):
        place = place_in(tmp_path / name)
        job = job_of("counted", cases["good"], redis_server, place)
        job = job.model_copy(update={"amounts": Amounts(scale=QUICK)})
        done = next(event for event in Counted().carry_out(job, place) if isinstance(event, TrialDone))
        measurements.append(done.measurements[HEAD])
    first, second = measurements
    assert before <= first.began <= second.began <= now()
    assert re.fullmatch(r"valgrind \d+\.\d+.*", first.instrument)
    assert first.executed_code is not None
    assert first.executed_code == second.executed_code


@pytest.mark.parametrize("name", ["errors", "reply", "hit_rate", "keys", "windows_agree"])
def test_what_is_wrong_is_named(redis_server: Path, cases: dict[str, Case], tmp_path: Path, name: str) -> None:
    scale = 1 if name == "windows_agree" else QUICK
    measurement = measured(redis_server, cases[name], tmp_path / "t", scale=scale)
    assert not measurement.validity.valid
    assert failed_checks(measurement) == [name]


def test_look_ups_that_miss_are_invalid_without_being_asked_for(
    redis_server: Path, cases: dict[str, Case], tmp_path: Path
) -> None:
    assert failed_checks(measured(redis_server, cases["zeros"], tmp_path / "expected")) == ["hit_rate"]
    unasked = cases["zeros"].model_copy(update={"expect": Expect()})
    measurement = measured(redis_server, unasked, tmp_path / "unasked")
    [check] = measurement.validity.failed
    assert check.check == "misses"
    # Half of the keys that are drawn are loaded.
    assert isinstance(check.value, float)
    assert 0.2 < check.value < 0.8
    declared = cases["zeros"].model_copy(update={"expect": Expect(hit_rate="> 0")})
    assert failed_checks(measured(redis_server, declared, tmp_path / "declared")) == []


LOOKING_UP = [case for suite in ("core", "geo") for case in load_cases(Path(suite)) if case.expect.hit_rate is not None]


@pytest.mark.slow
@pytest.mark.parametrize("case", LOOKING_UP, ids=lambda case: case.name)
def test_a_case_whose_data_is_missing_is_invalid(redis_server: Path, case: Case, tmp_path: Path) -> None:
    without_data = case.model_copy(update={"dataset": None, "setup": []})
    assert without_data != case
    assert "hit_rate" in failed_checks(measured(redis_server, without_data, tmp_path / "t"))


def test_checks_of_the_server_itself(cases: dict[str, Case]) -> None:
    case = cases["good"]
    assert checks.executed_check(case, 100, 100).ok
    assert not checks.executed_check(case, 100, 99).ok
    assert not checks.executed_check(case, 100, 101).ok
    assert [check.ok for check in checks.pinned_checks(5, 1)] == [True, True]
    assert [check.ok for check in checks.pinned_checks(0, 1)] == [False, True]
    assert [check.check for check in checks.pinned_checks(5, 0) if not check.ok] == ["randomness_pinned"]


def test_errors_that_are_expected(redis_server: Path, cases: dict[str, Case], tmp_path: Path) -> None:
    assert measured(redis_server, cases["allowed"], tmp_path / "t").validity.valid


def test_setup_and_load_that_the_server_refuses(redis_server: Path, cases: dict[str, Case], tmp_path: Path) -> None:
    with pytest.raises(TrialFailed, match="refused `NONSENSE 1`"):
        trial(redis_server, cases["setup"], tmp_path / "t")
    with pytest.raises(TrialFailed, match=r"data set `refused` got error replies: .*ERR wrong number of arguments"):
        trial(redis_server, cases["load"], tmp_path / "u")


@pytest.mark.parametrize("name", ["hset", "zadd", "xadd-auto-id"])
def test_one_seed_counts_the_same_twice(redis_server: Path, tmp_path: Path, name: str) -> None:
    case = next(case for case in core_suite() if case.name == name)
    first = measured(redis_server, case, tmp_path / "first", seed=1000)
    second, _ = trial(redis_server, case, tmp_path / "other", seed=1000, windows=first.amounts.windows)
    ticks, other_ticks = (one.metrics.pop("instructions_per_tick") for one in (first, second))
    assert first.metrics == pytest.approx(second.metrics, rel=1e-6)
    assert ticks == pytest.approx(other_ticks, abs=1_000)
    assert second.amounts == first.amounts
    assert first.metrics["instructions_per_op"] > 100


@pytest.mark.slow
def test_another_seed_is_valid_too(redis_server: Path, tmp_path: Path) -> None:
    case = next(case for case in core_suite() if case.name == "hset")
    for seed in (2, 2**64 - 1):
        measurement = measured(redis_server, case, tmp_path / str(seed), seed=seed)
        assert measurement.validity.valid, measurement.validity.failed


def facts_of_a_pinned_server(program: Path, directory: Path, seed: int) -> tuple[int, str, str]:
    """Return the year that it sees, its random run id and its process id."""
    directory.mkdir()
    library = packaged("libzerolap_pin.so")
    with (
        Pin(directory, seed) as page,
        start(
            Program(program),
            {},
            directory,
            log=directory.with_suffix(".log"),
            launched=Launch(environment=page.environment(library), read_only=[library]),
        ) as server,
    ):
        seconds = server.command("TIME")
        assert isinstance(seconds, list)
        assert isinstance(seconds[0], bytes)
        facts = server.info("server")
        assert page.clock_readings > 0
        assert page.random_readings > 0
        assert page.wakes > 0
        return datetime.fromtimestamp(int(seconds[0]), UTC).year, facts["run_id"], facts["process_id"]


def test_the_world_outside_is_pinned(redis_server: Path, tmp_path: Path) -> None:
    year, run_id, process = facts_of_a_pinned_server(redis_server, tmp_path / "1", seed=1)
    assert (year, process) == (2035, "4242")
    assert facts_of_a_pinned_server(redis_server, tmp_path / "2", seed=1) == (year, run_id, process)
    other_year, other_id, _ = facts_of_a_pinned_server(redis_server, tmp_path / "3", seed=20_000_999)
    assert other_year == 2035
    assert other_id != run_id


def toy_that(tmp_path: Path, *edits: tuple[str, str, str]) -> Path:
    source = ToySource(tmp_path / "source")
    for file, old, new in edits:
        source.replace(file, old, new)
    return compile_toy(source.path)


SLEEP = "for (;;) usleep(1000);"
UNISTD = ("commands.c", "#include <strings.h>", "#include <strings.h>\n#include <unistd.h>")


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind", "compiler")
class TestSilentServers:
    """A server that does not answer fails the trial; only the wait that it is to end is short here."""

    @pytest.fixture
    def case(self, tmp_path: Path) -> Case:
        file = tmp_path / "cases.yml"
        file.write_text('group: g\ncases:\n  - {name: work, commands: ["WORK key 10"]}\n')
        return load_cases(file)[0]

    @pytest.mark.parametrize(
        ("command", "waits", "message"),
        [
            ("work", [(load, "REPLY_SECONDS")], "load generator"),
            ("config", [(running, "REPLY_SECONDS")], "the server was lost"),
            ("ping", [(running, "REPLY_SECONDS"), (running, "START_SECONDS")], "not ready within 3 s"),
            ("info", [], "the server was lost"),
        ],
    )
    def test_a_command_that_never_ends(
        self,
        tmp_path: Path,
        case: Case,
        monkeypatch: pytest.MonkeyPatch,
        command: str,
        waits: list[tuple[ModuleType, str]],
        message: str,
    ) -> None:
        for module, name in waits:
            monkeypatch.setattr(module, name, 3)
        send = CommandConnection.send

        def sending(to_server: CommandConnection, encoded: bytes) -> None:
            send(to_server, encoded)
            # Other replies come, on a busy machine some seconds later.
            if b"INFO" in encoded and to_server._socket is not None:
                to_server._socket.settimeout(3)

        monkeypatch.setattr(CommandConnection, "send", sending)
        function = f"{command}_command(struct client *client, struct slice *arguments, int count) {{"
        program = toy_that(tmp_path, UNISTD, ("commands.c", function, f"{function} {SLEEP}"))
        with pytest.raises(TrialFailed, match=message):
            trial(program, case, tmp_path / "t")

    def test_a_server_that_cannot_be_preloaded(
        self, tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pin, "CARRIED_OUT_SECONDS", 3.0)
        source = ToySource(tmp_path / "source")
        source.replace("Makefile", "\t$(CC) -g -o", "\t$(CC) -static -g -o")
        try:
            program = compile_toy(source.path)
        except subprocess.CalledProcessError:
            pytest.skip("the C library cannot be linked statically here")
        with pytest.raises(TrialFailed, match="cannot be counted"):
            trial(program, case, tmp_path / "t")
