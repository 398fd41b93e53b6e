"""Tar files for other machines: equal trees give equal bytes, and what is read is not trusted.

They are written by `tarfile` and read without it: versions of Python that are in use can be led out of the directory in
spite of its filters (CVE-2025-4517), and to loop for ever (CVE-2025-8194).
"""

import contextlib
import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from zerolap.sandbox import walk

ENCODING = "utf-8"
ERRORS = "surrogateescape"
LONG_NAMES = {tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK}
LONGEST_PATH_BYTES = 1024
LONGEST_NAME_BYTES = 255
LONGEST_SHOWN_BYTES = 120
CHUNK_BYTES = 1 << 20
EXECUTABLE, READABLE = 0o755, 0o644
OF_NO_KIND = "is neither a file nor a directory nor a symbolic link"


class TarRefused(Exception):
    """A tar that cannot be read, or that holds what may not be unpacked; the text is the reason."""


class LinkLeadsOut(TarRefused):
    """A link leads out of its tree, which only the machine that has the tree may build."""


@dataclass(frozen=True)
class TarLimits:
    """How much a tar may hold."""

    total_bytes: int
    members: int


class Left:
    """What is left of limits."""

    def __init__(self, limits: TarLimits) -> None:
        self._limits = limits
        self._bytes, self._members = limits.total_bytes, limits.members

    def take(self, size: int) -> None:
        """Take a member of that size from what is left; raises `TarRefused` if there is not so much."""
        self._bytes -= size
        self._members -= 1
        if self._bytes < 0:
            raise TarRefused(f"it holds more than {self._limits.total_bytes >> 20:,} MiB")
        if self._members < 0:
            raise TarRefused(f"it holds more than {self._limits.members:,} files")


def pack_tar(
    directory: Path,
    file: io.BufferedIOBase,
    limits: TarLimits,
    chosen: Iterable[str] | None = None,
    *,
    links_may_lead_out: bool = False,
) -> None:
    """Write a tar of all that is in a directory, or of the chosen files in it, without times, owners and permissions.

    Raises `TarRefused` for what `unpack_tar` would refuse.
    """
    paths = sorted(_below(directory) if chosen is None else map(PurePosixPath, chosen))
    left = Left(limits)
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT, encoding=ENCODING, errors=ERRORS) as tar:
        for path in paths:
            member = _described(path, directory / path, links_may_lead_out=links_may_lead_out)
            left.take(member.size)
            if member.isreg():
                with (directory / path).open("rb") as content:
                    tar.addfile(member, content)
            else:
                tar.addfile(member)


def _described(path: PurePosixPath, at: Path, *, links_may_lead_out: bool) -> tarfile.TarInfo:
    member, status = tarfile.TarInfo(str(require_path(str(path)))), at.lstat()
    if stat.S_ISLNK(status.st_mode):
        member.type, member.linkname = tarfile.SYMTYPE, os.readlink(at)
        _require_target(path, member.linkname, may_lead_out=links_may_lead_out)
    elif stat.S_ISDIR(status.st_mode):
        member.type, member.mode = tarfile.DIRTYPE, EXECUTABLE
    elif stat.S_ISREG(status.st_mode):
        member.mode = EXECUTABLE if status.st_mode & stat.S_IXUSR else READABLE
        member.size = status.st_size
    else:
        raise TarRefused(f"`{shown(str(path))}` {OF_NO_KIND}")
    return member


def _below(directory: Path) -> Iterator[PurePosixPath]:
    for entry in walk(directory):
        # Not only when all of them are listed: each can be as long as the tree is deep.
        if not entry.has_path_within(LONGEST_PATH_BYTES):
            raise TarRefused(f"`{shown(entry.name)}` in it has too long a path")
        yield entry.path


def digests_of_files(file: io.BufferedIOBase, limits: TarLimits) -> dict[PurePosixPath, bytes]:
    """Return a digest of each regular file in a tar that may be hostile; raises `TarRefused`."""
    digests = {}
    left = Left(limits)
    for member in _members(file):
        left.take(member.size)
        if member.type == tarfile.REGTYPE:
            digest = hashlib.sha256()
            for chunk in _content(file, member):
                digest.update(chunk)
            digests[require_path(member.name)] = digest.digest()
    return digests


def unpack_tar(
    file: io.BufferedIOBase,
    directory: Path,
    limits: TarLimits,
    left_out: Container[PurePosixPath] = (),
    *,
    links_may_lead_out: bool = False,
) -> None:
    """Unpack a tar that may be hostile into an empty directory: nothing is written elsewhere, and no link leads out.

    With `links_may_lead_out` links do, and nothing is written through them. Files that are `left_out` are not written.
    All others get the same time. Raises `TarRefused`; then the directory holds a part.
    """
    links: dict[PurePosixPath, str] = {}
    left = Left(limits)
    for member in _members(file):
        left.take(member.size)
        path = require_path(member.name)
        with refusing(path):
            if member.type == tarfile.REGTYPE and path in left_out:
                for _ in _content(file, member):
                    pass
            elif member.type == tarfile.DIRTYPE:
                (directory / path).mkdir()
            elif member.type == tarfile.REGTYPE:
                with new_file(directory / path, is_executable=bool(member.mode & stat.S_IXUSR)) as written:
                    for chunk in _content(file, member):
                        written.write(chunk)
            else:
                _require_target(path, member.linkname, may_lead_out=links_may_lead_out)
                (directory / path).parent.lstat()
                if path in links:
                    raise FileExistsError
                links[path] = member.linkname
    # Links come last: nothing that is written later can follow one out of the tree.
    for path, target in links.items():
        with refusing(path):
            (directory / path).symlink_to(target)


