"""Which regimes the cases of a comparison are counted in besides, chosen by what the change touches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.cases import in_regime, packaged_cases, regimes_of_case
from zerolap.documents import CaseExplainer, ExecutedCases, Results, changed_functions, why_unknown
from zerolap.lab.selection import lacking
from zerolap.records import BASE, HEAD, Case, ChangedFunction, Measurement, Regime, ZerolapError, name_in_regime
from zerolap.store import BlobDamaged

WARM_SECONDS: Final = 40.0
"""About the longest that the requests of a warm case may take in one trial; a case that needs longer is not warmed."""
WARM_INSTRUCTIONS: Final = 1_500.0
"""About what a request takes that a regime has sent for warming up, instead of those of the case."""
INSTRUCTIONS_PER_SECOND: Final = 400e6
"""About what a server executes under valgrind while nothing is counted."""
SCREENING_SHARE: Final = 0.65
"""The part of the time of regimes that first blocks may take; the rest decides what differs."""
FEWEST_SECONDS: Final = 125.0
"""What regimes may take where the comparison takes less without them: a case in each, and what differs in some."""
TIMED_SECONDS: Final = 6.0
"""About what the first starts of a case take."""
EXTRA_SETUP: Final = 2.0
"""What a trial takes with a setup of a regime, in trials of the case."""
OTHER_DATA: Final = 1.4
"""What a trial takes with other data or connections, in trials of the case."""
WITHOUT_START: Final = 0.65
"""What a trial takes of whose start nothing is recorded, in trials of which it is."""


@dataclass(frozen=True)
class Touched:
    """A changed function: the cases that execute it, and whether all of its changed lines are executed there."""

    cases: frozenset[str]
    is_whole: bool


@dataclass(frozen=True)
class ChangeReach:
    """What of a change the cases execute; `proposed` may execute what none of them does."""

    touched: Sequence[Touched]
    has_unexecuted: bool
    proposed: Sequence[Case] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether no function changed."""
        return not self.touched and not self.has_unexecuted


@dataclass(frozen=True)
class ChosenRegimes:
    """Cases in regimes that are to be counted, the most important first.

    Once their trials took `seconds`, no other one is decided; without, all are. `left_out` are regimes with the cases
    that there is no time for.
    """

    cases: Sequence[Case] = ()
    seconds: float | None = None
    left_out: Sequence[tuple[str, str]] = ()


def chosen_regimes(results: Results, explainer: CaseExplainer | None) -> ChosenRegimes:
    """Return the cases in regimes that are to be counted; none where nothing changed.

    All cases of the request have been counted. Without an explainer it is not known what changed.
    """
    resolved = results.resolved
    cases = _counted_cases(results)
    builds = {(server.spec.digest, *sorted(server.config.items())) for server in resolved.servers.values()}
    if resolved.kind != "compare" or resolved.request.regimes == "none" or not cases or len(builds) == 1:
        return ChosenRegimes()
    costs = {case.name: _block_seconds(results, case.name) for case in cases}
    if resolved.request.regimes == "all":
        return ChosenRegimes(
            [in_regime(case, regime, is_added=True) for case in cases for regime in _possible(case, results)]
        )
    reach = _reach(results, explainer)
    if reach is not None and reach.is_nothing and why_unknown(resolved, results.builds, cases[0]) is None:
        return ChosenRegimes()
    seconds = _seconds_for_regimes(results, costs)
    chosen = list(_by_turns(cases, results, costs, reach))
    affordable = list(_affordable(chosen, results, costs, SCREENING_SHARE * seconds))
    counted = {case.name for case in affordable}
    left_out = [
        (regime.name, case.name) for regime, case in chosen if name_in_regime(case.name, regime.name) not in counted
    ]
    return ChosenRegimes(affordable, seconds, left_out)


def _counted_cases(results: Results) -> list[Case]:
    """Return the cases of which both sides were counted, but for those that are in a regime themselves."""
    return [
        case
        for case in results.resolved.cases
        if case.regime is None and case.name in results.counted and results.counted[case.name].usable
        if results.counted[case.name].whole_blocks
    ]


def _reach(results: Results, explainer: CaseExplainer | None) -> ChangeReach | None:
    """Return what the cases execute of the change; none where that is not known."""
    if explainer is None:
        return None
    try:
        executed = ExecutedCases(results, explainer.code, results.resolved.cases)
        change = changed_functions(explainer.code, executed)
        if change is None:
            return None
        measured = {case.name for case in results.resolved.cases}
        proposed = explainer.proposals(change.unexecuted).cases if change.unexecuted else []
    except (ZerolapError, ValueError, OSError, BlobDamaged):
        # Cases are counted in some regimes then, as where it is not known what changed.
        return None
    known = {case.name: case for case in packaged_cases()} if proposed else {}
    return ChangeReach(
        [
            Touched(frozenset(change.executed_by.get(function.function, function.cases)), _is_whole(function))
            for function in change.functions.functions
        ],
        bool(change.unexecuted),
        [known[name] for name in proposed if name in known and name not in measured],
    )


def _is_whole(function: ChangedFunction) -> bool:
    return function.executed_lines >= function.lines


def _possible(case: Case, results: Results) -> Iterator[Regime]:
    """Yield the regimes that apply to a case, and in which it can be counted on the platform."""
    instructions = next((one.metrics.get("instructions_per_op", 0.0) for one in _first_block(results, case.name)), 0.0)
    for regime in regimes_of_case(case):
        if (
            _warm_seconds(regime, instructions) <= WARM_SECONDS
            and lacking(case, quick=results.resolved.settings.quick) is None
        ):
            yield regime


