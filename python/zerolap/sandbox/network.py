"""A network of its own for servers that have to be reached over the loopback, and for those who reach them."""

import contextlib
import functools
import os
import select
import shutil
import subprocess
from collections.abc import Iterator

from zerolap.records import EnvironmentMissing
from zerolap.sandbox.confinement import Confinement, Network, SandboxPolicy, available
from zerolap.sandbox.limits import descendants
from zerolap.sandbox.process import Process, launch

READY_SECONDS = 20
TRY_SECONDS = 10
HOLD = "echo ready; read end"


@contextlib.contextmanager
def private_network(policy: SandboxPolicy) -> Iterator[Network]:
    """Make a network that has a loopback and nothing else; it ends with the context.

    Where none can be made, `SandboxPolicy.UNSAFE` takes the machine's. Raises `EnvironmentMissing` otherwise.
    """
    reason = network_missing()
    if reason is not None:
        if policy is SandboxPolicy.REQUIRED:
            raise EnvironmentMissing(
                f"no network of their own for the servers of this topology: {reason}",
                hint="choose a topology on unix sockets, or give them the machine's network by `--unsafe-no-sandbox`",
            )
        yield Network()
        return
    with _holding() as network:
        yield network


@functools.cache
def network_missing() -> str | None:
    """Return why no network can be made or entered here, tried by doing it; none if it can."""
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
    """Start a process that has a network namespace of its own, with its loopback up, until the context ends."""
    confinement = Confinement(holds_network=True)
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    with launch(["sh", "-c", HOLD], environment=environment, confinement=confinement, piped=True) as process:
        _wait_until_ready(process)
        own = os.readlink("/proc/self/ns/net")
        for number in descendants(process.number):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{number}/ns/net") != own:
                    yield Network(number)
                    return
        raise EnvironmentMissing("bubblewrap made no network namespace")


def _wait_until_ready(process: Process) -> None:
    if process.stdout is None or not select.select([process.stdout], [], [], READY_SECONDS)[0]:
        raise EnvironmentMissing("a network namespace was not ready in time")
    if not process.stdout.readline():
        raise EnvironmentMissing("bubblewrap cannot make a network namespace")
