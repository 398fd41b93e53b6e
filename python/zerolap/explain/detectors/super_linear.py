"""Functions whose cost grows faster than the data of a command: a search within a loop, a copy of all that follows."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.detectors.detector import CodeLocation, Saving
from zerolap.explain.detectors.group_detector import CaseGroup, SizedCase
from zerolap.explain.detectors.growth import (
    Point,
    above_a_sort,
    above_proportion,
    exponent,
    grows_faster_than_a_sort,
    points_by_size,
)
from zerolap.explain.stated_figures import figure
from zerolap.records import CaseOpportunity, Confidence, Estimate

MOST_OF: Final = 0.8
"""The part of what grows too fast that has to be below a function for it to be the place."""
SMALLEST_EXCESS: Final = 0.02
"""The part of the largest case's instructions from which on what grows too fast is reported."""
NAMED_SIZES: Final = 4
"""Sizes that a sentence states."""
MOST_POINTS: Final = 12
"""Sizes in the evidence."""
MANY_SIZES: Final = 3
"""Sizes from which on growth is certain: with two, it may be a step."""
DOCUMENTED: Final = frozenset(
    {"LCS", "SINTER", "SINTERCARD", "SINTERSTORE", "ZINTER", "ZINTERCARD", "ZINTERSTORE"}
    | {"EVAL", "EVALSHA", "EVALSHA_RO", "EVAL_RO", "EXEC", "FCALL", "FCALL_RO"}
)
"""Commands that are documented to take more than in proportion to the data, as O(N*M), or that run what users write."""


@dataclass(frozen=True)
class _Way:
    """Cases of a group, the functions that all of them execute, and those of these that no other case executes."""

    group: CaseGroup
    functions: Collection[FunctionKey]
    only_here: Collection[FunctionKey]


@dataclass(frozen=True)
class _Growth:
    """A function whose cost grows too fast, with its costs by case and what of the largest case is in excess.

    It is the cost of the function alone where `is_own`, else that with all that it calls.
    """

    function: FunctionKey
    is_own: bool
    costs: Mapping[str, float]
    points: Sequence[Point]
    excess: float


class SuperLinear:
    """Finds the functions of commands that cost more for each element, the more elements there are."""

    name = "super-linear"
    purpose = "commands whose cost grows faster than the data that they work on"
    revision = 3

    def detect_group(self, group: CaseGroup) -> Mapping[str, Sequence[CaseOpportunity]]:
        """Return the lowest functions below which the cost grows too fast, for each case in which it does."""
        if not all(sized.evidence.command_calls for sized in group.cases):
            return {}
        opportunities: dict[str, list[CaseOpportunity]] = {}
        for way in _ways(group):
            growth = _lowest(way)
            if growth is None:
                continue
            for sized in way.group.cases:
                of_case = sized.evidence.worth_a_line([_opportunity(way, sized, growth)])
                opportunities.setdefault(sized.case, []).extend(of_case)
        return opportunities


def _ways(group: CaseGroup) -> Iterator[_Way]:
    """Yield the ways in which cases do the same: what some do otherwise, as in another encoding, is compared apart.

    Where it is not all of them, they have to have three sizes: what begins beyond a size, as when a buffer is full,
    would grow without limit from none.
    """
    executed = {
        sized.case: {key for key in sized.evidence.within_commands if sized.evidence.index.own(key) > 0}
        for sized in group.cases
    }
    by_cases: dict[tuple[str, ...], set[FunctionKey]] = {}
    for key in set().union(*executed.values()):
        by_cases.setdefault(tuple(case for case, keys in executed.items() if key in keys), set()).add(key)
    for names, only_here in by_cases.items():
        cases = [sized for sized in group.cases if sized.case in names]
        sizes = points_by_size([(sized.size, 0.0) for sized in cases])
        if len(cases) == len(group.cases) or len(sizes) >= MANY_SIZES:
            functions = set.intersection(*(executed[name] for name in names))
            yield _Way(CaseGroup(group.unit, cases), functions, only_here)


def _lowest(way: _Way) -> _Growth | None:
    """Return the lowest function that has most of what grows too fast; none where nothing does.

    What is called too often is not the place: its caller is, which calls it in a loop.
    """
    group = way.group
    growing = [growth for key in way.only_here if (growth := _growth_of(way, key)) is not None]
    most = max((growth.excess for growth in growing), default=0.0)
    largest = group.cases[-1].evidence
    if most < SMALLEST_EXCESS * largest.index.total:
        return None
    places = {key: place for place, key in enumerate(largest.index.order)}
    meant = [
        growth
        for growth in growing
        if growth.excess >= MOST_OF * most
        and not grows_faster_than_a_sort(
            _points(group, [sized.evidence.within_commands[growth.function] for sized in group.cases])
        )
    ]
    return max(meant, key=lambda growth: places[growth.function], default=None)


