"""Time over a range: levels of the commits whose code differs, from contrasts of comparisons.

All comparisons of two builds of the range count, whoever asked for them: those of a history, of a watched branch, of a
pull request or by hand.
"""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from zerolap.history.commit_work import CaseWork
from zerolap.history.history_range import TIME, HistoryRange
from zerolap.history.nodes import Nodes
from zerolap.judge import Contrast, Level, Levels, levels_of
from zerolap.records import Case
from zerolap.store import RecordedContrast, Store

STARTS: Final = 6
"""The starts of a contrast. It may be unsure by itself: levels rest on all contrasts."""


@dataclass(frozen=True)
class FreshContrast:
    """A contrast of groups that was not measured to find changes: it can confirm them."""

    base: int
    head: int
    recorded: RecordedContrast


@dataclass(frozen=True)
class CaseTimes:
    """The timed contrasts of a case over a range.

    Commits on which the case executes the same are one group: `groups` has the number of each commit's group, or none
    where the commit is not built or the case invalid. `contrasts` are by metric, between these groups; those that can
    confirm a change are in `fresh` too. `work` is what was counted, if anything.
    """

    case: Case
    groups: tuple[int | None, ...]
    contrasts: Mapping[str, Sequence[Contrast]]
    fresh: Sequence[FreshContrast] = ()
    work: CaseWork | None = None

    @cached_property
    def firsts(self) -> list[int]:
        """The positions at which the code of the case is another one than before."""
        positions: list[int] = []
        for position, group in enumerate(self.groups):
            if group is not None and (not positions or self.groups[positions[-1]] != group):
                positions.append(position)
        return positions

    def levels(self, metric: str) -> tuple[Levels, list[int]] | None:
        """Return the levels of groups and the positions of the range that have one; none where nothing is timed.

        The steps are those between neighbours of these positions.
        """
        contrasts = self.contrasts.get(metric, ())
        known = [group for group in self.groups if group is not None]
        if not contrasts or not known:
            return None
        count, reference = max(known) + 1, self.reference(metric)
        joined = levels_of(count, contrasts, reference).nodes
        positions = [
            position for position, group in enumerate(self.groups) if group is not None and joined[group] is not None
        ]
        of_positions = [group for position in positions if (group := self.groups[position]) is not None]
        steps = list(itertools.pairwise(of_positions))
        return levels_of(count, contrasts, reference, steps), positions

    def step(self, metric: str, after: int, position: int) -> Level | None:
        """Return the change between two commits of the range; none where no contrasts join them."""
        groups = self.groups[after], self.groups[position]
        known = [group for group in self.groups if group is not None]
        if groups[0] is None or groups[1] is None:
            return None
        contrasts, reference = self.contrasts.get(metric, ()), self.reference(metric)
        return levels_of(max(known) + 1, contrasts, reference, [(groups[0], groups[1])]).steps[0]

    def reference(self, metric: str) -> int:
        """Return the group that levels are relative to: the first of those that most contrasts join."""
        known = list(dict.fromkeys(group for group in self.groups if group is not None))
        joined = {group: {group} for group in known}
        for contrast in self.contrasts.get(metric, ()):
            if contrast.base in joined and contrast.head in joined:
                together = joined[contrast.base] | joined[contrast.head]
                joined |= dict.fromkeys(together, together)
        return max(known, key=lambda group: len(joined[group]))


@dataclass(frozen=True)
class MissingContrast:
    """Two commits that have to be compared in these cases, and the anchor that is measured beside them."""

    after: int
    position: int
    cases: tuple[str, ...]
    anchor: int | None = None

    @property
    def earliest(self) -> int:
        """The earliest of the commits."""
        return self.after if self.anchor is None else self.anchor

    @property
    def pairs(self) -> "tuple[MissingContrast, ...]":
        """Both contrasts of the last commit, each by itself."""
        if self.anchor is None:
            return (self,)
        return tuple(replace(self, after=after, anchor=None) for after in (self.anchor, self.after))


