"""Ranges of commits, as a history and a bisection go through them."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from zerolap.build.git import run_git
from zerolap.build.source import LONGEST_SUBJECT, UTC, commit_of
from zerolap.records import Revision, RevisionSource, UsageError

RANGE: Final = "A..B, tags:A..B, dates:FROM..TO or branch"
MOST_COMMITS: Final = 20_000
BRANCH: Final = "branch"
VERSION: Final = re.compile(r"[a-zA-Z_-]*(\d+(?:\.\d+)+)")
"""A tag of a release: pre-releases such as `7.2-rc1` are none."""
FORMAT: Final = "%H%x1f%P%x1f%cd%x1f%s"


@dataclass(frozen=True)
class RangedCommit:
    """A commit of a range with the tags that name it."""

    source: RevisionSource
    tags: tuple[str, ...] = ()

    @property
    def revision(self) -> Revision:
        """The commit with its parents, time and subject."""
        return self.source.revision


def commits_of(repository: Path, text: str) -> list[RangedCommit]:
    """Return the commits of a range, the oldest first.

    `A..B` are A and the first parents of B up to it, B included. `tags:A..B` are the releases from A to B, in the order
    of their versions, and B itself where that is no release. `dates:FROM..TO` are the first parents of HEAD from one
    date to another; `branch` are all of them. Raises `UsageError` for a range that names no commits.
    """
    if text == BRANCH:
        return _listed(repository, text, ["HEAD"])
    if text.startswith("tags:"):
        return _releases(repository, *_ends(text, text.removeprefix("tags:")))
    if text.startswith("dates:"):
        since, until = _ends(text, text.removeprefix("dates:"))
        return _listed(repository, text, ["HEAD", f"--since={since}", f"--until={until}"])
    base, head = _ends(text, text)
    first, last = _commit(repository, base), _commit(repository, head)
    commits = _listed(repository, text, [last, f"^{first}"], may_be_empty=True) if first != last else []
    beginning = _listed(repository, text, [first, "--max-count=1"])
    if commits and first not in commits[0].revision.parents[:1]:
        raise UsageError(
            f"`{base}` is no first parent of `{head}`", hint="name a commit of the branch itself, or use tags:A..B"
        )
    if not commits and first != last:
        raise UsageError(f"`{text}` holds no commits: `{head}` is not newer than `{base}`", hint="the older one first")
    return [*beginning, *commits]


def _ends(text: str, ends: str) -> tuple[str, str]:
    first, dots, last = ends.partition("..")
    if not dots or not first or not last or last.startswith("."):
        raise UsageError(f"`{text}` is no range of commits", hint=f"write {RANGE}")
    return first, last


def _commit(repository: Path, revision: str) -> str:
    commit = commit_of(repository, revision)
    if commit is None:
        raise UsageError(f"no revision `{revision}` in the repository `{repository}`")
    return commit


def _listed(repository: Path, text: str, selection: list[str], *, may_be_empty: bool = False) -> list[RangedCommit]:
    """Return commits along first parents, the oldest first; raises `UsageError` for too many or none."""
    options = ["--first-parent", f"--max-count={MOST_COMMITS + 1}", "--encoding=UTF-8", f"--date={UTC}"]
    listed = run_git(repository, "log", "--no-show-signature", f"--format={FORMAT}", *options, *selection, "--")
    if listed.code != 0:
        raise UsageError(f"git cannot list `{text}`", details=listed.errors.strip())
    tags = _tags(repository)
    lines = listed.text.splitlines()
    commits = [_ranged(repository, line, tags) for line in reversed(lines) if line.count("\x1f") >= 3]
    if len(commits) > MOST_COMMITS:
        raise UsageError(f"`{text}` holds more than {MOST_COMMITS:,} commits", hint="name a shorter range")
    if not commits and not may_be_empty:
        raise UsageError(f"`{text}` holds no commits")
    return commits


def _ranged(repository: Path, line: str, tags: dict[str, list[str]]) -> RangedCommit:
    commit, parents, time, subject = line.split("\x1f", 3)
    names = tuple(sorted(tags.get(commit, []), key=_version))
    revision = Revision(
        repository=str(repository.resolve()),
        commit=commit,
        parents=tuple(parents.split()),
        time=time,
        subject=subject[:LONGEST_SUBJECT],
    )
    name = names[0] if names else commit[:12]
    return RangedCommit(RevisionSource(name=name, repository=repository.resolve(), revision=revision), names)


def _tags(repository: Path) -> dict[str, list[str]]:
    """Return the tags of releases by commit."""
    listed = run_git(repository, "for-each-ref", "--format=%(objectname) %(*objectname) %(refname:short)", "refs/tags")
    tags: dict[str, list[str]] = {}
    for line in listed.text.splitlines():
        *commits, name = line.split()
        if commits and VERSION.fullmatch(name):
            tags.setdefault(commits[-1], []).append(name)
    return tags


def _version(tag: str) -> tuple[int, ...]:
    numbers = VERSION.fullmatch(tag)
    return () if numbers is None else tuple(int(number[:9]) for number in numbers[1].split("."))


def _releases(repository: Path, first: str, last: str) -> list[RangedCommit]:
    """Return the releases between two revisions; the newest where the last one is a branch's are those before it."""
    begin, end = _commit(repository, first), _commit(repository, last)
    by_commit = _tags(repository)
    versions = {commit: max(map(_version, names)) for commit, names in by_commit.items()}
    lowest = versions.get(begin)
    if lowest is None:
        raise UsageError(f"`{first}` is no release", hint="tags of releases are numbers with dots, such as 7.2.4")
    highest = versions.get(end)
    chosen = [
        commit
        for commit, version in sorted(versions.items(), key=lambda item: item[1])
        if version >= lowest and (highest is None or version <= highest)
    ]
    # The list is turned round.
    ranged = _listed(repository, first, ["--no-walk=unsorted", *reversed(chosen)])
    if highest is not None:
        return ranged
    newest = _listed(repository, last, [end, "--max-count=1"])
    return [commit for commit in ranged if commit.revision.time <= newest[0].revision.time] + newest
