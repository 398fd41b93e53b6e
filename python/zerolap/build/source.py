"""Resolves SERVER, BASE and HEAD of the command line to sources, and copies the files of sources."""

import contextlib
import hashlib
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import IO

from zerolap.build.bounded_git import WITHOUT_PROGRAMS, GitStopped, beginning_of, git_environment, running_git
from zerolap.build.program import DIRECTORY, SOCKET
from zerolap.records import (
    BinarySource,
    BuildFailed,
    EndpointSource,
    EnvironmentMissing,
    Revision,
    RevisionSource,
    Source,
    TreeSource,
    UsageError,
)
from zerolap.sandbox import launch, remove_abandoned, scratch_directory

UTC = "format-local:%Y-%m-%dT%H:%M:%SZ"
"""ISO 8601 times, for git in the time zone UTC."""
EXPORTING_PREFIX = "zerolap-exporting-"
EXPORT_SECONDS = 600.0
MOST_EXPORTED_BYTES = 2 << 30
"""Of a tar of a commit's files; by its attributes git may make them larger than they are in the repository."""
CHUNK_BYTES = 1 << 20
ENDPOINT_SCHEMES = ("tcp://", "unix://")


def resolve(text: str, repository: Path | None) -> Source:
    """Return the source that `text` names.

    Tried in this order: an endpoint; an existing path; a revision of `repository`, or `REPO@REV`; a program on the
    PATH; a program with arguments. Raises `UsageError`, which lists what was tried.
    """
    if text.startswith(ENDPOINT_SCHEMES):
        return EndpointSource(name=text)
    tried = ["not an endpoint (`tcp://…` or `unix://…`)"]
    path = Path(text).expanduser()
    if path.exists():
        return _from_path(text, path)
    tried.append(f"no file or directory `{text}`")
    revision = _from_revision(text, repository, tried)
    if revision is not None:
        return revision
    program = shutil.which(text)
    if program is not None:
        return BinarySource(name=text, path=Path(program).absolute())
    tried.append(f"no program `{text}` on the PATH")
    command = _start_command(text, tried)
    if command is not None:
        return command
    raise UsageError(
        f"`{text}` names no server",
        hint="give a binary, a start command in quotes, a source tree, or a revision with `--repo`",
        details="tried: " + "; ".join(tried),
    )


def _start_command(text: str, tried: list[str]) -> BinarySource | None:
    try:
        words = shlex.split(text)
    except ValueError as wrong:
        tried.append(f"no start command: {wrong}")
        return None
    if len(words) < 2:
        return None
    program = shutil.which(Path(words[0]).expanduser())
    if program is None:
        tried.append(f"no program `{words[0]}` that a start command could begin with")
        return None
    unknown = [name for name in re.findall(r"\{\w+\}", text) if name not in (SOCKET, DIRECTORY)]
    if unknown:
        raise UsageError(
            f"`{unknown[0]}` is not a placeholder of start commands", hint=f"write {SOCKET} or {DIRECTORY}"
        )
    return BinarySource(name=text, path=Path(program).absolute(), arguments=tuple(words[1:]))


def _from_path(name: str, path: Path) -> Source:
    # Links to programs are not resolved: some, such as Debian's redis-server, depend on the name of the link.
    if path.is_dir():
        return TreeSource(name=name, path=path.resolve())
    return BinarySource(name=name, path=path.absolute())


def _from_revision(text: str, repository: Path | None, tried: list[str]) -> RevisionSource | None:
    if repository is not None:
        commit = commit_of(repository, text)
        if commit is not None:
            return _revision_source(text, repository, commit)
        tried.append(f"no revision `{text}` in the repository `{repository}`")
        return None
    directory, at, revision = text.rpartition("@")
    if at and Path(directory).expanduser().is_dir():
        path = Path(directory).expanduser()
        commit = commit_of(path, revision)
        if commit is not None:
            return _revision_source(text, path, commit)
        tried.append(f"no revision `{revision}` in the repository `{directory}`")
        return None
    tried.append("no revision, as `--repo` is not given")
    return None


def _revision_source(name: str, repository: Path, commit: str) -> RevisionSource:
    options = ("--no-patch", "--no-show-signature", f"--date={UTC}", "--format=%P%n%cd%n%s")
    shown = run_git(repository, "show", *options, commit).stdout
    parents, time, subject = [*shown.split("\n"), "", "", ""][:3]
    revision = Revision(
        repository=str(repository.resolve()), commit=commit, parents=tuple(parents.split()), time=time, subject=subject
    )
    return RevisionSource(name=name, repository=repository.resolve(), revision=revision)


