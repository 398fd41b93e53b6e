"""Builds as they travel from the machine that made them to those that measure them."""

import gzip
import hashlib
import io
import re
import zlib
from pathlib import Path

from pydantic import ValidationError

from zerolap.build.builder import CONFINED, PROGRAM, RECORD, Builds, BuiltServer
from zerolap.build.compilers import COMPILERS
from zerolap.build.placement import CODE, RELINKING, Relinking
from zerolap.build.tar import TarLimits, TarRefused, pack_tar, unpack_tar
from zerolap.records import Build, BuildSpec, UsageError
from zerolap.sandbox import FileRefused, is_regular_file, read_file

PARTS = (RECORD, PROGRAM, RELINKING, CODE)
"""What is packed: neither the objects for later builds nor placements, which are linked again."""
LIMITS = TarLimits(total_bytes=2 << 30, members=len(PARTS))
LARGEST_RECORD_BYTES = 1 << 20
LARGEST_RELINKING_BYTES = 64 << 20
DIGEST = re.compile(r"b-[0-9a-f]{32}")
COMPILER = re.compile(rf"({'|'.join(map(re.escape, sorted(COMPILERS)))})(-\d+)?")
SECTION = re.compile(r"\.(text|rodata|data|bss)\.[\w.$@]+")
COMPRESSION_LEVEL = 1
"""Most of an artifact is debug information, which higher levels make little smaller in several times the time."""


def pack_build(builds: Builds, digest: str) -> bytes:
    """Return a build, with what its placements are linked from, for `unpack_build`.

    Raises `EnvironmentMissing` if the build is not here, `UsageError` if it is a start command's, which cannot travel.
    """
    record = builds.get(digest).record
    if record.path is not None or record.arguments:
        raise UsageError(
            f"the start command of `{record.path}` cannot be sent to another machine",
            hint="give the program alone, its source tree or a revision",
        )
    directory, content = builds.directory / digest, io.BytesIO()
    parts = [name for name in PARTS if is_regular_file(directory / name)]
    with gzip.GzipFile(filename="", mode="wb", compresslevel=COMPRESSION_LEVEL, fileobj=content, mtime=0) as packed:
        try:
            pack_tar(directory, packed, LIMITS, parts)
        except TarRefused as reason:
            raise UsageError(f"the build {digest} cannot be sent to another machine: {reason}") from reason
    return content.getvalue()


def unpack_build(builds: Builds, digest: str, content: bytes) -> BuiltServer:
    """Keep the build of that digest as `pack_build` has returned it on another machine, if it is not yet here.

    It will run under the policy of these builds, whatever its record states. Raises `UsageError` for what is no such
    build, or larger than builds are: the machine that made it is not trusted.
    """
    if not DIGEST.fullmatch(digest):
        raise UsageError(f"`{digest}` is not the digest of a build")
    built = builds.find(digest)
    if built is not None:
        return built
    with builds.in_preparation(digest) as directory:
        try:
            with gzip.GzipFile(mode="rb", fileobj=io.BytesIO(content)) as packed:
                unpack_tar(packed, directory, LIMITS)
            record = _accepted(directory, digest)
        except (TarRefused, gzip.BadGzipFile, zlib.error, EOFError, ValidationError) as reason:
            raise UsageError(
                f"the received build {digest} is refused: {reason}", hint="have it built again by another builder"
            ) from reason
        (directory / RECORD).write_text(record.model_dump_json())
        (directory / PROGRAM).chmod(0o755)
        (directory / CONFINED).touch()
    return builds.get(digest)


def _accepted(directory: Path, digest: str) -> Build:
    """Return the record of an unpacked build; raises `TarRefused` or `ValidationError` unless it is one."""
    for part in directory.iterdir():
        if part.name not in PARTS or not is_regular_file(part):
            raise TarRefused(f"`{part.name}` does not belong to a build")
    record = Build.model_validate_json(_text(directory / RECORD, LARGEST_RECORD_BYTES))
    program = directory / PROGRAM
    if record.build != digest:
        raise TarRefused(f"it says that it is the build {record.build}")
    if record.path is not None or record.arguments:
        raise TarRefused("it has a start command, which would start a program of this machine")
    if not is_regular_file(program):
        raise TarRefused("it has no program")
    with program.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    # The id of a program that was not built from source is known from the program.
    if not record.variant and BuildSpec(content=content).digest != digest:
        raise TarRefused("it says that it was not built from source, and is another program than was given")
    if (directory / RELINKING).exists():
        _require_usual(Relinking.model_validate_json(_text(directory / RELINKING, LARGEST_RELINKING_BYTES)), directory)
    return record


def _require_usual(relinking: Relinking, directory: Path) -> None:
    """Raise `TarRefused` for a record of a link that the lab does not write.

    The options of the link are not checked, as they take effect in the sandbox only.
    """
    if relinking.failure:
        return
    if not is_regular_file(directory / CODE):
        raise TarRefused("it has no object to be linked")
    if not COMPILER.fullmatch(relinking.compiler):
        raise TarRefused("its placements would be linked by another program than a compiler")
    if not all(SECTION.fullmatch(section) for section in relinking.sections):
        raise TarRefused("its placements would order other sections than those of functions")


def _text(path: Path, largest_bytes: int) -> bytes:
    try:
        return read_file(path, largest_bytes)
    except FileRefused as reason:
        raise TarRefused(str(reason)) from reason
