"""Machines of the tests' own: network namespaces that a bridge joins, with processes in them.

They need no network and nothing of the machine's own: also the bridge is in a namespace, and all of it is gone with the
processes that hold it. As another user than root, a namespace of users holds them too.
"""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

PROGRAMS = ("ip", "nsenter", "setpriv", "unshare")
NETWORK = "10.7.0"
HOLD = ["setpriv", "--pdeathsig", "KILL", "sh", "-c", "echo held; exec sleep infinity"]
"""Says when it is in its namespace, and keeps that one until it is killed or the tests end."""


class Machine:
    """A network namespace; processes that are started in it are killed with it."""

    def __init__(self, name: str, address: str, holder: int) -> None:
        self.name = name
        self.address = address
        self._enter = _entering(holder)
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(
        self, command: Sequence[str | Path], log: Path, environment: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        """Start a program, whose output is appended to a file; the number is that of the program itself."""
        with log.open("ab") as output:
            process = subprocess.Popen(
                # The kernel ends it with the tests, also where they are killed.
                [*self._enter, "setpriv", "--pdeathsig", "KILL", *command],
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._processes.append(process)
        return process

    def run(self, *command: str | Path) -> "subprocess.CompletedProcess[str]":
        """Run a program to its end."""
        return subprocess.run([*self._enter, *command], capture_output=True, text=True, check=False)

    def end(self) -> None:
        """Kill what runs in it."""
        for process in self._processes:
            process.kill()
            process.wait()


@contextlib.contextmanager
def joined_machines(hub: str, *others: str, reachable: Collection[str] = ()) -> Iterator[dict[str, Machine]]:
    """Make machines of these names; all reach the hub and those that are `reachable`, and nothing else.

    Skips the test where that is forbidden.
    """
    if missing := [program for program in PROGRAMS if shutil.which(program) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    with contextlib.ExitStack() as stack:
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        bridge = stack.enter_context(_held(["unshare", *user, "--net"]))
        _checked(bridge, "ip link add machines type bridge")
        _checked(bridge, "ip link set machines up")
        machines: dict[str, Machine] = {}
        for number, name in enumerate([hub, *others], start=1):
            holder = stack.enter_context(_held([*_entering(bridge), "unshare", "--net"]))
            port, address = f"port-{number}", f"{NETWORK}.{number}"
            isolated = "off" if name == hub or name in reachable else "on"
            _checked(bridge, f"ip link add {port} type veth peer name eth0 netns {holder}")
            _checked(bridge, f"ip link set {port} master machines up")
            _checked(bridge, f"ip link set {port} type bridge_slave isolated {isolated}")
            _checked(holder, "ip link set lo up")
            _checked(holder, "ip link set eth0 up")
            _checked(holder, f"ip address add {address}/24 dev eth0")
            machines[name] = Machine(name, address, holder)
            stack.callback(machines[name].end)
        yield machines


@contextlib.contextmanager
def _held(entering: Sequence[str]) -> Iterator[int]:
    """Start a process that keeps the namespace that a command makes, and return its number; skips the test."""
    with subprocess.Popen([*entering, *HOLD], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stderr is not None
            if holder.stdout.readline() != "held\n":
                pytest.skip(f"namespaces are not permitted here: {holder.stderr.read().strip()}")
            yield holder.pid
        finally:
            holder.kill()


def _entering(holder: int) -> list[str]:
    """Return the command that runs another one in the namespace of a process."""
    user = [] if os.geteuid() == 0 else [f"--user=/proc/{holder}/ns/user", "--preserve-credentials"]
    return ["nsenter", *user, f"--net=/proc/{holder}/ns/net", "--"]


def _checked(holder: int, command: str) -> None:
    done = subprocess.run([*_entering(holder), *command.split()], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"networks between namespaces are not permitted here: {done.stderr.strip()}")
