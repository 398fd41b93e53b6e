"""Changes of time over a range: candidates by the levels of all series, and whether fresh comparisons show them too.

Long series are searched for change points (`judge.change_points`), and false ones among many series are limited by
commit (`judge.commit_events`). Short series are too short for that: there a step is a candidate if its contrasts show
it beyond chance. A candidate is confirmed by a comparison of both commits with seeds and layouts of its own: one that
was made to confirm it, or one that somebody else has asked for.
"""

import itertools
import math
import statistics
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from zerolap import _core
from zerolap.history.commit_times import CaseTimes
from zerolap.history.history_range import INSTRUCTIONS, TIME
from zerolap.judge import (
    SMALLEST_CHANGE,
    SeriesLevels,
    bounds_95,
    budget_answer,
    history_changes,
    series_changes,
    time_drift,
)
from zerolap.store import RecordedContrast

CHANCE: Final = 0.01
"""The probability that any step between neighbours in all series is a candidate by chance."""
SMALLEST_STEP: Final = 0.01
"""The smallest step that is a candidate, as a logarithm: half the smallest effect of time. Smaller ones could not be
confirmed."""
FEWEST_SEARCHED: Final = 12
"""The fewest points of a series that is searched for change points."""
DRIFT: Final = math.log(1.02)
"""Steps that are not reported are a drift if they add up to this since a release, as a logarithm."""
FEWEST_STARTS: Final = 6
"""A comparison that confirms a drift has at least so many starts."""
FEWEST_OF_DRIFT: Final = 4
"""The fewest commits with other code in a drift; fewer are steps."""
NEXT_TO_NOTHING: Final = 1e-12
CERTAIN: Final = 4.0
"""The standard errors from which a sum is a candidate; a cumulative sum notices long drifts earlier."""


@dataclass(frozen=True)
class TimeChange:
    """A step of a timed metric of a case, between two commits whose code differs, as a logarithm with bounds by 95 %.

    `p` is the probability of a candidate by chance. `comparison` is the one that has confirmed it, none before. A
    `drift` is the sum of the steps from a release to the last commit, without those that are reported. `beside` is the
    sum of the reported steps. `parts` are the steps of the drift that may be named, by position and logarithm, the
    largest first.
    """

    case: str
    metric: str
    after: int
    position: int
    log_change: float
    low: float
    high: float
    p: float
    comparison: str | None = None
    kind: Literal["step", "drift"] = "step"
    parts: tuple[tuple[int, float], ...] = ()
    beside: float = 0.0


def time_changes(
    times: Mapping[str, CaseTimes],
    releases: Collection[int] = (),
    accepted: Callable[[str, str], Collection[int]] = lambda _case, _metric: (),
) -> list[TimeChange]:
    """Return the candidates of all cases, confirmed or not, in the order of commits.

    A drift begins at the last of the positions in `releases` and of those at which a change of its case and metric is
    `accepted`, or else at the first commit.
    """
    of_steps = {(change.case, change.metric, change.position): change for change in _of_steps(times)}
    of_searches = {(change.case, change.metric, change.position): change for change in _of_searches(times)}
    changes = [_confirmed(change, times[change.case]) for change in (of_steps | of_searches).values()]
    # A search cuts a drift in two: a step that only the search shows, and that is not confirmed, may be part of one.
    steps = set(of_steps) | {
        (change.case, change.metric, change.position) for change in changes if change.comparison is not None
    }
    drifts = (
        _drift(of_case, metric, steps, releases, accepted(of_case.case.name, metric))
        for of_case in times.values()
        for metric in TIME
    )
    changes += [
        _confirmed(drift, times[drift.case])
        for drift in drifts
        if drift is not None and not _is_refuted(drift, times[drift.case])
    ]
    return sorted(changes, key=lambda change: (change.position, change.case, change.metric))


@dataclass(frozen=True)
class _Step:
    case: str
    metric: str
    after: int
    position: int
    log_change: float
    error: float
    degrees: float

    @property
    def p(self) -> float:
        """The two-sided probability of such a step by chance, by Student's t."""
        return _two_sided(self.log_change, self.error, self.degrees)


def _two_sided(log_change: float, error: float, degrees: float) -> float:
    if error <= 0.0 or degrees <= 0.0:
        return 1.0
    # The one-sided tests against a margin of next to nothing are those against 0.
    return min(1.0, 2.0 * min(_core.equivalence(abs(log_change), error, degrees, NEXT_TO_NOTHING)))


