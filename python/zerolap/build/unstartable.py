"""Why a program cannot be started on this machine: what its first bytes ask for, and what the system reports."""

import os
import platform
import re
import signal
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

ELF: Final = b"\x7fELF"
ELF_MACHINES: Final = {3: "i686", 40: "armv7l", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
"""Architectures by the field e_machine of an ELF header, at byte 18."""
OLDER_MACHINES: Final = {"x86_64": "i686", "aarch64": "armv7l"}
"""The architecture whose programs another one executes too."""
OF_64_BITS: Final = 2
BYTE_ORDERS: Final = {1: "<", 2: ">"}
HEADER_BYTES: Final = 64
PROGRAM_HEADER_BYTES: Final = 56
MOST_PROGRAM_HEADERS: Final = 128
LOADER: Final = 3
"""The type of the program header that names the loader, PT_INTERP."""
LONGEST_PATH_BYTES: Final = 1024
SIGNAL_OFFSET: Final = 128
LONGEST_SHOWN: Final = 300


@dataclass(frozen=True)
class VersionReply:
    """How a program has answered `--version`: its output, its errors, and its exit code or signal."""

    output: str
    errors: str
    code: int


DAMAGED: Final = "the file is a program that is cut off or damaged"
OF_THE_LOADER: Final = re.compile(
    r"error while loading shared libraries|version `\S+' not found|cannot execute|Exec format"
)


def fault_of_file(path: Path) -> str | None:
    """Return why the kernel cannot start a file as a program; none where its beginning shows no reason."""
    with path.open("rb") as file:
        header = file.read(LONGEST_PATH_BYTES)
        if header.startswith(ELF):
            return _fault_of_elf(file, header)
    if header.startswith(b"#!"):
        words = header.partition(b"\n")[0][2:].split()
        interpreter = os.fsdecode(words[0]) if words else ""
        is_there = os.path.isfile(interpreter)
        return None if is_there else f"the file is a script whose interpreter `{interpreter}` is not on this machine"
    return "the file is neither a program (ELF) nor a script that begins with #!" if header else "the file is empty"


def _fault_of_elf(file: BinaryIO, header: bytes) -> str | None:
    """Return why a program cannot be started: by its architecture, its size, and the loader that it names."""
    if len(header) < HEADER_BYTES or header[5] not in BYTE_ORDERS:
        return DAMAGED
    order = BYTE_ORDERS[header[5]]
    [machine] = struct.unpack_from(f"{order}H", header, 18)
    name, here = ELF_MACHINES.get(machine, f"ELF machine {machine}"), platform.machine()
    if name not in (here, OLDER_MACHINES.get(here)):
        return f"it is a program for {name}, and this machine is {here}"
    if header[4] != OF_64_BITS:
        return None
    [first] = struct.unpack_from(f"{order}Q", header, 32)
    each_bytes, count = struct.unpack_from(f"{order}HH", header, 54)
    if each_bytes < PROGRAM_HEADER_BYTES or first + each_bytes * count > os.fstat(file.fileno()).st_size:
        return DAMAGED
    for number in range(min(count, MOST_PROGRAM_HEADERS)):
        file.seek(first + number * each_bytes)
        kind, _flags, offset, _, _, size_bytes = struct.unpack_from(f"{order}IIQQQQ", file.read(PROGRAM_HEADER_BYTES))
        if kind == LOADER and size_bytes <= LONGEST_PATH_BYTES:
            file.seek(offset)
            loader = os.fsdecode(file.read(size_bytes).rstrip(b"\0"))
            return None if os.path.isfile(loader) else f"its loader `{loader}` is not on this machine"
    return None


def fault_of_start(path: Path, answer: VersionReply) -> str | None:
    """Return why a program did not start, as loader and kernel report it; none where it ended by itself."""
    number = -answer.code if answer.code < 0 else answer.code - SIGNAL_OFFSET
    if answer.code != 0 and number == signal.SIGILL:
        return "it died of SIGILL: it was built for another processor"
    reported = next((line for line in answer.errors.splitlines() if OF_THE_LOADER.search(line)), None)
    return None if reported is None else reported.strip().removeprefix(f"{path}: ")[:LONGEST_SHOWN]


def shown_end(answer: VersionReply) -> str:
    """Return how a program without an output has ended: its code or signal, and the last line of its errors."""
    number = -answer.code if answer.code < 0 else answer.code - SIGNAL_OFFSET
    try:
        ended = f"it died of {signal.Signals(number).name}"
    except ValueError:
        ended = f"it ends with {answer.code}"
    lines = [line.strip() for line in answer.errors.splitlines() if line.strip()]
    return f"{ended}: `{lines[-1][:LONGEST_SHOWN]}`" if lines else f"{ended} without an answer"
