"""Ranges of commits, as a history and a bisection go through them."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Final

from zerolap.build.git import run_git
from zerolap.build.revision_name import clone_hint, required_commit
from zerolap.build.source import UTC as IN_UTC, described_source
from zerolap.records import Revision, RevisionSource, UsageError

RANGE: Final = "A..B, tags:A..B, tags:A,B,C, dates:FROM..TO or branch"
MOST_COMMITS: Final = 20_000
BRANCH: Final = "branch"
VERSION: Final = re.compile(r"[a-zA-Z_-]*(\d+(?:\.\d+)+)")
"""A tag of a release: pre-releases such as `7.2-rc1` are none."""
PRE_RELEASE: Final = re.compile(rf"{VERSION.pattern}[-_.~+]?[a-zA-Z][\w.~+-]{{0,40}}", re.ASCII)
MOMENT: Final = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)(?P<time>T.+)?", re.ASCII)
FORMAT: Final = "%H%n%P%n%cd%n%an%n%s"
"""An author and a subject are one line each, with whatever characters but a newline and NUL, which ends it."""
TAG_FORMAT: Final = "%(objectname) %(objecttype) %(*objectname) %(*objecttype) %(refname:lstrip=2)"


@dataclass(frozen=True)
class RangedCommit:
    """A commit of a range with the tags of releases that name it; `pre_release` is the tag of one that is none."""

    source: RevisionSource
    tags: tuple[str, ...] = ()
    pre_release: str = ""

    @property
    def revision(self) -> Revision:
        """The commit with its parents, time and subject."""
        return self.source.revision


def commits_of(repository: Path, text: str, *, takes_releases: bool = True) -> list[RangedCommit]:
    """Return the commits of a range, the oldest first; without `takes_releases`, the text is `A..B`.

    `A..B` are A and the first parents of B up to it, B included. `tags:A..B` are the releases from A to B, in the order
    of their versions, and B itself where that is no release; `tags:A,B,C` are these alone. `dates:FROM..TO` are the
    first parents of HEAD from one day or time to another, in UTC, both included; `branch` are all of them. Raises
    `UsageError` for a range that names no commits.
    """
    kind, colon, rest = text.partition(":")
    if takes_releases and text == BRANCH:
        return _listed(repository, text, [required_commit(repository, "HEAD")])
    if takes_releases and colon and kind == "tags":
        return _named_releases(repository, text) if "," in rest else _releases(repository, *_ends(text, rest))
    if takes_releases and colon and kind == "dates":
        since, until = _ends(text, rest)
        first, last = _time(text, since, time.min), _time(text, until, time.max)
        return _listed(repository, text, [required_commit(repository, "HEAD"), f"--since={first}", f"--until={last}"])
    base, head = _ends(text, text)
    first, last = required_commit(repository, base), required_commit(repository, head)
    commits = _listed(repository, text, [last, f"^{first}"], may_be_empty=True) if first != last else []
    beginning = _listed(repository, text, [first, "--max-count=1"])
    if commits and first not in commits[0].revision.parents[:1]:
        others = "a history also takes tags:A..B" if takes_releases else ""
        hints = [f"git merge-base {base} {head} names the commit where they part", others, clone_hint(repository)]
        raise UsageError(f"`{base}` is no first parent of `{head}`", hint="; ".join(filter(None, hints)))
    if not commits and first != last:
        raise UsageError(f"`{text}` holds no commits: `{head}` is not newer than `{base}`", hint="the older one first")
    return [*beginning, *commits]


def _ends(text: str, ends: str) -> tuple[str, str]:
    first, dots, last = ends.partition("..")
    if not dots or not first or not last or last.startswith("."):
        raise UsageError(f"`{text}` is no range of commits", hint=f"write {RANGE}")
    return first, last


def _time(text: str, moment: str, of_day: time) -> str:
    """Return a moment in seconds, as git takes it.

    Of a day alone git would take the time of day that it is now, and of a year after 2099 anything.
    """
    shape = MOMENT.fullmatch(moment)
    try:
        if shape is None:
            raise ValueError
        day = date.fromisoformat(shape["day"])
        chosen = datetime.fromisoformat(moment) if shape["time"] else datetime.combine(day, of_day)
    except ValueError:
        hint = "write dates:2025-01-01..2025-12-31, or times such as 2025-01-01T12:00:00Z"
        raise UsageError(f"`{text}` is no range of dates: `{moment}` is no date", hint=hint) from None
    seconds = (chosen if chosen.tzinfo else chosen.replace(tzinfo=UTC)).timestamp()
    return f"@{max(0, int(seconds))} +0000"


def _listed(repository: Path, text: str, selection: list[str], *, may_be_empty: bool = False) -> list[RangedCommit]:
    """Return commits along first parents, the oldest first; raises `UsageError` for too many or none."""
    options = ["--first-parent", f"--max-count={MOST_COMMITS + 1}", "--encoding=UTF-8", f"--date={IN_UTC}"]
    listed = run_git(repository, "log", "-z", "--no-show-signature", f"--format={FORMAT}", *options, *selection, "--")
    if listed.code != 0:
        raise UsageError(f"git cannot list `{text}`: {listed.fault}", hint=clone_hint(repository))
    tags = _tags(repository)
    pre_releases = _tags(repository, PRE_RELEASE)
    entries = listed.output.decode(errors="replace").split("\0")
    commits = [_ranged(repository, entry, tags, pre_releases) for entry in reversed(entries) if entry]
    if len(commits) > MOST_COMMITS:
        raise UsageError(f"`{text}` holds more than {MOST_COMMITS:,} commits", hint="name a shorter range")
    if not commits and not may_be_empty:
        raise UsageError(f"`{text}` holds no commits")
    return commits


def _ranged(
    repository: Path, entry: str, tags: dict[str, list[str]], pre_releases: dict[str, list[str]]
) -> RangedCommit:
    described = entry.split("\n", 4)
    commit = described[0]
    names = tuple(sorted(tags.get(commit, []), key=_version))
    pre_release = max(pre_releases.get(commit, []), default="")
    name = names[0] if names else pre_release or commit[:12]
    return RangedCommit(described_source(name, repository, described), names, pre_release)


def _tags(repository: Path, shape: re.Pattern[str] = VERSION) -> dict[str, list[str]]:
    """Return the tags of a shape by commit, by default those of releases."""
    listed = run_git(repository, "for-each-ref", f"--format={TAG_FORMAT}", "refs/tags")
    tags: dict[str, list[str]] = {}
    for line in filter(None, listed.output.decode(errors="replace").split("\n")):
        tagged, kind, annotated, annotated_kind, name = line.split(" ")
        if (annotated_kind or kind) == "commit" and shape.fullmatch(name):
            tags.setdefault(annotated or tagged, []).append(name)
    return tags


def _version(tag: str) -> tuple[int, ...]:
    numbers = VERSION.fullmatch(tag)
    return () if numbers is None else tuple(int(number[:9]) for number in numbers[1].split("."))


def _releases(repository: Path, first: str, last: str) -> list[RangedCommit]:
    """Return the releases between two revisions; the newest where the last one is a branch's are those before it."""
    begin, end = required_commit(repository, first), required_commit(repository, last)
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
    # The list is turned round. Without any commits, git would list HEAD.
    ranged = _listed(repository, first, ["--no-walk=unsorted", *reversed(chosen)]) if chosen else []
    newest = _listed(repository, last, [end, "--max-count=1"]) if highest is None else []
    releases = [commit for commit in ranged if not newest or commit.revision.time <= newest[0].revision.time]
    if not releases:
        raise UsageError(f"`tags:{first}..{last}` holds no releases: `{last}` is older", hint="the older one first")
    return [*releases, *newest]


def _named_releases(repository: Path, text: str) -> list[RangedCommit]:
    """Return releases that are named one by one, in the order of their versions."""
    names = [name.strip() for name in text.removeprefix("tags:").split(",")]
    if not all(names) or ".." in text:
        raise UsageError(f"`{text}` is no range of commits", hint=f"write {RANGE}")
    commits = {name: required_commit(repository, name) for name in names}
    by_commit = _tags(repository)
    for name, commit in commits.items():
        if commit not in by_commit:
            hint = "tags of releases are numbers with dots, such as 7.2.4; A..B takes any revisions"
            raise UsageError(f"`{name}` is no release", hint=hint)
    # The list is turned round.
    newest_first = sorted(set(commits.values()), key=lambda commit: max(map(_version, by_commit[commit])), reverse=True)
    return _listed(repository, text, ["--no-walk=unsorted", *newest_first])
