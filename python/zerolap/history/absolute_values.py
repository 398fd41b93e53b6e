"""Throughput and latency as they were measured, which dashboards of other tools show.

A history has none of them by itself: values of different days are not compared in it.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from zerolap.history.history_range import HistoryRange
from zerolap.records import METRICS, History, HistoryPoint, HistorySeries
from zerolap.store import Store


def with_absolute_values(history: History, asked: HistoryRange, metrics: Sequence[str], store: Store) -> History:
    """Return a history with series of such metrics: of each program the median over all of its starts.

    `history` is what `history_of` returns for what is asked.
    """
    commits = [commit.commit for commit in history.commits]
    position = {commit: number for number, commit in enumerate(commits)}
    node_of_build = {
        build.build: history.commits[position[build.commit]].node
        for build in store.history.builds(commits, asked.architectures)
        if build.variant == asked.variant
    }
    configs = {case.name: dict(asked.config_of(case)) for case in asked.cases}
    groups = {case.name: (case.group, case.topology.name) for case in asked.cases}
    values: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for measured in store.measured.of_builds(list(node_of_build), history.platform.fingerprint, metrics):
        node = node_of_build[measured.build]
        is_asked = measured.case in groups and measured.topology == groups[measured.case][1]
        if node is not None and is_asked and measured.config == configs[measured.case] and measured.value > 0:
            values[measured.case, measured.metric][node].append(measured.value)
    series = []
    for (case, metric), by_node in sorted(values.items()):
        group, topology = groups[case]
        points: list[HistoryPoint] = []
        for number, commit in enumerate(history.commits):
            if commit.node in by_node:
                value = median(by_node[commit.node])
                level = math.log(value / (points[0].value or value)) if points else 0.0
                points.append(HistoryPoint(position=number, level=level, low=level, high=level, value=value))
        series.append(
            HistorySeries(
                case=case,
                group=group,
                metric=metric,
                engine="timed",
                topology=topology,
                points=tuple(points),
                better="less" if METRICS[metric].less_is_better else "more",
            )
        )
    return history.model_copy(update={"series": (*history.series, *series)})
