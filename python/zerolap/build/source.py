"""Resolves SERVER, BASE and HEAD of the command line to sources, and copies the files of sources."""

import hashlib
import os
import re
import shlex
import shutil
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from zerolap.build.commit import EXPORTING_PREFIX, tree_of, write_files
from zerolap.build.git import read_beginning, run_git
from zerolap.build.program import DIRECTORY, SOCKET
from zerolap.build.revision_name import SHOWN_DIGITS, absence_hint, commit_of, refusal_of_git
from zerolap.build.tar import LONGEST_PATH_BYTES, TarLimits
from zerolap.records import (
    OF_A_PASSWORD,
    BinarySource,
    EndpointSource,
    Revision,
    RevisionSource,
    Source,
    TreeSource,
    UsageError,
)
from zerolap.sandbox import remove, remove_abandoned, walk

UTC = "format-local:%Y-%m-%dT%H:%M:%SZ"
"""ISO 8601 times, for git in the time zone UTC."""
EXPORT_LIMITS = TarLimits(total_bytes=2 << 30, members=200_000)
MOST_DESCRIBED_BYTES = 65536
LONGEST_PARENTS = 32768
LONGEST_SUBJECT = 500
LONGEST_AUTHOR = 100
ADDRESS = re.compile(r"(?<=\S)@\S+")
"""What makes a word an address: it is not kept of an author whose name is one."""
ENDPOINT_SCHEMES = ("tcp://", "unix://")
PATHS = (".", "/", "~")
"""What begins like this is no name of a branch or tag."""


def resolve(text: str, repository: Path | None, on_other_meaning: Callable[[str], None] = warnings.warn) -> Source:
    """Return the source that `text` names.

    Tried in this order: an endpoint; an existing path; a revision of `repository`, or `REPO@REV`; a program on the
    PATH; a program with arguments. `on_other_meaning` gets a sentence where a later one of them exists too. Raises
    `UsageError` for a name that stands for none, or for several commits.
    """
    if text.startswith(ENDPOINT_SCHEMES):
        return EndpointSource(name=text)
    path, program = Path(text).expanduser(), shutil.which(text)
    if path.exists():
        commit = None if repository is None or text.startswith(PATHS) else commit_of(repository, text)
        if commit is not None:
            on_other_meaning(
                f"`{text}` is taken for the path, and is also {_shown(commit, repository)}; write ./{text} for the"
                f" path, or {commit[:SHOWN_DIGITS]} for the revision"
            )
        # Links to programs are not resolved: some, such as Debian's redis-server, depend on the name of the link.
        is_tree = path.is_dir()
        return TreeSource(name=text, path=path.resolve()) if is_tree else BinarySource(name=text, path=path.absolute())
    revision = _from_revision(text, repository)
    if revision is not None:
        if program is not None:
            on_other_meaning(
                f"`{text}` is taken for {_shown(revision.commit, revision.repository)}, and is also the program"
                f" {program}; write the path of the program if it is meant"
            )
        return revision
    if program is not None:
        return BinarySource(name=text, path=Path(program).absolute())
    command = _start_command(text)
    if command is not None:
        return command
    raise _unknown(text, repository)


def _shown(commit: str, repository: Path | None) -> str:
    return f"the revision {commit[:SHOWN_DIGITS]} of the repository `{repository}`"


def _unknown(text: str, repository: Path | None) -> UsageError:
    """Return the error for a name that stands for nothing: all that was tried, and the next step."""
    usage = "give a binary, a start command in quotes, a source tree, or a revision with `--repo`"
    of_repository, name = _named_repository(text) or (repository, text)
    if of_repository is None:
        if (refused := refusal_of_git()) is not None:
            return refused
        return UsageError(
            f"`{text}` names no server: it is no file, directory or program on the PATH, and no git repository is"
            " given that could have such a revision",
            hint=usage,
        )
    return UsageError(
        f"`{text}` names no server: it is no file, directory or program on the PATH, and there is no revision `{name}`"
        f" in the repository `{of_repository}`",
        hint=absence_hint(of_repository, name) or usage,
    )


def _start_command(text: str) -> BinarySource | None:
    try:
        words = shlex.split(text)
    except ValueError as wrong:
        raise UsageError(f"`{text}` names no server, and is no start command: {wrong}") from wrong
    if len(words) < 2:
        return None
    # A Path would take the ./ away, by which the program is looked for here and not on the PATH.
    program = shutil.which(os.path.expanduser(words[0]))
    if program is None:
        raise UsageError(
            f"`{text}` names no server: there is no program `{words[0]}` that a start command could begin with",
            hint="give the path of the program, or one on the PATH",
        )
    if OF_A_PASSWORD & {word.removeprefix("--").lower() for word in words if word.startswith("--")}:
        # Documents show the command.
        raise UsageError(
            f"the start command of `{words[0]}` has a password among its arguments",
            hint="give --config requirepass=… instead: the lab puts its own password in place",
        )
    unknown = [name for name in re.findall(r"\{\w+\}", text) if name not in (SOCKET, DIRECTORY)]
    if unknown:
        raise UsageError(
            f"`{unknown[0]}` is not a placeholder of start commands", hint=f"write {SOCKET} or {DIRECTORY}"
        )
    return BinarySource(name=text, path=Path(program).absolute(), arguments=tuple(words[1:]))


def _from_revision(text: str, repository: Path | None) -> RevisionSource | None:
    places = [(repository, text), _named_repository(text) or (None, "")]
    for of_repository, name in places:
        commit = None if of_repository is None else commit_of(of_repository, name)
        if of_repository is not None and commit is not None:
            return revision_source(text, of_repository, commit)
    return None