def _growth_of(way: _Way, key: FunctionKey) -> _Growth | None:
    """Return how a function grows with all that it calls, or, where that hides it, by itself; none if not too fast."""
    group = way.group
    # A sum of calls is looked up at once, but has what not all cases execute; what is below a function takes longer.
    with_calls = _points(group, [sized.evidence.index.inclusive(key) for sized in group.cases])
    by_itself = [sized.evidence.index.own(key) for sized in group.cases]
    if grows_faster_than_a_sort(with_calls):
        costs = [sum(_costs_below(sized, key, way.functions).values()) for sized in group.cases]
        growth = _too_fast(group, key, costs, is_own=False)
        if growth is not None:
            return growth
    return _too_fast(group, key, by_itself, is_own=True)


def _too_fast(group: CaseGroup, key: FunctionKey, costs: Sequence[float], *, is_own: bool) -> _Growth | None:
    points = _points(group, costs)
    if not grows_faster_than_a_sort(points):
        return None
    by_case = {sized.case: cost for sized, cost in zip(group.cases, costs, strict=True)}
    return _Growth(key, is_own, by_case, points, above_proportion(points, *points[-1]))


def _points(group: CaseGroup, values: Sequence[float]) -> list[Point]:
    return points_by_size([(sized.size, value) for sized, value in zip(group.cases, values, strict=True)])


def _costs_below(sized: SizedCase, key: FunctionKey, functions: Collection[FunctionKey]) -> dict[FunctionKey, float]:
    """Return what the calls of a function on behalf of the commands cost, by function, as far as all cases have it."""
    costs = sized.evidence.index.costs_below({key: sized.evidence.within_commands[key]})
    return {of: cost for of, cost in costs.items() if of in functions}


def _opportunity(way: _Way, sized: SizedCase, growth: _Growth) -> CaseOpportunity | None:
    function, cost = growth.function, growth.costs[sized.case]
    expected = above_proportion(growth.points, sized.size, cost)
    if expected <= 0:
        return None
    costs = {function: cost} if growth.is_own else _costs_below(sized, function, way.functions)
    least = min(above_a_sort(growth.points, sized.size, cost), expected)
    most = max(cost - growth.points[0][1], expected)
    part = Estimate(low=least / cost, expected=expected / cost, high=most / cost)
    callers = sized.evidence.index.callers.get(function, {})
    caller = max(callers.values(), key=lambda calls: calls.instructions, default=None)
    return sized.evidence.opportunity(
        SuperLinear.name,
        CodeLocation(function, None if caller is None else caller.caller, () if caller is None else caller.lines),
        Saving(costs, part),
        confidence=_confidence(sized, growth),
        evidence=_evidence(way.group, growth),
        text=_text(way.group, growth),
    )


def _confidence(sized: SizedCase, growth: _Growth) -> Confidence:
    if not DOCUMENTED.isdisjoint(command.upper() for command in sized.evidence.commands):
        return "low"
    return "high" if len(growth.points) >= MANY_SIZES else "medium"


def _evidence(group: CaseGroup, growth: _Growth) -> dict[str, float]:
    unit = group.unit.replace(" ", "_")
    points = growth.points[-MOST_POINTS:]
    # Sizes differ by more than the third digit.
    costs = {f"instructions_at_{figure(size).replace(',', '')}_{unit}": cost for size, cost in points}
    return {"sizes": float(len(growth.points)), "exponent": exponent(growth.points), **costs}


def _text(group: CaseGroup, growth: _Growth) -> str:
    first, last = growth.points[0], growth.points[-1]
    shown = [first, *growth.points[1:][-(NAMED_SIZES - 1) :]]
    sizes, costs = _in_words(size for size, _ in shown), _in_words(cost for _, cost in shown)
    return (
        f"costs {figure(last[1] / first[1])} times as much for {figure(last[0] / first[0])} times the data: {costs} "
        f"instructions per request at {sizes} {group.unit}; in proportion it would be "
        f"{figure(first[1] * last[0] / first[0])}; a place or an index that is kept from one element to the next saves "
        "a search for each"
    )


def _in_words(values: Iterable[float]) -> str:
    *others, last = map(figure, values)
    return f"{', '.join(others)} and {last}"
