"""A fleet on machines of its own: bus, conductor, agents and their files meet only over the network between them.

This file is also the program of conductor and agents, which have short leases here.
"""

import asyncio
import errno
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Zerolap
from nats_server import required_program
from network_namespaces import Machine, joined_machines
from simulated_fleet import other_build
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource
from waiting import BUILD_PATIENCE_SECONDS, wait_until

from zerolap.api.serving import Address, ServeOptions, serve
from zerolap.cli.logging import set_up_logs
from zerolap.engines import Place
from zerolap.engines.counted import Counted
from zerolap.fleet import Pace
from zerolap.fleet.remote_agent import AgentMachine, work
from zerolap.fleet.setup.configuration import AgentEntry, FleetConfiguration, LabEntry, PlatformRequirement
from zerolap.fleet.setup.credentials import read_agent_credentials
from zerolap.fleet.setup.directory import initialise
from zerolap.records import CallCounts, Event, TrialsJob
from zerolap.sandbox import SandboxPolicy
from zerolap.sandbox.confinement import available
from zerolap.store import Store

LEASE_SECONDS = 8.0
API_PORT = 7480
PLATFORMS = ("alpha", "beta")
AGENTS = {
    "alpha-1": AgentEntry(lab="lab", platform="alpha"),
    "beta-1": AgentEntry(lab="lab", platform="beta"),
    "gamma-1": AgentEntry(lab="lab", platform="gamma"),
    "load-1": AgentEntry(lab="lab", platform="loaders", kind="load"),
    "builder-1": AgentEntry(lab="lab", platform="builders", kind="build"),
}
REACHABLE = "gamma-1"
"""Its servers take their load from another machine."""


def conduct(fleet: Path, store: Path, host: str) -> None:
    """Be the conductor."""
    set_up_logs()
    with Store.open(str(store)) as results:
        pace = Pace(lease_seconds=LEASE_SECONDS, review_seconds=1)
        asyncio.run(serve(ServeOptions(results, [Address(host, API_PORT)], fleet, pace=pace)))


def be_agent(credentials: Path, directory: Path, address: str, is_stuck: bool) -> None:
    """Be an agent; one that is stuck comes to no end with trials that are counted."""
    set_up_logs()
    if is_stuck:
        setattr(Counted, "carry_out", never_carried_out)  # noqa: B010 - a method of all that is counted here
    machine = AgentMachine(directory, SandboxPolicy.REQUIRED, address)
    asyncio.run(work(read_agent_credentials(credentials), machine, LEASE_SECONDS))


def never_carried_out(_engine: Counted, _job: TrialsJob, place: Place) -> Iterator[Event]:
    while True:
        place.cancellation.require_going_on()
        time.sleep(0.1)
    yield


class FleetOfMachines:
    """A hub with bus and conductor, and a machine for each agent."""

    def __init__(self, machines: dict[str, Machine], program: Path, directory: Path) -> None:
        self.store = directory / "store"
        self._machines = machines
        self._program = program
        self._directory = directory
        self._fleet = directory / "fleet"
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        hub = machines["hub"].address
        platform = PlatformRequirement(builder="builders")
        configuration = FleetConfiguration(
            bus=f"tls://{hub}:4222",
            listen=f"{hub}:4222",
            artifacts=f"https://{hub}:{API_PORT}",
            labs={"lab": LabEntry()},
            platforms={
                **dict.fromkeys(PLATFORMS, platform),
                "gamma": PlatformRequirement(builder="builders", load="loaders"),
            },
            agents=AGENTS,
        )
        initialise(self._fleet, configuration)

    def start(self, stuck: str = "") -> None:
        """Start everything, with an agent that is stuck; returns when requests are taken."""
        hub = self._machines["hub"]
        self._processes["bus"] = hub.start([self._program, "-c", self._fleet / "nats.conf"], self._log("bus"))
        command: list[str | Path] = [sys.executable, __file__, "conduct", self._fleet, self.store, hub.address]
        self._processes["conductor"] = hub.start(command, self._log("conductor"))
        for agent in AGENTS:
            self.start_agent(agent, is_stuck=agent == stuck)
        wait_until(lambda: '"event": "working"' in self._log("conductor").read_text(), self.check)

    def check(self) -> None:
        """Assert that all of it runs."""
        for name, process in self._processes.items():
            assert process.poll() is None, f"{name} has ended:\n{self._log(name).read_text()}"

    def start_agent(self, name: str, *, is_stuck: bool = False) -> None:
        """Start an agent, or start it again."""
        directory = self._directory / name
        directory.mkdir(exist_ok=True)
        credentials = self._fleet / "agents" / f"{name}.toml"
        address = self._machines[name].address if name == REACHABLE else ""
        command: list[str | Path] = [sys.executable, __file__, "stuck agent" if is_stuck else "agent"]
        command += [credentials, directory / "state", address]
        self._processes[name] = self._machines[name].start(command, self._log(name), {"TMPDIR": str(directory)})

    def kill_agent(self, name: str) -> None:
        """End an agent without a chance to say so."""
        self._processes[name].kill()
        self._processes[name].wait()

    def begun(self, agent: str) -> list[str]:
        """Return the attempts that an agent has begun with."""
        # The last line may be half written.
        whole = self._log(agent).read_text().rpartition("\n")[0]
        lines = [line for line in whole.splitlines() if line.startswith("{")]
        return [event["attempt"] for event in map(json.loads, lines) if event["event"] == "started"]

    def _log(self, name: str) -> Path:
        return self._directory / f"{name}.log"


