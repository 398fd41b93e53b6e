"""Deployments of real servers: ready when they are yielded, reachable by a load, gone at the end whatever happens."""

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from waiting import PATIENCE_SECONDS, command_lines, wait_until

from zerolap.build import Program
from zerolap.cases import topology_named
from zerolap.load.generator import packaged
from zerolap.records import EnvironmentMissing, TrialFailed
from zerolap.sandbox import Limits, SandboxPolicy, network, network_missing, server_limits
from zerolap.server import (
    Deployment,
    Launch,
    cluster,
    count_sockets,
    deploy,
    node,
    ports,
    read_cpu_times,
    replication,
    running_server as running,
)

pytestmark = pytest.mark.slow

needs_network = pytest.mark.skipif(network_missing() is not None, reason=f"no network: {network_missing()}")
SHORT_SECONDS = 0.2


@pytest.fixture(scope="module")
def program() -> Path:
    found = shutil.which("redis-server")
    if found is None:
        pytest.skip("not installed: redis-server")
    return Path(found)


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path) -> Iterator[None]:
    """Every test ends with none of its servers running; what was killed may need a moment to go."""
    yield
    wait_until(lambda: not running_below(tmp_path))


def running_below(directory: Path) -> list[str]:
    return [line for line in command_lines().values() if str(directory) in line]


def deployed(name: str, program: Path, directory: Path, **options: Any) -> AbstractContextManager[Deployment]:
    settings = options.pop("settings", {})
    logs = directory / "logs"
    logs.mkdir()
    return deploy(topology_named(name), Program(program), settings, directory / "nodes", logs=logs, **options)


def load(deployment: Deployment) -> dict[str, Any]:
    """Send 2,000 requests, half of them writes of a key each; return the totals."""
    amount = ["-t", "1", "-c", "2", "-n", "1000", "--ratio", "1:1", "--key-pattern", "P:P"]
    amount += ["--key-minimum", "1", "--key-maximum", "1000", "--hide-histogram", "--json-out-file", "-"]
    command = reaching(deployment, *deployment.reach.arguments, *amount)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr
    totals: dict[str, Any] = json.loads(done.stdout)["ALL STATS"]["Totals"]
    return totals


def reaching(deployment: Deployment, *arguments: str) -> list[str]:
    """Return the command line of a load generator in the deployment's network."""
    command = [str(packaged("zerolap-load")), *arguments]
    return command if deployment.network is None else deployment.network.command(command)


def sizes(nodes: list[node.Node]) -> list[object]:
    return [one.command("DBSIZE") for one in nodes]


def test_a_cluster_takes_a_load(program: Path, tmp_path: Path) -> None:
    with deployed("cluster-3", program, tmp_path) as deployment:
        assert deployment.reach.arguments[-1] == "--cluster-mode"
        totals = load(deployment)
        assert (totals["Count"], totals["Errors"]) == (2000, 0)
        held = [int(str(size)) for size in sizes(deployment.nodes)]
        assert min(held) > 200
        assert sum(held) == 1000
        assert [node.command("FLUSHALL") for node in deployment.primaries] == [b"OK"] * 3
        assert sizes(deployment.nodes) == [0, 0, 0]
        timeouts = {str(one.command("CONFIG", "GET", "cluster-node-timeout")) for one in deployment.nodes}
        assert timeouts == {"[b'cluster-node-timeout', b'60000']"}


def test_a_cluster_with_replicas(program: Path, tmp_path: Path) -> None:
    with deployed("cluster-3-replicas-1", program, tmp_path) as deployment:
        assert [one.name for one in deployment.nodes] == [
            *(f"primary-{number}" for number in (1, 2, 3)),
            *(f"replica-{number}" for number in (1, 2, 3)),
        ]
        assert load(deployment)["Errors"] == 0
        deployment.wait_for_replicas()
        assert sizes(deployment.replicas) == sizes(deployment.primaries)
        assert 0 not in sizes(deployment.primaries)