def _warm_seconds(regime: Regime, instructions: float) -> float:
    """Return about how long it takes to warm a server up, with requests of so many instructions or the regime's own."""
    return regime.warm_requests * (WARM_INSTRUCTIONS if regime.warm_with else instructions) / INSTRUCTIONS_PER_SECOND


def _by_turns(
    cases: Sequence[Case], results: Results, costs: Mapping[str, float], reach: ChangeReach | None
) -> Iterator[tuple[Regime, Case]]:
    """Yield a case of each regime in turn, then the second of each, and so on."""
    possible: dict[str, list[tuple[Regime, Case]]] = {}
    for case in [*cases, *(reach.proposed if reach is not None else ())]:
        for regime in _possible(case, results):
            possible.setdefault(regime.name, []).append((regime, case))
    ranks = {name: rank for rank, name in enumerate(_in_order(possible))}
    queues = [fewest_cases(possible[name], costs, reach) for name in ranks]
    for turn in range(max(map(len, queues), default=0)):
        yield from (queue[turn] for queue in queues if turn < len(queue))


def _in_order(possible: Mapping[str, Sequence[tuple[Regime, Case]]]) -> list[str]:
    """Return the names of regimes in the order in which cases have them: those of case files first."""
    orders = [[regime.name for regime in regimes_of_case(case)] for pairs in possible.values() for _, case in pairs]
    longest = max(orders, key=len, default=[])
    others = [name for order in orders for name in order if name not in longest]
    return [name for name in dict.fromkeys([*others, *longest]) if name in possible]


def fewest_cases(
    pairs: Sequence[tuple[Regime, Case]], costs: Mapping[str, float], reach: ChangeReach | None
) -> list[tuple[Regime, Case]]:
    """Return the fewest cases that execute in a regime what the change touches, those that reach most first.

    Of functions that no case executes, a case may in a regime: one that is proposed, or the one that takes least.
    """
    measured = [(regime, case) for regime, case in pairs if case.name in costs]
    cheapest = sorted(measured, key=lambda pair: costs[pair[1].name])[:1]
    if reach is None:
        return cheapest
    names = {case.name for _, case in measured}
    left = [touched for touched in reach.touched if touched.cases & names]
    chosen: list[tuple[Regime, Case]] = []
    while left:
        regime, case = max(measured, key=lambda pair: _gain(pair[1].name, left, costs))
        chosen.append((regime, case))
        left = [touched for touched in left if case.name not in touched.cases]
    if reach.has_unexecuted:
        proposed = [(regime, case) for regime, case in pairs if case.name not in costs][:1]
        chosen += proposed or ([] if chosen else cheapest)
    return chosen


def _gain(name: str, left: Sequence[Touched], costs: Mapping[str, float]) -> tuple[int, float]:
    """Return how much of what is left a case executes, functions with lines that it does not reach twice, and cost."""
    return sum(1 if touched.is_whole else 2 for touched in left if name in touched.cases), -costs[name]


def _seconds_for_regimes(results: Results, costs: Mapping[str, float]) -> float:
    """Return what regimes may take: as much as about what the comparison takes without them, by its cases."""
    timed = sum(name not in results.not_to_be_timed for name in costs) if results.resolved.settings.asks_for_time else 0
    # Of the cases alone: where the comparison goes on after an interruption, the same are chosen.
    counted = sum(measurement.seconds for name in costs for measurement in results.counted[name].all)
    seconds = max(FEWEST_SECONDS, counted + timed * TIMED_SECONDS)
    budget = results.seconds_left(counting=True)
    return seconds if budget is None else min(seconds, budget)


def _affordable(
    chosen: Sequence[tuple[Regime, Case]], results: Results, costs: Mapping[str, float], seconds: float
) -> Iterator[Case]:
    """Yield the cases in regimes whose first blocks take so many seconds together."""
    left = seconds
    usual = sum(costs.values()) / len(costs)
    for regime, case in chosen:
        cost = costs.get(case.name, usual) * _factor(regime)
        instructions = [one.metrics.get("instructions_per_op", 0.0) for one in _first_block(results, case.name)]
        cost += sum(_warm_seconds(regime, of_side) for of_side in instructions)
        if cost <= left:
            left -= cost
            yield in_regime(case, regime, is_added=True)


def _factor(regime: Regime) -> float:
    if regime.setup or regime.beside:
        return EXTRA_SETUP
    if regime.keys_times > 1 or regime.load:
        return EXTRA_SETUP
    return OTHER_DATA if regime.data_size or regime.idle_connections else 1.0


def _block_seconds(results: Results, name: str) -> float:
    """Return what a block of a case takes where nothing is recorded of starts: the shortest, as others may disturb."""
    whole = results.counted[name].whole
    blocks = [base.seconds + head.seconds for base, head in zip(whole[BASE], whole[HEAD], strict=True)]
    return min(blocks[0] * WITHOUT_START, *blocks[1:]) if len(blocks) > 1 else blocks[0] * WITHOUT_START


def _first_block(results: Results, name: str) -> list[Measurement]:
    """Return what the first block of a case measured of base and head; nothing of a case that was not counted."""
    trials = results.counted.get(name)
    whole = {} if trials is None or not trials.whole_blocks else trials.whole
    return [whole[side][0] for side in (BASE, HEAD) if whole.get(side)]
