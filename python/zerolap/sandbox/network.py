"""A private network for servers that are reached over the loopback, and for their clients."""

import contextlib
import functools
import os
import shutil
import subprocess
from collections.abc import Iterator

from zerolap.records import EnvironmentMissing
from zerolap.sandbox.confinement import Confinement, Network, SandboxPolicy, available
from zerolap.sandbox.limits import descendants
from zerolap.sandbox.process import Process, is_readable, launch

READY_SECONDS = 20
TRY_SECONDS = 10
HOLD = "echo ready; read end"


@contextlib.contextmanager
def private_network(policy: SandboxPolicy) -> Iterator[Network]:
    """Create a network that has only a loopback; it ends with the context.

    If that is not possible, `SandboxPolicy.UNSAFE` uses the machine's network; otherwise raises `EnvironmentMissing`.
    """
    reason = network_missing()
    if reason is not None:
        if policy is SandboxPolicy.REQUIRED:
            raise EnvironmentMissing(
                f"no private network for the servers of this topology: {reason}",
                hint="choose a topology on unix sockets, or use the machine's network with `--unsafe-no-sandbox`",
            )
        yield Network()
        return
    with _holding() as network:
        yield network


@functools.cache
def network_missing() -> str | None:
    """Return why a network cannot be created or entered, determined by trying it; None if it can."""
    if (reason := available()) is not None:
        return reason
    if shutil.which("nsenter") is None:
        return "`nsenter` is not installed"
    try:
        with _holding() as network:
            entered = network.command(["true"])
            done = subprocess.run(entered, capture_output=True, text=True, timeout=TRY_SECONDS, check=False)
    except (EnvironmentMissing, OSError, subprocess.TimeoutExpired) as fault:
        return str(fault)
    return None if done.returncode == 0 else f"it cannot be entered: {done.stderr.strip()}"


@contextlib.contextmanager
def _holding() -> Iterator[Network]:
    """Keep a process with its own network namespace, whose loopback is up, until the context ends."""
    confinement = Confinement(holds_network=True)
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    with launch(["sh", "-c", HOLD], environment=environment, confinement=confinement, piped=True) as process:
        _wait_until_ready(process)
        machine_network = os.readlink("/proc/self/ns/net")
        for number in descendants(process.number):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{number}/ns/net") != machine_network:
                    yield Network(number)
                    return
        raise EnvironmentMissing("bubblewrap made no network namespace")


def _wait_until_ready(process: Process) -> None:
    if process.stdout is None or not is_readable(process.stdout, READY_SECONDS):
        raise EnvironmentMissing("a network namespace was not ready in time")
    if not process.stdout.readline():
        raise EnvironmentMissing("bubblewrap cannot make a network namespace")