@contextlib.contextmanager
def refusing(path: PurePosixPath) -> Iterator[None]:
    """Turn errors of writing to a directory that was empty, which only a damaged tar causes, into `TarRefused`."""
    try:
        yield
    except FileExistsError:
        raise TarRefused(f"it holds `{shown(str(path))}` more than once") from None
    except (FileNotFoundError, NotADirectoryError):
        raise TarRefused(f"it holds `{shown(str(path))}` without its directory") from None


def _members(file: io.BufferedIOBase) -> Iterator[tarfile.TarInfo]:
    """Yield files, directories and links; the content of a file is read before the next member is asked for."""
    long_names: dict[bytes, str] = {}
    while True:
        header = _read(file, tarfile.BLOCKSIZE)
        if not header.strip(b"\0"):
            return
        try:
            member = tarfile.TarInfo.frombuf(header, ENCODING, ERRORS)
        except tarfile.HeaderError as fault:
            raise TarRefused(f"it is no tar: {fault}") from fault
        if member.type in LONG_NAMES:
            if not 0 <= member.size <= 2 * LONGEST_PATH_BYTES:
                raise TarRefused("it holds a name that is too long")
            name = _read(file, _padded(member.size)).partition(b"\0")[0]
            long_names[member.type] = name.decode(ENCODING, ERRORS)
            continue
        member.name = long_names.pop(tarfile.GNUTYPE_LONGNAME, member.name)
        member.linkname = long_names.pop(tarfile.GNUTYPE_LONGLINK, member.linkname)
        if member.type not in {tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE}:
            raise TarRefused(f"`{shown(member.name)}` {OF_NO_KIND}")
        if member.size < 0 or (member.size and member.type != tarfile.REGTYPE):
            raise TarRefused(f"`{shown(member.name)}` has the size {member.size}")
        yield member


@contextlib.contextmanager
def new_file(path: Path, *, is_executable: bool) -> Iterator[IO[bytes]]:
    """Write a file that is not there yet, through no link."""
    mode = EXECUTABLE if is_executable else READABLE
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(handle, "wb") as target:
        yield target
    # Make builds files again that are older than their sources.
    os.utime(path, (0, 0))


def _content(file: io.BufferedIOBase, member: tarfile.TarInfo) -> Iterator[bytes]:
    """Yield the content of a member in pieces, and go past it."""
    left = member.size
    while left:
        chunk = _read(file, min(left, CHUNK_BYTES))
        yield chunk
        left -= len(chunk)
    _read(file, _padded(member.size) - member.size)


def _read(file: io.BufferedIOBase, size: int) -> bytes:
    """Return so many bytes; raises `TarRefused` at the end of the file."""
    content = io.BytesIO()
    while (missing := size - content.tell()) > 0:
        part = file.read(missing)
        if not part:
            raise TarRefused("its end is missing")
        content.write(part)
    return content.getvalue()


def _padded(size: int) -> int:
    return -(-size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE


def require_path(name: str) -> PurePosixPath:
    """Return the path of a member; raises `TarRefused` unless it is relative, plain and of usual length."""
    parts = name.removesuffix("/").split("/")
    if not all(parts) or {".", ".."} & set(parts):
        raise TarRefused(f"`{shown(name)}` is no path inside of it")
    if len(_bytes(name)) > LONGEST_PATH_BYTES or any(len(_bytes(part)) > LONGEST_NAME_BYTES for part in parts):
        limits = f"{LONGEST_PATH_BYTES:,} bytes of a path and {LONGEST_NAME_BYTES} of a name"
        raise TarRefused(f"`{shown(name)}` is longer than {limits}")
    return PurePosixPath(*parts)


def _require_target(link: PurePosixPath, target: str, *, may_lead_out: bool) -> None:
    """Raise `TarRefused` for a link that no tree has, `LinkLeadsOut` for one that leads out of it unless it may.

    The directories above a link are no links. So a target that goes up first, no further than to the root, and then
    only down, leads to a file of the tree, or to another link of which the same is true.
    """
    parts = [part for part in target.split("/") if part not in {"", "."}]
    up = next((index for index, part in enumerate(parts) if part != ".."), len(parts))
    depth = len(link.parts) - 1
    if not target or len(_bytes(target)) > LONGEST_PATH_BYTES:
        raise TarRefused(f"the link `{shown(str(link))}` has no target, or too long a one")
    if may_lead_out:
        return
    if target.startswith("/") or up > depth or ".." in parts[up:]:
        raise LinkLeadsOut(f"the link `{shown(str(link))}` leads out of it, to `{shown(target)}`")


def shown(name: str) -> str:
    """Return the beginning of a name for messages, which must be valid text whatever bytes the name has."""
    return _bytes(name)[:LONGEST_SHOWN_BYTES].decode(ENCODING, "replace")


def _bytes(name: str) -> bytes:
    return name.encode(ENCODING, ERRORS)