def test_a_primary_with_replicas(program: Path, tmp_path: Path) -> None:
    with deployed("replicas-2", program, tmp_path) as deployment:
        assert load(deployment)["Errors"] == 0
        deployment.wait_for_replicas()
        assert sizes(deployment.nodes) == [1000, 1000, 1000]
        assert [node.name for node in deployment.nodes] == ["primary-1", "replica-1", "replica-2"]
        assert all(read_cpu_times(node.process).main_ns > 0 for node in deployment.nodes)


@pytest.mark.parametrize("name", ["replicas-1", "cluster-3-replicas-1"])
def test_replicas_that_are_attached_after_the_load(program: Path, tmp_path: Path, name: str) -> None:
    with deployed(name, program, tmp_path, attach_replicas=False) as deployment:
        assert load(deployment)["Errors"] == 0
        assert set(sizes(deployment.replicas)) == {0}
        deployment.attach_replicas()
        assert sizes(deployment.replicas) == sizes(deployment.primaries)
        assert load(deployment)["Errors"] == 0


def test_over_tcp(program: Path, tmp_path: Path) -> None:
    with deployed("tcp", program, tmp_path) as deployment:
        assert deployment.reach.arguments[:2] == ["--server", "127.0.0.1"]
        assert load(deployment)["Errors"] == 0
        assert sizes(deployment.nodes) == [1000]


def test_over_tls(program: Path, tmp_path: Path) -> None:
    with deployed("tls", program, tmp_path) as deployment:
        assert load(deployment)["Errors"] == 0
        assert sizes(deployment.nodes) == [1000]
        port = str(deployment.nodes[0].tls_port)
        one_request = ["--server", "127.0.0.1", "--port", port, "-t", "1", "-c", "1", "-n", "1"]
        plain = reaching(deployment, *one_request)
        assert subprocess.run(plain, capture_output=True, check=False, timeout=PATIENCE_SECONDS).returncode == 4
        untrusted = subprocess.run(
            [*plain, "--tls"], capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS
        )
        assert untrusted.returncode != 0
        assert "certificate" in untrusted.stderr.lower()


@pytest.mark.parametrize("name", ["aof", "aof-always"])
def test_an_append_only_file_is_written(program: Path, tmp_path: Path, name: str) -> None:
    with deployed(name, program, tmp_path) as deployment:
        load(deployment)
        files = [file for file in deployment.nodes[0].directory.rglob("appendonly*.aof") if file.stat().st_size > 0]
        assert files != []


def test_settings_of_the_topology_go_before_those_given(program: Path, tmp_path: Path) -> None:
    given = {"save": "", "maxmemory": "100mb"}
    with deployed("rdb", program, tmp_path, settings=given) as deployment:
        only = deployment.nodes[0]
        assert only.command("CONFIG", "GET", "save") == [b"save", b"60 1"]
        assert only.command("CONFIG", "GET", "maxmemory") == [b"maxmemory", b"104857600"]


@needs_network
def test_the_servers_of_a_deployment_share_a_network_and_nobody_elses(program: Path, tmp_path: Path) -> None:
    own = os.readlink("/proc/self/ns/net")
    networks = []
    for name in ("standalone", "tcp", "replicas-2"):
        directory = tmp_path / name
        directory.mkdir()
        with deployed(name, program, directory) as deployment:
            processes = [one.process for one in deployment.nodes]
            [network] = {os.readlink(f"/proc/{process}/ns/net") for process in processes}
            networks.append(network)
            assert os.readlink(f"/proc/{processes[0]}/ns/pid") != os.readlink("/proc/self/ns/pid")
    assert own not in networks
    assert deployment.network is not None
    holder = Path(f"/proc/{deployment.network.holder}/exe")
    wait_until(lambda: not holder.exists())


@needs_network
def test_a_server_does_not_reach_the_machines_loopback(program: Path, tmp_path: Path) -> None:
    """A replica that is ordered to copy a listener of the machine, such as a database, does not get to it."""
    with taken_port() as port, deployed("tcp", program, tmp_path) as deployment:
        only = deployment.nodes[0]
        only.command("REPLICAOF", "127.0.0.1", str(port))
        wait_until(lambda: "Connection refused" in only.server.log.read_text())


