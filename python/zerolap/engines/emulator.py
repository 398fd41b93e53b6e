"""A machine that QEMU emulates so that its time stamp counter counts instructions, and equal runs are equal."""

import contextlib
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from zerolap.engines.guest_output import GuestOutput, GuestRefused
from zerolap.records import EnvironmentMissing, TrialFailed
from zerolap.sandbox import Confinement, Limits, SandboxPolicy, current_cancellation, is_readable, launch

EMULATOR: Final = "qemu-system-x86_64"
PACKAGE: Final = "qemu-system-x86"
EMULATED_MACHINE: Final = "pc-i440fx-6.2"
"""A fixed version, which other versions of QEMU emulate alike; later machines hand a random seed to the kernel."""
EMULATED_PROCESSOR: Final = "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt"
"""A fixed processor without `rdrand`, which is random, and `erms`, with which QEMU counts an instruction for each
copied byte.
"""
CLOCK: Final = ("-icount", "shift=0,sleep=off", "-rtc", "clock=vm,base=2020-01-01")
"""An instruction takes one nanosecond of virtual time; idle time is skipped."""
KERNEL_ARGUMENTS: Final = (
    "console=ttyS0 rdinit=/init loglevel=5 panic=-1 nokaslr norandmaps mitigations=off "
    "tsc=reliable clocksource=tsc tsc_early_khz=1000000 random.trust_bootloader=off"
)
TRANSLATION_MIB: Final = 256
MEMORY_BESIDE: Final = 1 << 30
"""The memory of the emulator beside that of its guest."""
MOST_CONSOLE_BYTES: Final = 16 << 20
CONSOLE_LINES: Final = 30
TAIL_BYTES: Final = 1 << 16
PROCESSES: Final = 64
CHUNK_BYTES: Final = 1 << 16
WATCH_SECONDS: Final = 0.5
STOP_SECONDS: Final = 30
VERSION: Final = re.compile(r"version (\d[\w.]{0,30})")


@dataclass(frozen=True)
class EmulatedMachine:
    """What is booted: a kernel and its first file system, with so much memory, for no longer than that."""

    kernel: Path
    ramdisk: Path
    memory_bytes: int
    seconds: float


def require_emulator() -> str:
    """Return the version of QEMU; raises `EnvironmentMissing` with the command that installs it."""
    program = shutil.which(EMULATOR)
    if program is None:
        raise EnvironmentMissing(f"`{EMULATOR}` is not installed", hint=f"apt-get install {PACKAGE}")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    version = VERSION.search(done.stdout)
    if version is None:
        raise EnvironmentMissing(f"`{program}` does not work: {done.stderr.strip()[:200]}", hint=f"reinstall {PACKAGE}")
    return version[1]


def emulate(
    machine: EmulatedMachine, directory: Path, policy: SandboxPolicy = SandboxPolicy.REQUIRED
) -> dict[str, int]:
    """Boot a machine in the sandbox and return the values that its guest reports; files go to an empty directory.

    Raises `TrialFailed` with the end of the console for a guest that reports an error, panics, hangs or floods, and
    `Interrupted` once the caller's work is cancelled. The machine ends with the lab in any case.
    """
    console = directory / "console.log"
    console.touch()
    limits = Limits(
        memory_bytes=machine.memory_bytes + MEMORY_BESIDE,
        processes=PROCESSES,
        disk_bytes=MOST_CONSOLE_BYTES,
        seconds=machine.seconds,
    )
    confinement = Confinement(
        writable=[directory],
        read_only=[machine.kernel, machine.ramdisk],
        directory=directory,
        limits=limits,
        policy=policy,
    )
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": "/tmp", "LANG": "C"}
    log = directory / "emulator.log"
    with launch(
        _command(machine, console), environment=environment, output=log, confinement=confinement, piped=True
    ) as process:
        assert process.stdout is not None  # it is piped
        try:
            output = _read(process.stdout.fileno(), machine.seconds)
        except GuestRefused as refused:
            raise TrialFailed(f"the guest is ended: {refused}", details=_console_tail(console)) from refused
        except TimeoutError as hung:
            message = f"the emulated machine did not end within {machine.seconds:,.0f} s"
            raise TrialFailed(message, details=_console_tail(console)) from hung
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        messages = process.output_tail()
    if output.error is not None:
        raise TrialFailed(f"in the emulated machine: {output.error}", details=_console_tail(console))
    if not output.has_ended:
        details = "\n".join(filter(None, [messages, _console_tail(console)]))
        raise TrialFailed("the emulated machine stopped before its guest was done", details=details)
    return output.values


def _command(machine: EmulatedMachine, console: Path) -> list[str]:
    return [
        EMULATOR,
        *("-no-user-config", "-nodefaults", "-display", "none", "-monitor", "none", "-no-reboot"),
        *("-machine", EMULATED_MACHINE, "-cpu", EMULATED_PROCESSOR, "-smp", "1"),
        *("-accel", f"tcg,thread=single,tb-size={TRANSLATION_MIB}", *CLOCK),
        *("-m", f"{machine.memory_bytes >> 20}M"),
        *("-kernel", str(machine.kernel), "-initrd", str(machine.ramdisk), "-append", KERNEL_ARGUMENTS),
        *("-serial", f"file:{console}", "-chardev", "stdio,id=results,signal=off", "-serial", "chardev:results"),
    ]


def _read(descriptor: int, seconds: float) -> GuestOutput:
    """Read the output until its end or that of the guest; raises `TimeoutError`, `GuestRefused`, `Interrupted`."""
    output, end, owner = GuestOutput(), time.monotonic() + seconds, current_cancellation()
    while not output.has_ended and output.error is None:
        owner.require_going_on()
        if time.monotonic() > end:
            raise TimeoutError
        if not is_readable(descriptor, WATCH_SECONDS):
            continue
        received = os.read(descriptor, CHUNK_BYTES)
        if not received:
            break
        output.take(received)
    return output


def _console_tail(console: Path) -> str:
    """Return the last lines of what the kernel and the server printed."""
    with console.open("rb") as file:
        file.seek(max(0, console.stat().st_size - TAIL_BYTES))
        lines = file.read().decode(errors="replace").rstrip().splitlines()
    return "\n".join(line[:500] for line in lines[-CONSOLE_LINES:])
