"""Processes of the lab: confined where that can be had, known, and gone when they are to be gone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE_SECONDS, command_lines, wait_until

from zerolap.records import EnvironmentMissing
from zerolap.sandbox import Confinement, available, launch

needs_sandbox = pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")


def output_of(script: str, directory: Path, **variables: str) -> str:
    """Return what a shell script prints in a sandbox that may write to a directory."""
    log = directory / "log"
    confinement = Confinement(writable=[directory], directory=directory)
    command = ["sh", "-c", script]
    with launch(
        command, environment={"PATH": "/usr/bin:/bin", **variables}, output=log, confinement=confinement
    ) as child:
        child.wait(PATIENCE_SECONDS)
        return log.read_text()


@needs_sandbox
def test_what_is_seen_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "value")
    (tmp_path / "own").mkdir()
    (tmp_path / "other").write_text("")
    inside = output_of("ls -A / ; env; pwd; ls /proc | grep -c '^[0-9]'; ls -A /tmp", tmp_path / "own", GIVEN="this")
    assert "SECRET" not in inside
    assert "GIVEN=this" in inside
    assert "root" not in inside.splitlines()
    assert "home" not in inside.splitlines()
    assert str(tmp_path / "own") in inside.splitlines()
    assert not (set(inside.splitlines()) & {"other"})


@needs_sandbox
@pytest.mark.parametrize("path", ["/etc/shadow", "/etc/ssh", "/root", "/home", "/var/log", "/sys"])
def test_what_is_not_seen_inside(tmp_path: Path, path: str) -> None:
    assert output_of(f"test -e {path} && echo there", tmp_path) == ""


@needs_sandbox
def test_no_network_and_nothing_else_to_write(tmp_path: Path) -> None:
    interfaces = output_of("cat /proc/net/dev", tmp_path).splitlines()[2:]
    assert [line.split(":")[0].strip() for line in interfaces] == ["lo"]
    (tmp_path / "log").unlink()
    assert "Read-only" in output_of("touch /usr/here", tmp_path)
    output_of("touch here", tmp_path)
    assert (tmp_path / "here").exists()


@needs_sandbox
def test_network_where_it_is_asked_for(tmp_path: Path) -> None:
    own = os.readlink("/proc/self/ns/net")
    for network in (False, True):
        log = tmp_path / f"log-{network}"
        confinement = Confinement(network=network)
        command = ["readlink", "/proc/self/ns/net"]
        with launch(command, environment={"PATH": "/usr/bin:/bin"}, output=log, confinement=confinement) as child:
            assert child.wait(PATIENCE_SECONDS) == 0
        assert (log.read_text().strip() == own) is network


def test_output_and_exit_code(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = "for n in 1 2 3 4 5; do echo line $n; done; echo problem >&2; exit 7"
    with launch(["sh", "-c", script], environment={"PATH": "/usr/bin:/bin"}, output=log) as child:
        assert child.wait(PATIENCE_SECONDS) == 7
        assert child.returncode == 7
        assert child.output_tail(2) == "line 5\nproblem"


def test_a_program_that_does_not_exist() -> None:
    with pytest.raises(EnvironmentMissing, match="no-such-program"):
        launch(["no-such-program"], environment={})


def runs(words: str) -> bool:
    return any(words in line for line in command_lines().values())


@pytest.mark.parametrize("confined", [True, False])
def test_grandchildren_are_stopped_too(tmp_path: Path, confined: bool) -> None:
    marker = f"{100 + os.getpid()}.{int(confined)}77"
    confinement = Confinement(writable=[tmp_path], directory=tmp_path) if confined else None
    script = f"sleep {marker} & sleep {marker}"
    with launch(["sh", "-c", script], environment={"PATH": "/usr/bin:/bin"}, confinement=confinement):
        wait_until(lambda: runs(f"sleep {marker}"))
    wait_until(lambda: not runs(marker))


def test_stop_all_stops_and_lets_nothing_start(tmp_path: Path) -> None:
    marker = f"{100 + os.getpid()}.99"
    script = f"""
from zerolap.records import Interrupted
from zerolap.sandbox import launch, stop_all

running = [launch(["sleep", "{marker}"], environment={{"PATH": "/usr/bin:/bin"}}) for _ in range(3)]
stop_all()
assert all(process.returncode is not None for process in running)
try:
    launch(["true"], environment={{"PATH": "/usr/bin:/bin"}})
except Interrupted:
    print("none starts")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout == "none starts\n", done.stderr
    wait_until(lambda: not runs(marker))