def test_without_a_network_of_its_own(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user gives may have the machine's network; code of a repository may not."""
    monkeypatch.setattr(network, "network_missing", lambda: "namespaces are not permitted")
    built = Program(program, policy=SandboxPolicy.REQUIRED)
    with (
        pytest.raises(EnvironmentMissing, match="namespaces are not permitted") as caught,
        deploy(topology_named("tcp"), built, {}, tmp_path / "nodes", logs=tmp_path),
    ):
        pass
    assert "--unsafe-no-sandbox" in caught.value.hint
    with deployed("tcp", program, tmp_path) as deployment:
        process = deployment.nodes[0].process
        assert os.readlink(f"/proc/{process}/ns/net") == os.readlink("/proc/self/ns/net")
        assert load(deployment)["Errors"] == 0


def test_closed_connections_are_gone(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that sees the end of a connection late is waited for."""
    monkeypatch.setattr(running, "CLOSING_SECONDS", PATIENCE_SECONDS)
    with deployed("tcp", program, tmp_path) as deployment:
        server = deployment.nodes[0].server
        sockets = count_sockets(server.process)
        with server.closed_connections(), socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(server.socket))
            connection.sendall(b"PING\r\n")
            connection.recv(64)
            assert count_sockets(server.process) == sockets + 1
            os.kill(server.process, signal.SIGSTOP)
            threading.Timer(SHORT_SECONDS, os.kill, (server.process, signal.SIGCONT)).start()
        assert count_sockets(server.process) == sockets


def test_each_node_has_a_launch_of_its_own(program: Path, tmp_path: Path) -> None:
    def launch(index: int, directory: Path) -> Launch:
        assert directory.is_dir()
        script = f'echo "{index} $GIVEN" > launched; exec "$@"'
        return Launch(prefix=["sh", "-c", script, "prefix"], environment={"GIVEN": directory.name})

    with deployed("replicas-1", program, tmp_path, node_launch=launch) as deployment:
        launched = [(node.directory / "launched").read_text() for node in deployment.nodes]
    assert launched == ["0 primary-1\n", "1 replica-1\n"]


def test_a_fault_inside(program: Path, tmp_path: Path) -> None:
    def fail() -> None:
        with deployed("replicas-2", program, tmp_path):
            assert len(running_below(tmp_path)) >= 3
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()


def test_one_node_that_cannot_start(program: Path, tmp_path: Path) -> None:
    def launch(index: int, directory: Path) -> Launch:
        return Launch(prefix=["false"] if index == 2 else [])

    with (
        pytest.raises(TrialFailed, match=r"^replica-2: the server did not start; the server died"),
        deployed("replicas-2", program, tmp_path, node_launch=launch),
    ):
        pass
    assert sorted(log.name for log in (tmp_path / "logs").iterdir()) == [
        "primary-1.log",
        "replica-1.log",
        "replica-2.log",
    ]


def test_a_setting_that_the_server_refuses(program: Path, tmp_path: Path) -> None:
    with (
        pytest.raises(TrialFailed, match=r"^primary-1: the server did not start") as caught,
        deployed("tcp", program, tmp_path, settings={"no-such-setting": "1"}),
    ):
        pass
    assert "no-such-setting" in caught.value.details


def test_a_server_that_is_lost_meanwhile(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "DYING_SECONDS", PATIENCE_SECONDS)
    with deployed("replicas-1", program, tmp_path) as deployment:
        psutil.Process(deployment.replicas[0].process).kill()
        with pytest.raises(TrialFailed, match=r"^replica-1: the server was lost.*SIGKILL"):
            deployment.wait_for_replicas()


def test_what_a_replica_lacks(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with deployed("replicas-1", program, tmp_path) as deployment:
        monkeypatch.setattr(replication, "REPLICATION_SECONDS", SHORT_SECONDS)
        deployment.primaries[0].command("REPLICAOF", "127.0.0.1", "1")
        deployment.replicas[0].command("REPLICAOF", "NO", "ONE")
        with pytest.raises(TrialFailed, match=r"^replica-1: it is no replica after 0.2 s"):
            deployment.wait_for_replicas()
        deployment.replicas[0].command("REPLICAOF", "127.0.0.1", "1")
        log = deployment.replicas[0].server.log
        wait_until(lambda: "Connection refused" in log.read_text())
        with pytest.raises(TrialFailed, match=r"^replica-1: its link to the primary is down after 0.2 s") as caught:
            deployment.wait_for_replicas()
        assert "Connection refused" in caught.value.details


def test_what_a_cluster_lacks(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lack = "its cluster_state is fail, with 16383 of 16383 slots"

    def wait_until_settled(lacking: Callable[[], tuple[node.Node, str] | None], seconds: float) -> None:
        """Wait for no longer once the nodes know of each other, which takes as long as it takes."""
        wait_until(lambda: (lacked := lacking()) is None or lacked[1] == lack)
        node.wait_until(lacking, SHORT_SECONDS)

    monkeypatch.setattr(cluster, "SLOTS", cluster.SLOTS - 1)
    monkeypatch.setattr(cluster, "wait_until", wait_until_settled)
    with (
        pytest.raises(TrialFailed, match=rf"^primary-1: {lack} after {SHORT_SECONDS} s"),
        deployed("cluster-3", program, tmp_path),
    ):
        pass


@contextmanager
def taken_port(port: int = 0) -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind((ports.ADDRESS, port))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_port_that_is_taken_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nobody else takes ports of this one.
    monkeypatch.setattr(ports, "ADDRESS", "127.77.77.77")
    with taken_port(ports.free_port(with_bus=True)) as port:
        monkeypatch.setattr(ports, "PORTS", range(port, port + 1))
        with pytest.raises(EnvironmentMissing, match="no free port"):
            ports.free_port()
    assert ports.free_port(with_bus=True) == port
    with taken_port(port + ports.BUS_OFFSET):
        assert ports.free_port() == port
        with pytest.raises(EnvironmentMissing, match="no free port"):
            ports.free_port(with_bus=True)


@pytest.mark.parametrize("offset", [0, ports.BUS_OFFSET])
def test_a_port_that_is_taken_in_between(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offset: int
) -> None:
    chosen = ports.free_port
    monkeypatch.setattr(network, "network_missing", lambda: "the ports of the machine are wanted")
    with taken_port(chosen(with_bus=True) + offset) as taken:
        waiting = [taken - offset]
        monkeypatch.setattr(ports, "free_port", lambda **how: waiting.pop() if waiting else chosen(**how))
        with deployed("cluster-3", program, tmp_path) as deployment:
            assert waiting == []
            assert taken - offset not in [one.port for one in deployment.nodes]
            assert node.PORT_TAKEN not in deployment.nodes[0].server.log.read_text()


def test_a_port_that_is_taken_each_time(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "network_missing", lambda: "the ports of the machine are wanted")
    with taken_port() as taken:
        monkeypatch.setattr(ports, "free_port", lambda **how: taken)
        with (
            pytest.raises(TrialFailed, match=r"^primary-1: the server did not start") as caught,
            deployed("tcp", program, tmp_path),
        ):
            pass
    assert node.PORT_TAKEN in caught.value.details


@pytest.mark.parametrize(
    "log_end",
    # The ends of the logs of Redis 5.0.14 and Valkey 8.0.1, built with `make`.
    [">>> 'tls-port \"17615\"'\nBad directive or wrong number of arguments", "# Failed finding TLS support."],
)
def test_a_server_without_tls(tmp_path: Path, log_end: str) -> None:
    script = tmp_path / "redis-server"
    script.write_text(f"#!/bin/sh\ncat <<'END'\n{log_end}\nEND\nexit 1\n")
    script.chmod(0o755)
    with (
        pytest.raises(TrialFailed, match=r"^primary-1: the server was built without TLS") as caught,
        deployed("tls", script, tmp_path),
    ):
        pass
    assert "BUILD_TLS=yes" in caught.value.hint


def test_the_nodes_share_the_memory_of_one_server(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Limits] = []

    def noted(directory: Path, servers: int) -> Limits:
        given.append(server_limits(directory, servers))
        return given[-1]

    monkeypatch.setattr(running, "server_limits", noted)
    with deployed("cluster-3", program, tmp_path):
        together = sum(limits.memory_bytes or 0 for limits in given)
    assert len(given) == 3
    assert together <= (server_limits(tmp_path).memory_bytes or 0)
