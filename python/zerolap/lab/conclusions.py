"""What all engines' trials of a case come to together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zerolap.explain import explain_cause, explain_times, with_times
from zerolap.judge import Judged, adjusted, case_validity, case_verdict, deciding_verdict, is_confirmed
from zerolap.lab.explaining import Explainer
from zerolap.lab.judging import FEWEST_STARTS, Bank, judge_case, judge_timings
from zerolap.lab.measuring import Measured
from zerolap.lab.sampling import SampledTrials
from zerolap.lab.timed_trials import TimedTrials
from zerolap.lab.trials import CaseTrials
from zerolap.records import (
    Case,
    CaseResult,
    CaseVerdict,
    Check,
    Finding,
    Measurement,
    Settings,
    Side,
    TrialFailed,
    Validity,
    Verdict,
)
from zerolap.store import BlobDamaged


def conclude(
    measured: Measured, order: Sequence[Case], settings: Settings, bank: Bank, explainer: Explainer | None
) -> list[CaseResult]:
    """Judge all cases; q is over all their metrics together. Without an explainer there are no reasons."""
    cases = measured.cases(order)
    timings = judge_timings(measured.timed, settings, bank)
    judged = [_judged(case.name, measured, timings, settings) for case in cases]
    verdicts = adjusted([one for case in judged for one in case])
    results, begin = [], 0
    for case, own in zip(cases, judged, strict=True):
        results.append(_result(case, verdicts[begin : begin + len(own)], measured, explainer))
        begin += len(own)
    return results


def _judged(name: str, measured: Measured, timings: Mapping[str, list[Judged]], settings: Settings) -> list[Judged]:
    counted = judge_case(measured.counted[name], settings) if name in measured.counted else []
    return [*counted, *timings.get(name, [])]


def _result(case: Case, verdicts: list[Verdict], measured: Measured, explainer: Explainer | None) -> CaseResult:
    counted, timed = measured.counted.get(case.name), measured.timed.get(case.name)
    validity = _validity(counted, timed)
    word = case_verdict(verdicts, validity)
    cut_short = (counted is not None and counted.cut_short) or (timed is not None and timed.of_cost.cut_short)
    if word == "invalid" and cut_short and validity.valid:
        word = "unsure"
    return CaseResult(
        case=case.name,
        commands=case.verbs,
        group=case.group,
        topology=case.topology,
        verdict=word,
        confirmed=is_confirmed(word, verdicts),
        validity=validity,
        verdicts=verdicts if validity.valid else [],
        findings=_findings(word, verdicts, _Trials.of(case, measured), explainer) if explainer else [],
        failure=_failure_text(_failure(counted, timed), cut_short=cut_short and word == "unsure"),
    )


def _validity(counted: CaseTrials | None, timed: TimedTrials | None) -> Validity:
    """Return the checks of all engines; what the machine did to timed trials costs their verdicts and no more."""
    sides: dict[Side, list[Measurement]] = {"base": [], "head": []}
    if counted is not None:
        sides = {side: list(found) for side, found in counted.measurements.items()}
    disturbed = timed.disturbance() if timed is not None else []
    if timed is not None and not disturbed:
        sides = {side: [*sides[side], *timed.measurements[side], *timed.of_cost.measurements[side]] for side in sides}
    validity = case_validity(sides["base"], sides["head"])
    if timed is not None:
        validity = Validity.of([*validity.checks, *timed.checks(), *(disturbed if counted is None else [])])
    return validity.model_copy(update={"valid": False}) if _failure(counted, timed) is not None else validity


def _failure(counted: CaseTrials | None, timed: TimedTrials | None) -> TrialFailed | None:
    if counted is not None and counted.failure is not None:
        return counted.failure
    return None if timed is None else timed.failure or timed.of_cost.failure


def _failure_text(failure: TrialFailed | None, *, cut_short: bool) -> str | None:
    if failure is not None:
        return f"{failure.message}\n{failure.details}" if failure.details else failure.message
    return "the budget was used up before it was decided" if cut_short else None


def untimed_notes(measured: Measured) -> list[str]:
    """Return what the result as a whole has to say of cases that could not be timed."""
    by_reason: dict[str, list[str]] = {}
    for name, trials in measured.timed.items():
        why = _why_untimed(trials)
        if why is not None:
            by_reason.setdefault(why, []).append(name)
    return [f"no timed verdict for {', '.join(names)}: {why}" for why, names in by_reason.items()]


def _why_untimed(trials: TimedTrials) -> str | None:
    """Return what kept the case from being timed; none where it was."""
    disturbance = trials.disturbance()
    if disturbance:
        return held_against(disturbance)
    short = trials.of_cost.cut_short and trials.of_cost.starts < FEWEST_STARTS
    return "the budget was used up" if short else None


@dataclass(frozen=True)
class _Trials:
    """What the engines measured of one case."""

    counted: CaseTrials | None
    timed: TimedTrials | None
    sampled: SampledTrials | None
    limits: Sequence[str]

    @classmethod
    def of(cls, case: Case, measured: Measured) -> "_Trials":
        counted, timed = measured.counted.get(case.name), measured.timed.get(case.name)
        return cls(counted, timed, measured.sampled.get(case.name), case.limits)


def _findings(word: CaseVerdict, verdicts: Sequence[Verdict], trials: _Trials, explainer: Explainer) -> list[Finding]:
    """Return reasons for a change, what counting and timing say together, and what could not be measured."""
    if word == "invalid":
        return []
    findings: list[Finding] = []
    if word in ("regression", "improvement"):
        try:
            findings = _reasons(word, verdicts, trials, explainer)
        except (ValueError, OSError, BlobDamaged) as fault:
            # What was measured stands, though a binary's debug information or a recorded profile cannot be read.
            findings = [Finding(kind="limits", rank=0, text=f"The change cannot be explained: {fault}")]
    cause = explain_cause(verdicts)
    if cause is not None:
        findings.append(cause)
    told = [*trials.limits, *not_measured(trials.timed, trials.sampled)]
    findings += [Finding(kind="limits", rank=0, text=text) for text in told]
    return [finding.model_copy(update={"rank": rank}) for rank, finding in enumerate(findings, 1)]


def _reasons(word: CaseVerdict, verdicts: Sequence[Verdict], trials: _Trials, explainer: Explainer) -> list[Finding]:
    """Return the functions behind a change: of the work where it changed alike, else of the time."""
    times = explainer.times(trials.sampled, verdicts) if trials.sampled is not None else None
    changed = _changed_work(verdicts)
    if changed is None or changed.verdict != word or trials.counted is None:
        return explain_times(*times) if times is not None else []
    findings = explainer.explain(trials.counted, changed.metric)
    return with_times(findings, *times) if times is not None else findings


def not_measured(timed: TimedTrials | None, sampled: SampledTrials | None) -> list[str]:
    """Return the sentences on engines that have nothing to say of the case, and why."""
    told = []
    why = _why_untimed(timed) if timed is not None else None
    if why is not None:
        told.append(f"No timed verdict: {why}.")
    if sampled is not None and sampled.failure is not None:
        told.append(f"No stacks: {sampled.failure.message}.")
    elif sampled is not None and not sampled.usable:
        failed = [check for one in sampled.measurements.values() for check in one.validity.failed]
        told.append(f"No stacks: {held_against(failed)}.")
    return told


def held_against(checks: Sequence[Check]) -> str:
    """Return checks that fail as words."""
    return "; ".join(f"{check.check} {_shown(check.value)}, limit {check.limit}" for check in checks)


def _changed_work(verdicts: Sequence[Verdict]) -> Verdict | None:
    """Return the counted verdict that decides among the counted ones, if it is a change."""
    deciding = deciding_verdict([verdict for verdict in verdicts if verdict.engine == "counted"])
    return deciding if deciding is not None and deciding.verdict in ("regression", "improvement") else None


def _shown(value: float | str | None) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
