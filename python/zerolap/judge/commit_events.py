"""Events of commits: changes of many series, gathered by the commit that made them, with few false ones among them.

A commit is a family: Simes' p value (Biometrika 73, 1986) over all series says whether it changed any of them. Over the
commits, the rate of false discoveries is held online by LOND (Javanmard and Montanari, "Online Rules for Control of
False Discovery Rate", Annals of Statistics 46, 2018), which allows each commit an equal share of the rate over a
horizon, times one more than the commits that were named in it before. A step of nearly all series at once is one event,
of the platform.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.judge.change_points import LevelChange, SeriesChanges, SeriesLevels, series_changes

FALSE_EVENTS: Final = 0.05
"""The rate of false discoveries among the commits that are named within a horizon."""
HORIZON: Final = 365
"""Commits over which that rate is spent."""
PLATFORM_SHARE: Final = 0.8
"""A step in this share of all series at once is of their platform, or of what they have in common."""
FEWEST_OF_PLATFORM: Final = 5
"""Among fewer series a step of all of them says nothing of a platform."""
REACH: Final = 3
"""How many half widths of its 95 % interval the change of a series may differ from that of the platform."""


@dataclass(frozen=True)
class ChangeOfSeries:
    """A change of the series `name`."""

    name: str
    change: LevelChange


@dataclass(frozen=True)
class CommitEvent:
    """A commit, from `first` to `last`, that changed series; `of_platform` where it is nearly all of them.

    `p` is that of the commit's family, and `share` what of the rate of false discoveries it was allowed.
    """

    position: int
    first: int
    last: int
    of_platform: bool
    changes: tuple[ChangeOfSeries, ...]
    p: float
    share: float


@dataclass(frozen=True)
class HistoryChanges:
    """What many series of one branch consist of, and the commits that changed them, in order."""

    series: tuple[SeriesChanges, ...]
    commit_events: tuple[CommitEvent, ...]


def history_changes(series: Sequence[SeriesLevels]) -> HistoryChanges:
    """Search series of one branch and return the commits that changed them.

    Steps of nearly all series are found first. Every series then has a change there, and is searched for others, so
    that a series in which the step's place is not clear has no change of its own beside it. Names of series differ.

    Raises `ValueError` for what `series_changes` refuses.
    """
    found = [series_changes(levels) for levels in series]
    steps = _platform_steps(found)
    if steps:
        found = [series_changes(levels.with_known_changes(steps)) for levels in series]
    return HistoryChanges(tuple(found), tuple(commit_events(found)))


def commit_events(series: Sequence[SeriesChanges], horizon: int = HORIZON) -> list[CommitEvent]:
    """Return the commits that changed one of the series, in order.

    `series` are all that were searched, also those without changes; positions are those of one branch. `horizon` is the
    number of commits over which the rate of `FALSE_EVENTS` is spent.
    """
    searched = {each.name: each.searched for each in series}
    events: list[CommitEvent] = []
    for family in sorted(_families(series), key=lambda each: each.position):
        named_before = sum(event.position // horizon == family.position // horizon for event in events)
        share = FALSE_EVENTS / horizon * (named_before + 1)
        if (event := _commit_event(family, searched, share)) is not None:
            events.append(event)
    return events


@dataclass(frozen=True)
class _Family:
    """The changes that are taken as those of one commit."""

    position: int
    changes: tuple[ChangeOfSeries, ...]
    of_platform: bool


def _platform_steps(found: Sequence[SeriesChanges]) -> set[int]:
    """Return the commits at which nearly all series have a change."""
    left = [ChangeOfSeries(each.name, change) for each in found for change in each.changes]
    fewest = max(FEWEST_OF_PLATFORM, PLATFORM_SHARE * len(found))
    steps: set[int] = set()
    while len({each.name for each in left}) >= fewest:
        position = _commonest_position(left)
        near = [each for each in left if _reaches(each.change, position)]
        if len({each.name for each in near}) >= fewest:
            steps.add(position)
        left = [each for each in left if each not in near]
    return steps


def _families(found: Sequence[SeriesChanges]) -> list[_Family]:
    left = [ChangeOfSeries(each.name, change) for each in found for change in each.changes]
    families: list[_Family] = []
    for step in sorted(_platform_steps(found)):
        near = [each for each in left if _reaches(each.change, step)]
        near.sort(key=lambda each: abs(each.change.position - step), reverse=True)
        families.append(_Family(step, tuple({each.name: each for each in near}.values()), of_platform=True))
        left = _without(left, families[-1])
    while left:
        position = _commonest_position(left)
        near = [each for each in left if each.change.first <= position <= each.change.last]
        families.append(_Family(position, tuple({each.name: each for each in near}.values()), of_platform=False))
        left = _without(left, families[-1])
    return families


def _without(changes: Sequence[ChangeOfSeries], family: _Family) -> list[ChangeOfSeries]:
    members = set(map(id, family.changes))
    return [each for each in changes if id(each) not in members]


def _commonest_position(left: Sequence[ChangeOfSeries]) -> int:
    """Return the commit at which most changes are; of several the one with the clearest."""
    counts = Counter(each.change.position for each in left)
    gains: Counter[int] = Counter()
    for each in left:
        gains[each.change.position] += int(each.change.gain)
    return max(counts, key=lambda position: (counts[position], gains[position], -position))


def _reaches(change: LevelChange, position: int) -> bool:
    before = REACH * (change.position - change.first + 1)
    after = REACH * (change.last - change.position + 1)
    return change.position - before <= position <= change.position + after


def _commit_event(family: _Family, searched: dict[str, int], share: float) -> CommitEvent | None:
    """Return the event with the series that it changed; none where chance could have made it.

    A series' p value covers all commits at which it was searched: one of them has its share of it. The changes that are
    named are those of Benjamini and Hochberg at the same share, of which there is one at least where Simes' p is below.
    """
    count = len(searched)
    members = sorted(family.changes, key=lambda each: each.change.p / searched[each.name])
    adjusted = [count * each.change.p / searched[each.name] / rank for rank, each in enumerate(members, start=1)]
    passed = [rank for rank, p in enumerate(adjusted, start=1) if p <= share]
    if not passed:
        return None
    named = members[: passed[-1]]
    clearest = max(named, key=lambda each: (each.change.position == family.position, each.change.gain)).change
    return CommitEvent(
        family.position, clearest.first, clearest.last, family.of_platform, tuple(named), min(1.0, *adjusted), share
    )
