"""What cases are judged by: which metrics, how their starts are pooled, and whether more trials could decide one."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from zerolap.judge.block_verdicts import judge_blocks, judge_identical, wants_more
from zerolap.judge.case_answers import COST_AT_FULL_SPEED, CPU_TIME, DECIDING_TIMES, deciding_time
from zerolap.judge.looks import LOOKS
from zerolap.judge.memory_verdicts import BYTES, MEMORY, MEMORY_MIN_EFFECT, judge_memory
from zerolap.judge.tail_rules import min_effect_of, tail_wants_more_starts
from zerolap.judge.timed_verdicts import TimedPair, hints_at_change, is_certain_change, judge_timed, wants_more_starts
from zerolap.judge.verdict_rule import UnadjustedVerdict, adjusted
from zerolap.records import METRICS, TAIL, TAIL_METRICS, Measurement, Settings, Spread, Verdict, with_rules_of_plugins

WHOLE_COST = "whole_cpu_ns_per_op"
"""CPU time of all slices, not of a typical one: with timers, background threads and forked children."""
COSTS = (
    *DECIDING_TIMES,
    WHOLE_COST,
    "retired_instructions_per_op",
    "branch_misses_per_op",
    "cache_misses_per_op",
    "tlb_misses_per_op",
    "io_threads_ns_per_op",
    "usec_per_call",
)
"""What a request costs: judged at an equal rate where batches differ."""
AS_BUILT_COST = "as_built_cpu_ns_per_op"
"""CPU time of both programs in the layouts that they were built with, from which a change may also come."""
ELAPSED = "elapsed_ns_per_op"
SERVED = (ELAPSED, "ops_per_sec", "latency_p50_us", "latency_p99_us", *TAIL_METRICS)
"""What users get; the tail of a closed loop beyond its p99 is too rare in a start to be compared."""
RESIDENT: Final = "rss_bytes"
"""What the process of a server takes: judged by starts as times are, and never among their metrics."""
JUDGED_TIMES = (*COSTS, *SERVED)
JUDGED_BY_STARTS = (*JUDGED_TIMES, RESIDENT)

AS_BUILT = ", as built"
"""The end of the circumstances of starts whose programs have one layout."""
USUAL_LAYOUT_SD = 0.02
"""Standard deviation of the change between layouts where a platform has not been measured (docs/timed.md)."""
STARTS_OF_ONE_LAYOUT = LOOKS[1]
"""The most starts of two programs that cannot be linked again: more would show no more of their change."""

Bank: TypeAlias = Mapping[tuple[str, str], Sequence[Spread]]
"""How much starts differ on this platform, by metric and circumstances."""
Blocks: TypeAlias = tuple[Sequence[Measurement], Sequence[Measurement]]
"""The measurements of the base and of the head in the blocks that were carried out on both."""


@dataclass(frozen=True)
class Starts:
    """Starts of a timed case: the variances of those in the same `circumstances` are of one kind.

    `has_fixed_layouts`: each side has a layout of its own that is the same in all of them.
    """

    pairs: Sequence[TimedPair]
    circumstances: str
    has_fixed_layouts: bool


@dataclass(frozen=True)
class StartsLookedAt:
    """The first starts of a case, up to a look: those at full speed, and those from which its cost is judged.

    These are at an equal rate, and `is_paced`, where batches differ; else they are the same.
    """

    number: int
    at_full_speed: Starts
    of_cost: Starts
    is_paced: bool


@dataclass(frozen=True)
class JudgedCase:
    """What is judged of a case: the blocks of each engine on the base and on the head, and its starts, where usable.

    `of_cost` are the starts in which all sides had the same load, `batched` those at full speed where these are others,
    `as_built` those of the programs as they were built. `is_identical`: both sides execute the same instructions.
    """

    blocks: Mapping[str, Blocks]
    is_identical: bool
    at_full_speed: Starts | None = None
    of_cost: Starts | None = None
    batched: Starts | None = None
    as_built: Starts | None = None

    def starts_of(self, metric: str) -> Starts | None:
        """Return the starts from which a metric is judged."""
        return self.of_cost if metric in COSTS else self.at_full_speed


def judge_cases(cases: Mapping[str, JudgedCase], settings: Settings, bank: Bank) -> dict[str, list[Verdict]]:
    """Return the verdicts on cases, by name, with q over cases and metrics.

    All cases and the bank show how much starts vary. The verdict on the programs as they were built stands by itself:
    it decides nothing, and is not among the metrics over which q is. Those on memory have a q of their own, over cases
    and the metrics of memory: bytes that are the same take nothing from what times can show.
    """
    timed = _judge_times(cases, settings, bank)
    judged = [
        [*_judge_work(case, settings), *timed.get(name, ()), *_judge_plugins(case, settings)]
        for name, case in cases.items()
    ]
    as_built = {name: case.as_built for name, case in cases.items() if case.as_built is not None}
    judged_as_built = _as_metric(AS_BUILT_COST, judge_time(CPU_TIME, as_built, settings, bank, of_sources=False))
    verdicts = dict(zip(cases, adjusted(judged, settings.q), strict=True))
    for name, of_case in judged_as_built.items():
        verdicts[name].append(of_case.verdict)
    of_memory = _judge_memory(cases, settings, bank)
    for name, of_bytes in zip(cases, adjusted([of_memory[name] for name in cases], settings.q), strict=True):
        verdicts[name] += of_bytes
    return {
        name: list(map(_as_identical, verdicts[name])) if case.is_identical else verdicts[name]
        for name, case in cases.items()
    }


def blocks_are_undecided(engine: str, blocks: Blocks, settings: Settings, cases: int) -> bool:
    """Whether another block of a case, of so many, by an engine that is judged by blocks could decide something."""
    judged = _judge_blocks(engine, blocks, settings)
    if engine == "counted":
        of_memory = judge_memory(*blocks, settings.min_effect.get(MEMORY, MEMORY_MIN_EFFECT), settings.q)
        judged += [one for one in of_memory if METRICS[one.verdict.metric].decides != "never"]
    return wants_more(judged, len(blocks[0]), cases * len(judged), settings.q)


def _judge_work(case: JudgedCase, settings: Settings) -> list[UnadjustedVerdict]:
    """Return what is concluded on each counted metric; one block is enough where both sides are identical."""
    if "counted" not in case.blocks:
        return []
    base, head = case.blocks["counted"]
    if len(base) != 1 or not case.is_identical:
        return _judge_blocks("counted", (base, head), settings)
    min_effect = settings.min_effect["counted"]
    counted = [name for name, metric in METRICS.items() if metric.engine == "counted" and metric.answer == "work"]
    judged = [judge_identical(name, base[0], head[0], min_effect) for name in counted]
    return [of_metric for of_metric in judged if of_metric is not None]


def _judge_memory(
    cases: Mapping[str, JudgedCase], settings: Settings, bank: Bank
) -> dict[str, list[UnadjustedVerdict]]:
    """Return what is concluded on bytes, by case: those that were counted, then those of starts."""
    min_effect = settings.min_effect.get(MEMORY, MEMORY_MIN_EFFECT)
    starts = {name: case.at_full_speed for name, case in cases.items() if case.at_full_speed is not None}
    resident = judge_time(RESIDENT, starts, settings, bank)
    return {
        name: [
            *(judge_memory(*case.blocks["counted"], min_effect, settings.q) if "counted" in case.blocks else ()),
            *([resident[name]] if name in resident else ()),
        ]
        for name, case in cases.items()
    }


def _judge_plugins(case: JudgedCase, settings: Settings) -> list[UnadjustedVerdict]:
    engines = [engine for engine in settings.plugin_engines if engine in case.blocks]
    return [judged for engine in engines for judged in _judge_blocks(engine, case.blocks[engine], settings)]


def _judge_blocks(engine: str, blocks: Blocks, settings: Settings) -> list[UnadjustedVerdict]:
    judged = [
        judge_blocks(rule, *blocks, settings.min_effect[engine], settings.q)
        for rule in with_rules_of_plugins(settings.plugin_metrics).values()
        if rule.engine == engine and rule.name not in BYTES
    ]
    return [of_metric for of_metric in judged if of_metric is not None]


def _judge_times(cases: Mapping[str, JudgedCase], settings: Settings, bank: Bank) -> dict[str, list[UnadjustedVerdict]]:
    """Return what is concluded on the timed metrics, by case.

    The cost at full speed is a metric of its own where that at an equal rate decides.
    """
    by_metric = []
    for metric in JUDGED_TIMES:
        starts = {name: starts for name, case in cases.items() if (starts := case.starts_of(metric)) is not None}
        by_metric.append(judge_time(metric, starts, settings, bank))
    batched = {name: case.batched for name, case in cases.items() if case.batched is not None}
    by_metric.append(_as_metric(COST_AT_FULL_SPEED, judge_time(CPU_TIME, batched, settings, bank)))
    return {name: [judged[name] for judged in by_metric if name in judged] for name in cases}


def _as_metric(metric: str, judged: Mapping[str, UnadjustedVerdict]) -> dict[str, UnadjustedVerdict]:
    """Return verdicts on a metric that was judged like another one."""
    return {
        case: replace(of_case, verdict=of_case.verdict.model_copy(update={"metric": metric}))
        for case, of_case in judged.items()
    }


def _as_identical(verdict: Verdict) -> Verdict:
    """Return a verdict as it is where both sides execute the same instructions, equally often."""
    if verdict.metric != "instructions_per_op" or verdict.engine != "counted":
        return verdict
    return verdict.model_copy(update={"verdict": "identical", "q": None})


def judge_time(
    metric: str, starts: Mapping[str, Starts], settings: Settings, bank: Bank, *, of_sources: bool = True
) -> dict[str, UnadjustedVerdict]:
    """Return the verdicts on one metric by case; the variances of starts are pooled where circumstances are alike.

    What is concluded on sources holds for any layout: where each side had only one, its variance is added.
    """
    groups: dict[str, dict[str, Starts]] = {}
    for case, of_case in starts.items():
        groups.setdefault(of_case.circumstances, {})[case] = of_case
    judged: dict[str, UnadjustedVerdict] = {}
    for circumstances, group in groups.items():
        spreads = bank.get((metric, circumstances), ())
        is_fixed = of_sources and any(of_case.has_fixed_layouts for of_case in group.values())
        variance = layout_variance(metric, bank) if is_fixed else 0.0
        pairs = {case: of_case.pairs for case, of_case in group.items()}
        min_effect = min_effect_of(metric, settings.min_effect)
        judged |= judge_timed(metric, pairs, min_effect, spreads, settings.q, variance)
    return judged


def layout_variance(metric: str, bank: Bank) -> float:
    """Return the variance of a change between two layouts: how much starts of random layouts differ on this platform.

    What starts of one layout differ by is a part of that, so that it is rather too large. A platform that has timed
    nothing in random layouts has the usual one.
    """
    of_random_layouts = [
        spread.variance
        for (judged, circumstances), spreads in bank.items()
        if judged == metric and not circumstances.endswith(AS_BUILT)
        for spread in spreads
    ]
    return statistics.median(of_random_layouts) if of_random_layouts else USUAL_LAYOUT_SD**2


def undecided_in_time(
    cases: Mapping[str, StartsLookedAt], sample: frozenset[str], settings: Settings, bank: Bank, comparisons: int
) -> frozenset[str]:
    """Return the cases that a further look could decide.

    A case whose time has changed for certain is decided. Else what a request costs has to be, in both loads where
    batches differ, and throughput; a likely change beside that is looked at again. The p99 of the open loop has to be
    too, but for that alone there are fewer looks. Of the sample of identical cases
    nothing but a change is asked for: where it is not likely, they are looked at no further.
    """
    q = settings.q
    beside = judge_time(WHOLE_COST, {case: looked_at.of_cost for case, looked_at in cases.items()}, settings, bank)
    tails = judge_time(TAIL, {case: looked_at.at_full_speed for case, looked_at in cases.items()}, settings, bank)
    needed = _judge_needed_times(cases, settings, bank)
    open_cases = {case: judged for case, judged in needed.items() if not _has_changed(judged, comparisons, q)}
    if sample & (needed.keys() - open_cases.keys()):
        # Their claim does not hold: they are cases like all others.
        sample = frozenset()

    def is_worth_a_look(case: str, judged: Sequence[UnadjustedVerdict]) -> bool:
        number = cases[case].number
        if number >= STARTS_OF_ONE_LAYOUT and cases[case].at_full_speed.has_fixed_layouts:
            return False
        if case not in sample and any(wants_more_starts(verdict, number, comparisons, q) for verdict in judged):
            return True
        tail = tails.get(case)
        if tail is not None and case not in sample and tail_wants_more_starts(tail, number, comparisons, q):
            return True
        hints = [*(judged if case in sample else ()), *(of[case] for of in (beside, tails) if case in of)]
        return any(hints_at_change(verdict, number, comparisons, q) for verdict in hints)

    return frozenset(case for case, judged in open_cases.items() if is_worth_a_look(case, judged))


def changed_in_time(
    cases: Mapping[str, StartsLookedAt], settings: Settings, bank: Bank, comparisons: int
) -> frozenset[str]:
    """Return the cases whose time has changed for certain, also if no other had."""
    needed = _judge_needed_times(cases, settings, bank)
    return frozenset(case for case, judged in needed.items() if _has_changed(judged, comparisons, settings.q))


def _has_changed(judged: Sequence[UnadjustedVerdict], comparisons: int, q: float) -> bool:
    return any(is_certain_change(verdict, comparisons, q) for verdict in judged)


def _judge_needed_times(
    cases: Mapping[str, StartsLookedAt], settings: Settings, bank: Bank
) -> dict[str, list[UnadjustedVerdict]]:
    """Return by case the verdicts that have to be decided for its time to be: cost at both loads, and throughput."""
    at_full_speed = {case: looked_at.at_full_speed for case, looked_at in cases.items()}
    needed = (
        judge_deciding_time({case: looked_at.of_cost for case, looked_at in cases.items()}, settings, bank),
        judge_time(ELAPSED, at_full_speed, settings, bank),
        judge_time(CPU_TIME, {case: at_full_speed[case] for case in cases if cases[case].is_paced}, settings, bank),
    )
    return {case: [judged[case] for judged in needed if case in judged] for case in cases}


def judge_deciding_time(starts: Mapping[str, Starts], settings: Settings, bank: Bank) -> dict[str, UnadjustedVerdict]:
    """Return by case the verdict on what a request costs in time, on the metric that decides there."""
    judged: dict[str, dict[str, UnadjustedVerdict]] = {}
    for metric in DECIDING_TIMES:
        for case, of_case in judge_time(metric, starts, settings, bank).items():
            judged.setdefault(case, {})[metric] = of_case
    chosen = {case: deciding_time([each.verdict for each in by_metric.values()]) for case, by_metric in judged.items()}
    return {case: judged[case][verdict.metric] for case, verdict in chosen.items() if verdict is not None}
