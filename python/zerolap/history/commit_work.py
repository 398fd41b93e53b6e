"""Counted work over a range: its points, the step from each counted commit to the next, and what has no count."""

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from zerolap.history.history_range import INSTRUCTIONS, WORK, HistoryRange
from zerolap.history.nodes import Nodes
from zerolap.judge import (
    LOG_REPORTED,
    SMALLEST_CHANGE,
    WorkStep,
    after_change,
    is_by_string_places,
    is_rare_change,
    log_change,
)
from zerolap.records import Case, Windows, without_language
from zerolap.store import CountedPoint, Store, UncountedCase

PointPair: TypeAlias = tuple[CountedPoint, CountedPoint]
"""The counts of two commits that can be compared."""


def _no_places(_points: PointPair) -> float:
    return 0.0


@dataclass(frozen=True)
class WorkPoints:
    """The counted points of a metric of a case: by node, the points in each segment.

    Points of one segment have the same windows, method, compiler and valgrind; others are not compared. Both sides of a
    comparison are a segment of their own, which joins commits that no history has counted.
    """

    by_node: Mapping[int, Mapping[str, CountedPoint]] = field(default_factory=dict)

    def step(self, after: int, node: int) -> PointPair | None:
        """Return the points of two nodes in the newest segment that has both, if any."""
        of_after, of_node = self.by_node.get(after, {}), self.by_node.get(node, {})
        common = [segment for segment in of_node if segment in of_after]
        newest = max(common, key=lambda segment: (not of_node[segment].comparison, common.index(segment)), default=None)
        return None if newest is None else (of_after[newest], of_node[newest])

    def is_counted(self, node: int) -> bool:
        """Whether a history has counted a node."""
        return any(not point.comparison for point in self.by_node.get(node, {}).values())

    def value(self, node: int) -> float:
        """Return what was counted of a node last, by a history if one has counted it; a comparison has its own seed."""
        of_node = [*self.by_node[node].values()]
        return max(of_node, key=lambda point: (not point.comparison, point.trial)).value


@dataclass(frozen=True)
class CountedSeries:
    """A metric of a case over a range: its values by position, and the steps between neighbouring counted commits.

    Values differ as the steps between them do. A step has counts of one segment on both sides, which are in `points`.
    Where that is not the segment of the value before it, such as the step of a comparison, whose seed is another, the
    value goes on from there by the step. Neighbours that no segment joins have no step, and values begin anew.
    """

    values: Mapping[int, float]
    steps: Mapping[tuple[int, int], WorkStep]
    points: Mapping[tuple[int, int], PointPair]

    @property
    def positions(self) -> list[int]:
        """The positions of the counted commits."""
        return [*self.values]


