"""The first file system of an emulated machine: an archive in the format of cpio, written without root.

The format is `newc`, see Documentation/driver-api/early-userspace/buffer-format.rst of the kernel.
"""

import re
import stat
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from zerolap.records import EnvironmentMissing, UsageError
from zerolap.sandbox import Confinement, Limits, SandboxPolicy, launch

MAGIC: Final = b"070701"
TRAILER: Final = "TRAILER!!!"
ALIGNMENT: Final = 4
LARGEST_FILE_BYTES: Final = 512 << 20
LDD_SECONDS: Final = 20
LONGEST_LIST_BYTES: Final = 1 << 20
LIBRARY: Final = re.compile(r"^\s*(?:(\S+) => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)
MISSING: Final = re.compile(r"^\s*(\S+) => not found$", re.MULTILINE)
LISTING_LIMITS: Final = Limits(memory_bytes=1 << 30, processes=16, disk_bytes=LONGEST_LIST_BYTES, seconds=LDD_SECONDS)


@dataclass(frozen=True)
class RamdiskEntry:
    """A file, directory or device at an absolute path; `device` is the major and minor number of a device."""

    path: PurePosixPath
    mode: int
    content: bytes = b""
    device: tuple[int, int] = (0, 0)

    @classmethod
    def file(cls, path: str, content: bytes, *, executable: bool = False) -> "RamdiskEntry":
        """Return a regular file."""
        return cls(PurePosixPath(path), stat.S_IFREG | (0o755 if executable else 0o644), content)

    @classmethod
    def directory(cls, path: str | PurePosixPath) -> "RamdiskEntry":
        """Return an empty directory."""
        return cls(PurePosixPath(path), stat.S_IFDIR | 0o755)

    @classmethod
    def character_device(cls, path: str, major: int, minor: int) -> "RamdiskEntry":
        """Return a character device."""
        return cls(PurePosixPath(path), stat.S_IFCHR | 0o600, device=(major, minor))


def pack_ramdisk(entries: Iterable[RamdiskEntry]) -> bytes:
    """Return the archive of entries and the directories that they lie in; equal entries give equal bytes.

    The last of several entries at a path counts.
    """
    placed: dict[PurePosixPath, RamdiskEntry] = {}
    for entry in entries:
        for parent in entry.path.parents:
            if parent != parent.parent:
                placed.setdefault(parent, RamdiskEntry.directory(parent))
        placed[entry.path] = entry
    # A directory comes before what lies in it.
    archive = [_member(number, placed[path]) for number, path in enumerate(sorted(placed), start=1)]
    return b"".join([*archive, _member(0, RamdiskEntry(PurePosixPath("/", TRAILER), 0))])


def _member(number: int, entry: RamdiskEntry) -> bytes:
    name, content = str(entry.path.relative_to("/")), entry.content
    encoded = name.encode() + b"\0"
    if len(content) > LARGEST_FILE_BYTES:
        raise UsageError(f"`{name}` has more than {LARGEST_FILE_BYTES >> 20} MiB: too much for an emulated machine")
    # inode, mode, user, group, links, time, size, device of the file system, device, length of the name, checksum
    fields = (number, entry.mode, 0, 0, 1, 0, len(content), 0, 0, *entry.device, len(encoded), 0)
    header = MAGIC + b"".join(b"%08X" % field for field in fields)
    return _aligned(header + encoded) + _aligned(content)


def _aligned(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % ALIGNMENT)


def program_entries(program: Path, policy: SandboxPolicy) -> list[RamdiskEntry]:
    """Return a program and the libraries that it is linked to, at their places on this machine.

    Raises `UsageError` if it needs a library that is missing, or is no program for this.
    """
    paths = [program, *libraries_in(_listed_libraries(program, policy), program.name)]
    return [RamdiskEntry.file(str(path), path.read_bytes(), executable=True) for path in paths]


def libraries_in(listed: str, name: str) -> Sequence[Path]:
    """Return the libraries in the output of `ldd`; none for a static program. Raises `UsageError` if one is missing."""
    missing = MISSING.search(listed)
    if missing is not None:
        raise UsageError(f"`{name}` needs the library `{missing[1]}`, which is not on this machine")
    return list(dict.fromkeys(Path(path) for _, path in LIBRARY.findall(listed)))


def _listed_libraries(program: Path, policy: SandboxPolicy) -> str:
    confinement = Confinement(read_only=[program], limits=LISTING_LIMITS, policy=policy)
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C"}
    with launch(["ldd", str(program)], environment=environment, confinement=confinement, piped=True) as process:
        try:
            process.wait(LDD_SECONDS)
        except subprocess.TimeoutExpired:
            raise EnvironmentMissing(f"`ldd` does not list the libraries of `{program}`") from None
        return "" if process.stdout is None else process.stdout.read(LONGEST_LIST_BYTES).decode(errors="replace")
