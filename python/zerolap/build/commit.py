"""The files of a commit, written from git's objects as they were committed.

`git archive` and `git checkout` apply the attributes of the tree: they leave files out, put text into them, convert
them and run filters. The files written here are those that the digest of the tree is computed from.
"""

import hashlib
import io
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final

from zerolap.build.git import GitStopped, beginning_of, fault_in, read_git, running_git
from zerolap.build.revision_name import clone_hint
from zerolap.build.tar import (
    CHUNK_BYTES,
    LONGEST_PATH_BYTES,
    Left,
    TarLimits,
    TarRefused,
    new_file,
    refusing,
    require_path,
    shown,
)
from zerolap.records import BuildFailed, RevisionSource, UsageError
from zerolap.sandbox import scratch_directory

GIT_DIRECTORY: Final = ".git"
EXPORTING_PREFIX: Final = "zerolap-exporting-"
EXPORT_SECONDS: Final = 600.0
MOST_LISTED_BYTES: Final = 32 << 20
LONGEST_ANSWER_BYTES: Final = 256
PROGRAM_MODE, LINK_MODE = b"100755", b"120000"
HINT: Final = "give a commit with the server's source alone"


@dataclass(frozen=True)
class CommittedFile:
    """A file, link or directory of a commit; a submodule is an empty directory.

    `digest` is the id of its object, and `size` the number of its bytes; directories have neither.
    """

    path: PurePosixPath
    mode: bytes
    digest: str = ""
    size: int = 0


def tree_of(source: RevisionSource) -> str:
    """Return the id of a commit's tree, which identifies all its files; raises `BuildFailed` if there is none."""
    shown_tree = read_git(["-C", str(source.repository), "rev-parse", "--verify", f"{source.commit}^{{tree}}"])
    if shown_tree.code != 0:
        raise _failed(source, shown_tree.errors)
    return shown_tree.text


def write_files(source: RevisionSource, directory: Path, limits: TarLimits) -> None:
    """Write the files of a commit to an empty directory, after all of them were found to be within the limits.

    Links are as they were committed, and may lead out. All files get the same time. Raises `UsageError` for more than
    the limits and for paths that are refused, `BuildFailed` where git fails.
    """
    try:
        files = _listed(source, limits)
        with scratch_directory(EXPORTING_PREFIX) as scratch:
            errors = scratch / "errors"
            command = ["-C", str(source.repository), "cat-file", "--batch"]
            with running_git(command, EXPORT_SECONDS, errors, feeding=True) as (git, answers):
                if git.stdin is None:
                    raise ValueError("the input of git is no pipe")
                try:
                    _write(files, directory, _Objects(git.stdin, answers))
                except (BrokenPipeError, _ObjectAbsent) as absent:
                    raise _failed(source, beginning_of(errors) or str(absent)) from absent
    except GitStopped as reason:
        raise BuildFailed(f"`{source.name}` cannot be exported from git: {reason.message}") from reason
    except TarRefused as reason:
        raise UsageError(f"`{source.name}` cannot be exported from git: {reason}", hint=HINT) from reason


def _failed(source: RevisionSource, errors: str) -> BuildFailed:
    hint = clone_hint(source.repository) or f"git -C {source.repository} fsck shows what is missing"
    return BuildFailed(f"`{source.name}` cannot be exported from git: {fault_in(errors)}", hint=hint)


def _listed(source: RevisionSource, limits: TarLimits) -> list[CommittedFile]:
    """Return the files of a commit, directories before what they hold; raises `TarRefused`."""
    command = ["-C", str(source.repository), "ls-tree", "-r", "-t", "-l", "-z", "--full-tree", source.commit]
    try:
        listed = read_git(command, MOST_LISTED_BYTES)
    except GitStopped as reason:
        if hint := clone_hint(source.repository):
            raise BuildFailed(f"`{source.name}` cannot be exported from git: {reason.message}", hint=hint) from reason
        raise TarRefused(f"its files cannot be listed: {reason.message}") from reason
    if listed.code != 0:
        raise _failed(source, listed.errors)
    left, files = Left(limits), []
    for line in listed.output.split(b"\0")[:-1]:
        facts, _, name = line.partition(b"\t")
        mode, kind, digest, size = facts.split()
        path = require_path(name.decode(errors="surrogateescape"))
        if GIT_DIRECTORY in path.parts:
            # Git would read it as its own configuration when it lists the copied files; git itself writes no such path.
            raise TarRefused(f"`{shown(str(path))}` is in a directory of git's own")
        file = CommittedFile(path, mode)
        if kind == b"blob":
            if not size.isdigit():
                raise _failed(source, f"{digest.decode()}: there is no such object in the repository")
            file = CommittedFile(path, mode, digest.decode(), int(size))
        left.take(file.size)
        files.append(file)
    return files


class _ObjectAbsent(Exception):
    """Git does not have the requested object, or returns another one."""


class _Objects:
    """The contents of objects, from `git cat-file --batch`."""

    def __init__(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        self._questions = questions
        self._answers = answers

    def copy(self, file: CommittedFile, target: IO[bytes]) -> None:
        """Write the content of a file; raises `_ObjectAbsent` if it is not what the id of the object stands for."""
        self._questions.write(f"{file.digest}\n".encode())
        self._questions.flush()
        answer = self._answers.readline(LONGEST_ANSWER_BYTES)
        if answer != f"{file.digest} blob {file.size}\n".encode():
            raise _ObjectAbsent(f"{file.digest}: {answer.decode(errors='replace').strip() or 'no answer'}")
        is_sha1 = len(file.digest) == hashlib.sha1(usedforsecurity=False).digest_size * 2
        digest = hashlib.sha1(usedforsecurity=False) if is_sha1 else hashlib.sha256()
        digest.update(f"blob {file.size}\0".encode())
        left = file.size
        while left:
            chunk = self._answers.read(min(left, CHUNK_BYTES))
            if not chunk:
                raise _ObjectAbsent(f"{file.digest}: its end is missing")
            digest.update(chunk)
            target.write(chunk)
            left -= len(chunk)
        if self._answers.read(1) != b"\n" or digest.hexdigest() != file.digest:
            raise _ObjectAbsent(f"{file.digest}: the repository is damaged")


def _write(files: list[CommittedFile], directory: Path, objects: _Objects) -> None:
    links: list[tuple[PurePosixPath, bytes]] = []
    for file in files:
        with refusing(file.path):
            if not file.digest:
                (directory / file.path).mkdir()
            elif file.mode == LINK_MODE:
                links.append((file.path, _target(file, objects)))
            else:
                with new_file(directory / file.path, is_executable=file.mode == PROGRAM_MODE) as target:
                    objects.copy(file, target)
    # Links come last: nothing that is written later can follow one out of the tree.
    for path, link_target in links:
        with refusing(path):
            os.symlink(link_target, os.fsencode(directory / path))


def _target(link: CommittedFile, objects: _Objects) -> bytes:
    if link.size > LONGEST_PATH_BYTES:
        raise TarRefused(f"the link `{shown(str(link.path))}` has too long a target")
    with io.BytesIO() as content:
        objects.copy(link, content)
        target = content.getvalue()
    if not target or b"\0" in target:
        raise TarRefused(f"the link `{shown(str(link.path))}` has a target that is no path")
    return target
