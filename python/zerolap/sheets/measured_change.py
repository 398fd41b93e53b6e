"""The outcome of a change on every platform, from which comments, checks and notices are made."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias
from urllib.parse import quote

from zerolap.records import Changes, Comparison, FalseAlarms, UnknownChanges

GITHUB = "https://github.com"


@dataclass(frozen=True)
class ChangedLines:
    """The lines of a hunk in the head's file, which begin at 1.

    A hunk that only removes lines has no lines in the head: `last_line` is then the line before `first_line`. `heading`
    is the function of the hunk as git determines it.
    """

    file: str
    first_line: int
    last_line: int
    heading: str = ""

    @property
    def is_removal(self) -> bool:
        """Whether the head has no line of the hunk."""
        return self.last_line < self.first_line


def changed_lines(changes: Changes | UnknownChanges) -> tuple[ChangedLines, ...]:
    """Return the hunks of the files that the head has; none where it is not known what differs."""
    return tuple(_changed_lines(changes)) if isinstance(changes, Changes) else ()


def _changed_lines(changes: Changes) -> Iterator[ChangedLines]:
    for file in changes.files:
        for hunk in file.hunks if file.new_file else []:
            first = hunk.new_start if hunk.new_lines else hunk.new_start + 1
            yield ChangedLines(file.new_file, first, first + hunk.new_lines - 1, hunk.heading)


@dataclass(frozen=True)
class CommitRange:
    """The commits that are compared: full hashes of the merge base and the head, and the lines that differ.

    `repository` is owner/name; `site` is where its pages are.
    """

    repository: str
    base: str
    head: str
    changed: tuple[ChangedLines, ...] = ()
    site: str = GITHUB

    @property
    def compare_url(self) -> str:
        """The page with the difference."""
        return f"{self._page}/compare/{path_part(self.base)}...{path_part(self.head)}"

    def commit_url(self, commit: str) -> str:
        """Return the page of a commit."""
        return f"{self._page}/commit/{path_part(commit)}"

    def file_url(self, file: str) -> str:
        """Return the page of one of the head's files."""
        return f"{self._page}/blob/{path_part(self.head)}/{path_part(file)}"

    def lines_url(self, lines: ChangedLines) -> str:
        """Return the page of the head's file at these lines."""
        first, last = max(1, min(lines.first_line, lines.last_line)), lines.last_line
        anchor = f"L{first}" if last <= first else f"L{first}-L{last}"
        return f"{self.file_url(lines.file)}#{anchor}"

    @property
    def _page(self) -> str:
        return f"{self.site}/{path_part(self.repository)}"


def path_part(text: str) -> str:
    """Return foreign text for the path of an address; a `/` in it separates parts of the path."""
    return quote(text, safe="/")


@dataclass(frozen=True)
class Waiting:
    """No job has begun."""

    reason: str


@dataclass(frozen=True)
class Building:
    """The servers are being built."""


@dataclass(frozen=True)
class Running:
    """Cases are being measured; `seconds_left` is an estimate, None without one."""

    done_jobs: int
    total_jobs: int
    seconds_left: float | None = None


@dataclass(frozen=True)
class Done:
    """All was measured and judged."""


@dataclass(frozen=True)
class Failed:
    """The lab could not finish; there may be results until then."""

    reason: str
    hint: str = ""


@dataclass(frozen=True)
class Cancelled:
    """A person cancelled it."""

    person: str = ""


@dataclass(frozen=True)
class Superseded:
    """A newer commit took its place."""

    commit: str = ""


@dataclass(frozen=True)
class Unaffected:
    """The change can affect no case: nothing was measured."""


PlatformState: TypeAlias = Waiting | Building | Running | Done | Failed | Cancelled | Superseded | Unaffected


@dataclass(frozen=True)
class PlatformOutcome:
    """The outcome of a change on a platform; `on_request`: of the cases that a person has asked for there.

    `comparison` is set when a case was judged. The addresses are those of the report and of its JSON, empty before
    there is a report. `false_alarms` is None where they are not known.
    """

    name: str
    state: PlatformState
    comparison: Comparison | None = None
    report_url: str = ""
    json_url: str = ""
    false_alarms: FalseAlarms | None = None
    on_request: bool = False

    @property
    def is_ongoing(self) -> bool:
        """Whether the platform has not finished."""
        return isinstance(self.state, Waiting | Building | Running)


@dataclass(frozen=True)
class Acknowledgement:
    """A person accepts the regressions of some cases, or of all if `cases` is None.

    `when` is a time in ISO 8601.
    """

    person: str
    reason: str
    when: str
    cases: frozenset[str] | None = None

    def covers(self, case: str) -> bool:
        """Return whether it accepts the regressions of a case."""
        return self.cases is None or case in self.cases


@dataclass(frozen=True)
class PullRequestState:
    """The state of a pull request, from which its comment and check are made.

    `command` repeats the comparison. `needs_approval` is why nothing is measured before a permitted person approves,
    empty otherwise; `unapproved_head` is the commit that was pushed since, None if there is none.
    """

    commits: CommitRange
    number: int
    label: str
    command: str
    platforms: tuple[PlatformOutcome, ...]
    acknowledgements: tuple[Acknowledgement, ...] = ()
    needs_approval: str = ""
    unapproved_head: str | None = None

    @property
    def at_newest_head(self) -> "PullRequestState":
        """The state of the newest head; nothing of it is measured before it is approved."""
        if self.unapproved_head is None:
            return self
        commits = replace(self.commits, head=self.unapproved_head, changed=())
        return replace(self, commits=commits, command="", platforms=(), acknowledgements=(), unapproved_head=None)


@dataclass(frozen=True)
class BranchRegression:
    """A regression that a push to a branch introduced; `subject` is the first line of the head's message."""

    commits: CommitRange
    branch: str
    subject: str
    platforms: tuple[PlatformOutcome, ...]


def in_order_of_names(platforms: Sequence[PlatformOutcome]) -> list[PlatformOutcome]:
    """Return the platforms by name, the order of all texts."""
    return sorted(platforms, key=lambda platform: platform.name)
