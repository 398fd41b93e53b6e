"""What SERVER, BASE and HEAD on the command line stand for."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from zerolap.build.start_command import DIRECTORY, SOCKET
from zerolap.records import (
    BinarySource,
    EndpointSource,
    EnvironmentMissing,
    Revision,
    RevisionSource,
    Source,
    TreeSource,
    UsageError,
)

UTC = "format-local:%Y-%m-%dT%H:%M:%SZ"
"""Times as ISO 8601, for git in the time zone UTC."""
ENDPOINT_SCHEMES = ("tcp://", "unix://")


def resolve(text: str, repository: Path | None) -> Source:
    """Return what `text` stands for, tried in the order of the documentation.

    An endpoint; an existing path; a revision of `repository`, or `REPO@REV`; a program on the PATH; a program with
    arguments. Raises `UsageError` that names all that was tried.
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
        raise UsageError(f"`{unknown[0]}` means nothing in a start command", hint=f"write {SOCKET} or {DIRECTORY}")
    return BinarySource(name=text, path=Path(program).absolute(), arguments=tuple(words[1:]))


def _from_path(name: str, path: Path) -> Source:
    # A program's links are kept: some, such as Debian's redis-server, go by the name that they are started under.
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
        named = Path(directory).expanduser()
        commit = commit_of(named, revision)
        if commit is not None:
            return _revision_source(text, named, commit)
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
    """Return the full commit id of a revision, or none; raises `UsageError` if `repository` is no git repository."""
    if shutil.which("git") is None:
        raise EnvironmentMissing("git is not installed", hint="apt-get install git")
    found = run_git(repository, "rev-parse", "--git-dir")
    if found.returncode != 0:
        message = f"`{repository}` is not a git repository that can be read"
        raise UsageError(message, hint="give one with `--repo`", details=found.stderr.strip())
    done = run_git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return done.stdout.strip() if done.returncode == 0 else None


def run_git(repository: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run git in a repository; its hooks, pagers and the user's external diff programs stay out."""
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(repository), "--no-pager", *arguments]
    # Inside a hook or a CI job these would lead git to another repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["TZ"] = "UTC"
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, env=environment)
