"""The opportunities of many cases as those of one server: what a change would bring over all commands."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from zerolap.explain.argument_checks import CALLS, REPEATED, REQUESTS
from zerolap.records import (
    NO_SAVING,
    Calibration,
    CaseOpportunity,
    Category,
    Confidence,
    CountedWork,
    Estimate,
    KnownEdit,
    Opportunity,
    OpportunityCase,
    RemovedCost,
    WeighedCategory,
    WeighedFunction,
)

NOTABLE: Final = 0.01
"""The part of a case's instructions from which on a function counts among its costs."""
MOST_SAVED: Final = 0.95
"""The largest share of a request that can be saved: no change leaves nothing of it."""
OF_CASE: Final = frozenset({"commands_per_op", CALLS, REPEATED})
"""Figures per request that all opportunities of a case at one location have alike."""
CONFIDENCES: Final[tuple[Confidence, ...]] = ("high", "medium", "low")

_Location: TypeAlias = tuple[str, str, str]
"""An opportunity over all cases: its detector, function and file."""
_Function: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class WeightedWork:
    """What is known of a case, and its part of all weights."""

    case: str
    commands: tuple[str, ...]
    weight: float
    work: CountedWork

    @functools.cached_property
    def work_per_op(self) -> float:
        """The instructions of a request, and those that take as long as the uncounted work that opportunities save."""
        uncounted = (of.uncounted_instructions_per_op.expected for of in self.work.opportunities)
        return self.work.instructions_per_op + sum(uncounted)

    def saved_share(self, opportunity: CaseOpportunity) -> Estimate:
        """Return the part of the request's work that an opportunity saves, which is less than all of it.

        Where its uncounted work is larger than expected, the whole is too.
        """
        saved, own = opportunity.saved_instructions_per_op, opportunity.uncounted_instructions_per_op
        others = self.work_per_op - own.expected
        return Estimate(
            low=saved.low / (others + own.low),
            expected=saved.expected / (others + own.expected),
            high=saved.high / (others + own.high),
        )


@dataclass(frozen=True)
class RankedOpportunities:
    """All opportunities, those that bring most first, and what they bring together: of all cases, and by case."""

    opportunities: tuple[Opportunity, ...]
    saved_share: float
    saved_by_case: Mapping[str, float]


def gain(saved_share: float) -> float:
    """Return by how much throughput grows if so much of the work is saved, and that decides it."""
    return 1.0 / (1.0 - min(max(saved_share, 0.0), MOST_SAVED)) - 1.0


@dataclass
class _Remaining:
    """What is left of the functions of each case once some opportunities are made use of: 1 is all of it.

    What a change saves of a function, another change saves of the rest: exact where one contains the other, and where
    both save their parts independently of each other.
    """

    parts: dict[tuple[str, _Function], float] = field(default_factory=dict)

    def saved(self, case: str, opportunity: CaseOpportunity) -> float:
        """Return the instructions per request that an opportunity still saves."""
        taken = 0.0
        for removed in opportunity.removed:
            left = self.parts.get((case, (removed.function, removed.file)))
            if left is not None:
                taken += removed.instructions_per_op * (1.0 - left)
        expected = opportunity.saved_instructions_per_op.expected
        return expected - min(taken, expected)

    def take(self, case: str, opportunity: CaseOpportunity) -> None:
        for removed in opportunity.removed:
            key = case, (removed.function, removed.file)
            self.parts[key] = self.parts.get(key, 1.0) * (1.0 - removed.share)

    def removed(self, parts: Sequence[CaseOpportunity]) -> tuple[RemovedCost, ...]:
        """Return what these opportunities of one case save of each function, once they alone are made use of."""
        whole = {
            (removed.function, removed.file): removed.instructions_per_op / removed.share
            for part in parts
            for removed in part.removed
            if removed.share > 0
        }
        shares = [(function, own, 1.0 - self.parts["", function]) for function, own in whole.items()]
        return tuple(
            RemovedCost(function=name, file=file, instructions_per_op=own * share, share=share)
            for (name, file), own, share in shares
        )


@dataclass
class _Group:
    """The opportunities of all cases at one location, at most one of each case."""

    location: _Location
    members: list[tuple[WeightedWork, CaseOpportunity]]

    @property
    def is_refuted(self) -> bool:
        """Whether the arguments of its calls were looked at, and are other ones each time."""
        checked = _checked([opportunity for _, opportunity in self.members])
        return bool(checked) and all(opportunity.confidence == "low" for opportunity in checked)

    def additional(self, remaining: _Remaining) -> float:
        """Return the share of all work that it still saves."""
        return sum(
            of_case.weight * remaining.saved(of_case.case, opportunity) / of_case.work_per_op
            for of_case, opportunity in self.members
        )


