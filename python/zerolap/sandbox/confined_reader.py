"""Readers of files written by code under test, each in a process with limits on memory, time and size of the answer.

Such a file (ELF and DWARF of a binary, a dump of callgrind, a recording of perf) can keep a reader busy without end or
unpack to any size, and could make use of an error in the reader. Only the process that reads it may fail, not the lab.
Where a sandbox is available, it has no network, and sees nothing but the system and what it reads.

Every call starts a Python interpreter that loads only the extension module, which takes about 20 ms. A permanent
process would save this time, but needs state, an owner and an order of calls; a separate program would save most of it,
but is another file to build and ship.
"""

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from zerolap import _core
from zerolap.errors import ZerolapError
from zerolap.records import FunctionCode
from zerolap.sandbox.confinement import SYSTEM_DIRECTORIES, Confinement, available
from zerolap.sandbox.process import Process, is_readable, launch

READER = Path(__file__).with_name("reader.py")
KERNEL_SYMBOLS = Path("/proc/kallsyms")
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
SIGNAL_OFFSET = 128
CHUNK_BYTES = 1 << 20
NOTHING: Final[Mapping[Path, Path]] = MappingProxyType({})
RESULT, SYSTEM_ERROR = b"R", b"S"


class UnreadableFile(ZerolapError, ValueError):
    """A file is not in its format, or cannot be read within the limits."""


@dataclass(frozen=True)
class ReaderLimits:
    """Limits on reading one file. Recordings of busy servers take seconds and hundreds of megabytes."""

    seconds: float = 120.0
    cpu_seconds: int = 120
    memory_bytes: int = 4 << 30
    """Sections of binaries and compressed recordings unpack to a multiple of their size."""
    result_bytes: int = 256 << 20


OUT_OF_MEMORY = "out of memory"
LIMITS = ReaderLimits()
LIMITS_OF_CODE = ReaderLimits(result_bytes=16 << 20)
"""Of what is read of all functions, which takes a multiple of its size in the lab: a server has some 2 MiB."""


@dataclass(frozen=True)
class BinaryFacts:
    """How an ELF file was built; the fields are those of `_core.BinaryFacts`."""

    build_id: str
    compiler: str
    flags: str
    compile_directory: str
    image: str
    stripped: bool
    debug_lines: bool
    static_executable: bool
    exported_functions: int


def binary_facts(path: str, limits: ReaderLimits = LIMITS) -> BinaryFacts:
    """Return what `_core.binary_facts` does; raises `OSError`, `UnreadableFile`."""
    build_id, compiler, flags, compile_directory, image, *numbers = _texts(_read("binary_facts", [path], (), limits))
    stripped, debug_lines, static_executable, exported_functions = map(int, numbers)
    kinds = bool(stripped), bool(debug_lines), bool(static_executable)
    return BinaryFacts(build_id, compiler, flags, compile_directory, image, *kinds, exported_functions)


def source_functions(path: str, source_root: str, limits: ReaderLimits = LIMITS) -> list[tuple[str, str, int, int]]:
    """Return what `_core.source_functions` does; raises `OSError`, `UnreadableFile`."""
    result = _read("source_functions", [path], [source_root], limits)
    values = iter(_texts(result) if result else [])
    return [(file, name, int(first), int(last)) for file, name, first, last in zip(*[values] * 4, strict=True)]


def structures(path: str, source_root: str, limits: ReaderLimits = LIMITS) -> list[tuple[str, str, int, str]]:
    """Return what `_core.structures` does; raises `OSError`, `UnreadableFile`."""
    result = _read("structures", [path], [source_root], limits)
    values = iter(_texts(result) if result else [])
    return [(file, name, int(size), members) for file, name, size, members in zip(*[values] * 4, strict=True)]


def function_code(
    path: str, source_root: str, limits: ReaderLimits = LIMITS_OF_CODE
) -> dict[tuple[str, str], FunctionCode]:
    """Return what `_core.function_code` does, by name and file; raises `OSError`, `UnreadableFile`."""
    result = _read("function_code", [path], [source_root], limits)
    values = iter(_texts(result) if result else [])
    return {
        (name, file): FunctionCode(digest, names, frozenset(map(_name_and_file, inlined.splitlines())))
        for name, file, digest, names, inlined in zip(*[values] * 5, strict=True)
    }


def _name_and_file(text: str) -> tuple[str, str]:
    name, _, file = text.partition("\t")
    return name, file


def code_lines(
    path: str, source_root: str, files: Collection[str], limits: ReaderLimits = LIMITS_OF_CODE
) -> dict[str, frozenset[int]]:
    """Return what `_core.code_lines` does, by file; raises `OSError`, `UnreadableFile`."""
    result = _read("code_lines", [path], [source_root, *files], limits)
    values = iter(_texts(result) if result else [])
    return {file: frozenset(map(int, lines.split())) for file, lines in zip(values, values, strict=True)}


def call_graph(
    small: str, large: str, requests_small: int, requests_large: int, source_root: str, limits: ReaderLimits = LIMITS
) -> bytes:
    """Return what `_core.call_graph` does; raises `OSError`, `UnreadableFile`."""
    return _read("call_graph", [small, large], [str(requests_small), str(requests_large), source_root], limits)


def timer_graph(
    requests: str,
    timers: str,
    *,
    requests_alone: int,
    requests_beside: int,
    ticks: int,
    source_root: str,
    limits: ReaderLimits = LIMITS,
) -> bytes:
    """Return what `_core.timer_graph` does; raises `OSError`, `UnreadableFile`."""
    numbers = [str(number) for number in (requests_alone, requests_beside, ticks)]
    return _read("timer_graph", [requests, timers], [*numbers, source_root], limits)


