"""Counted work over a range: its points, and the step from each measured commit to the next."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from zerolap.history.asked import WORK, Asked
from zerolap.history.nodes import Nodes
from zerolap.judge import EVENT, WorkStep
from zerolap.records import Case, Windows
from zerolap.store import CountedPoint, Store


@dataclass(frozen=True)
class WorkPoints:
    """The counted points of a metric of a case: by node, the points in each segment.

    Points of one segment have the same windows, method, compiler and valgrind; others are not compared.
    """

    by_node: Mapping[int, Mapping[str, CountedPoint]] = field(default_factory=dict)

    def step(self, after: int, node: int) -> tuple[CountedPoint, CountedPoint] | None:
        """Return the points of two nodes in the newest segment that has both, if any."""
        of_after, of_node = self.by_node.get(after, {}), self.by_node.get(node, {})
        common = [segment for segment in of_node if segment in of_after]
        return (of_after[common[-1]], of_node[common[-1]]) if common else None


@dataclass(frozen=True)
class CaseWork:
    """The counted work of a case over a range; `points` are by metric."""

    case: Case
    nodes: Nodes
    points: Mapping[str, WorkPoints]

    def positions(self, metric: str) -> list[int]:
        """Return the positions of the commits that are counted, themselves or as an equal program."""
        by_node = self.points[metric].by_node if metric in self.points else {}
        return [position for position, node in enumerate(self.nodes.of_commits) if node in by_node]

    def steps(self, metric: str, accepted: frozenset[int] = frozenset()) -> list[WorkStep]:
        """Return the steps between neighbouring counted commits; those at `accepted` positions are marked so.

        Neighbours that no segment joins have no step.
        """
        positions = self.positions(metric)
        steps = []
        for after, position in itertools.pairwise(positions):
            step = self.step(metric, after, position)
            if step is not None:
                log_change, same_code = step
                steps.append(WorkStep(after, position, log_change, same_code, position in accepted))
        return steps

    def step(self, metric: str, after: int, position: int) -> tuple[float, bool] | None:
        """Return the logarithm of a change between two commits, and whether they execute the same; none if unknown."""
        nodes = self.nodes.of_commits[after], self.nodes.of_commits[position]
        if nodes[0] is None or nodes[1] is None:
            return None
        if nodes[0] == nodes[1]:
            return 0.0, True
        points = self.points[metric].step(nodes[0], nodes[1])
        if points is None:
            return None
        log_change = _log_ratio(points[0].value, points[1].value)
        codes = points[0].executed_code, points[1].executed_code
        same_code = codes[0] is not None and codes[0] == codes[1] and abs(log_change) <= EVENT
        return log_change, same_code


def _log_ratio(base: float, head: float) -> float:
    if base == head:
        return 0.0
    if base <= 0.0 or head <= 0.0:
        # Something that did not happen at all on a side, such as a system call, has no ratio: it counts as one more.
        return math.copysign(math.log(2.0), head - base)
    return math.log(head / base)


def read_work(asked: Asked, nodes: Nodes, store: Store, platform: str) -> dict[str, CaseWork]:
    """Return the counted work of the cases of a range on a platform, by case."""
    points = store.history.counted_points(list(nodes.builds), platform, WORK)
    by_case: dict[str, list[CountedPoint]] = {}
    for point in points:
        by_case.setdefault(point.series.case, []).append(point)
    return {case.name: _case_work(asked, case, nodes, by_case.get(case.name, [])) for case in asked.cases}


def _case_work(asked: Asked, case: Case, nodes: Nodes, points: Sequence[CountedPoint]) -> CaseWork:
    by_metric: dict[str, dict[int, dict[str, CountedPoint]]] = {}
    for point in points:
        key = point.series
        if (key.case_digest, key.config, key.topology) != (case.digest, asked.config_of(case), case.topology.name):
            continue
        of_node = by_metric.setdefault(key.metric, {}).setdefault(nodes.builds[point.build], {})
        of_node[key.digest] = point
    return CaseWork(case, nodes, {metric: WorkPoints(by_node) for metric, by_node in by_metric.items()})


def windows_of(work: CaseWork) -> Windows | None:
    """Return the windows of the newest segment of a case; none before it is counted."""
    of_all = [
        point for points in work.points.values() for of_node in points.by_node.values() for point in of_node.values()
    ]
    if not of_all:
        return None
    small, large = of_all[-1].windows
    return Windows(small=small, large=large) if small else None