def _steps(times: Mapping[str, CaseTimes]) -> Iterator[_Step]:
    for case, of_case in times.items():
        for metric in TIME:
            known = of_case.levels(metric)
            if known is None:
                continue
            levels, positions = known
            for (after, position), step in zip(itertools.pairwise(positions), levels.steps, strict=True):
                if step is not None and of_case.groups[after] != of_case.groups[position]:
                    yield _Step(case, metric, after, position, step.value, step.error, step.degrees)


def _of_steps(times: Mapping[str, CaseTimes]) -> list[TimeChange]:
    """Return the steps that their contrasts show beyond chance, by Bonferroni over all of them."""
    steps = list(_steps(times))
    return [
        TimeChange(
            case=step.case,
            metric=step.metric,
            after=step.after,
            position=step.position,
            log_change=step.log_change,
            low=step.log_change - bounds_95(step.degrees) * step.error,
            high=step.log_change + bounds_95(step.degrees) * step.error,
            p=min(1.0, step.p * len(steps)),
        )
        for step in steps
        if step.p * len(steps) <= CHANCE and abs(step.log_change) >= SMALLEST_STEP
    ]


def _of_searches(times: Mapping[str, CaseTimes]) -> list[TimeChange]:
    """Return the change points of the series that are long enough.

    If nearly all series step at once, the code that they share has changed: the platform is the same on both sides of
    each contrast.
    """
    names: dict[str, tuple[str, str]] = {}
    searched = []
    for case, of_case in times.items():
        for metric in TIME:
            levels = _series_levels(of_case, metric)
            if levels is not None and len(levels.positions) >= FEWEST_SEARCHED:
                names[levels.name] = (case, metric)
                searched.append(levels)
    return [
        TimeChange(
            case=names[changed.name][0],
            metric=names[changed.name][1],
            after=changed.change.previous,
            position=changed.change.position,
            log_change=changed.change.log_change,
            low=changed.change.low,
            high=changed.change.high,
            p=event.p,
        )
        for event in history_changes(searched).commit_events
        for changed in event.changes
        if abs(changed.change.log_change) >= SMALLEST_STEP
    ]


def _drift(
    times: CaseTimes,
    metric: str,
    changed: Collection[tuple[str, str, int]],
    releases: Collection[int],
    accepted: Collection[int],
) -> TimeChange | None:
    """Return the drift since the last release or accepted change, without the steps of `changed`.

    `changed` has steps by case, metric and position. An accepted commit counts if it has other code and its own level.
    """
    levels = _series_levels(times, metric)
    if levels is None:
        return None
    beginnings = {*releases, *(position for position in accepted if position in levels.positions)}
    since = max((start for start in beginnings if start < levels.positions[-1]), default=levels.positions[0])
    last = levels.positions[-1]
    whole = times.step(metric, since, last)
    steps = [step for step in _steps({times.case.name: times}) if step.metric == metric and step.after >= since]
    known = {position for case, of_metric, position in changed if (case, of_metric) == (times.case.name, metric)}
    parts = [step for step in steps if step.position not in known]
    if whole is None or whole.variance <= 0.0 or len(parts) < FEWEST_OF_DRIFT:
        return None
    beside = math.fsum(step.log_change for step in steps if step.position in known)
    rest = whole.value - beside
    if abs(rest) < DRIFT or not (abs(rest) >= CERTAIN * whole.error or _is_noticed(levels, since)):
        return None
    direction = math.copysign(1.0, rest)
    named = [step for step in parts if _may_be_named(step, times, direction, len(parts))]
    ordered = sorted(named, key=lambda step: -direction * step.log_change)
    return TimeChange(
        case=times.case.name,
        metric=metric,
        after=since,
        position=last,
        log_change=rest,
        low=rest - whole.half_width,
        high=rest + whole.half_width,
        p=_two_sided(rest, whole.error, whole.degrees),
        kind="drift",
        beside=beside,
        parts=tuple((step.position, step.log_change) for step in ordered),
    )


def _may_be_named(step: _Step, times: CaseTimes, direction: float, count: int) -> bool:
    """Whether a step can be named as a part of a drift of `count` steps: most of the largest are chance alone.

    It has to be beyond chance, or counted work has to have changed in the same direction, or not to be counted.
    """
    if direction * step.log_change <= 0.0:
        return False
    work = None if times.work is None else times.work.change_of_work(INSTRUCTIONS, step.after, step.position)
    return work is None or direction * work > SMALLEST_CHANGE or step.p * count <= CHANCE