@dataclass(frozen=True)
class DumpedWindows:
    """Dumps of windows of one kind, and the requests that were answered in them."""

    dumps: Sequence[str]
    requests: int


def executed(
    before: str,
    windows: Sequence[DumpedWindows],
    program: str,
    object_name: str,
    limits: ReaderLimits = LIMITS,
) -> bytes:
    """Return what `_core.executed` does with windows of its three kinds; raises `OSError`, `UnreadableFile`."""
    dumps = [dump for kind in windows for dump in kind.dumps]
    numbers = [str(number) for kind in windows for number in (len(kind.dumps), kind.requests)]
    return _read("executed", [before, *dumps, program], [*numbers, object_name], limits)


def read_stacks(
    path: str,
    source_root: str,
    limits: ReaderLimits = LIMITS,
    visible: Sequence[Path] = (),
    original: Path | None = None,
) -> bytes:
    """Return what `_core.read_stacks` does; raises `OSError`, `UnreadableFile`.

    A recording names the programs and libraries that ran: of those, the reader sees what is below `visible`, and what
    belongs to the system.
    """
    files = [path] if original is None else [path, str(original)]
    return _read_recording("read_stacks", files, [source_root], limits, visible)


def read_waits(
    path: str,
    source_root: str,
    windows: Sequence[tuple[int, int]],
    limits: ReaderLimits = LIMITS,
    visible: Sequence[Path] = (),
) -> bytes:
    """Return what `_core.read_waits` does; otherwise as `read_stacks`."""
    bounds = [str(bound) for window in windows for bound in window]
    return _read_recording("read_waits", [path], [source_root, *bounds], limits, visible)


def _read_recording(
    function: str, files: Sequence[str], arguments: Sequence[str], limits: ReaderLimits, visible: Sequence[Path]
) -> bytes:
    with contextlib.ExitStack() as stack:
        placed = {}
        if os.geteuid() == 0 and available() is None:
            # Processes in the sandbox have no capabilities, so the kernel hides the addresses of its symbols from them.
            directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="zerolap-"))
            with contextlib.suppress(OSError):
                copy = shutil.copyfile(KERNEL_SYMBOLS, Path(directory) / KERNEL_SYMBOLS.name)
                placed[KERNEL_SYMBOLS] = copy
        return _read(function, files, arguments, limits, visible, placed)


def _read(
    function: str,
    files: Sequence[str],
    arguments: Sequence[str],
    limits: ReaderLimits,
    visible: Sequence[Path] = (),
    placed: Mapping[Path, Path] = NOTHING,
) -> bytes:
    """Return what a function of the reader answers, which is called with files and further arguments."""
    core = Path(_core.__file__).resolve().parent
    resolved = [Path(file).resolve() for file in files]
    # -I -S: neither the working directory nor installed packages are searched.
    command = [str(Path(sys.executable).resolve()), "-I", "-S", str(READER), str(core)]
    command += [str(limits.cpu_seconds), str(limits.memory_bytes), function, *map(str, resolved), *arguments]
    shown = [Path(sys.base_prefix).resolve(), READER, core, *resolved, *(path.resolve() for path in visible)]
    hidden = [path for path in shown if not any(map(path.is_relative_to, (*SYSTEM_DIRECTORIES, "/dev")))]
    confinement = Confinement(read_only=[path for path in hidden if path.exists()], placed=placed)
    with launch(command, environment={"PATH": SYSTEM_PATH}, piped=True, confinement=confinement) as reader:
        answer = _result(reader, files[0], limits)
        try:
            code = reader.wait(limits.seconds)
        except subprocess.TimeoutExpired as late:
            raise UnreadableFile(f"{files[0]}: not read within {limits.seconds:g} s") from late
    if code != 0 or not answer:
        raise UnreadableFile(f"{files[0]}: cannot be read: {_death(code, limits)}")
    kind, rest = answer[:1], answer[1:]
    if kind == SYSTEM_ERROR:
        number, reason, file = _texts(rest)
        if int(number) == errno.ENOMEM or reason.endswith(OUT_OF_MEMORY):
            # A file of any size can have a hole, and be read as if that were its content.
            raise UnreadableFile(f"{files[0]}: it takes more than {limits.memory_bytes >> 20} MiB of memory")
        raise OSError(int(number), reason, file) if file else OSError(reason)
    if kind != RESULT:
        raise UnreadableFile(rest.decode())
    return rest


def _texts(values: bytes) -> list[str]:
    return values.decode().split("\0")


def _result(reader: Process, path: str, limits: ReaderLimits) -> bytes:
    if reader.stdout is None:
        raise RuntimeError("the reader was started without a pipe")
    end, answer = time.monotonic() + limits.seconds, bytearray()
    while is_readable(reader.stdout, end - time.monotonic()):
        chunk = os.read(reader.stdout.fileno(), CHUNK_BYTES)
        if not chunk:
            return bytes(answer)
        answer += chunk
        if len(answer) > limits.result_bytes:
            raise UnreadableFile(f"{path}: holds more than {limits.result_bytes >> 20} MiB of results")
    raise UnreadableFile(f"{path}: not read within {limits.seconds:g} s")


def _death(code: int, limits: ReaderLimits) -> str:
    # A sandbox reports a signal as shells do.
    number = code - SIGNAL_OFFSET if code > SIGNAL_OFFSET else -code
    if number in (signal.SIGXCPU, signal.SIGKILL):
        return f"it takes more than {limits.cpu_seconds} s of CPU time"
    if number == signal.SIGABRT:
        return f"it takes more than {limits.memory_bytes >> 20} MiB of memory"
    with contextlib.suppress(ValueError):
        return f"the reader ended with {signal.Signals(number).name}"
    return f"the reader ended with exit code {code}"
