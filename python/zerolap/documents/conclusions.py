"""What the trials of all engines come to together: verdicts with their reasons, case by case."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Protocol

from zerolap.documents.results import FEWEST_STARTS, CaseResults, Results, TimedTrials, Trials
from zerolap.documents.string_place_verdicts import without_string_places
from zerolap.documents.unmeasured import failed_sides, failure_text
from zerolap.judge import (
    AS_BUILT_COST,
    CHANGED,
    COST_AT_FULL_SPEED,
    COSTS,
    CPU_TIME,
    JUDGED_TIMES,
    MIN_BLOCKS,
    Bank,
    CaseAnswers,
    Starts,
    UnadjustedVerdict,
    adjusted,
    as_identical,
    as_metric,
    case_answers,
    case_validity,
    judge_engine,
    judge_identical_work,
    judge_time,
    spread_of_starts,
    wants_more,
)
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
    Changes,
    Finding,
    Measurement,
    Resolved,
    Settings,
    SourceFunction,
    Spread,
    StartRatio,
    TrialFailed,
    UnknownChanges,
    Validity,
    Verdict,
    with_rules_of_plugins,
)


class CaseExplainer(Protocol):
    """What knows the builds and sources of a comparison, and explains its cases by them."""

    @property
    def functions(self) -> tuple[list[SourceFunction], list[SourceFunction]]:
        """The functions in the debug information of the base and of the head."""

    @property
    def changes(self) -> Changes | UnknownChanges:
        """What differs between the sources."""

    def findings(self, answers: CaseAnswers, verdicts: Sequence[Verdict], measured: CaseResults) -> list[Finding]:
        """Return reasons for a change, and what could not be measured."""


def conclude(results: Results, bank: Bank, explainer: CaseExplainer | None) -> list[CaseResult]:
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
    return judge_engine(engine, trials.whole[BASE], trials.whole[HEAD], settings)


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
    return judge_identical_work(trials.whole[BASE][0], trials.whole[HEAD][0], settings)


def _judge_times(
    timed: Mapping[str, TimedTrials], settings: Settings, bank: Bank
) -> dict[str, list[UnadjustedVerdict]]:
    """Return what is concluded on the timed metrics, by case: all cases and the bank show how much starts vary.

    The cost at full speed is another metric where that at an equal rate decides.
    """
    verdicts: dict[str, list[UnadjustedVerdict]] = {}
    by_metric = [
        judge_time(metric, _starts(_judged_trials(metric, timed), timed), settings, bank) for metric in JUDGED_TIMES
    ]
    batched = judge_time(CPU_TIME, _starts(_batched_trials(timed), timed), settings, bank)
    for by_case in [*by_metric, as_metric(COST_AT_FULL_SPEED, batched)]:
        for name, judged in by_case.items():
            verdicts.setdefault(name, []).append(judged)
    return verdicts


def _starts(judged: Mapping[str, TimedTrials], timed: Mapping[str, TimedTrials]) -> dict[str, Starts]:
    """Return the starts of judged trials, whose circumstances are those at full speed."""
    return {name: timed[name].starts(trials.pairs) for name, trials in judged.items()}


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


def _judge_as_built(timed: Mapping[str, TimedTrials], settings: Settings, bank: Bank) -> dict[str, Verdict]:
    """Return what is concluded on the two programs in the layout that each was built with, where these were timed.

    It stands by itself: it decides nothing, and is not among the metrics over which q is.
    """
    as_built = _as_built_trials(timed)
    judged = judge_time(CPU_TIME, _starts(as_built, as_built), settings, bank, of_sources=False)
    return {name: of_case.verdict for name, of_case in as_metric(AS_BUILT_COST, judged).items()}


def metrics_judged(results: Results) -> int:
    """Return how many metrics a case is judged by: those of the processor's counters only where these are there."""
    measurements = (one for trials in results.timed.values() for side in trials.measurements.values() for one in side)
    has_counters = any(not COUNTER_METRICS.isdisjoint(one.metrics) for one in measurements)
    judged = METRICS.keys() - {CONTROL, AS_BUILT_COST} - TRACED_METRICS
    own = len(judged - (frozenset() if has_counters else COUNTER_METRICS))
    return own + len(results.resolved.settings.plugin_metrics)


def _conclude_case(
    measured: CaseResults, verdicts: list[Verdict], results: Results, explainer: CaseExplainer | None
) -> CaseResult:
    case, settings = measured.case, results.resolved.settings
    validity = _validity(measured)
    if measured.is_identical:
        verdicts = [as_identical(verdict) for verdict in verdicts]
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