def _is_noticed(levels: SeriesLevels, since: int) -> bool:
    """Whether a cumulative sum notices that the series has left its level at a release."""
    points = [index for index, position in enumerate(levels.positions) if position >= since]
    if len(points) < FEWEST_SEARCHED:
        return False
    tail = SeriesLevels(
        name=levels.name,
        positions=tuple(levels.positions[index] for index in points),
        values=tuple(levels.values[index] for index in points),
        variances=None if levels.variances is None else tuple(levels.variances[index] for index in points),
    )
    return time_drift(tail, series_changes(tail), levels.values[points[0]]) is not None


def _series_levels(times: CaseTimes, metric: str) -> SeriesLevels | None:
    """Return the levels at the commits at which the code of the case is another one; others have no change of time."""
    known = times.levels(metric)
    if known is None:
        return None
    levels, positions = known
    by_position = {
        position: level
        for position in positions
        if position in times.firsts
        and (group := times.groups[position]) is not None
        and (level := levels.nodes[group]) is not None
    }
    if not by_position:
        return None
    # The reference is exact by definition: what its own starts were is in all others.
    usual = sorted(level.variance for level in by_position.values())[len(by_position) // 2]
    return SeriesLevels(
        name=f"{times.case.name} {metric}",
        positions=tuple(by_position),
        values=tuple(level.value for level in by_position.values()),
        variances=tuple(level.variance or usual or 1e-8 for level in by_position.values()),
        penalties=(0.0,) * len(by_position),
    )


def _fresh(change: TimeChange, times: CaseTimes) -> Iterator[tuple[RecordedContrast, list[float]]]:
    """Yield the fresh comparisons of both ends of a change, with the logarithms of the later one over the earlier."""
    ends = times.groups[change.after], times.groups[change.position]
    for contrast in times.fresh:
        between = contrast.base, contrast.head
        if contrast.recorded.metric == change.metric and set(between) == set(ends):
            sign = 1.0 if between == ends else -1.0
            yield contrast.recorded, [sign * ratio for ratio in contrast.recorded.log_ratios]


def _confirmed(change: TimeChange, times: CaseTimes) -> TimeChange:
    for contrast, log_ratios in _fresh(change, times):
        is_step = change.kind == "step"
        if _agrees(contrast, change, log_ratios) if is_step else _shows(change, log_ratios):
            return replace(change, comparison=contrast.comparison)
    return change


def _is_refuted(drift: TimeChange, times: CaseTimes) -> bool:
    """Whether a fresh comparison of both ends is certain that no drift remains beside the reported steps.

    A change in the other direction is no drift either.
    """
    for _, log_ratios in _fresh(drift, times):
        if len(log_ratios) >= FEWEST_STARTS:
            rest, error = _rest(drift, log_ratios)
            answer = budget_answer(rest, max(error, NEXT_TO_NOTHING), len(log_ratios) - 1, DRIFT)
            if answer == "within" or (answer == "beyond" and rest < 0):
                return True
    return False


def _agrees(contrast: RecordedContrast, change: TimeChange, log_ratios: Sequence[float]) -> bool:
    """Whether a comparison found a change in the direction of a step."""
    is_changed = contrast.verdict in ("regression", "improvement")
    return is_changed and statistics.fmean(log_ratios) * change.log_change > 0


def _shows(drift: TimeChange, log_ratios: Sequence[float]) -> bool:
    """Whether a comparison of both ends of a drift shows it beside the steps that are reported by themselves."""
    if len(log_ratios) < FEWEST_STARTS:
        return False
    rest, error = _rest(drift, log_ratios)
    return rest >= DRIFT and rest > bounds_95(len(log_ratios) - 1) * error


def _rest(drift: TimeChange, log_ratios: Sequence[float]) -> tuple[float, float]:
    """Return what starts show in the direction of a drift beside the reported steps, and its standard error."""
    rest = (statistics.fmean(log_ratios) - drift.beside) * math.copysign(1.0, drift.log_change)
    return rest, statistics.stdev(log_ratios) / math.sqrt(len(log_ratios))


def unconfirmed(changes: Sequence[TimeChange]) -> dict[tuple[int, int], list[str]]:
    """Return the cases of candidates that no fresh comparison has confirmed, by both commits."""
    pairs: dict[tuple[int, int], list[str]] = {}
    for change in changes:
        cases = pairs.setdefault((change.after, change.position), [])
        if change.comparison is None and change.case not in cases:
            cases.append(change.case)
    return {pair: cases for pair, cases in pairs.items() if cases}