def ranked_opportunities(works: Sequence[WeightedWork], known_edits: Sequence[KnownEdit] = ()) -> RankedOpportunities:
    """Return the opportunities of all cases; each next one is what brings most after those before it.

    Those that arguments refute come last, and save nothing of what all bring together. `known_edits` are those that
    calibrate the predictions.
    """
    groups = _groups(works)
    waiting = [group for group in groups if not group.is_refuted]
    remaining = _Remaining()
    saved_by_case = {of_case.case: 0.0 for of_case in works}
    ranked: list[Opportunity] = []
    bounds = {group.location: group.additional(remaining) for group in waiting}
    while waiting:
        group = _next(waiting, bounds, remaining)
        waiting.remove(group)
        ranked.append(_opportunity(len(ranked) + 1, group, bounds[group.location], known_edits))
        for of_case, opportunity in group.members:
            saved = remaining.saved(of_case.case, opportunity)
            saved_by_case[of_case.case] += saved / of_case.work_per_op
            remaining.take(of_case.case, opportunity)
    refuted = [(group.additional(remaining), group) for group in groups if group.is_refuted]
    for additional, group in sorted(refuted, key=lambda item: -item[0]):
        ranked.append(_opportunity(len(ranked) + 1, group, additional, known_edits))
    saved_by_case = {case: min(saved, MOST_SAVED) for case, saved in saved_by_case.items()}
    together = sum(of_case.weight * saved_by_case[of_case.case] for of_case in works)
    return RankedOpportunities(tuple(ranked), together, saved_by_case)


def _next(waiting: list[_Group], bounds: dict[_Location, float], remaining: _Remaining) -> _Group:
    """Return what brings most now; what a group brings only shrinks, so that older figures are upper bounds."""
    best: _Group | None = None
    for group in sorted(waiting, key=lambda group: -bounds[group.location]):
        if best is not None and bounds[group.location] <= bounds[best.location]:
            break
        bounds[group.location] = group.additional(remaining)
        if best is None or bounds[group.location] > bounds[best.location]:
            best = group
    assert best is not None
    return best


def _groups(works: Iterable[WeightedWork]) -> list[_Group]:
    groups: dict[_Location, _Group] = {}
    for of_case in works:
        by_location: dict[_Location, list[CaseOpportunity]] = {}
        for opportunity in of_case.work.opportunities:
            location = opportunity.detector, opportunity.function, opportunity.file
            by_location.setdefault(location, []).append(opportunity)
        for location, parts in by_location.items():
            groups.setdefault(location, _Group(location, [])).members.append((of_case, _as_one_change(parts)))
    return list(groups.values())


def _as_one_change(parts: Sequence[CaseOpportunity]) -> CaseOpportunity:
    """Return what a detector reports of one function and case as one opportunity, such as two kinds of formatting.

    The text and the lines are those of all parts, the largest saving first.
    """
    if len(parts) == 1:
        return parts[0]
    parts = sorted(parts, key=lambda part: -part.saved_instructions_per_op.expected)
    remaining, saved = _Remaining(), 0.0
    for part in parts:
        saved += remaining.saved("", part)
        remaining.take("", part)
    alone = _sum_of(part.saved_instructions_per_op for part in parts)
    uncounted = _sum_of(part.uncounted_instructions_per_op for part in parts)
    counted = alone.plus(uncounted.times(-1.0))
    shared = (alone.expected - saved) / counted.expected if counted.expected > 0 else 0.0
    return parts[0].model_copy(
        update={
            "lines": tuple(dict.fromkeys(line for part in parts for line in part.lines)),
            "saved_instructions_per_op": counted.times(1.0 - shared).plus(uncounted),
            "uncounted_instructions_per_op": uncounted,
            "confidence": max((part.confidence for part in parts), key=CONFIDENCES.index),
            "evidence": _evidence_of(parts),
            "text": "; ".join(part.text for part in parts),
            "removed": remaining.removed(parts),
        }
    )


def _evidence_of(parts: Sequence[CaseOpportunity]) -> dict[str, float]:
    """Return the figures of all parts: those per request of the same name added up, but for those of the whole case."""
    figures: dict[str, float] = {}
    for part in parts:
        for name, value in part.evidence.items():
            is_of_part = name.endswith("_per_op") and name not in OF_CASE
            figures[name] = figures.get(name, 0.0) + value if is_of_part else figures.get(name, value)
    return figures


