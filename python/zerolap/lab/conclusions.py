"""What the trials of all engines come to together: verdicts with their reasons, case by case."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TypeAlias

from zerolap.judge import (
    CHANGED,
    COST_AT_FULL_SPEED,
    CPU_TIME,
    DECIDING_TIMES,
    LOOKS,
    MIN_BLOCKS,
    CaseAnswers,
    TimedPair,
    UnadjustedVerdict,
    adjusted,
    case_answers,
    case_validity,
    deciding_time,
    hints_at_change,
    is_certain_change,
    judge_blocks,
    judge_identical,
    judge_timed,
    spread_of_starts,
    wants_more,
    wants_more_starts,
)
from zerolap.lab.reasons import Explainer
from zerolap.lab.results import AS_BUILT, FEWEST_STARTS, CaseResults, Results, TimedTrials, Trials
from zerolap.lab.string_place_verdicts import without_string_places
from zerolap.lab.unmeasured import failed_sides, failure_text
from zerolap.records import (
    ANCHOR,
    BASE,
    CONTROL,
    COUNTER_METRICS,
    HEAD,
    METRICS,
    TRACED_METRICS,
    Case,
    CaseResult,
    Measurement,
    Resolved,
    Settings,
    Spread,
    StartRatio,
    TrialFailed,
    Validity,
    Verdict,
    with_rules_of_plugins,
)

WHOLE_COST = "whole_cpu_ns_per_op"
"""Of all slices, with timers, background threads and forked children, not of a typical one."""
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
"""Of the two programs in the layout that each was built with, which a change may also come from."""
ELAPSED = "elapsed_ns_per_op"
SERVED = (ELAPSED, "ops_per_sec", "latency_p50_us", "latency_p99_us")
"""What users get; the tail beyond is too rare in a start to be compared."""
JUDGED_TIMES = (*COSTS, *SERVED)

USUAL_LAYOUT_SD = 0.02
"""Standard deviation of the change between layouts where a platform has not been measured (docs/timed.md)."""
STARTS_OF_ONE_LAYOUT = LOOKS[1]
"""More starts of two programs that cannot be linked again would not make their change any better known."""

Bank: TypeAlias = Mapping[tuple[str, str], Sequence[Spread]]
"""How much starts differ on this platform, by metric and circumstances."""


def conclude(results: Results, bank: Bank, explainer: Explainer | None) -> list[CaseResult]:
    """Judge all cases, with q over cases and metrics. Without an explainer there are no reasons."""
    settings = results.resolved.settings
    reported = results.reported()
    timings = _judge_times(results.timed, settings, bank)
    judged = [
        [
            *_judge_work(measured, settings),
            *timings.get(measured.case.name, []),
            *_judge_plugins(measured, settings),
        ]
        for measured in reported
    ]
    as_built = _judge_as_built(results.timed, settings, bank)
    return [
        _conclude_case(measured, [*verdicts, *_of_case(as_built, measured)], results, explainer)
        for measured, verdicts in zip(reported, adjusted(judged, settings.q), strict=True)
    ]


def _of_case(verdicts: Mapping[str, Verdict], measured: CaseResults) -> list[Verdict]:
    return [verdicts[measured.case.name]] if measured.case.name in verdicts else []


def blocks_are_undecided(engine: str, trials: Trials, resolved: Resolved) -> bool:
    """Whether another block of trials of an engine that is judged by blocks could decide something."""
    judged = _judge_blocks(engine, trials, resolved.settings)
    return wants_more(judged, trials.blocks, len(resolved.cases) * len(judged), resolved.settings.q)


def worth_sampling(results: Results, bank: Bank) -> list[Case]:
    """Return the cases whose work or time changed, or all that are valid where stacks of all are asked for.

    Of a run these are the cases that nothing speaks against.
    """
    resolved = results.resolved
    if resolved.kind == "run":
        return [case for case in resolved.cases if _may_be_sampled(results.of_case(case))]
    concluded = conclude(results, bank, None)
    wanted = {
        one.case
        for one in concluded
        if one.work in CHANGED or one.time in CHANGED or (resolved.request.all_stacks and one.validity.valid)
    }
    return [case for case in resolved.cases if case.name in wanted]


def _may_be_sampled(measured: CaseResults) -> bool:
    counted, timed = measured.counted, measured.timed
    return (counted is None or not counted.speaks_against_case) and (timed is None or timed.failure is None)


def spreads_of(results: Results) -> dict[str, dict[tuple[str, str], Spread]]:
    """Return how much starts differed, by circumstances, then by case and metric.

    What changed does not matter, as a spread is about the starts' own mean. But two programs that are equal in every
    placement show nothing of it.
    """
    is_one_build = len({server.spec.digest for server in results.resolved.servers.values()}) == 1
    spreads: dict[str, dict[tuple[str, str], Spread]] = {}
    for name, trials in results.timed.items():
        if is_one_build and trials.is_placed:
            continue
        for metric in JUDGED_TIMES:
            chosen = trials.of_cost if metric in COSTS else trials
            spread = spread_of_starts(metric, chosen.pairs) if chosen.usable else None
            if spread is not None:
                spreads.setdefault(trials.circumstances, {})[name, metric] = spread
    return spreads


def start_ratios_of(results: Results, cases: Sequence[CaseResult]) -> list[StartRatio]:
    """Return what each start says about the timed metrics of which these cases have a verdict, before it is bounded.

    Of the head over the base, and over the anchor where there is such a server.
    """
    anchor = results.resolved.servers.get(ANCHOR)
    judged = {(case.case, verdict.metric) for case in cases for verdict in case.verdicts if verdict.engine == "timed"}
    measured = [(metric, metric, _judged_trials(metric, results.timed)) for metric in JUDGED_TIMES]
    measured.append((COST_AT_FULL_SPEED, CPU_TIME, _batched_trials(results.timed)))
    measured.append((AS_BUILT_COST, CPU_TIME, _as_built_trials(results.timed)))
    return [
        StartRatio(
            case=name,
            metric=metric,
            engine="timed",
            block=block,
            log_ratio=pair.changes[of_slices],
            anchor=over,
        )
        for metric, of_slices, by_case in measured
        for name, trials in by_case.items()
        if (name, metric) in judged
        for over, pairs in (
            ("", zip(trials.paired_blocks, trials.pairs, strict=True)),
            ("" if anchor is None else anchor.spec.digest, trials.anchored.items()),
        )
        for block, pair in pairs
        if of_slices in pair.changes
    ]


def _judge_blocks(engine: str, trials: Trials | None, settings: Settings) -> list[UnadjustedVerdict]:
    """Return what is concluded on each metric of an engine that is judged by blocks; nothing of an invalid case."""
    if trials is None or not trials.usable:
        return []
    base, head = (trials.whole[side] for side in (BASE, HEAD))
    judged = [
        judge_blocks(rule, base, head, settings.min_effect[engine], settings.q)
        for rule in with_rules_of_plugins(settings.plugin_metrics).values()
        if rule.engine == engine
    ]
    return [of_metric for of_metric in judged if of_metric is not None]


def _judge_plugins(measured: CaseResults, settings: Settings) -> list[UnadjustedVerdict]:
    """Return what is concluded on the metrics of plugins' engines."""
    return [
        judged
        for engine in settings.plugin_engines
        for judged in _judge_blocks(engine, measured.other.get(engine), settings)
    ]


