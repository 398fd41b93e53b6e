"""Processes of the lab: confined where that can be had, known, and gone when they are to be gone."""

import os
import threading
import time
from pathlib import Path

import pytest

from zerolap.records import EnvironmentMissing, Interrupted, TrialFailed
from zerolap.sandbox import Cancellation, Confinement, Process, available, current_cancellation, launch

needs_sandbox = pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")


def output_of(script: str, directory: Path, **variables: str) -> str:
    """Return what a shell script prints in a sandbox that may write to a directory."""
    log = directory / "log"
    confinement = Confinement(writable=[directory], directory=directory)
    command = ["sh", "-c", script]
    with launch(
        command, environment={"PATH": "/usr/bin:/bin", **variables}, output=log, confinement=confinement
    ) as child:
        child.wait(30)
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
            assert child.wait(30) == 0
        assert (log.read_text().strip() == own) is network


def test_output_and_exit_code(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = "for n in 1 2 3 4 5; do echo line $n; done; echo problem >&2; exit 7"
    with launch(["sh", "-c", script], environment={"PATH": "/usr/bin:/bin"}, output=log) as child:
        assert child.wait(30) == 7
        assert child.returncode == 7
        assert child.output_tail(2) == "line 5\nproblem"


def test_a_program_that_does_not_exist() -> None:
    with pytest.raises(EnvironmentMissing, match="no-such-program"):
        launch(["no-such-program"], environment={})


def alive(marker: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker in path.read_bytes().decode(errors="replace"):
                return True
        except OSError:
            continue
    return False


def wait_until_gone(marker: str) -> None:
    end = time.monotonic() + 20
    while alive(marker):
        assert time.monotonic() < end
        time.sleep(0.02)


def wait_until_there(marker: str) -> None:
    end = time.monotonic() + 20
    while not alive(marker):
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("confined", [True, False])
def test_grandchildren_are_stopped_too(tmp_path: Path, confined: bool) -> None:
    marker = f"{100 + os.getpid()}.{int(confined)}77"
    confinement = Confinement(writable=[tmp_path], directory=tmp_path) if confined else None
    script = f"sleep {marker} & sleep {marker}"
    with launch(["sh", "-c", script], environment={"PATH": "/usr/bin:/bin"}, confinement=confinement):
        wait_until_there(f"sleep\0{marker}")
    wait_until_gone(marker)


def launched_sleep(marker: str) -> Process:
    return launch(["sleep", marker], environment={"PATH": "/usr/bin:/bin"})


def test_a_cancellation_ends_its_own_processes_and_lets_none_start() -> None:
    marker, other_marker = f"{100 + os.getpid()}.99", f"{100 + os.getpid()}.98"
    cancelled, other = Cancellation(), Cancellation()
    with other.current():
        untouched = launched_sleep(other_marker)
    with cancelled.current():
        running = [launched_sleep(marker) for _ in range(3)]
        canceller = threading.Thread(target=cancelled.cancel)
        canceller.start()
        with pytest.raises(Interrupted):
            running[0].wait(30)
        canceller.join()
        assert all(process.returncode is not None for process in running)
        with pytest.raises(Interrupted):
            launched_sleep(marker)
        cancelled.cancel()
    assert cancelled.is_cancelled
    assert not alive(marker)
    with other.current(), untouched, launched_sleep(other_marker) as another:
        assert (untouched.returncode, another.returncode) == (None, None)


def test_a_cancellation_is_left_with_its_context() -> None:
    inner = Cancellation()
    outer = current_cancellation()
    with inner.current():
        assert current_cancellation() is inner
    assert current_cancellation() is outer


def test_what_fails_because_its_process_was_killed_was_interrupted() -> None:
    cancellation = Cancellation()

    def lose_the_server() -> None:
        with cancellation.current(), launched_sleep("100"):
            cancellation.cancel()
            raise TrialFailed("the server was lost")

    with pytest.raises(Interrupted) as caught:
        lose_the_server()
    assert isinstance(caught.value.__cause__, TrialFailed)


def test_a_sleep_ends_when_it_is_cancelled() -> None:
    cancellation = Cancellation()
    assert not cancellation.wait(0)
    cancellation.require_going_on()
    canceller = threading.Timer(0.05, cancellation.cancel)
    canceller.start()
    assert cancellation.wait(3600)
    canceller.join()
    with pytest.raises(Interrupted):
        cancellation.require_going_on()
