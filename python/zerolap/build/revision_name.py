"""Names of commits, as they are written for git: which commit one stands for, and why it stands for none."""

import difflib
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import Final

from zerolap.build.git import read_beginning, run_git
from zerolap.records import UsageError

SHOWN_DIGITS: Final = 12
MOST_CANDIDATES: Final = 8
MOST_OBJECTS: Final = 64
NEAR_NAMES: Final = 3
MOST_LISTED_BYTES: Final = 1 << 20
RULES: Final = ("refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
"""Where git looks for a short name, in this order (gitrevisions(7)); it takes the first with a warning only."""
OF_GIT_ITSELF: Final = re.compile(r"[A-Z_]*HEAD|@")
AMBIGUOUS: Final = re.compile(r"(?:refname '(.+)'|short object ID ([0-9a-f]+)) is ambiguous")
BEGINNING_OF_HASH: Final = re.compile(r"[0-9a-f]{4,63}")
HASH: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
NO_REPOSITORY: Final = "not a git repository (or any"
ANCESTOR: Final = re.compile(r"(.+)~[0-9]+")
OPERATORS: Final = re.compile(r"[~^:@].*", re.DOTALL)


def enclosing_repository() -> Path | None:
    """Return the git repository that the working directory is in; none where it is in none, or git is missing."""
    if shutil.which("git") is None:
        return None
    here = Path()
    top = run_git(here, "rev-parse", "--show-toplevel")
    if top.code == 0:
        directory = Path(os.fsdecode(top.output).removesuffix("\n"))
        return here if directory == here.resolve() else directory
    return here if run_git(here, "rev-parse", "--git-dir").code == 0 else None


def require_repository(repository: Path) -> None:
    """Raise `UsageError` if a directory is not in a git repository that can be read, `EnvironmentMissing` without git.

    Git reads the repository of a directory above as well.
    """
    if not repository.is_dir():
        raise UsageError(f"there is no directory `{repository}`", hint="give a git repository with `--repo`")
    opened = run_git(repository, "rev-parse", "--git-dir")
    if opened.code != 0:
        advice = [line.strip() for line in opened.errors.splitlines() if line.startswith("\t")]
        raise UsageError(
            f"`{repository}` is not a git repository that can be read: {opened.fault}",
            hint=advice[0] if advice else "give a git repository with `--repo`",
        )


def refusal_of_git() -> UsageError | None:
    """Return why git refuses to read the repository that the working directory is in; none where it is in none."""
    if shutil.which("git") is None:
        return None
    try:
        require_repository(Path())
    except UsageError as refused:
        return None if NO_REPOSITORY in refused.message else refused
    return None


def commit_of(repository: Path, name: str) -> str | None:
    """Return the full id of the commit that a name stands for, or none if it stands for no commit there.

    Raises `UsageError` if the name stands for several, such as a tag and a branch, or if `repository` is not a git
    repository, and `EnvironmentMissing` without git.
    """
    require_repository(repository)
    done = run_git(repository, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
    ambiguous = AMBIGUOUS.search(done.errors)
    if ambiguous is not None:
        _require_single(repository, name, ambiguous[1] or ambiguous[2])
    return done.text if done.code == 0 else None


def required_commit(repository: Path, name: str) -> str:
    """Return the full id of the commit that a name stands for; raises `UsageError`, with the likely reason."""
    commit = commit_of(repository, name)
    if commit is None:
        raise UsageError(f"no revision `{name}` in the repository `{repository}`", hint=absence_hint(repository, name))
    return commit


def absence_hint(repository: Path, name: str) -> str:
    """Return why a repository may lack the commit of a name: a similar name is there, or history was not cloned."""
    hints = []
    plain = OPERATORS.sub("", name)
    near = difflib.get_close_matches(plain, ["HEAD", *_names(repository)], n=NEAR_NAMES)
    if near and plain not in near:
        hints.append(f"did you mean {' or '.join(near)}?")
    incomplete = clone_hint(repository)
    return "; ".join(filter(None, [*hints, incomplete or _oldest_ancestor(repository, name)]))


def _oldest_ancestor(repository: Path, name: str) -> str:
    """Return how far back a name such as `HEAD~60` can go; empty for other names, and where the first word is none."""
    ancestor = ANCESTOR.fullmatch(name)
    if ancestor is None or not (descendant := _commit(repository, ancestor[1])):
        return ""
    commits = run_git(repository, "rev-list", "--count", "--first-parent", descendant).text
    return f"the oldest is {ancestor[1]}~{int(commits) - 1}" if commits.isdecimal() else ""


def clone_hint(repository: Path) -> str:
    """Return what a repository was cloned without, with the command that fetches the rest; empty for a whole clone."""
    fetch = f"git -C {shlex.quote(str(repository))} fetch"
    if run_git(repository, "rev-parse", "--is-shallow-repository").text == "true":
        return f"the clone is shallow, without the older commits: {fetch} --unshallow --tags"
    if run_git(repository, "config", "--get-regexp", r"^remote\..*\.partialclonefilter$").text:
        return f"the clone is partial, without all files: {fetch} --refetch --no-filter"
    return ""


def _require_single(repository: Path, name: str, ambiguous: str) -> None:
    """Raise `UsageError` if the ambiguous part of a name stands for more than one commit."""
    # Files of git's own and hashes have no longer name. One in full is that of one ref, whatever others are called.
    is_full = ambiguous.startswith("refs/") and _commit(repository, ambiguous)
    if is_full or OF_GIT_ITSELF.fullmatch(ambiguous) or HASH.fullmatch(ambiguous):
        return
    candidates: dict[str, str] = {}
    for rule in RULES:
        commit = _commit(repository, rule.format(ambiguous))
        if commit:
            candidates[rule.format(ambiguous)] = commit
    if BEGINNING_OF_HASH.fullmatch(ambiguous):
        objects = run_git(repository, "rev-parse", f"--disambiguate={ambiguous}").text.split()
        # Of trees and blobs none is meant; a tag's object has a name by which its commit is listed.
        commits = [each for each in objects[:MOST_OBJECTS] if _commit(repository, each) == each][:MOST_CANDIDATES]
        candidates |= {commit[: max(SHOWN_DIGITS, len(ambiguous) + 4)]: commit for commit in commits}
    if len(set(candidates.values())) > 1:
        named = ", ".join(f"`{full}` ({commit[:SHOWN_DIGITS]})" for full, commit in candidates.items())
        raise UsageError(
            f"`{name}` is ambiguous in the repository `{repository}`: it can be {named}",
            hint=f"write the one that is meant: {' or '.join(candidates)}",
        )


def _commit(repository: Path, full_name: str) -> str:
    """Return the commit of a ref's full name or of an object; empty where there is none."""
    return run_git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{full_name}^{{commit}}").text


def _names(repository: Path) -> list[str]:
    """Return the short names of tags and branches; of very many, the first."""
    command = ["-C", str(repository), "for-each-ref", "--format=%(refname:lstrip=2)"]
    listed = read_beginning([*command, "refs/tags", "refs/heads", "refs/remotes"], MOST_LISTED_BYTES)
    return listed.decode(errors="replace").splitlines()