def _named_repository(text: str) -> tuple[Path, str] | None:
    """Return the repository and the revision of a name `REPO@REV`; none for any other name."""
    directory, at, name = text.rpartition("@")
    path = Path(directory).expanduser()
    return (path, name) if at and directory and name and not name.startswith("{") and path.is_dir() else None


def revision_source(name: str, repository: Path, commit: str) -> RevisionSource:
    """Return a commit, with what git knows of it, as a source of that name."""
    options = ("--no-patch", "--no-show-signature", "--encoding=UTF-8", f"--date={UTC}", "--format=%cd%n%P%n%an%n%s")
    # A subject can be of any length, as it ends with the first empty line.
    shown = read_beginning(["-C", str(repository), "show", *options, commit], MOST_DESCRIBED_BYTES)
    time, parents, author, subject = [*shown.decode(errors="replace").split("\n"), "", "", "", ""][:4]
    if len(parents) > LONGEST_PARENTS:
        raise UsageError(f"`{name}` is a commit with more parents than are read", hint="give a usual commit")
    return described_source(name, repository, [commit, parents, time, author, subject])


def described_source(name: str, repository: Path, described: Sequence[str]) -> RevisionSource:
    """Return a commit as a source; git has described it by its id, its parents, its time, its author and its subject.

    The last two are what the author wrote, and are cut where they are long.
    """
    commit, parents, time, author, subject = described
    revision = Revision(
        repository=str(repository.resolve()),
        commit=commit,
        parents=tuple(parents.split()),
        time=time,
        subject=subject[:LONGEST_SUBJECT],
        author=ADDRESS.sub("", author[:LONGEST_AUTHOR]).strip(),
    )
    return RevisionSource(name=name, repository=repository.resolve(), revision=revision)


DEEPEST_SUBMODULE = 8
LEFT_OUT = {".git", ".zerolap"}
SETTINGS_PREFIX = ".make-"
LEFT_BY_BUILDS = {".o", ".a", ".d", ".so", ".gcda", ".gcno"}


def content_digest(source: TreeSource | RevisionSource) -> str:
    """Return a digest of all files of a source; raises `BuildFailed` for a commit that is not there."""
    if isinstance(source, RevisionSource):
        return tree_of(source)
    digest = hashlib.sha256()
    for file in _files(source.path):
        digest.update(os.fsencode(file) + b"\0")
        digest.update(_content(source.path / file))
    return digest.hexdigest()


def export(source: TreeSource | RevisionSource, directory: Path, limits: TarLimits = EXPORT_LIMITS) -> None:
    """Copy the source into an empty directory; a commit as it is in git, whatever its attributes ask for.

    Raises `UsageError` for a commit that is not within the limits, `BuildFailed` where git fails.
    """
    if isinstance(source, RevisionSource):
        remove_abandoned(EXPORTING_PREFIX)
        write_files(source, directory, limits)
        remove_settings(directory)
        return
    for file in _files(source.path):
        target = directory / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source.path / file, target, follow_symlinks=False)


def remove_settings(directory: Path) -> None:
    """Remove committed settings of an earlier build, which would override those of this one."""
    for path in [entry.path for entry in walk(directory) if entry.name.startswith(SETTINGS_PREFIX)]:
        remove(directory / path)


def _files(tree: Path) -> list[Path]:
    """Return a tree's source files, relative and sorted: those that git does not ignore, or all but build output.

    Raises `UsageError` for paths that are longer than those of archives.
    """
    listed = _listed_by_git(tree)
    paths = _walked(tree) if listed is None else listed
    sources = (path for path in paths if path.suffix not in LEFT_BY_BUILDS and not LEFT_OUT & set(path.parts))
    return sorted(path for path in sources if not path.name.startswith(SETTINGS_PREFIX) and _is_inside(tree, path))


def _listed_by_git(tree: Path, depth: int = 0) -> list[Path] | None:
    """Return the files that git does not ignore, with those of submodules that are checked out; none for no checkout.

    Raises `UsageError` where git fails.
    """
    top = run_git(tree, "rev-parse", "--show-toplevel")
    if top.code != 0 or Path(os.fsdecode(top.output).strip()) != tree.resolve():
        return None
    listed = run_git(tree, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listed.code != 0:
        raise UsageError(f"git cannot list the files of `{tree}`: {listed.fault}")
    paths: list[Path] = []
    for name in filter(None, listed.output.split(b"\0")):
        path = Path(os.fsdecode(name))
        # A repository that is no submodule is listed with a slash, as a whole.
        is_submodule = not name.endswith(b"/") and (tree / path).is_dir() and not (tree / path).is_symlink()
        if not is_submodule:
            paths.append(path)
        elif depth < DEEPEST_SUBMODULE:
            paths += [path / file for file in _listed_by_git(tree / path, depth + 1) or []]
    return paths


def _walked(tree: Path) -> list[Path]:
    paths = []
    for entry in walk(tree):
        if not entry.has_path_within(LONGEST_PATH_BYTES):
            hint = "give the directory of the server's source alone"
            raise UsageError(f"`{tree}` has files whose paths are longer than {LONGEST_PATH_BYTES:,} bytes", hint=hint)
        if not entry.is_directory:
            paths.append(Path(entry.path))
    return paths


def _is_inside(tree: Path, path: Path) -> bool:
    """Whether a path is a file or link in the tree itself, not in a directory that a link points to."""
    is_there = (tree / path).is_symlink() or (tree / path).is_file()
    return is_there and not any((tree / parent).is_symlink() for parent in path.parents)


def _content(path: Path) -> bytes:
    return os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
