"""Builds that do harm fail alone: the lab, its machine and the next build go on as if they had not been."""

import json
import os
import shutil
import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from sources import tree_source
from waiting import command_lines, wait_until

from zerolap.build import Builder
from zerolap.records import BuildFailed
from zerolap.sandbox import Limits, available, scratch

pytestmark = pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")

HOSTILE = Path(__file__).parent / "hostile"
MIB = 1 << 20
LIMITS = Limits(memory_bytes=256 * MIB, processes=64, disk_bytes=64 * MIB, seconds=300)
DEVICES_OF_ALL = {"null", "zero", "full", "random", "urandom", "tty", "console", "ptmx"}
"""Devices that do nothing to the machine: these a sandbox has as well."""


class Lab:
    """A lab in a directory, and beside it a process of the machine that no build may disturb."""

    def __init__(self, directory: Path, canary: "subprocess.Popen[bytes]") -> None:
        self.directory = directory
        self.builds = directory / "builds"
        self.canary = canary
        self._trees = 0

    def build(self, attack: str, limits: Limits = LIMITS, **known: str | int) -> Path:
        """Build a tree with an attack, which is told what is known of the machine, and return the program.

        What is known is in the form of the language: texts are in quotes.
        """
        self._trees += 1
        tree = self.directory / f"tree-{self._trees}"
        shutil.copytree(HOSTILE / "src", tree / "src")
        shutil.copy(HOSTILE / "attacks" / f"{attack}.c", tree / "src" / "attack.c")
        defined = [f"#define {name} {value}\n" for name, value in known.items()]
        (tree / "src" / "known.h").write_text("".join(defined))
        return Builder(self.builds, limits=limits).build(tree_source(attack, tree)).program.path

    def refuses(self, attack: str, **known: str | int) -> str:
        """Build a tree whose attack reports what it reached; return the report if that is nothing."""
        with pytest.raises(BuildFailed, match="does not build") as failed:
            self.build(attack, LIMITS, **known)
        report = failed.value.details
        assert "REACHED" not in report, report
        assert "reached 0 in " in report, report
        self.goes_on()
        return report

    def stops(self, attack: str, limit: str, limits: Limits, **known: str | int) -> None:
        """Build a tree whose attack is to end at a limit."""
        with pytest.raises(BuildFailed, match=f"does not build: it reached its limit of {limit}") as failed:
            self.build(attack, limits, **known)
        assert "REACHED" not in failed.value.details, failed.value.details
        self.goes_on()

    def goes_on(self) -> None:
        """Check that nothing of a build is left, that the machine's processes live, and that others build."""
        assert self.canary.poll() is None
        assert [path.name for path in self.builds.iterdir() if path.name.startswith("w-")] == []
        shutil.rmtree(self.builds)
        program = self.build("nothing")
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        assert "v=1.0.0" in said


@pytest.fixture
def lab(compiler: None, tmp_path: Path) -> Iterator[Lab]:
    # The marker is in its command line.
    canary = subprocess.Popen(["sleep", f"{1000 + os.getpid()}.75"])
    try:
        yield Lab(tmp_path, canary)
    finally:
        canary.kill()
        canary.wait()


def text(value: object) -> str:
    """Return a text as C has it."""
    return json.dumps(str(value))


def texts(values: list[Path] | list[str]) -> str:
    return ", ".join(map(text, values))


def test_a_build_does_not_reach_the_network(lab: Lab) -> None:
    name = f"zerolap-test-{os.getpid()}"
    with ExitStack() as opened:
        listening = [
            opened.enter_context(socket.socket(family, socket.SOCK_STREAM))
            for family in (socket.AF_INET, socket.AF_UNIX, socket.AF_UNIX)
        ]
        listening[0].bind(("127.0.0.1", 0))
        listening[1].bind(str(lab.directory / "socket"))
        listening[2].bind(f"\0{name}")
        for server in listening:
            server.listen()
            server.setblocking(False)
        report = lab.refuses(
            "network",
            TCP_PORT=listening[0].getsockname()[1],
            SOCKET_FILE=text(lab.directory / "socket"),
            ABSTRACT_NAME=text(name),
        )
        for server in listening:
            with pytest.raises(BlockingIOError):
                server.accept()
    assert "its own loopback works" in report