def _judge_work(measured: CaseResults, settings: Settings) -> list[UnadjustedVerdict]:
    """Return what is concluded on each counted metric of a case; one block is enough where both sides are identical."""
    trials = measured.counted
    if trials is None or trials.blocks != 1 or not measured.is_identical:
        return _judge_blocks("counted", trials, settings)
    base, head = (trials.whole[side][0] for side in (BASE, HEAD))
    min_effect = settings.min_effect["counted"]
    judged = [judge_identical(name, base, head, min_effect) for name in METRICS if METRICS[name].engine == "counted"]
    return [of_metric for of_metric in judged if of_metric is not None]


def _judge_times(
    timed: Mapping[str, TimedTrials], settings: Settings, bank: Bank
) -> dict[str, list[UnadjustedVerdict]]:
    """Return what is concluded on the timed metrics, by case: all cases and the bank show how much starts vary."""
    verdicts: dict[str, list[UnadjustedVerdict]] = {}
    for metric in JUDGED_TIMES:
        usable = {name: trials.pairs for name, trials in _judged_trials(metric, timed).items()}
        for name, judged in judge_time(metric, usable, timed, settings, bank).items():
            verdicts.setdefault(name, []).append(judged)
    for name, judged in _judge_batched(timed, settings, bank).items():
        verdicts.setdefault(name, []).append(judged)
    return verdicts