@dataclass(frozen=True)
class CaseWork:
    """The counted work of a case over a range.

    `points` are by metric, `newest` is the last one that was counted; `invalid` is by node why it has no valid count.
    `log_by_places` returns what the places of strings account for of the change between two counts, as a logarithm.
    """

    case: Case
    nodes: Nodes
    points: Mapping[str, WorkPoints]
    newest: CountedPoint | None = None
    invalid: Mapping[int, str] = field(default_factory=dict)
    log_by_places: Callable[[PointPair], float] = _no_places

    @cached_property
    def groups(self) -> dict[int, int]:
        """The group of each node: nodes on which the case executes the same are one group.

        Nodes that are not counted are groups of their own.
        """
        groups: dict[int, int] = {}
        by_code: dict[tuple[str, str], int] = {}
        points = self.points.get(INSTRUCTIONS, WorkPoints())
        previous: list[int] = []
        for node in (node for node in self.nodes.of_commits if node is not None):
            if node not in groups:
                of_node = points.by_node.get(node, {}).items()
                codes = [(segment, point.executed_code) for segment, point in of_node if point.executed_code]
                others = (*(by_code[code] for code in codes if code in by_code), *previous)
                same = next((other for other in others if self._executes_same(other, node)), None)
                groups[node] = len(set(groups.values())) if same is None else groups[same]
                for code in codes:
                    by_code.setdefault(code, node)
            previous = [node]
        for node in set(self.nodes.builds.values()) - set(groups):
            groups[node] = len(set(groups.values()))
        return groups

    def _executes_same(self, first: int, second: int) -> bool:
        """Whether the case is known to execute the same on two nodes of the range."""
        if INSTRUCTIONS not in self.points:
            return False
        positions = self.nodes.first_positions
        step = self.step(INSTRUCTIONS, positions[first], positions[second])
        return step is not None and step[1]

    def lacks(self, node: int) -> bool:
        """Whether the case has still to be counted of a node: a case that was invalid would be so again."""
        of_instructions = self.points.get(INSTRUCTIONS)
        return node not in self.invalid and (of_instructions is None or not of_instructions.is_counted(node))

    def positions(self, metric: str) -> list[int]:
        """Return the positions of the commits that are counted, themselves or as an equal program."""
        if metric not in self.points:
            return []
        points = self.points[metric]
        known = [position for position, node in enumerate(self.nodes.of_commits) if node in points.by_node]
        own = {position for position in known if points.is_counted(self.nodes.of_commits[position] or 0)}
        return self._joined(metric, known, own) if own else known

    def _joined(self, metric: str, known: Sequence[int], own: Collection[int]) -> list[int]:
        """Return the positions that a history has counted, and those that comparisons join to the one before.

        A comparison of two commits between others is no part of a series that it is not joined to.
        """
        joined: list[int] = []
        for position in known:
            if position in own:
                # A step from the last counted commit replaces those that comparisons have made since.
                while joined and joined[-1] not in own and self.step(metric, joined[-1], position) is None:
                    joined.pop()
                joined.append(position)
            elif joined and self.step(metric, joined[-1], position) is not None:
                joined.append(position)
        return joined

    def counted(self, metric: str, accepted: Collection[int] = ()) -> CountedSeries:
        """Return the series of a metric; steps at `accepted` positions are marked so, as are those by string places."""
        values: dict[int, float] = {}
        steps: dict[tuple[int, int], WorkStep] = {}
        points: dict[tuple[int, int], PointPair] = {}
        for after, position in itertools.pairwise([-1, *self.positions(metric)]):
            change = None if after < 0 else self.step(metric, after, position)
            if change is None:
                values[position] = self.points[metric].value(self._node(position))
                continue
            ends = after, position
            counts = self.points_of(metric, *ends)
            if counts is not None:
                points[ends] = counts
            values[position] = _following(metric, values[after], change[0], counts)
            is_rare = self.is_rare(metric, *ends)
            step = WorkStep(*ends, *change, accepted=position in accepted, is_rare=is_rare)
            # However small it is: small steps are summed.
            by_places = 0.0 if counts is None or not step.is_change else self.log_by_places(counts)
            is_by_places = is_by_string_places(step.log_change, by_places, LOG_REPORTED)
            steps[ends] = replace(step, log_by_places=by_places, by_string_places=is_by_places)
        return CountedSeries(values, steps, points)

    def gaps(self, metric: str) -> list[tuple[int, int]]:
        """Return the neighbouring counted commits that no segment joins: how work changed between them is not known."""
        pairs = itertools.pairwise(self.positions(metric)) if metric in self.points else []
        return [pair for pair in pairs if self.step(metric, *pair) is None]

    def oldest_first(self, metric: str, positions: Sequence[int]) -> list[int]:
        """Return positions of counted commits in the order in which they were last counted."""
        by_node = self.points[metric].by_node
        newest = {
            position: list(by_node[node].values())[-1] for position in positions for node in [self._node(position)]
        }
        return sorted(positions, key=lambda position: newest[position].trial)

    def _node(self, position: int) -> int:
        node = self.nodes.of_commits[position]
        if node is None:
            raise ValueError(f"the commit at {position} is not built")
        return node

    def change_of_work(self, metric: str, after: int, position: int) -> float | None:
        """Return the logarithm of a change between two commits without what the places of strings account for."""
        step = self.step(metric, after, position) if metric in self.points else None
        points = self.points_of(metric, after, position)
        if step is None or points is None:
            return None if step is None else step[0]
        return step[0] - self.log_by_places(points)

    def step(self, metric: str, after: int, position: int) -> tuple[float, bool] | None:
        """Return the logarithm of a change between two commits, and whether they execute the same; none if unknown."""
        nodes = self.nodes.of_commits[after], self.nodes.of_commits[position]
        if nodes[0] is not None and nodes[0] == nodes[1]:
            return 0.0, True
        points = self.points_of(metric, after, position)
        if points is None:
            return None
        change = log_change(metric, points[0].value, points[1].value)
        codes = points[0].executed_code, points[1].executed_code
        same_code = codes[0] is not None and codes[0] == codes[1] and abs(change) <= SMALLEST_CHANGE
        return change, same_code

    def is_rare(self, metric: str, after: int, position: int) -> bool:
        """Whether what is counted differs by so little between two commits that it does not matter."""
        points = self.points_of(metric, after, position)
        return points is not None and is_rare_change(metric, points[0].value, points[1].value)

    def points_of(self, metric: str, after: int, position: int) -> PointPair | None:
        """Return the counted points that the step between two commits is made of; none where nothing joins them."""
        nodes = self.nodes.of_commits[after], self.nodes.of_commits[position]
        if nodes[0] is None or nodes[1] is None or metric not in self.points:
            return None
        return self.points[metric].step(nodes[0], nodes[1])