def test_a_build_does_not_reach_the_files_of_the_lab(lab: Lab) -> None:
    other = lab.build("nothing").parent
    home = lab.directory / "home"
    home.mkdir()
    files = [other / "server", other / "build.json", lab.directory / "store.db", home / "notes"]
    for file in files[2:]:
        file.write_text("of the lab")
    before = {file: file.read_bytes() for file in files}
    listed = sorted(lab.directory.rglob("*"))
    known = {"FILES": texts(files), "BUILDS": text(lab.builds), "DIRECTORY": text(lab.directory)}
    with pytest.raises(BuildFailed) as failed:
        lab.build("files", LIMITS, **known)
    assert "reached 0 in " in failed.value.details, failed.value.details
    assert {file: file.read_bytes() for file in files} == before
    assert [path for path in sorted(lab.directory.rglob("*")) if "tree-2" not in path.parts] == listed
    lab.goes_on()


def test_a_build_does_not_reach_credentials(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    secret, home = "zerolap-secret-5d1f", lab.directory / "home"
    files = [home / name for name in (".ssh/id_ed25519", ".netrc", ".aws/credentials", ".config/zerolap/agent.json")]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(secret)
    variables = ["AWS_SECRET_ACCESS_KEY", "ZEROLAP_TOKEN", "GITHUB_TOKEN", "SSH_AUTH_SOCK"]
    for variable in variables:
        monkeypatch.setenv(variable, secret)
    monkeypatch.setenv("HOME", str(home))
    system = ["/etc/shadow", "/etc/ssh", "/etc/ssl/private"]
    with socket.socket(socket.AF_UNIX) as agent:
        agent.bind(str(lab.directory / "agent"))
        agent.listen()
        lab.refuses(
            "credentials",
            SECRET=text(secret),
            FILES=texts([*map(str, files), *system]),
            VARIABLES=texts(variables),
            AGENT_SOCKET=text(lab.directory / "agent"),
        )


def test_a_build_does_not_reach_other_processes(lab: Lab) -> None:
    lab.refuses(
        "processes",
        MARKER=text(lab.canary.args[1] if isinstance(lab.canary.args, list) else ""),
        CANARY=lab.canary.pid,
        LAB=os.getpid(),
        NUMBERS=text(os.readlink("/proc/self/ns/pid")),
    )
    assert os.getpriority(os.PRIO_PROCESS, lab.canary.pid) == os.getpriority(os.PRIO_PROCESS, 0)


def test_a_build_does_not_reach_devices(lab: Lab) -> None:
    settings = Path("/proc/sys/kernel/core_pattern")
    before = settings.read_text()
    lab.refuses("devices", DEVICES=texts(devices_of_the_machine()))
    assert settings.read_text() == before


def devices_of_the_machine() -> list[Path]:
    found = []
    for device in Path("/dev").iterdir():
        mode = device.lstat().st_mode
        if (stat.S_ISBLK(mode) or stat.S_ISCHR(mode)) and device.name not in DEVICES_OF_ALL:
            found.append(device)
    return found


@pytest.mark.slow
def test_a_build_does_not_outlive_its_job(lab: Lab) -> None:
    marker = f"zerolap-daemon-{os.getpid()}"

    def is_gone() -> bool:
        return not any(marker in line for line in command_lines().values())

    program = lab.build("daemon", MARKER=text(marker), NEVER_ENDS=0)
    assert program.is_file()
    wait_until(is_gone)
    lab.goes_on()
    lab.stops("daemon", "3 s", replace(LIMITS, seconds=3), MARKER=text(marker), NEVER_ENDS=1)
    wait_until(is_gone)


def test_a_build_that_forks_without_end(lab: Lab) -> None:
    lab.stops("forks", "40 processes", replace(LIMITS, processes=40), HARMLESS=1000)
    wait_until(lambda: not any("./attack" in line for line in command_lines().values()))


def test_a_build_that_fills_memory_and_disk(lab: Lab) -> None:
    lab.stops("memory", "128 MiB of memory", replace(LIMITS, memory_bytes=128 * MIB), HARMLESS=512 * MIB)
    lab.stops("disk", "16 MiB of disk space", replace(LIMITS, disk_bytes=16 * MIB), HARMLESS=256 * MIB)


def test_a_build_that_nests_directories(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    # What it has left would be removed, and removed again, by all later builds.
    monkeypatch.setattr(scratch, "YOUNG_SECONDS", -1)
    assert lab.build("nests", LEVELS=1500).is_file()
    lab.goes_on()