def _judged_trials(metric: str, timed: Mapping[str, TimedTrials]) -> dict[str, TimedTrials]:
    """Return the starts from which a metric is judged, by case: costs where all sides had the same load."""
    chosen = {name: trials.of_cost if metric in COSTS else trials for name, trials in timed.items()}
    return {
        name: trials
        for name, trials in chosen.items()
        if trials.usable
        and len(trials.pairs) >= FEWEST_STARTS
        and not (metric in COSTS and trials.per_second is None and trials.left_batching)
    }


def _batched_trials(timed: Mapping[str, TimedTrials]) -> dict[str, TimedTrials]:
    """Return the starts at full speed of the cases of which others at an equal rate decide."""
    return {name: trials for name, trials in timed.items() if trials.paced is not None and trials.usable}


def _as_built_trials(timed: Mapping[str, TimedTrials]) -> dict[str, TimedTrials]:
    """Return the starts of the programs as they were built, by case, where there are enough."""
    as_built = {name: trials.as_built for name, trials in timed.items() if trials.as_built is not None}
    return _judged_trials(CPU_TIME, as_built)


def _judge_batched(timed: Mapping[str, TimedTrials], settings: Settings, bank: Bank) -> dict[str, UnadjustedVerdict]:
    """Return what is concluded on the cost at full speed where that at an equal rate decides."""
    batched = {name: trials.pairs for name, trials in _batched_trials(timed).items()}
    return _named(COST_AT_FULL_SPEED, judge_time(CPU_TIME, batched, timed, settings, bank))


def _judge_as_built(timed: Mapping[str, TimedTrials], settings: Settings, bank: Bank) -> dict[str, Verdict]:
    """Return what is concluded on the two programs in the layout that each was built with, where these were timed.

    It stands by itself: it decides nothing, and is not among the metrics over which q is.
    """
    as_built = _as_built_trials(timed)
    starts = {name: trials.pairs for name, trials in as_built.items()}
    judged = _named(AS_BUILT_COST, judge_time(CPU_TIME, starts, as_built, settings, bank, of_sources=False))
    return {name: of_case.verdict for name, of_case in judged.items()}


def _named(metric: str, judged: Mapping[str, UnadjustedVerdict]) -> dict[str, UnadjustedVerdict]:
    return {
        name: replace(of_case, verdict=of_case.verdict.model_copy(update={"metric": metric}))
        for name, of_case in judged.items()
    }


def judge_time(
    metric: str,
    starts: Mapping[str, Sequence[TimedPair]],
    timed: Mapping[str, TimedTrials],
    settings: Settings,
    bank: Bank,
    *,
    of_sources: bool = True,
) -> dict[str, UnadjustedVerdict]:
    """Return the verdicts on one metric by case; the variances of starts are pooled where circumstances are alike.

    What is concluded on sources holds for any layout: where each side had only one, its variance is added.
    """
    groups: dict[str, dict[str, Sequence[TimedPair]]] = {}
    for name, of_case in starts.items():
        groups.setdefault(timed[name].circumstances, {})[name] = of_case
    judged: dict[str, UnadjustedVerdict] = {}
    for circumstances, group in groups.items():
        spreads = bank.get((metric, circumstances), ())
        is_fixed = of_sources and any(timed[name].has_fixed_layouts for name in group)
        variance = layout_variance(metric, bank) if is_fixed else 0.0
        judged |= judge_timed(metric, group, settings.min_effect["timed"], spreads, settings.q, variance)
    return judged


def layout_variance(metric: str, bank: Bank) -> float:
    """Return the variance of a change between two layouts: how much starts of random layouts differ on this platform.

    What starts of one layout differ by is a part of that, so that it is rather too large. A platform that has timed
    nothing in random layouts has the usual one.
    """
    of_random_layouts = [
        spread.variance
        for (named, circumstances), spreads in bank.items()
        if named == metric and not circumstances.endswith(AS_BUILT)
        for spread in spreads
    ]
    return statistics.median(of_random_layouts) if of_random_layouts else USUAL_LAYOUT_SD**2