def read_times(
    asked: HistoryRange,
    nodes: Nodes,
    work: Mapping[str, CaseWork],
    store: Store,
    platform: str,
) -> dict[str, CaseTimes]:
    """Return the timed contrasts of the cases of a range on a platform, by case."""
    by_case: dict[str, list[RecordedContrast]] = {}
    for contrast in store.history.contrasts(list(nodes.builds), platform, TIME):
        if contrast.base_config == contrast.head_config == asked.config and contrast.engine == "timed":
            by_case.setdefault(contrast.case, []).append(contrast)
    times = {}
    for case in asked.cases:
        group_of_node = work[case.name].groups
        invalid = work[case.name].invalid
        groups = tuple(None if node is None or node in invalid else group_of_node[node] for node in nodes.of_commits)
        of_metrics: dict[str, list[Contrast]] = {}
        fresh = []
        of_case = (case.topology.name, case.digest, case.config)
        for contrast in by_case.get(case.name, []):
            base, head = (group_of_node[nodes.builds[build]] for build in (contrast.base_build, contrast.head_build))
            is_same_case = (contrast.topology, contrast.case_digest, contrast.case_config) == of_case
            if base != head and is_same_case:
                measured = Contrast(base, head, contrast.log_ratios, contrast.is_of_three)
                of_metrics.setdefault(contrast.metric, []).append(measured)
                if not contrast.is_of_history:
                    fresh.append(FreshContrast(base, head, contrast))
        times[case.name] = CaseTimes(case, groups, of_metrics, fresh, work[case.name])
    return times


def missing_contrasts(times: Mapping[str, CaseTimes], releases: Collection[int] = ()) -> Iterator[MissingContrast]:
    """Yield what is to be compared: each commit with other code against its anchor, and against its neighbour.

    A release begins a segment and is its anchor; where a range has no releases, or nothing else, the first commit is.
    Anchors are compared with the one before. Where a commit lacks both contrasts, all three are measured together.
    Commits furthest apart come first: the change of the whole range is known before the commits that made it.
    """
    together: dict[tuple[int, int, int | None], list[str]] = {}
    for name, of_case in times.items():
        known = {groups for groups, starts in _starts(of_case).items() if starts >= STARTS}
        missing: dict[int, list[int]] = {}
        for after, position in _wanted(of_case, releases):
            groups = frozenset((of_case.groups[after], of_case.groups[position]))
            if len(groups) > 1 and groups not in known:
                # Later commits may execute the same as these two.
                known.add(groups)
                missing.setdefault(position, []).append(after)
        for position, earlier in missing.items():
            anchor = min(earlier) if len(earlier) > 1 else None
            together.setdefault((max(earlier), position, anchor), []).append(name)
    contrasts = [
        MissingContrast(after, position, tuple(names), anchor) for (after, position, anchor), names in together.items()
    ]
    yield from sorted(contrasts, key=lambda contrast: contrast.earliest - contrast.position)


def _wanted(times: CaseTimes, releases: Collection[int]) -> list[tuple[int, int]]:
    firsts = times.firsts
    built = [position for position, group in enumerate(times.groups) if group is not None]
    anchors = [position for position in built if position in releases]
    if not firsts or len(anchors) == len(built):
        anchors = firsts[:1]
    anchors = sorted({*firsts[:1], *anchors})
    to_anchor = [
        (max(anchor for anchor in anchors if anchor < position), position)
        for position in sorted({*firsts, *anchors})
        if position > firsts[0]
    ]
    return list(dict.fromkeys([*to_anchor, *itertools.pairwise(firsts)]))


def _starts(times: CaseTimes) -> dict[frozenset[int | None], int]:
    starts: dict[frozenset[int | None], int] = {}
    for contrast in times.contrasts.get(TIME[0], ()):
        pair: frozenset[int | None] = frozenset((contrast.base, contrast.head))
        starts[pair] = starts.get(pair, 0) + len(contrast.log_ratios)
    return starts
