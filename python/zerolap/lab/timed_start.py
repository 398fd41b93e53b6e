"""One start of all sides: carried out, again where the machine disturbed it, and recorded."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from zerolap.engines import ServerProgram, Timed, TimedStart, time_start
from zerolap.host import Pinning, measure_noise
from zerolap.judge import LOOKS
from zerolap.lab.timed_trials import TimedTrials
from zerolap.lab.trial_directory import trial_directory
from zerolap.lab.trials import SEEDS_PER_RUN, SideUnderTest
from zerolap.records import Check, Side, Trial, TrialFailed
from zerolap.store import Store

PAIRS_PER_START = 40
REPEATS = 2
"""Of a start that the machine disturbed, before its case has no timed verdict."""
FIRST_PACED_BLOCK = 500
"""Trials at an equal rate are numbered apart from the others of their case."""
OF_THE_MACHINE = frozenset({"steal", "other_load", "swap", "suspended_seconds", "clock_stepped_seconds"})
OF_TIMING = OF_THE_MACHINE | {"slice_seconds", "client_saturation", "rate"}
"""Checks whose failure says nothing of what the servers did: the start is worth repeating, and counts stay valid."""
QUIET_LOAD = 0.3
LONGEST_WAIT_SECONDS = 10.0
LOOK_SECONDS = 0.5


@dataclass(frozen=True)
class StartPlan:
    """What all starts of a comparison or run have in common."""

    sides: Mapping[Side, SideUnderTest]
    seed: int
    identity: str
    store: Store


def start_once(trials: TimedTrials, plan: StartPlan, pinning: Pinning) -> None:
    """Carry out one start of all sides and record it; a failure is in the trials then."""
    block = trials.starts + (FIRST_PACED_BLOCK if trials.per_second is not None else 0)
    seed = (plan.seed * SEEDS_PER_RUN + block) % 2**64
    by_side: dict[Side, Trial] = {
        side: Trial(case=trials.case.name, side=side, engine="timed", block=block, seed=seed) for side in plan.sides
    }
    try:
        timed, disturbed = _undisturbed(trials, plan, pinning, seed)
    except TrialFailed as fault:
        trials.failure = fault
        for trial in by_side.values():
            plan.store.record_failure(plan.identity, trial, fault.message, fault.details)
        return
    if disturbed and trials.starts >= LOOKS[0]:
        trials.settled = True
        trials.lost_seconds += _seconds(timed)
        return
    trials.disturbed = disturbed
    trials.requests, trials.alone = timed.requests, timed.alone
    for side, trial in by_side.items():
        timeline = timed.timelines[side]
        digest = plan.store.blobs.put(timeline.model_dump_json(by_alias=True).encode())
        measurement = timed.measurements[side].model_copy(update={"profile": digest})
        plan.store.record_trial(plan.identity, trial, measurement)
        trials.measurements[side].append(measurement)
        trials.timelines[side].append(timeline)


def _undisturbed(trials: TimedTrials, plan: StartPlan, pinning: Pinning, seed: int) -> tuple[Timed, list[Check]]:
    """Return a start that the machine left alone, or the last one and what disturbed it."""
    for attempt in range(1 + REPEATS):
        timed = _one_start(trials, plan, pinning, seed)
        failed = [check for one in timed.measurements.values() for check in one.validity.failed]
        disturbed = [check for check in failed if check.check in OF_TIMING]
        if not disturbed or len(disturbed) < len(failed):
            return timed, []
        names = {check.check for check in disturbed}
        if "slice_seconds" in names and trials.per_second is None:
            trials.requests = None
        if attempt < REPEATS:
            trials.lost_seconds += _seconds(timed)
            if names & OF_THE_MACHINE:
                _wait_for_quiet()
    # Both sides tell of the machine alike.
    return timed, list({check.check: check for check in disturbed}.values())


def _seconds(timed: Timed) -> float:
    return sum(one.seconds for one in timed.measurements.values())


def _wait_for_quiet() -> None:
    """Wait until other processes leave the machine alone, for a while at most."""
    end = time.monotonic() + LONGEST_WAIT_SECONDS
    while time.monotonic() < end and measure_noise(LOOK_SECONDS).others > QUIET_LOAD:
        pass


def _one_start(trials: TimedTrials, plan: StartPlan, pinning: Pinning, seed: int) -> Timed:
    with trial_directory() as directory:
        return time_start(
            TimedStart(
                case=trials.case,
                servers={
                    side: ServerProgram(under_test.server.program, under_test.settings)
                    for side, under_test in plan.sides.items()
                },
                seed=seed,
                directory=directory,
                pinning=pinning,
                pairs=PAIRS_PER_START,
                requests=trials.requests,
                per_second=trials.per_second,
                alone=trials.alone,
            )
        )
