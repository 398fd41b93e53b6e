"""Sources as they travel to other machines: a tree as a tar, a program as it is, each in a blob."""

import hashlib
import io
import os
import tempfile
from collections.abc import Container, Sequence
from pathlib import Path, PurePosixPath

from zerolap.build.program import LARGEST_PROGRAM_BYTES
from zerolap.build.recipe import require_server_tree
from zerolap.build.source import content_digest, export, remove_settings
from zerolap.build.tar import LinkLeadsOut, TarLimits, TarRefused, digests_of_files, pack_tar, unpack_tar
from zerolap.named_file import read_named
from zerolap.records import (
    ArchiveSource,
    BinarySource,
    RevisionSource,
    TreeSource,
    UsageError,
    revision_of,
)
from zerolap.sandbox import remove_abandoned, scratch_directory
from zerolap.store import Blobs

ARCHIVE_LIMITS = TarLimits(total_bytes=1 << 30, members=200_000)
"""Of a tree, which the machine that unpacks it holds in memory; that of Redis 7.0.15 has 14 MB in 1,395 files."""
PACKING_PREFIX = "zerolap-packing-"
PROGRAM = "server"


def pack_source(
    source: TreeSource | RevisionSource | BinarySource | ArchiveSource, blobs: Blobs, *, travels: bool = True
) -> ArchiveSource:
    """Put the files of a source into a blob, and return the source as it travels: equal trees give equal blobs.

    A source that travels already is returned as it is. Raises `UsageError` for what cannot travel: a start command,
    what is no server's source tree or program, a tree that is too large; one with links that lead out of it, unless
    it is built here and never `travels`; `BuildFailed` for a revision that git cannot export.
    """
    if isinstance(source, ArchiveSource):
        if travels and source.links_lead_out:
            raise _not_sent(source.name, "its links lead out of it")
        return source
    if isinstance(source, BinarySource):
        return _packed_program(source, blobs)
    if isinstance(source, TreeSource):
        # Before all its files are read: it may be a large directory that is no source at all.
        require_server_tree(source.name, source.path)
    try:
        return _packed_tree(source, blobs)
    except LinkLeadsOut as reason:
        if travels:
            raise _not_sent(source.name, str(reason)) from reason
    except TarRefused as reason:
        raise _not_packed(source.name, reason) from reason
    try:
        return _packed_tree(source, blobs, links_may_lead_out=True)
    except TarRefused as reason:
        raise _not_packed(source.name, reason) from reason


def _not_sent(name: str, reason: str) -> UsageError:
    hint = "give a tree, or a commit, with the server's source alone; on this machine it can be built"
    return UsageError(f"`{name}` cannot be sent to another machine: {reason}", hint=hint)


def _not_packed(name: str, reason: TarRefused) -> UsageError:
    hint = "give a tree, or a commit, with the server's source alone"
    return UsageError(f"the files of `{name}` cannot be packed: {reason}", hint=hint)


def _packed_tree(
    source: TreeSource | RevisionSource, blobs: Blobs, *, links_may_lead_out: bool = False
) -> ArchiveSource:
    """Return the source with the blob of its files as a tar; raises `TarRefused`."""
    remove_abandoned(PACKING_PREFIX)
    with scratch_directory(PACKING_PREFIX) as tree:
        export(source, tree, ARCHIVE_LIMITS)
        require_server_tree(source.name, tree)
        # Of a tree's copy: the tree itself may be changing.
        copied = source if isinstance(source, RevisionSource) else TreeSource(name=source.name, path=tree)
        # On the disk: the conductor packs trees of others, and must not run out of memory.
        with tempfile.TemporaryFile() as tar:
            pack_tar(tree, tar, ARCHIVE_LIMITS, links_may_lead_out=links_may_lead_out)
            tar.seek(0)
            return ArchiveSource(
                name=source.name,
                form="tree",
                content=content_digest(copied),
                archive=blobs.put_file(tar),
                revision=revision_of(source),
                links_lead_out=links_may_lead_out,
            )


def _packed_program(source: BinarySource, blobs: Blobs) -> ArchiveSource:
    if source.arguments:
        raise UsageError(
            f"`{source.name}` is a start command: it cannot be sent to another machine, as it may need more than its "
            "program",
            hint="give the program alone, its source tree or a revision",
        )
    if not os.access(source.path, os.X_OK):
        raise UsageError(f"`{source.path}` is not an executable file")
    program = read_named(source.path, LARGEST_PROGRAM_BYTES)
    content = hashlib.sha256(program).hexdigest()
    return ArchiveSource(name=source.name, form="program", content=content, archive=blobs.put(program))


def unpack_source(source: ArchiveSource, blobs: Blobs, directory: Path) -> TreeSource | BinarySource:
    """Write the files of a source to an empty directory, and return what is there.

    The files may be hostile: nothing is written elsewhere, and no link leads out, but of a source that was packed here
    for this machine, as it is in its commit. The content of a tree is what
    `source` says. Raises `UsageError` for what `pack_source` does not make, `BlobDamaged` if the blob is not there.
    """
    content = blobs.get(source.archive)
    if source.form == "program":
        if hashlib.sha256(content).hexdigest() != source.content:
            raise UsageError(f"`{source.name}` is another program than it is said to be", hint="send it again")
        program = directory / PROGRAM
        program.write_bytes(content)
        program.chmod(0o755)
        return BinarySource(name=source.name, path=program)
    _unpack(source, content, directory)
    return TreeSource(name=source.name, path=directory)


def unpack_what_differs(sources: Sequence[ArchiveSource], blobs: Blobs, directories: Sequence[Path]) -> None:
    """Write the files of two trees to an empty directory each, but for those that are equal in both.

    Raises as `unpack_source` does.
    """
    # One after the other: each is held in memory as a whole.
    digests = [_digests(source.name, blobs.get(source.archive)) for source in sources]
    equal = {path for path, digest in digests[0].items() if digests[1].get(path) == digest}
    for source, directory in zip(sources, directories, strict=True):
        _unpack(source, blobs.get(source.archive), directory, equal)


def _digests(name: str, content: bytes) -> dict[PurePosixPath, bytes]:
    try:
        return digests_of_files(io.BytesIO(content), ARCHIVE_LIMITS)
    except TarRefused as reason:
        raise _refused(name, reason) from reason


def _unpack(source: ArchiveSource, content: bytes, directory: Path, left_out: Container[PurePosixPath] = ()) -> None:
    packed = io.BytesIO(content)
    try:
        unpack_tar(packed, directory, ARCHIVE_LIMITS, left_out, links_may_lead_out=source.links_lead_out)
    except TarRefused as reason:
        raise _refused(source.name, reason) from reason
    remove_settings(directory)


def _refused(name: str, reason: TarRefused) -> UsageError:
    return UsageError(f"the archive of `{name}` is refused: {reason}", hint="send it again")
