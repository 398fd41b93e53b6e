"""What the trials of all engines come to together: verdicts with their reasons, case by case."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from zerolap.documents.case_trials import CaseResults, TimedTrials
from zerolap.documents.executed_code import ComparedCode
from zerolap.documents.results import Results
from zerolap.documents.string_place_verdicts import without_string_places
from zerolap.documents.unmeasured import failed_sides, failure_text
from zerolap.judge import (
    AS_BUILT_COST,
    COST_AT_FULL_SPEED,
    COSTS,
    CPU_TIME,
    JUDGED_BY_STARTS,
    MIN_BLOCKS,
    Bank,
    CaseAnswers,
    case_answers,
    case_validity,
    judge_cases,
    spread_of_starts,
)
from zerolap.records import (
    ANCHOR,
    CHANGED,
    METRICS,
    Case,
    CaseResult,
    ChangedFunction,
    Finding,
    Spread,
    StartRatio,
    TrialFailed,
    Validity,
    Verdict,
    with_rules_of_plugins,
)


class CaseExplainer(Protocol):
    """What knows the builds and sources of a comparison, and explains its cases by them."""

    @property
    def code(self) -> ComparedCode:
        """The code of both sides; raises `OSError`, `UnreadableFile`."""

    def proposals(self, unexecuted: Sequence[ChangedFunction]) -> "Proposals":
        """Return what may execute changed functions that no case executed."""

    def findings(self, answers: CaseAnswers, verdicts: Sequence[Verdict], measured: CaseResults) -> list[Finding]:
        """Return reasons for a change, and what could not be measured."""


@dataclass(frozen=True)
class Proposals:
    """Known cases that may execute functions, the likeliest first, and the commands that the change's tests send."""

    cases: list[str]
    tested_commands: list[str]


@dataclass(frozen=True)
class AnsweredCase:
    """A case with its verdicts and what they answer; `is_cut_short`: the budget was used up before it was decided."""

    measured: CaseResults
    verdicts: list[Verdict]
    validity: Validity
    answers: CaseAnswers
    is_cut_short: bool


def conclude(results: Results, bank: Bank, explainer: CaseExplainer | None) -> list[CaseResult]:
    """Judge all cases, with q over cases and metrics. Without an explainer there are no reasons."""
    return [_concluded(answered, explainer) for answered in answer_cases(results, bank)]


def answer_cases(results: Results, bank: Bank) -> list[AnsweredCase]:
    """Judge all cases, with q over cases and metrics."""
    reported = results.reported()
    judged = {measured.case.name: measured.judged for measured in reported}
    verdicts = judge_cases(judged, results.resolved.settings, bank)
    return [_answered(measured, verdicts[measured.case.name], results) for measured in reported]


def worth_sampling(results: Results, bank: Bank) -> list[Case]:
    """Return the cases whose work or time changed, or all that are valid where stacks of all are asked for.

    Of a run these are the cases that nothing speaks against.
    """
    resolved = results.resolved
    if resolved.kind == "run":
        counted, timed = results.counted, results.timed
        refused = {name for name, trials in counted.items() if trials.speaks_against_case}
        refused |= {name for name, trials in timed.items() if trials.failure is not None}
        return [case for case in resolved.cases if case.name not in refused]
    answered = answer_cases(results, bank)
    wanted = {
        case.measured.case.name
        for case in answered
        if case.answers.work in CHANGED
        or case.answers.time in CHANGED
        or (resolved.request.all_stacks and case.validity.valid)
    }
    return [case for case in resolved.cases if case.name in wanted]


def worth_profiling(results: Results, bank: Bank) -> list[Case]:
    """Return the cases whose counted bytes changed, of which it is worth finding out where they are allocated."""
    changed = {
        case.measured.case.name
        for case in answer_cases(results, bank)
        if case.answers.memory in CHANGED and METRICS[case.answers.memory_deciding or ""].engine == "counted"
    }
    return [case for case in results.resolved.cases if case.name in changed]


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
        for metric in JUDGED_BY_STARTS:
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
    timed = results.timed.items()
    batched = {name: trials for name, trials in timed if trials.paced is not None and trials.usable}
    as_built = {name: trials.as_built.of_metric(CPU_TIME) for name, trials in timed if trials.as_built is not None}
    measured: list[tuple[str, str, Mapping[str, TimedTrials | None]]] = [
        *((metric, metric, {name: trials.of_metric(metric) for name, trials in timed}) for metric in JUDGED_BY_STARTS),
        (COST_AT_FULL_SPEED, CPU_TIME, batched),
        (AS_BUILT_COST, CPU_TIME, as_built),
    ]
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
        if trials is not None and (name, metric) in judged
        for over, pairs in (
            ("", zip(trials.paired_blocks, trials.pairs, strict=True)),
            ("" if anchor is None else anchor.spec.digest, trials.anchored.items()),
        )
        for block, pair in pairs
        if of_slices in pair.changes
    ]


def _answered(measured: CaseResults, verdicts: list[Verdict], results: Results) -> AnsweredCase:
    validity, is_cut_short = _validity(measured), _is_cut_short(measured, results)
    if measured.counted is not None and not measured.is_identical:
        verdicts = without_string_places(verdicts, measured.counted, results.blobs)
    rules = with_rules_of_plugins(results.resolved.settings.plugin_metrics)
    # A case may have been timed in many layouts, or in one that both sides have.
    layouts_vary = measured.timed is None or not measured.timed.of_cost.has_fixed_layouts
    answers = case_answers(verdicts, validity, layouts_vary=layouts_vary, rules=rules)
    if answers.verdict == "invalid" and is_cut_short and validity.valid:
        answers = CaseAnswers(verdict="unsure", deciding=None, confirmed=False)
    return AnsweredCase(measured, verdicts, validity, answers, is_cut_short)


def _concluded(answered: AnsweredCase, explainer: CaseExplainer | None) -> CaseResult:
    measured, verdicts, answers = answered.measured, answered.verdicts, answered.answers
    case, validity = measured.case, answered.validity
    cut_short = answered.is_cut_short and answers.verdict == "unsure"
    return CaseResult(
        case=case.name,
        commands=case.own_verbs,
        group=case.group,
        topology=case.topology.name,
        regime=case.regime.name if case.regime is not None else "",
        **asdict(answers),
        validity=validity,
        verdicts=verdicts if validity.valid else [],
        findings=explainer.findings(answers, verdicts, measured) if explainer else [],
        failure=failure_text(_failure(measured), cut_short=cut_short),
        failed_sides=failed_sides(measured) if answers.verdict == "invalid" else [],
    )


def _is_cut_short(measured: CaseResults, results: Results) -> bool:
    counted, timed = measured.counted, measured.timed
    if (counted is not None and counted.cut_short) or measured.timing_was_cut_short:
        return True
    settings = results.resolved.settings
    if settings.budget_seconds is None:
        return False
    uncounted = "counted" in settings.engines and not _has_counts(measured)
    # Of regimes that the lab has chosen only what changed is timed.
    is_added = measured.case.regime is not None and measured.case.regime.is_added
    is_due = settings.asks_for_time and measured.case.name not in results.not_to_be_timed and not is_added
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
    disturbed = timed.disturbance() if timed is not None else []
    # What a plugin cannot measure takes nothing from what was counted and timed.
    alone = measured.other.values() if counted is None and timed is None else ()
    undisturbed = (timed, timed.paced) if timed is not None and not disturbed else ()
    chosen = [trials for trials in (counted, *alone, *undisturbed) if trials is not None]
    validity = case_validity([measurement for trials in chosen for measurement in trials.all])
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
