"""The platform's own series: what the same build takes on it from day to day, over all cases at once.

Contrasts are free of changes of the platform; these series show nothing else. If nearly all cases of one build step at
once, the platform has changed, such as by another kernel or microcode, and no commit is the reason.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Final

from zerolap.history.nodes import Nodes
from zerolap.judge import SeriesLevels, history_changes
from zerolap.records import PlatformEvent
from zerolap.store import AbsoluteTime, Store

FEWEST_SESSIONS: Final = 8
"""The fewest comparisons of a build whose times make a series."""


def platform_events(nodes: Nodes, store: Store, platform: str) -> list[PlatformEvent]:
    """Return the events of a platform by the times of that build of a range which was timed most often."""
    times = store.history.absolute_times(list(nodes.builds), platform)
    sessions: dict[str, set[str]] = {}
    for time in times:
        sessions.setdefault(time.build, set()).add(time.comparison)
    most_timed = max(sessions, key=lambda build: len(sessions[build]), default=None)
    return [] if most_timed is None else platform_events_of([time for time in times if time.build == most_timed])


def platform_events_of(times: Sequence[AbsoluteTime]) -> list[PlatformEvent]:
    """Return the steps that nearly all cases of one build have at once, in the order of sessions."""
    began: dict[str, str] = {}
    for time in times:
        began[time.comparison] = min(began.get(time.comparison, time.began), time.began)
    sessions = sorted(began, key=lambda session: began[session])
    if len(sessions) < FEWEST_SESSIONS:
        return []
    number = {session: index for index, session in enumerate(sessions)}
    by_series: dict[str, dict[int, list[float]]] = {}
    for time in times:
        by_series.setdefault(time.series, {}).setdefault(number[time.comparison], []).append(math.log(time.value))
    facts = {number[time.comparison]: time.facts for time in times}
    levels = [_levels(name, values) for name, values in by_series.items() if len(values) >= FEWEST_SESSIONS]
    events = []
    for event in history_changes(levels).commit_events:
        if event.of_platform:
            before = max(change.change.previous for change in event.changes)
            events.append(
                PlatformEvent(
                    before=began[sessions[min(before, event.position - 1)]],
                    since=began[sessions[event.position]],
                    change=math.expm1(statistics.median(change.change.log_change for change in event.changes)),
                    series=len(event.changes),
                    facts_changed=facts[event.position] != facts.get(event.position - 1, facts[event.position]),
                )
            )
    return events


def _levels(name: str, values: Mapping[int, Sequence[float]]) -> SeriesLevels:
    positions = tuple(sorted(values))
    return SeriesLevels(name, positions, tuple(statistics.fmean(values[position]) for position in positions))