def _sum_of(estimates: Iterable[Estimate]) -> Estimate:
    return functools.reduce(Estimate.plus, estimates, NO_SAVING)


def _opportunity(rank: int, group: _Group, additional: float, known_edits: Sequence[KnownEdit]) -> Opportunity:
    detector, function, file = group.location
    parts = [(of_case.saved_share(opportunity), of_case, opportunity) for of_case, opportunity in group.members]
    parts.sort(key=lambda part: -part[0].expected)
    largest = parts[0][2]
    return Opportunity(
        rank=rank,
        detector=detector,
        function=function,
        file=file,
        category=largest.category,
        confidence=_confidence([opportunity for _, _, opportunity in parts]),
        saved_share=_sum_of(share.times(of_case.weight) for share, of_case, _ in parts),
        additional_share=additional,
        is_refuted=group.is_refuted,
        calibration=calibration_of(detector, known_edits),
        cases=tuple(_case(share, of_case, opportunity) for share, of_case, opportunity in parts),
        text=largest.text,
    )


def calibration_of(detector: str, edits: Iterable[KnownEdit]) -> Calibration:
    """Return how the savings of a detector's known edits compare with what it predicted."""
    of_detector = [edit for edit in edits if edit.detector == detector]
    ratios = [edit.measured / edit.predicted for edit in of_detector if edit.is_counted]
    return Calibration(
        edits=len(ratios),
        smallest_ratio=min(ratios, default=None),
        largest_ratio=max(ratios, default=None),
        uncounted_edits=len(of_detector) - len(ratios),
    )


def _confidence(of_cases: Sequence[CaseOpportunity]) -> Confidence:
    """Return the lowest confidence of all cases, or of those whose arguments were looked at, where there are any."""
    return max((opportunity.confidence for opportunity in _checked(of_cases) or of_cases), key=CONFIDENCES.index)


def _checked(of_cases: Sequence[CaseOpportunity]) -> list[CaseOpportunity]:
    """Return those of which arguments were looked at, and seen."""
    return [opportunity for opportunity in of_cases if REQUESTS in opportunity.evidence]


def _case(part: Estimate, of_case: WeightedWork, opportunity: CaseOpportunity) -> OpportunityCase:
    return OpportunityCase(
        case=of_case.case,
        commands=of_case.commands,
        instructions_per_op=of_case.work.instructions_per_op,
        saved_instructions_per_op=opportunity.saved_instructions_per_op,
        uncounted_instructions_per_op=opportunity.uncounted_instructions_per_op,
        saved_share=part,
        gain=Estimate(low=gain(part.low), expected=gain(part.expected), high=gain(part.high)),
        lines=opportunity.lines,
        frames=opportunity.frames,
        evidence=opportunity.evidence,
        text=opportunity.text,
    )


@dataclass(slots=True)
class _Cost:
    """What a function costs over all cases, and in how many it is notable."""

    category: Category
    self_share: float = 0.0
    share: float = 0.0
    cases: int = 0


def costly_functions(works: Sequence[WeightedWork]) -> list[WeighedFunction]:
    """Return the functions by their parts of the instructions of all cases, those that cost most themselves first."""
    costs: dict[_Function, _Cost] = {}
    for of_case in works:
        whole, weight = of_case.work.instructions_per_op, of_case.weight
        for function, file, category, own, inclusive in of_case.work.functions:
            cost = costs.get((function, file))
            if cost is None:
                cost = costs[function, file] = _Cost(category)
            cost.self_share += weight * own / whole
            cost.share += weight * inclusive / whole
            cost.cases += own >= NOTABLE * whole or inclusive >= NOTABLE * whole
    costly = [
        WeighedFunction(
            function=function,
            file=file,
            category=cost.category,
            self_share=cost.self_share,
            share=min(cost.share, 1.0),
            cases=cost.cases,
        )
        for (function, file), cost in costs.items()
    ]
    return sorted(costly, key=lambda function: (-function.self_share, function.function))


def costly_categories(works: Sequence[WeightedWork]) -> list[WeighedCategory]:
    """Return the parts of the instructions of all cases by what they are spent on, the largest first."""
    shares: dict[Category, float] = {}
    for of_case in works:
        whole = sum(of_case.work.categories.values())
        for category, instructions in of_case.work.categories.items():
            shares[category] = shares.get(category, 0.0) + of_case.weight * instructions / whole
    ordered = sorted(shares, key=lambda category: -shares[category])
    return [WeighedCategory(category=category, share=shares[category]) for category in ordered]
