"""The commands by which docs/fleet.md sets a fleet up, carried out as they stand there, on this machine."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from free_ports import free_port
from nats_server import required_program
from waiting import wait_until

from zerolap.sandbox.confinement import available
from zerolap.store import Store

PAGE = Path(__file__).parent.parent / "docs" / "fleet.md"
SECTION = re.compile(r"^## Setting up\n(.*?)^### ", re.MULTILINE | re.DOTALL)
SERVING = ("nats-server", "zerolap serve", "zerolap agent join")
ADDRESS = "lab.example.org"
AGENTS = ("bench-1", "build-1")

pytestmark = pytest.mark.slow


def commands() -> list[str]:
    """Return the commands of the section; this machine has another address, and may use the ports already."""
    section = SECTION.search(PAGE.read_text())
    assert section is not None
    bus, files = free_port(), free_port()
    lines = [line.strip() for line in section[1].splitlines() if line.startswith("    ")]
    replaced = {ADDRESS: "localhost", ":4222": f":{bus}", ":7480": f":{files}", "0.0.0.0": "127.0.0.1"}
    for old, new in replaced.items():
        lines = [line.replace(old, new) for line in lines]
    return lines


class Terminal:
    """Runs commands in a directory; those that serve go on until the end."""

    def __init__(self, directory: Path, program: Path) -> None:
        self._directory = directory
        path = os.pathsep.join([str(Path(sys.executable).parent), str(program.parent), os.environ["PATH"]])
        self._environment = {**os.environ, "PATH": path, "TMPDIR": str(directory)}
        self._serving: list[tuple[str, subprocess.Popen[bytes]]] = []

    def run(self, command: str) -> str:
        """Run a command and return its output."""
        ended = self.end_of(command)
        assert ended.returncode == 0, ended
        return ended.stdout

    def end_of(self, command: str) -> "subprocess.CompletedProcess[str]":
        """Run a command and return how it ended."""
        words, environment = shlex.split(command), self._environment
        return subprocess.run(words, cwd=self._directory, env=environment, capture_output=True, text=True, check=False)

    def start(self, command: str) -> None:
        """Start a command that goes on."""
        log = self._directory / f"log-{len(self._serving)}"
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *shlex.split(command)],
                cwd=self._directory,
                env=self._environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._serving.append((command, process))

    def check(self) -> None:
        """Assert that all that was started goes on."""
        for number, (command, process) in enumerate(self._serving):
            assert process.poll() is None, (command, (self._directory / f"log-{number}").read_text())

    def log(self, number: int) -> str:
        """Return what a command has written that was started."""
        return (self._directory / f"log-{number}").read_text()

    def stop(self) -> None:
        """End all that was started, the last one first."""
        for _, process in reversed(self._serving):
            process.send_signal(signal.SIGTERM)
            process.wait()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    program = required_program()
    if (reason := available()) is not None:
        pytest.skip(reason)
    terminal = Terminal(tmp_path, program)
    yield terminal
    terminal.stop()


def complaints(terminal: Terminal, *units: Path) -> list[str]:
    """Return what systemd has against units, none where it is not installed; nats-server may be elsewhere."""
    if shutil.which("systemd-analyze") is None:
        return []
    verified = terminal.end_of(f"systemd-analyze verify {' '.join(map(str, units))}")
    # It also looks at the machine's own units.
    of_units = [line for line in verified.stderr.splitlines() if any(unit.name in line for unit in units)]
    return [line for line in of_units if "nats-server" not in line]


def test_the_commands_of_the_page_set_up_a_conductor_and_two_agents(terminal: Terminal, tmp_path: Path) -> None:
    *set_up, join, status = commands()
    assert len(set_up) + 2 == 6
    assert join.startswith("zerolap agent join ")
    printed = ""
    for command in set_up:
        if command.startswith(SERVING):
            terminal.start(command)
            if command.startswith("zerolap serve"):
                wait_until(lambda: '"event": "working"' in terminal.log(1), terminal.check)
        else:
            printed = terminal.run(command)
    joins = printed.splitlines()
    assert [line.rpartition(" ")[0] for line in joins] == [join.partition(" zj_")[0]] * 2
    for line in joins:
        terminal.start(f"{line}{join.partition('…')[2]}")

    def idle() -> int:
        return terminal.run(f"{status} --json -").count('"state": "idle"')

    wait_until(lambda: idle() == 2, terminal.check)
    assert "idle" in terminal.run(status)
    unit = (tmp_path / "bench-1" / "zerolap-agent-bench-1.service").read_text()
    assert f"WorkingDirectory={tmp_path}/bench-1\n" in unit
    assert not re.search(r"@[A-Z_]+@", unit)
    assert complaints(terminal, tmp_path / "bench-1" / "zerolap-agent-bench-1.service") == []
    # The private keys are on the machines of the agents alone.
    seeds = re.findall(r'key = "(SU\w+)"', "".join((tmp_path / name / "agent.toml").read_text() for name in AGENTS))
    assert len(set(seeds)) == 2
    files = [path.read_bytes() for path in (tmp_path / "fleet").rglob("*") if path.is_file()]
    assert not any(seed.encode() in content for seed in seeds for content in files)
    again = terminal.end_of(joins[0])
    assert (again.returncode, "used already" in again.stderr) == (2, True)
    other_fleet = terminal.end_of(f"{joins[0].rpartition('.')[0]}.{'A' * 43}")
    assert (other_fleet.returncode, "is not the fleet of this token" in other_fleet.stderr) == (2, True)
    with Store.open(str(tmp_path / "store")) as store:
        assert {agent.name for agent in store.fleet.agents()} == set(AGENTS)
    before = (tmp_path / "build-1" / "agent.toml").read_text()
    terminal.run(f"{terminal.run('zerolap fleet rotate build-1 --store store').strip()} --directory build-1")
    assert (tmp_path / "build-1" / "agent.toml").read_text() != before
    assert terminal.run("zerolap fleet revoke bench-1").startswith("bench-1 does not belong to the fleet any more\n")
    wait_until(lambda: "an agent was revoked" in terminal.log(1), terminal.check)


def test_units_have_the_paths_of_the_machine(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run(f"{commands()[0]} --triggers triggers.toml")
    units = sorted((tmp_path / "fleet" / "units").iterdir())
    assert [unit.name for unit in units] == ["zerolap-bus.service", "zerolap-serve.service"]
    bus, serve = (unit.read_text() for unit in units)
    assert f"nats-server -c {tmp_path}/fleet/nats.conf\n" in bus
    assert f"serve --fleet {tmp_path}/fleet --listen 0.0.0.0:" in serve
    assert f"--store {tmp_path}/store --triggers {tmp_path}/triggers.toml\n" in serve
    assert not re.search(r"@[A-Z_]+@", bus + serve)
    assert complaints(terminal, *units) == []