@pytest.fixture
def machines() -> Iterator[dict[str, Machine]]:
    with joined_machines("hub", *AGENTS, reachable=[REACHABLE]) as machines:
        yield machines


@pytest.fixture
def fleet(machines: dict[str, Machine], tmp_path: Path) -> FleetOfMachines:
    program = required_program()
    if (reason := available()) is not None:
        pytest.skip(reason)
    return FleetOfMachines(machines, program, tmp_path)


def counts(comparison: Any) -> dict[tuple[str, str], float]:
    """Return the instructions per request by case and side."""
    return {
        (case["case"], side): verdict[side]
        for case in comparison["cases"]
        for verdict in case["verdicts"]
        if verdict["metric"] == "instructions_per_op"
        for side in ("base", "head")
    }


def fault_of_connecting(machine: Machine, address: str) -> int:
    """Return the number of the error when a machine connects to a port at which nobody listens."""
    connect = "import socket, sys; sys.exit(socket.socket().connect_ex((sys.argv[1], 9)))"
    return machine.run(sys.executable, "-c", connect, address).returncode


def test_machine_reaches_the_hub_alone(machines: dict[str, Machine]) -> None:
    agent = machines["alpha-1"]
    assert fault_of_connecting(agent, machines["hub"].address) == errno.ECONNREFUSED
    assert fault_of_connecting(agent, machines["beta-1"].address) == errno.EHOSTUNREACH
    assert fault_of_connecting(agent, "192.0.2.1") == errno.ENETUNREACH


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_platforms_count_the_same_though_an_agent_is_killed(
    fleet: FleetOfMachines, toy: ToySource, zerolap: Zerolap
) -> None:
    fleet.start(stuck="alpha-1")
    head = toy.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    reports = zerolap.directory / "report.json"
    where: list[str | Path] = [
        "--engine",
        "counted",
        "--platform",
        "alpha,beta",
        "--store",
        fleet.store,
        "--json",
        reports,
    ]
    # Without a seed each platform would draw one, and count other keys.
    what: list[str | Path] = ["toy-get", "toy-set", "--repo", toy.path, "--cases", CASES, "--quick", "--seed", "1"]
    asking = zerolap.start("compare", toy.first, head, *what, *where)
    wait_until(lambda: fleet.begun("alpha-1") or asking.poll() is not None, fleet.check, BUILD_PATIENCE_SECONDS)
    fleet.kill_agent("alpha-1")
    fleet.start_agent("alpha-1")
    _, errors = asking.communicate()
    assert asking.returncode == 0, errors
    begun = fleet.begun("alpha-1")
    assert begun.count(begun[0]) > 1, "the job that was under way is done again"
    alpha, beta = (json.loads(reports.with_name(f"report-{name}.json").read_text()) for name in PLATFORMS)
    for comparison in (alpha, beta):
        assert comparison["state"] == "done"
        verdicts = {case["case"]: case["verdict"] for case in comparison["cases"]}
        assert verdicts == {"toy-get": "regression", "toy-set": "same"}
    assert len(counts(alpha)) == 4
    assert counts(alpha) == pytest.approx(counts(beta), rel=1e-3)


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_platforms_count_calls_in_count_builds_of_their_builder(
    fleet: FleetOfMachines, toy: ToySource, zerolap: Zerolap
) -> None:
    fleet.start()
    head = toy.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    reports = zerolap.directory / "report.json"
    what: list[str | Path] = ["toy-get", "--repo", toy.path, "--cases", CASES, "--quick", "--seed", "1"]
    where: list[str | Path] = ["--platform", "alpha,beta", "--store", fleet.store, "--json", reports]
    ended = zerolap("compare", toy.first, head, "--engine", "counted", "--count-build", *what, *where)
    assert ended.code == 0, ended.err
    calls: list[dict[str, float]] = []
    with Store.open_to_read(str(fleet.store)) as results:
        for platform in PLATFORMS:
            comparison = json.loads(reports.with_name(f"report-{platform}.json").read_text())
            assert comparison["cases"][0]["work"] == "regression"
            for side in ("base", "head"):
                (graph,) = results.work.graphs_of_result(comparison["id"], side)
                assert graph.call_counts is not None
                counts = CallCounts.model_validate_json(results.blobs.get(graph.call_counts))
                calls.append({function.name: function.calls for function in counts.functions})
    # The compilers inline it into all its callers; it is called for each byte of a value.
    assert [of_side["mix_word"] for of_side in calls[:2]] == pytest.approx([40.0, 79.0], rel=0.1)
    assert [of_side["mix_word"] for of_side in calls[2:]] == pytest.approx(
        [of_side["mix_word"] for of_side in calls[:2]], rel=1e-3
    )
    # Both platforms have the same builder, which makes each of the four builds once.
    assert len(set(fleet.begun("builder-1"))) == 4


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_a_history_is_measured_by_a_platform_and_explained_by_its_builds(
    fleet: FleetOfMachines, compiler: None, tmp_path: Path, zerolap: Zerolap
) -> None:
    fleet.start()
    source = ToySource(tmp_path / "source")
    source.replace("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE)
    source.commit("checksum | twice")
    asked: list[str | Path] = ["history", "toy-get", "--repo", source.path, "--cases", CASES, "--store", fleet.store]
    where: list[str | Path] = ["--measure", "HEAD~1..HEAD", "--engine", "counted", "--platform", "alpha", "--json", "-"]
    wait_until(lambda: zerolap(*asked, "--platform", "alpha").code == 0, fleet.check)
    ended = zerolap(*asked, *where)
    assert ended.code == 0, ended.err
    [series] = [one for one in ended.document()["series"] if one["metric"] == "instructions_per_op"]
    [step] = series["changes"]
    assert "`checksum_value`" in step["reasons"][0]
    assert zerolap(*asked, "--platform", "beta", "--json", "-").document()["series"] == []
    zerolap(*asked, "--platform", "delta").fails_with(2, "no platform `delta`", "platforms: alpha, beta, gamma")


@pytest.mark.slow
def test_server_and_load_are_on_two_machines(fleet: FleetOfMachines, redis_server: Path, zerolap: Zerolap) -> None:
    fleet.start()
    head = other_build(redis_server, zerolap.directory / "head")
    report = zerolap.directory / "report.json"
    where: list[str | Path] = ["--platform", "gamma", "--store", fleet.store, "--json", report]
    asking = zerolap.start("compare", redis_server, head, "get-100B", "--engine", "timed", "--budget", "20s", *where)
    wait_until(lambda: fleet.begun("load-1") or asking.poll() is not None, fleet.check)
    # What it is about is lost with the machine that puts load on it, and begun again.
    fleet.kill_agent("load-1")
    fleet.start_agent("load-1")
    _, errors = asking.communicate()
    assert asking.returncode == 0, errors
    assert len(fleet.begun("load-1")) > 1
    comparison = json.loads(report.read_text())
    assert comparison["state"] == "done"
    with Store.open_to_read(str(fleet.store)) as results:
        measured = results.measurements(comparison["id"])
    assert {trial.side for trial, _ in measured} == {"base", "head"}
    for _, measurement in measured:
        assert measurement.metrics["ops_per_sec"] > 0
        assert "load_host_steal" in {check.check for check in measurement.validity.checks}


if __name__ == "__main__":
    if sys.argv[1] == "conduct":
        conduct(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
    else:
        be_agent(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], is_stuck=sys.argv[1] == "stuck agent")
