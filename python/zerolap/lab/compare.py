"""Two servers in, verdicts and reasons out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from zerolap.build import Builder, Source, changes_between
from zerolap.cases import Case
from zerolap.host import fingerprint
from zerolap.judge import adjusted, case_validity, case_verdict, deciding_verdict
from zerolap.lab.explaining import Explainer
from zerolap.lab.judging import judge_case, undecided
from zerolap.lab.progress import Progress
from zerolap.lab.recording import record_events
from zerolap.lab.session import builds_directory, new_id, now, require_counting, sandbox_note, trials_at_once
from zerolap.lab.trials import QUICK_SCALE, CaseTrials, SideUnderTest, TrialPlan
from zerolap.records import (
    CaseResult,
    Comparison,
    Interrupted,
    Settings,
    Side,
    Summary,
    Validity,
    ZerolapError,
)
from zerolap.sandbox import stop_all
from zerolap.store import Store


@dataclass(frozen=True)
class CompareRequest:
    """What to compare; `base_settings` and `head_settings` are given to the servers when they start."""

    base: Source
    head: Source
    cases: Sequence[Case]
    settings: Settings
    command_line: str
    base_settings: Mapping[str, str] = field(default_factory=dict)
    head_settings: Mapping[str, str] = field(default_factory=dict)


def compare(request: CompareRequest, store: Store, progress: Progress) -> Comparison:
    """Build both sides, measure all cases and return the verdicts with their reasons; all of it is stored too.

    Raises `EnvironmentMissing`, `BuildFailed`, or `Interrupted` once the user stops it; what was measured is kept.
    """
    require_counting()
    for note in sandbox_note():
        progress.note(note)
    sides = _build(request, store, progress)
    comparison = _begin(request, sides)
    store.begin(comparison)
    plan = TrialPlan(
        cases=request.cases,
        sides=sides,
        enough=lambda measured: not undecided(measured, request.settings, len(request.cases)),
        seed=request.settings.seed,
        scale=QUICK_SCALE if request.settings.quick else 1.0,
        workers=trials_at_once(),
        budget_seconds=request.settings.budget_seconds,
    )
    done: dict[str, CaseTrials] = {}
    try:
        record_events(
            plan, comparison.id, store, progress, done, lambda trials: _record_case(trials, comparison, store)
        )
    except KeyboardInterrupt:
        stopped = _conclude(comparison, request, sides, done, store, "interrupted")
        raise Interrupted(
            f"interrupted after {len(stopped.cases)} of {len(request.cases)} cases; what was measured is kept",
            hint=f"zerolap explain {comparison.id}",
        ) from None
    except ZerolapError:
        _conclude(comparison, request, sides, done, store, "failed")
        raise
    finally:
        progress.finished()
    return _conclude(comparison, request, sides, done, store, "done")


def _build(request: CompareRequest, store: Store, progress: Progress) -> dict[Side, SideUnderTest]:
    builder = Builder(builds_directory(store), progress.building)
    try:
        return {
            "base": SideUnderTest(builder.build(request.base), request.base_settings),
            "head": SideUnderTest(builder.build(request.head), request.head_settings),
        }
    except KeyboardInterrupt:
        stop_all()
        raise Interrupted("interrupted while building; nothing was measured yet") from None
    except ZerolapError:
        progress.finished()
        raise


def _begin(request: CompareRequest, sides: Mapping[Side, SideUnderTest]) -> Comparison:
    return Comparison(
        schema="zerolap.comparison/1",
        id=new_id("c"),
        created=now(),
        command_line=request.command_line,
        state="running",
        base=sides["base"].server.record,
        head=sides["head"].server.record,
        platform=fingerprint(),
        settings=request.settings,
        summary=Summary(regression=0, improvement=0, same=0, unsure=0, invalid=0, machine_seconds=0.0),
        notes=sandbox_note(),
        cases=[],
    )


def _conclude(
    comparison: Comparison,
    request: CompareRequest,
    sides: Mapping[Side, SideUnderTest],
    done: Mapping[str, CaseTrials],
    store: Store,
    state: str,
) -> Comparison:
    """Judge and explain what was measured, store it and return it; cases in the order of the request."""
    explainer = Explainer(
        sides["base"].server, sides["head"].server, changes_between(request.base, request.head), store.blobs
    )
    finished = [done[case.name] for case in request.cases if case.name in done]
    cases = _results(finished, request.settings, explainer)
    words = [case.verdict for case in cases]
    concluded = comparison.model_copy(
        update={
            "state": state,
            "cases": cases,
            "summary": Summary(
                regression=words.count("regression"),
                improvement=words.count("improvement"),
                same=words.count("same"),
                unsure=words.count("unsure"),
                invalid=words.count("invalid"),
                machine_seconds=sum(
                    one.seconds for trials in finished for side in trials.measurements.values() for one in side
                ),
            ),
        }
    )
    store.finish(concluded)
    return concluded


def _record_case(trials: CaseTrials, comparison: Comparison, store: Store) -> None:
    """Store what is known of a case as soon as it is measured: q and reasons come when all are."""
    for case in _results([trials], comparison.settings, None):
        store.record_case(comparison.id, case)


def _results(finished: Sequence[CaseTrials], settings: Settings, explainer: Explainer | None) -> list[CaseResult]:
    """Judge all cases; q is over all their metrics together. Without an explainer there are no findings."""
    judged = [judge_case(trials, settings) for trials in finished]
    verdicts = adjusted([one for case in judged for one in case])
    results, start = [], 0
    for trials, case in zip(finished, judged, strict=True):
        own = verdicts[start : start + len(case)]
        start += len(case)
        validity = _validity(trials)
        word = case_verdict(own, validity)
        if word == "invalid" and trials.cut_short and validity.valid:
            word = "unsure"
        deciding = deciding_verdict(own) if word in ("regression", "improvement") else None
        results.append(
            CaseResult(
                case=trials.case.name,
                commands=trials.case.verbs,
                group=trials.case.group,
                topology=trials.case.topology,
                verdict=word,
                confirmed=False,
                validity=validity,
                verdicts=own if validity.valid else [],
                findings=explainer.explain(trials, deciding.metric) if explainer and deciding else [],
                failure=_failure(trials),
            )
        )
    return results


def _validity(trials: CaseTrials) -> Validity:
    validity = case_validity(trials.measurements["base"], trials.measurements["head"])
    return validity.model_copy(update={"valid": False}) if trials.failure is not None else validity


def _failure(trials: CaseTrials) -> str | None:
    if trials.failure is not None:
        details = f"\n{trials.failure.details}" if trials.failure.details else ""
        return f"{trials.failure.message}{details}"
    return "the budget was used up before it was decided" if trials.cut_short else None
