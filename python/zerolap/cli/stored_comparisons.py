"""The state of a pull request from comparisons in the store, such as those of a CI job."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.build import changes_between
from zerolap.documents import FalseAlarmRecord
from zerolap.records import Comparison, UsageError
from zerolap.sheets import (
    GITHUB,
    ChangedLines,
    CommitRange,
    Done,
    Failed,
    PlatformOutcome,
    PlatformState,
    PullRequestState,
    changed_lines,
)
from zerolap.store import Store

UNFINISHED: dict[str, PlatformState] = {
    "running": Failed("it has not finished"),
    "interrupted": Failed("it was interrupted"),
    "failed": Failed("it could not be carried out"),
}


@dataclass(frozen=True)
class PullRequestAddress:
    """A pull request: its repository as owner/name, its number, the address of GitHub's pages.

    `report_url` is the address of the full report, empty without one.
    """

    repository: str
    number: int
    site: str = GITHUB
    report_url: str = ""


def state_of_comparisons(
    comparisons: Sequence[Comparison], address: PullRequestAddress, store: Store
) -> PullRequestState:
    """Return the state of a pull request from comparisons of the same commits on one or several platforms.

    Raises `UsageError` if a comparison is not of commits, or the comparisons are of different commits.
    """
    first = comparisons[0]
    base, head = _commits(first)
    for comparison in comparisons[1:]:
        if _commits(comparison) != (base, head):
            raise UsageError(
                f"{comparison.id} compares other commits than {first.id}",
                hint="give comparisons of the same two commits",
            )
    alarms = FalseAlarmRecord(store)
    platforms = Counter(comparison.platform.name for comparison in comparisons)
    outcomes = [
        _outcome(comparison, address, alarms, alone=platforms[comparison.platform.name] == 1)
        for comparison in comparisons
    ]
    return PullRequestState(
        commits=CommitRange(address.repository, base, head, lines_changed(first, store), address.site),
        number=address.number,
        label="",
        # Several that have drawn their seeds have no command in common but the one that was given.
        command=first.command_line if len(comparisons) == 1 else store.request(first.id).request.command_line,
        platforms=tuple(outcomes),
    )


def _outcome(
    comparison: Comparison, address: PullRequestAddress, alarms: FalseAlarmRecord, *, alone: bool
) -> PlatformOutcome:
    """Return the outcome of a comparison; `alone`: no other comparison has the same platform."""
    name = comparison.platform.name
    return PlatformOutcome(
        name=name if alone else f"{name} {comparison.id}",
        state=UNFINISHED.get(comparison.state, Done()),
        comparison=comparison,
        report_url=address.report_url,
        false_alarms=alarms.of(name),
    )


def _commits(comparison: Comparison) -> tuple[str, str]:
    base, head = comparison.base.commit, comparison.head.commit
    if base is None or head is None:
        raise UsageError(
            f"{comparison.id} does not compare two commits, which a comment on a pull request requires",
            hint="zerolap compare BASE HEAD --repo DIR",
        )
    return base, head


def lines_changed(comparison: Comparison, store: Store) -> tuple[ChangedLines, ...]:
    """Return the changed lines; none if the sources are not trees."""
    servers = store.request(comparison.id).request.servers
    return changed_lines(changes_between(servers["base"].source, servers["head"].source, store.blobs))