def commit_of(repository: Path, revision: str) -> str | None:
    """Return the full commit id of a revision, or None if there is none.

    Raises `UsageError` if `repository` is not a git repository, `EnvironmentMissing` without git.
    """
    if shutil.which("git") is None:
        raise EnvironmentMissing("git is not installed", hint="apt-get install git")
    opened = run_git(repository, "rev-parse", "--git-dir")
    if opened.returncode != 0:
        message = f"`{repository}` is not a git repository that can be read"
        raise UsageError(message, hint="give a git repository with `--repo`", details=opened.stderr.strip())
    done = run_git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return done.stdout.strip() if done.returncode == 0 else None


def run_git(repository: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run git in a repository, without file system monitors and pagers."""
    command = ["git", *WITHOUT_PROGRAMS, "-C", str(repository), *arguments]
    done = subprocess.run(command, capture_output=True, check=False, env=git_environment())
    # Decoded here, as `subprocess` would take each carriage return in a file for the end of a line.
    output, errors = (stream.decode(errors="replace") for stream in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(command, done.returncode, output, errors)


LEFT_OUT = {".git", ".zerolap"}
LEFT_BY_BUILDS = {".o", ".a", ".d", ".so", ".gcda", ".gcno"}


def content_digest(source: TreeSource | RevisionSource) -> str:
    """Return a digest of all files of a source."""
    if isinstance(source, RevisionSource):
        return run_git(source.repository, "rev-parse", f"{source.commit}^{{tree}}").stdout.strip()
    digest = hashlib.sha256()
    for file in _files(source.path):
        digest.update(f"{file}\0".encode())
        digest.update(_content(source.path / file))
    return digest.hexdigest()


def export(source: TreeSource | RevisionSource, directory: Path) -> None:
    """Copy the source into an empty directory."""
    if isinstance(source, RevisionSource):
        _export_revision(source, directory)
        remove_settings(directory)
        return
    for file in _files(source.path):
        target = directory / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source.path / file, target, follow_symlinks=False)


def remove_settings(directory: Path) -> None:
    """Remove committed settings of an earlier build, which would override those of this one."""
    for settings in list(directory.rglob(".make-*")):
        if settings.is_dir() and not settings.is_symlink():
            shutil.rmtree(settings, ignore_errors=True)
        else:
            settings.unlink(missing_ok=True)


def _export_revision(source: RevisionSource, directory: Path) -> None:
    # With --git-dir git archives the whole tree, also if the repository was named by a directory inside of it.
    directory_of_git = run_git(source.repository, "rev-parse", "--absolute-git-dir").stdout.strip()
    command = [f"--git-dir={directory_of_git}", "archive", "--format=tar", source.commit]
    remove_abandoned(EXPORTING_PREFIX)
    with scratch_directory(EXPORTING_PREFIX) as scratch:
        errors = scratch / "errors"
        try:
            with (
                running_git(command, EXPORT_SECONDS, errors) as (git, archive),
                launch(
                    ["tar", "-x", "-C", str(directory)], environment=git_environment(), output=errors, piped=True
                ) as tar,
            ):
                if tar.stdin is not None:
                    _copy(archive, tar.stdin)
                # Where tar has failed, git may wait for ever for somebody to read the rest.
                has_failed = tar.wait() != 0 or git.wait() != 0
        except GitStopped as reason:
            raise BuildFailed(f"`{source.name}` cannot be exported from git: {reason}") from reason
        if has_failed:
            raise BuildFailed(f"`{source.name}` cannot be exported from git", details=beginning_of(errors))


def _copy(archive: IO[bytes], unpacking: IO[bytes]) -> None:
    """Give an archive to the program that unpacks it; raises `GitStopped` if it is too large."""
    size = 0
    # A program that ends before the archive says why.
    with contextlib.suppress(BrokenPipeError), unpacking:
        while chunk := archive.read(CHUNK_BYTES):
            size += len(chunk)
            if size > MOST_EXPORTED_BYTES:
                raise GitStopped(f"its files have more than {MOST_EXPORTED_BYTES >> 20:,} MiB")
            unpacking.write(chunk)


def _files(tree: Path) -> list[Path]:
    """Return a tree's source files, relative and sorted: those that git does not ignore, or all but build output."""
    listed = run_git(tree, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    top = run_git(tree, "rev-parse", "--show-toplevel")
    if listed.returncode == 0 and Path(top.stdout.strip()) == tree.resolve():
        paths = [Path(name) for name in listed.stdout.split("\0") if name]
    else:
        paths = [path.relative_to(tree) for path in tree.rglob("*") if not path.is_dir() or path.is_symlink()]
    sources = (path for path in paths if path.suffix not in LEFT_BY_BUILDS and not LEFT_OUT & set(path.parts))
    return sorted(path for path in sources if not path.name.startswith(".make-") and _is_inside(tree, path))


def _is_inside(tree: Path, path: Path) -> bool:
    """Whether a path is a file or link in the tree itself, not in a directory that a link points to."""
    return _is_file(tree / path) and not any((tree / parent).is_symlink() for parent in path.parents)


def _is_file(path: Path) -> bool:
    return path.is_symlink() or path.is_file()


def _content(path: Path) -> bytes:
    return str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