def _following(metric: str, value: float, change: float, points: PointPair | None) -> float:
    """Return the value of a commit by the step from the one before it, whose value is known."""
    if points is None:
        return value
    base, head = points
    return head.value if base.value == value else after_change(metric, value, change)


def read_work(
    asked: HistoryRange,
    nodes: Nodes,
    store: Store,
    platform: str,
    log_by_places: Callable[[PointPair], float] = _no_places,
) -> dict[str, CaseWork]:
    """Return the counted work of the cases of a range on a platform, by case."""
    by_case: dict[str, list[CountedPoint]] = {}
    for point in store.history.counted_points(list(nodes.builds), platform, WORK):
        by_case.setdefault(point.series.case, []).append(point)
    uncounted = store.history.uncounted_cases(list(nodes.builds), platform)
    works = {}
    for case in asked.cases:
        invalid = _invalid(asked, case, nodes, uncounted)
        work = _case_work(asked, case, nodes, by_case.get(case.name, []), invalid)
        works[case.name] = replace(work, log_by_places=log_by_places)
    return works


def _invalid(asked: HistoryRange, case: Case, nodes: Nodes, uncounted: Sequence[UncountedCase]) -> dict[int, str]:
    return {
        nodes.builds[result.build]: result.reason
        for result in uncounted
        if (result.case.digest, result.case.topology.name) == (case.digest, case.topology.name)
        and {**result.case.config, **result.config} == dict(asked.config_of(case))
    }


def _case_work(
    asked: HistoryRange, case: Case, nodes: Nodes, points: Sequence[CountedPoint], invalid: Mapping[int, str]
) -> CaseWork:
    by_metric: dict[str, dict[int, dict[str, CountedPoint]]] = {}
    newest = None
    of_case = (case.digest, asked.config_of(case), case.topology.name)
    for point in points:
        key = point.series
        if (key.case_digest, key.config, key.topology) != of_case:
            continue
        of_node = by_metric.setdefault(key.metric, {}).setdefault(nodes.builds[point.build], {})
        # A point that is counted again is the newest one of its node.
        of_node.pop(segment := _segment(point), None)
        of_node[segment] = point
        newest = newest if point.comparison else point
    counted = WorkPoints(by_metric.get(INSTRUCTIONS, {}))
    invalid = {node: reason for node, reason in invalid.items() if not counted.is_counted(node)}
    return CaseWork(
        case, nodes, {metric: WorkPoints(by_node) for metric, by_node in by_metric.items()}, newest, invalid
    )


def _segment(point: CountedPoint) -> str:
    """Return what points have in common that can be compared.

    Which language standard a commit asks of the compiler, and which libc its program needs at least, are the commit's.
    """
    key = point.series
    return key.model_copy(update={"compiler": without_language(key.compiler), "libc": ""}).digest + point.comparison


def windows_of(work: CaseWork) -> Windows | None:
    """Return the windows of the newest segment of a case; none before it is counted."""
    if work.newest is None:
        return None
    small, large = work.newest.windows
    return Windows(small=small, large=large) if small else None


def notes_of_uncounted(asked: HistoryRange, work: Mapping[str, CaseWork]) -> tuple[str, ...]:
    """Return a note for each reason why a case is not counted, and for each change that is not known."""
    return tuple(
        note
        for of_case in work.values()
        for note in (*_notes_of_invalid(asked, of_case), *_notes_of_gaps(asked, of_case))
    )


def _notes_of_invalid(asked: HistoryRange, work: CaseWork) -> Iterator[str]:
    counted = set(work.positions(INSTRUCTIONS))
    by_reason: dict[str, list[int]] = {}
    for position, node in enumerate(work.nodes.of_commits):
        if node is not None and node in work.invalid and position not in counted:
            by_reason.setdefault(work.invalid[node], []).append(position)
    for reason, positions in by_reason.items():
        name = asked.commits[positions[0]].source.name
        where = f"at {name}" if len(positions) == 1 else f"at {len(positions):,} commits, {name} the first of them"
        yield f"`{work.case.name}` has no valid count {where}: {reason}"


def _notes_of_gaps(asked: HistoryRange, work: CaseWork) -> Iterator[str]:
    for after, position in work.gaps(INSTRUCTIONS):
        ends = (asked.commits[of].source.name for of in (after, position))
        yield (
            f"`{work.case.name}`: the change {' to '.join(ends)} is not known, as they were counted by other tools or "
            "windows; `--measure` counts one of them again"
        )
