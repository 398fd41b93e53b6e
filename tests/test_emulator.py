"""Emulated machines: what becomes of guests that err, panic, hang or flood. A shell script plays the emulator.

A machine is booted only where QEMU is installed and a kernel is named by `ZEROLAP_GUEST_KERNEL`.
"""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from waiting import wait_until

from zerolap.build import Program
from zerolap.engines import EmulatedTrial, emulator
from zerolap.engines.emulated_fork import emulated_fork
from zerolap.engines.emulator import EmulatedMachine, emulate
from zerolap.errors import EnvironmentMissing, Interrupted, TrialFailed
from zerolap.sandbox import Cancellation, SandboxPolicy

KERNEL = os.environ.get("ZEROLAP_GUEST_KERNEL", "")


def machine_of(directory: Path, seconds: float = 60.0) -> EmulatedMachine:
    (directory / "kernel").touch()
    (directory / "ramdisk").touch()
    return EmulatedMachine(directory / "kernel", directory / "ramdisk", 64 << 20, seconds)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The directory of the machine's files."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def played(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let a script, whose `$0` is the file of the console, be the emulator."""
    monkeypatch.setattr(emulator, "_command", lambda _, console: ["/bin/sh", "-c", script, str(console)])


def run(directory: Path, seconds: float = 60.0) -> dict[str, int]:
    return emulate(machine_of(directory, seconds), directory / "work", policy=SandboxPolicy.UNSAFE)


@pytest.mark.usefixtures("work")
def test_values_of_a_guest_are_returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played(monkeypatch, "echo requests 7; echo end 1; sleep 1")
    assert run(tmp_path) == {"requests": 7, "end": 1}


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo error the server could not save; sleep 60", "in the emulated machine: the server could not save"),
        ("echo 'Kernel panic - not syncing' > $0; exit 0", "stopped before its guest was done"),
        ("echo requests seven; sleep 60", "not a name and a number"),
        ("while :; do echo filled_keys 1; done", "more than 1 MiB of results"),
        ("head -c 5000 /dev/zero | tr '\\0' x; sleep 60", "lines of more than"),
    ],
)
def test_what_a_guest_does_wrong_is_a_failed_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    monkeypatch.setattr(emulator, "STOP_SECONDS", 0.1)
    played(monkeypatch, f"echo booted > $0; {script}")
    with pytest.raises(TrialFailed, match=message) as failed:
        run(tmp_path)
    assert any(words in failed.value.details for words in ("booted", "Kernel panic"))


@pytest.mark.usefixtures("work")
def test_a_guest_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played(monkeypatch, "echo started 1; echo waiting for nothing > $0; sleep 600")
    with pytest.raises(TrialFailed, match="did not end within") as failed:
        run(tmp_path, seconds=1.0)
    assert "waiting for nothing" in failed.value.details


@pytest.mark.usefixtures("work")
def test_a_console_that_floods_ends_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulator, "MOST_CONSOLE_BYTES", 1 << 16)
    played(monkeypatch, "exec cat /dev/zero > $0")
    with pytest.raises(TrialFailed, match="stopped before its guest was done"):
        run(tmp_path)


@pytest.mark.usefixtures("work")
def test_a_cancelled_machine_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played(monkeypatch, "echo started > $0; sleep 600")
    cancellation = Cancellation()

    def cancel_once_started() -> None:
        wait_until(lambda: _has_started(tmp_path))
        cancellation.cancel()

    with ThreadPoolExecutor() as other, cancellation.current():
        other.submit(cancel_once_started)
        with pytest.raises(Interrupted):
            emulate(machine_of(tmp_path), tmp_path / "work", SandboxPolicy.UNSAFE)


def _has_started(directory: Path) -> bool:
    console = directory / "work" / "console.log"
    return console.exists() and "started" in console.read_text()


def test_without_the_emulator_its_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentMissing) as missing:
        emulator.require_emulator()
    assert missing.value.hint == "apt-get install qemu-system-x86"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed")
def test_a_machine_ends_with_a_lab_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from zerolap.engines import emulator; from zerolap.sandbox import SandboxPolicy\n"
        "script = 'echo started > $0; exec sleep 987'\n"
        "emulator._command = lambda machine, console: ['/bin/sh', '-c', script, str(console)]\n"
        "there = Path(sys.argv[1]); (there / 'kernel').touch(); (there / 'ramdisk').touch()\n"
        "machine = emulator.EmulatedMachine(there / 'kernel', there / 'ramdisk', 1 << 26, 600.0)\n"
        "(there / 'work').mkdir()\n"
        "emulator.emulate(machine, there / 'work', SandboxPolicy.UNSAFE)\n"
    )
    lab = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    wait_until(lambda: _has_started(tmp_path))
    lab.kill()
    lab.wait()
    wait_until(lambda: not _named(str(tmp_path)))


def _named(text: str) -> list[str]:
    """Return the processes whose command line has a text."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if text in line and str(os.getpid()) != path.parent.name:
            lines.append(line)
    return lines


@pytest.mark.slow
@pytest.mark.skipif(shutil.which(emulator.EMULATOR) is None, reason="QEMU is not installed")
@pytest.mark.skipif(
    not KERNEL, reason="ZEROLAP_GUEST_KERNEL names no kernel: those that the lab builds lie in `kernels`"
)
@pytest.mark.usefixtures("redis_server")
def test_two_machines_count_the_same(tmp_path: Path) -> None:
    program = Program(Path(shutil.which("redis-server") or "redis-server"))
    trial = EmulatedTrial(program, {}, "copy", None, 8 << 20, seed=1)
    counts = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        counts.append(emulated_fork(trial, Path(KERNEL), tmp_path, tmp_path / name))
    assert counts[0] == counts[1]
    assert counts[0]["dump_keys"] == trial.keys
    assert counts[0]["dump_values_wrong"] == 0
    assert counts[0]["wait_server_longest"] <= counts[0]["wait_ticks_longest"]
