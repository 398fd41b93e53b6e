"""What could not be measured of a case, in the words of documents."""

from collections.abc import Iterator, Sequence

from zerolap.documents.case_trials import FEWEST_STARTS, CaseResults, Trials
from zerolap.documents.results import Results
from zerolap.records import BASE, CHECKS_OF_SERVER, HEAD, Check, DocumentState, Settings, Side, TrialFailed

BUDGET_USED_UP = "the budget was used up before it was decided"


def failure_text(failure: TrialFailed | None, *, cut_short: bool = False) -> str | None:
    """Return a failure as documents write it: the side where there are two, what happened, the end of a log."""
    if failure is None:
        return BUDGET_USED_UP if cut_short else None
    side = "" if failure.side is None else f"{failure.side}: "
    return "\n".join(part for part in (side + failure.message, failure.details) if part)


def failed_sides(measured: CaseResults) -> list[Side]:
    """Return the sides that make a case of a comparison invalid: a trial failed there, or the replies are wrong.

    If one side failed and no trial of the other succeeded, the case itself may be the reason: none is returned.
    """
    failed: set[Side] = set()
    sound: set[Side] = set()
    for trials in _trials_of_validity(measured):
        if trials.failure is not None and trials.failure.side is not None:
            failed.add(trials.failure.side)
        for side, measurements in trials.measurements.items():
            for measurement in measurements:
                is_failed = any(check.check in CHECKS_OF_SERVER for check in measurement.validity.failed)
                (failed if is_failed else sound).add(side)
    return [side for side in (BASE, HEAD) if side in failed] if failed | sound >= {BASE, HEAD} else []


def _trials_of_validity(measured: CaseResults) -> Iterator[Trials]:
    """Yield the trials whose failure makes a case invalid."""
    if measured.counted is not None:
        yield measured.counted
    if measured.timed is not None:
        yield measured.timed
        if measured.timed.paced is not None:
            yield measured.timed.paced
    if measured.counted is None and measured.timed is None:
        yield from measured.other.values()


def not_measured(measured: CaseResults, *, is_alone: bool = False, is_disturbed: bool = False) -> list[str]:
    """Return a sentence for each engine that measured nothing of the case, with the reason.

    Of engines that measure one server by themselves and stand `alone`, the failure is that of the case; and so are the
    checks of a case that is only timed and `is_disturbed`.
    """
    sentences, sampled = [], measured.sampled
    if measured.counted is not None and measured.counted.refusal is not None:
        sentences.append(f"Not counted: {measured.counted.refusal}.")
    reason = _why_no_verdict(measured)
    if reason is not None and not is_disturbed:
        sentences.append(f"No timed verdict: {reason}.")
    if sampled is not None and sampled.failure is not None:
        sentences.append(f"No stacks: {sampled.failure.message}.")
    elif sampled is not None and sampled.cut_short:
        sentences.append("No stacks: the budget was used up.")
    elif sampled is not None and not sampled.usable:
        failed = [check for measurement in sampled.all for check in measurement.validity.failed]
        sentences.append(f"No stacks: {_held_against(failed)}.")
    others = _why_not_by_others(measured, is_alone=is_alone)
    return sentences + [f"not measured by `{engine}`: {reason}" for engine, reason in others.items()]


def untimed_notes(results: Results, state: DocumentState) -> list[str]:
    """Return the notes on cases that could not be timed, or need not be; while others are measured, it may still be."""
    by_reason: dict[str, list[str]] = {}
    settings = results.resolved.settings
    not_to_be_timed = results.not_to_be_timed if settings.asks_for_time else frozenset()
    not_to_be_timed -= results.timed.keys()
    identical = [case.name for case in results.resolved.cases if case.name in not_to_be_timed]
    number = "one case" if len(identical) == 1 else f"{len(identical)} cases"
    notes = [f"{number} not timed, as both sides execute the same instructions"] if identical else []
    for case in results.resolved.cases:
        is_yet_to_come = state == "running" and case.name not in results.timed
        if case.name in not_to_be_timed or is_yet_to_come:
            continue
        reason = _why_untimed(results.of_case(case), settings)
        if reason is not None:
            by_reason.setdefault(reason, []).append(case.name)
    return notes + [f"no timed verdict for {', '.join(names)}: {reason}" for reason, names in by_reason.items()]


def placement_notes(results: Results) -> list[str]:
    """Return the note on times that hold for the two programs as they are, and not for their sources."""
    failures = {
        measurement.placement.failure
        for trials in results.timed.values()
        for measurement in trials.all
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


def _why_untimed(measured: CaseResults, settings: Settings) -> str | None:
    """Return what kept a case from being timed; none where it was, or was not to be."""
    if measured.timed is None:
        is_due = settings.asks_for_time and settings.budget_seconds is not None
        may_be = measured.counted is None or not measured.counted.speaks_against_case
        return "the budget was used up" if is_due and may_be and measured.has_begun else None
    return _why_no_verdict(measured)


def _why_no_verdict(measured: CaseResults) -> str | None:
    """Return why timed trials that were begun have no verdict; none where they have, or were not begun."""
    if measured.timed is None:
        return None
    disturbance = measured.timed.disturbance()
    if disturbance:
        return _held_against(disturbance)
    short = measured.timing_was_cut_short and measured.timed.of_cost.blocks < FEWEST_STARTS
    return "the budget was used up" if short else None


def _why_not_by_others(measured: CaseResults, *, is_alone: bool) -> dict[str, str]:
    """Return why engines that measure one server by themselves measured nothing, by engine."""
    reasons = {engine: trials.refusal for engine, trials in measured.other.items() if trials.refusal is not None}
    for engine, trials in measured.other.items():
        if is_alone or engine in reasons:
            continue
        if trials.failure is not None:
            reasons[engine] = trials.failure.message
        elif not trials.is_valid:
            failed = [check for measurement in trials.all for check in measurement.validity.failed]
            reasons[engine] = ", ".join(f"{check.check} {check.value}, limit {check.limit}" for check in failed)
    return reasons


def _held_against(checks: Sequence[Check]) -> str:
    return "; ".join(f"{check.check} {_shown(check.value)}, limit {check.limit}" for check in checks)


def _shown(value: float | str | None) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
