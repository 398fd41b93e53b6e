"""One fork in an emulated machine: a server that is filled, saves, and answers one request after another meanwhile."""

import hashlib
import subprocess
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from zerolap.build import Program, RamdiskEntry, pack_ramdisk, program_entries, setting_arguments
from zerolap.engines.emulator import EmulatedMachine, emulate
from zerolap.engines.huge_pages import HUGE_PAGE_VARIABLES, require_huge_pages
from zerolap.engines.snapshot_trial import BYTES_PER_KEY, VALUE_BYTES
from zerolap.records import EnvironmentMissing, ForkKind, HugePages, TrialFailed, UsageError
from zerolap.sandbox import launch
from zerolap.server import AnonymousMemory

MOUNTED: Final = ("/proc", "/sys", "/dev", "/data")
"""Directories on which the guest mounts file systems of its own."""
GUEST_SOURCE: Final = Path(__file__).parent / "guest" / "fork_client.c"
COMPILER: Final = ("gcc", "-O2", "-static", "-std=gnu11")
COMPILING_SECONDS: Final = 120
SETTINGS: Final[Mapping[str, str]] = {
    "port": "0",
    "unixsocket": "/data/server.sock",
    "dir": "/data",
    "dbfilename": "dump.rdb",
    "save": "",
    "appendonly": "no",
    "daemonize": "no",
    "loglevel": "warning",
    "logfile": "",
    "rdbcompression": "no",
    "rdbchecksum": "no",
    "activedefrag": "no",
}
"""What the server prints goes to the console; the dump goes to memory, and the guest checks it."""
COPIES: Final = 3.25
"""The memory in multiples of the data: the server's data, its dump, and the pages that are copied when written to."""
KERNEL_BYTES: Final = 256 << 20
MOST_SECONDS: Final = 3600.0
LONGEST_LINE_BYTES: Final = 4000


@dataclass(frozen=True)
class EmulatedTrial:
    """What is measured in a machine of its own: a server with settings, its fork, its pages, the size of its data."""

    program: Program
    config: Mapping[str, str]
    fork: ForkKind
    huge_pages: HugePages | None
    size_bytes: int
    seed: int

    @property
    def keys(self) -> int:
        """How many keys the server is filled with."""
        return self.keys_for(self.size_bytes)

    @staticmethod
    def keys_for(size_bytes: int) -> int:
        """Return how many keys of `VALUE_BYTES` are about that much data."""
        return max(1, size_bytes // BYTES_PER_KEY)

    @staticmethod
    def memory_for(size_bytes: int) -> int:
        """Return the memory of a machine for that much data."""
        return KERNEL_BYTES + int(COPIES * size_bytes)


def guest_program(directory: Path) -> Path:
    """Return the first process of the machine, compiled into a directory below the name of all that went in.

    Raises `EnvironmentMissing` where it cannot be compiled.
    """
    content = GUEST_SOURCE.read_bytes()
    digest = hashlib.sha256(content + " ".join(COMPILER).encode()).hexdigest()[:32]
    program = directory / f"guest-{digest}"
    if program.is_file():
        return program
    directory.mkdir(parents=True, exist_ok=True)
    made, log = (directory / f"{name}-{digest}-{threading.get_native_id()}" for name in ("making", "log"))
    command = [*COMPILER, "-o", str(made), str(GUEST_SOURCE)]
    with launch(command, environment={"PATH": "/usr/bin:/bin"}, output=log) as process:
        try:
            code = process.wait(COMPILING_SECONDS)
        except subprocess.TimeoutExpired:
            code = -1
        tail = process.output_tail()
    log.unlink()
    if code != 0:
        raise EnvironmentMissing(
            "the guest's program cannot be compiled", hint="apt-get install gcc libc6-dev", details=tail
        )
    made.rename(program)
    return program


def require_visible_in_guest(path: Path) -> None:
    """Raise `UsageError` for a path that the guest's own file systems would hide: programs keep their places in it."""
    hiding = next((mounted for mounted in MOUNTED if path.absolute().is_relative_to(mounted)), None)
    if hiding is not None:
        raise UsageError(
            f"a server in `{path}` cannot be started in an emulated machine, which has a `{hiding}` of its own",
            hint="give a store elsewhere with --store",
        )


def emulated_fork(trial: EmulatedTrial, kernel: Path, programs: Path, directory: Path) -> dict[str, int]:
    """Boot a machine, let the server fork in it, and return what was counted; files go to an empty directory.

    The guest's own program is kept in the directory `programs`. Raises `TrialFailed`, also for a dump that does not
    hold what the server held at the moment of the fork, and for a server that does not have the pages that were wanted.
    """
    ramdisk, work = directory / "ramdisk", directory / "work"
    ramdisk.write_bytes(_ramdisk(trial, guest_program(programs)))
    work.mkdir()
    machine = EmulatedMachine(kernel, ramdisk, trial.memory_for(trial.size_bytes), MOST_SECONDS)
    counts = emulate(machine, work, trial.program.policy)
    _require_right_dump(trial, counts)
    if trial.huge_pages is not None:
        memory = AnonymousMemory(counts.get("anonymous_bytes", 0), counts.get("huge_page_bytes", 0))
        require_huge_pages(trial.huge_pages, memory)
    return counts


def _require_right_dump(trial: EmulatedTrial, counts: Mapping[str, int]) -> None:
    keys, wrong = counts.get("dump_keys"), counts.get("dump_values_wrong")
    if keys != trial.keys or wrong != 0:
        raise TrialFailed(
            f"the dump is wrong: {keys} keys instead of {trial.keys:,}, "
            f"{wrong} values other than at the moment of the fork"
        )


def _ramdisk(trial: EmulatedTrial, guest: Path) -> bytes:
    """Return the first file system: the guest's program, what it is to do, and the server."""
    program = trial.program.path.absolute()
    words = [str(program), *setting_arguments({**SETTINGS, **trial.config})]
    variables = {} if trial.huge_pages is None else HUGE_PAGE_VARIABLES[trial.huge_pages]
    plan = {
        "keys": trial.keys,
        "value_bytes": VALUE_BYTES,
        "async_fork": int(trial.fork == "async"),
        "seed": trial.seed,
    }
    return pack_ramdisk(
        [
            *(RamdiskEntry.directory(path) for path in (*MOUNTED, "/tmp")),
            RamdiskEntry.character_device("/dev/console", 5, 1),
            RamdiskEntry.file("/init", guest.read_bytes(), executable=True),
            RamdiskEntry.file("/plan", _lines(f"{name} {value}" for name, value in plan.items())),
            RamdiskEntry.file("/server.arguments", _lines(words)),
            RamdiskEntry.file("/server.environment", _lines(f"{name}={value}" for name, value in variables.items())),
            *program_entries(program, trial.program.policy),
        ]
    )


def _lines(words: Iterable[str]) -> bytes:
    lines = list(words)
    for line in lines:
        if "\n" in line or len(line.encode()) > LONGEST_LINE_BYTES:
            raise UsageError(f"the server setting `{line[:80]}` cannot be given to an emulated machine")
    return "".join(f"{line}\n" for line in lines).encode()