def undecided_in_time(starts: Mapping[str, int], results: Results, bank: Bank, comparisons: int) -> frozenset[str]:
    """Return the cases that a further look could decide, by as many starts of each as it was looked at.

    A case whose time has changed for certain is decided. Else what a request costs has to be, in both loads where
    batches differ, and throughput; a likely change beside that is looked at again. Of the sample of identical cases
    nothing but a change is asked for: where it is not likely, they are looked at no further.
    """
    q = results.resolved.settings.q
    costs = {name: results.timed[name].of_cost.pairs[:number] for name, number in starts.items()}
    beside = judge_time(WHOLE_COST, costs, results.timed, results.resolved.settings, bank)
    needed = _judge_needed_times(starts, results, bank)
    open_cases = {name: judged for name, judged in needed.items() if not _has_changed(judged, comparisons, q)}
    sample = results.sample_of_identical
    if sample & (needed.keys() - open_cases.keys()):
        # Their claim does not hold: they are cases like all others.
        sample = frozenset()

    def is_worth_a_look(name: str, judged: Sequence[UnadjustedVerdict]) -> bool:
        number = starts[name]
        if number >= STARTS_OF_ONE_LAYOUT and results.timed[name].has_fixed_layouts:
            return False
        if name not in sample and any(wants_more_starts(one, number, comparisons, q) for one in judged):
            return True
        hints = [*(judged if name in sample else ()), *([beside[name]] if name in beside else ())]
        return any(hints_at_change(one, number, comparisons, q) for one in hints)

    return frozenset(name for name, judged in open_cases.items() if is_worth_a_look(name, judged))


def changed_in_time(starts: Mapping[str, int], results: Results, bank: Bank, comparisons: int) -> frozenset[str]:
    """Return the cases whose time has changed for certain by so many starts, also if no other had."""
    needed = _judge_needed_times(starts, results, bank)
    return frozenset(
        name for name, judged in needed.items() if _has_changed(judged, comparisons, results.resolved.settings.q)
    )


def _has_changed(judged: Sequence[UnadjustedVerdict], comparisons: int, q: float) -> bool:
    return any(is_certain_change(one, comparisons, q) for one in judged)


def _judge_needed_times(starts: Mapping[str, int], results: Results, bank: Bank) -> dict[str, list[UnadjustedVerdict]]:
    """Return by case the verdicts that have to be decided for its time to be: cost at both loads, and throughput."""
    timed, settings = results.timed, results.resolved.settings
    costs = {name: timed[name].of_cost.pairs[:number] for name, number in starts.items()}
    at_full_speed = {name: timed[name].pairs[:number] for name, number in starts.items()}
    batched = {name: pairs for name, pairs in at_full_speed.items() if timed[name].paced is not None}
    needed = (
        judge_deciding_time(costs, timed, settings, bank),
        judge_time(ELAPSED, at_full_speed, timed, settings, bank),
        judge_time(CPU_TIME, batched, timed, settings, bank),
    )
    return {name: [judged[name] for judged in needed if name in judged] for name in starts}


def judge_deciding_time(
    starts: Mapping[str, Sequence[TimedPair]], timed: Mapping[str, TimedTrials], settings: Settings, bank: Bank
) -> dict[str, UnadjustedVerdict]:
    """Return by case the verdict on what a request costs in time, on the metric that decides there."""
    judged: dict[str, dict[str, UnadjustedVerdict]] = {}
    for metric in DECIDING_TIMES:
        for name, of_case in judge_time(metric, starts, timed, settings, bank).items():
            judged.setdefault(name, {})[metric] = of_case
    chosen = {name: deciding_time([one.verdict for one in by_metric.values()]) for name, by_metric in judged.items()}
    return {name: judged[name][verdict.metric] for name, verdict in chosen.items() if verdict is not None}


def metrics_judged(results: Results) -> int:
    """Return how many metrics a case is judged by: those of the processor's counters only where these are there."""
    measurements = (one for trials in results.timed.values() for side in trials.measurements.values() for one in side)
    has_counters = any(not COUNTER_METRICS.isdisjoint(one.metrics) for one in measurements)
    judged = METRICS.keys() - {CONTROL, AS_BUILT_COST} - TRACED_METRICS
    own = len(judged - (frozenset() if has_counters else COUNTER_METRICS))
    return own + len(results.resolved.settings.plugin_metrics)


def _conclude_case(
    measured: CaseResults, verdicts: list[Verdict], results: Results, explainer: Explainer | None
) -> CaseResult:
    case, settings = measured.case, results.resolved.settings
    validity = _validity(measured)
    if measured.is_identical:
        verdicts = [_as_identical(verdict) for verdict in verdicts]
    elif measured.counted is not None:
        verdicts = without_string_places(verdicts, measured.counted, results.blobs)
    rules = with_rules_of_plugins(settings.plugin_metrics)
    answers = case_answers(verdicts, validity, layouts_vary=_layouts_vary(measured), rules=rules)
    cut_short = _is_cut_short(measured, results)
    if answers.verdict == "invalid" and cut_short and validity.valid:
        answers = CaseAnswers(verdict="unsure", deciding=None, confirmed=False)
    return CaseResult(
        case=case.name,
        commands=case.verbs,
        group=case.group,
        topology=case.topology.name,
        **asdict(answers),
        validity=validity,
        verdicts=verdicts if validity.valid else [],
        findings=explainer.findings(answers, verdicts, measured) if explainer else [],
        failure=failure_text(_failure(measured), cut_short=cut_short and answers.verdict == "unsure"),
        failed_sides=failed_sides(measured) if answers.verdict == "invalid" else [],
    )


