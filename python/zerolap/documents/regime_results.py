"""Cases in regimes: what their first block shows, which of them changed, and what a comparison states of them."""

from collections.abc import Sequence

from zerolap.documents.case_trials import Trials
from zerolap.documents.results import Results
from zerolap.judge import (
    REGIME_BLOCKS,
    Bank,
    case_answers,
    case_validity,
    is_change_of_case,
    judge_cases,
    shows_other_change,
)
from zerolap.records import BASE, CHANGED, HEAD, Case, CaseResult, MeasuredRegime, Measurement


def is_to_be_decided(case: Case, results: Results) -> bool:
    """Return whether the first block in a regime shows another change than the case has, which more blocks decide."""
    block = _first_block(results.counted.get(case.name))
    if block is None or case.regime is None or results.is_identical_in_regime(case):
        return False
    own = _first_block(results.counted.get(case.regime.of))
    return shows_other_change(block, own, results.resolved.settings.min_effect["counted"])


def changed_in_regimes(results: Results, bank: Bank) -> frozenset[str]:
    """Return the cases in regimes whose work changed by the verdict of all their blocks."""
    counted = [of_case for case in results.in_regimes if (of_case := results.of_case(case)).counted is not None]
    decided = [
        of_case
        for of_case in counted
        if of_case.counted is not None and of_case.counted.usable and _is_decided(of_case.counted)
    ]
    verdicts = judge_cases({of_case.case.name: of_case.judged for of_case in decided}, results.resolved.settings, bank)
    changed = set()
    for of_case in decided:
        validity = case_validity(of_case.counted.all if of_case.counted is not None else [])
        if case_answers(verdicts[of_case.case.name], validity).work in CHANGED:
            changed.add(of_case.case.name)
    return frozenset(changed)


def differing_in_regimes(results: Results, cases: Sequence[CaseResult]) -> frozenset[str]:
    """Return the cases in regimes that are rows of a document: they changed otherwise than the case, or fail.

    `cases` have been judged.
    """
    by_name = {case.case: case for case in cases}
    names = {case.name: case.regime.of for case in results.in_regimes if case.regime is not None}
    return frozenset(
        name for name in names.keys() & by_name.keys() if _differs(by_name[name], by_name.get(names[name]))
    )


def _differs(case: CaseResult, own: CaseResult | None) -> bool:
    """Whether a case in a regime failed, or changed otherwise than the case of its own circumstances."""
    changed = {case.work, case.time, case.memory} & set(CHANGED)
    if case.verdict == "invalid" or own is None or not changed:
        return case.verdict == "invalid" or bool(changed)
    if not changed <= {own.work, own.time, own.memory}:
        return True
    changes = {verdict.metric: verdict for verdict in own.verdicts}
    deciding = {case.work_deciding, case.memory_deciding} - {None}
    return any(
        verdict.metric in deciding
        and verdict.verdict in CHANGED
        and (
            verdict.metric not in changes
            or not is_change_of_case(verdict.change, changes[verdict.metric].change, verdict.min_effect)
        )
        for verdict in case.verdicts
    )


def measured_regimes(results: Results, cases: Sequence[CaseResult]) -> list[MeasuredRegime]:
    """Return what was counted in each regime, in the order of the regimes' first cases; `cases` have been judged."""
    differing = differing_in_regimes(results, cases)
    undecided = {case.case for case in cases if case.verdict == "unsure"}
    of_regime: dict[str, MeasuredRegime] = {}
    for case in results.in_regimes:
        assert case.regime is not None
        trials = results.counted.get(case.name)
        if trials is None or not trials.jobs_done:
            continue
        regime = of_regime.setdefault(case.regime.name, MeasuredRegime(regime=case.regime.name))
        if case.name in differing:
            regime.differing.append(case.regime.of)
        elif trials.failure is not None or trials.refusal is not None or not trials.is_valid:
            regime.unmeasured[case.regime.of] = _why_unmeasured(trials)
        elif case.name in undecided:
            regime.unmeasured[case.regime.of] = "it is open whether it changed"
        elif _first_block(trials) is None or (is_to_be_decided(case, results) and not _is_decided(trials)):
            regime.unmeasured[case.regime.of] = "there was no time to decide it"
        else:
            regime.same.append(case.regime.of)
    for name, case_name in results.regimes_left_out:
        # Where a regime was counted in another case, that is told.
        if name not in of_regime:
            of_regime[name] = MeasuredRegime(regime=name, unmeasured={case_name: "there was no time to count it"})
    return list(of_regime.values())


def _why_unmeasured(trials: Trials) -> str:
    if trials.failure is not None:
        return trials.failure.message
    failed = [check for measurement in trials.all for check in measurement.validity.failed]
    return trials.refusal or "; ".join(
        f"{check.check} {check.value}, limit {check.limit}"
        for check in {check.check: check for check in failed}.values()
    )


def _is_decided(trials: Trials) -> bool:
    return trials.blocks >= REGIME_BLOCKS


def _first_block(trials: Trials | None) -> tuple[Measurement, Measurement] | None:
    if trials is None or not trials.usable or not trials.whole_blocks:
        return None
    whole = trials.whole
    return whole[BASE][0], whole[HEAD][0]
