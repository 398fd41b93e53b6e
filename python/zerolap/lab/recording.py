"""Stores each trial as it ends."""

import contextlib
from collections.abc import Callable
from dataclasses import replace

from zerolap.lab.progress import Progress
from zerolap.lab.trials import CaseDone, CaseTrials, TrialDone, TrialFault, TrialPlan, carry_out
from zerolap.records import Measurement, Side
from zerolap.store import Store


def record_events(
    plan: TrialPlan,
    identity: str,
    store: Store,
    progress: Progress,
    done: dict[str, CaseTrials],
    on_case: Callable[[CaseTrials], None],
) -> None:
    """Carry out a plan; put what was measured in the store at once and finished cases in `done`.

    `on_case` is called with each case that is finished. Raises what `carry_out` raises; `done` then holds the
    finished cases.
    """
    progress.measuring(len(plan.cases))
    per_case = plan.blocks * len(plan.sides)
    expected = {case.name: per_case for case in plan.cases}
    ended: dict[str, int] = dict.fromkeys(expected, 0)
    recorded: dict[str, dict[Side, list[Measurement]]] = {
        case.name: {side: [] for side in plan.sides} for case in plan.cases
    }
    with contextlib.closing(carry_out(plan)) as events:
        for event in events:
            match event:
                case TrialDone(trial, counted):
                    profile = store.blobs.put(counted.graph)
                    measurement = counted.measurement.model_copy(update={"profile": profile})
                    store.record_trial(identity, trial, measurement)
                    recorded[trial.case][trial.side].append(measurement)
                    ended[trial.case] += 1
                    expected[trial.case] = max(expected[trial.case], ended[trial.case])
                    progress.trial_done(trial.case, sum(ended.values()), sum(expected.values()))
                case TrialFault(trial, fault):
                    store.record_failure(identity, trial, fault.message, fault.details)
                case CaseDone(trials):
                    expected[trials.case.name] = ended[trials.case.name]
                    finished = replace(trials, measurements=recorded[trials.case.name])
                    done[trials.case.name] = finished
                    on_case(finished)
                    progress.trial_done(trials.case.name, sum(ended.values()), sum(expected.values()))