def _layouts_vary(measured: CaseResults) -> bool:
    """Whether a case was timed in many layouts, or in one that both sides have."""
    return measured.timed is None or not measured.timed.of_cost.has_fixed_layouts


def _as_identical(verdict: Verdict) -> Verdict:
    """Return a verdict as it is where both sides execute the same instructions, equally often."""
    if verdict.metric != "instructions_per_op" or verdict.engine != "counted":
        return verdict
    return verdict.model_copy(update={"verdict": "identical", "q": None})


def _is_cut_short(measured: CaseResults, results: Results) -> bool:
    """Whether the budget was used up before a case was decided."""
    counted, timed = measured.counted, measured.timed
    if (counted is not None and counted.cut_short) or measured.timing_was_cut_short:
        return True
    settings = results.resolved.settings
    if settings.budget_seconds is None:
        return False
    uncounted = "counted" in settings.engines and not _has_counts(measured)
    is_due = settings.asks_for_time and measured.case.name not in results.not_to_be_timed
    untimed = is_due and (timed is None or not timed.jobs_done)
    return uncounted or (untimed and (counted is None or not counted.speaks_against_case))


def _has_counts(measured: CaseResults) -> bool:
    """Whether counting came as far as it has to: to its first few blocks, or to one of an identical case."""
    counted = measured.counted
    if counted is None or not counted.jobs_done:
        return False
    return measured.is_identical or not counted.usable or counted.blocks >= MIN_BLOCKS


def _validity(measured: CaseResults) -> Validity:
    """Return the checks of all engines; what the machine did to timed trials costs their verdicts and no more."""
    counted, timed = measured.counted, measured.timed
    measurements: list[Measurement] = []
    # What a plugin cannot measure takes nothing from what was counted and timed.
    alone = measured.other.values() if counted is None and timed is None else ()
    for trials in [*filter(None, [counted]), *alone]:
        measurements += [measurement for side in trials.measurements.values() for measurement in side]
    disturbed = timed.disturbance() if timed is not None else []
    if timed is not None and not disturbed:
        for trials in {id(timed): timed, id(timed.of_cost): timed.of_cost}.values():
            measurements += [one for side in trials.measurements.values() for one in side]
    validity = case_validity(measurements)
    if timed is not None:
        validity = Validity.of([*validity.checks, *timed.checks(), *(disturbed if counted is None else [])])
    return validity.model_copy(update={"valid": False}) if _failure(measured) is not None else validity


def _failure(measured: CaseResults) -> TrialFailed | None:
    """Return why a case failed: one of its trials did, or nothing else was asked for than what engines refuse."""
    if measured.counted is not None and measured.counted.failure is not None:
        return measured.counted.failure
    if measured.timed is not None:
        return measured.timed.failure or measured.timed.of_cost.failure
    others = [*measured.other.values()]
    every = others if measured.counted is None else [measured.counted, *others]
    refusals = [trials.refusal for trials in every if trials.refusal is not None]
    if every and len(refusals) == len(every):
        return TrialFailed(refusals[0])
    if measured.counted is None:
        return next((trials.failure for trials in others if trials.failure is not None), None)
    return None


def placement_notes(results: Results) -> list[str]:
    """Return the note on times that hold for the two programs as they are, and not for their sources."""
    failures = {
        measurement.placement.failure
        for trials in results.timed.values()
        for side in trials.measurements.values()
        for measurement in side
        if measurement.placement is not None and measurement.placement.seed is None
    }
    as_built = [
        f"`{name}`: the programs as they were built were not timed: "
        + (str(trials.as_built.failure) if trials.as_built.failure is not None else "other processes disturbed them")
        for name, trials in results.timed.items()
        if trials.as_built is not None and not trials.as_built.usable
    ]
    return as_built + [
        "times hold for these two programs, not for their sources: where their functions lie is part of the"
        f" difference, as they cannot be linked again in another order ({failure})"
        for failure in sorted(failures)
    ]
