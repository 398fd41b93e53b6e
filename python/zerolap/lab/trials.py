"""Carries out the trials of many cases side by side and tells of each as it ends."""

import contextvars
import errno
import queue
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeAlias

from zerolap.build import BuiltServer
from zerolap.cases import QUICK_SCALE, Case, quick_factor, scaled
from zerolap.engines import Counted, CountedTrial, Requests, count
from zerolap.judge import MAX_BLOCKS, MIN_BLOCKS
from zerolap.lab.trial_directory import disk_full, trial_directory
from zerolap.records import Build, Interrupted, Measurement, Side, Trial, TrialFailed
from zerolap.sandbox import current_cancellation

SEEDS_PER_RUN = 1000
"""Blocks of one run take seeds next to each other, runs with different `--seed` seeds far apart."""


@dataclass(frozen=True)
class SideUnderTest:
    """A built server with the settings that it is started with."""

    server: BuiltServer
    settings: Mapping[str, str]

    @property
    def record(self) -> Build:
        """What is recorded of the side."""
        return self.server.record.model_copy(update={"config": dict(self.settings)})


def server_threads(case: Case, settings: Mapping[str, str]) -> int:
    """Return the busy threads of all servers of a case: a main one is one of its server's I/O threads."""
    topology = case.deployed_as
    together = {**case.config, **settings, **topology.settings}
    return topology.model_copy(update={"settings": together}).busy_threads


def client_threads(case: Case) -> int:
    """Return the busy threads of the measured client and of those beside it."""
    return 1 + len(case.companions)


@dataclass(frozen=True)
class TrialPlan:
    """What to carry out: every case on every side, at least so many `blocks`, and on until `enough` says so.

    `budget_seconds` bounds the time spent in trials; `quick` shrinks data sets and requests. `workers` trials run at
    the same time, which counting does not mind.
    """

    cases: Sequence[Case]
    sides: Mapping[Side, SideUnderTest]
    enough: Callable[[Mapping[Side, Sequence[Measurement]]], bool]
    seed: int
    workers: int
    budget_seconds: float | None = None
    quick: bool = False
    blocks: int = MIN_BLOCKS


@dataclass
class CaseTrials:
    """What a case's trials gave, by side in the order of blocks; `failure` ends the case."""

    case: Case
    measurements: dict[Side, list[Measurement]]
    failure: TrialFailed | None = None
    cut_short: bool = False

    @property
    def usable(self) -> bool:
        """Whether all its trials went well and are valid."""
        return self.failure is None and not _invalid(self)


@dataclass(frozen=True)
class TrialDone:
    """A trial ended well; `graph` is its call graph as JSON."""

    trial: Trial
    counted: Counted


@dataclass(frozen=True)
class TrialFault:
    """A trial failed; the case ends, the others go on."""

    trial: Trial
    fault: TrialFailed


@dataclass(frozen=True)
class CaseDone:
    """A case is finished."""

    trials: CaseTrials


Event: TypeAlias = TrialDone | TrialFault | CaseDone


@dataclass
class _Shared:
    """What the workers share."""

    events: "queue.Queue[Event | BaseException]" = field(default_factory=queue.Queue)
    stopping: threading.Event = field(default_factory=threading.Event)
    began: float = field(default_factory=time.monotonic)


def carry_out(plan: TrialPlan) -> Generator[Event, None, None]:
    """Yield what happens, in the caller's thread, until every case is done.

    Raises what ends the whole work, such as `EnvironmentMissing`. However it ends, no process is left behind; who stops
    asking for more closes it.
    """
    shared = _Shared()
    finished = False
    with ThreadPoolExecutor(max_workers=plan.workers) as pool:
        try:
            # What takes longest is not to begin last, when nothing else is left to do beside it.
            for case in sorted(plan.cases, key=_setup_commands, reverse=True):
                # In a copy of this context: its cancellation owns what the workers launch too.
                pool.submit(contextvars.copy_context().run, _work, plan, case, shared)
            left = len(plan.cases)
            while left:
                event = shared.events.get()
                if isinstance(event, BaseException):
                    raise event
                if isinstance(event, CaseDone):
                    left -= 1
                yield event
            finished = True
        finally:
            if not finished:
                shared.stopping.set()
                current_cancellation().cancel()


def _setup_commands(case: Case) -> int:
    return 0 if case.dataset is None else len(case.dataset.after_load) + len(case.dataset.setup)


def _work(plan: TrialPlan, case: Case, shared: _Shared) -> None:
    """Measure one case; whatever ends it reaches the caller's thread."""
    if shared.stopping.is_set():
        return
    try:
        shared.events.put(CaseDone(_measure_case(plan, case, shared)))
    except OSError as fault:
        shared.events.put(disk_full(fault) if fault.errno == errno.ENOSPC else fault)
    except BaseException as fault:  # noqa: BLE001 - handed to the thread that waits for it, which raises it
        shared.events.put(fault)


def _measure_case(plan: TrialPlan, case: Case, shared: _Shared) -> CaseTrials:
    trials = CaseTrials(case, {side: [] for side in plan.sides})
    requests: Requests | None = None
    measured = scaled(case, quick_factor(case)) if plan.quick else case
    for block in range(MAX_BLOCKS):
        if _out_of_budget(plan, shared):
            trials.cut_short = True
            return trials
        for side, under_test in plan.sides.items():
            trial = Trial(case=case.name, side=side, engine="counted", block=block, seed=_seed(plan.seed, block))
            try:
                counted = _one_trial(trial, measured, under_test, requests, QUICK_SCALE if plan.quick else 1.0)
            except (TrialFailed, ValueError) as fault:
                if shared.stopping.is_set() or current_cancellation().is_cancelled:
                    raise Interrupted("interrupted") from fault
                failure = fault if isinstance(fault, TrialFailed) else TrialFailed(f"unreadable result: {fault}")
                trials.failure = failure.of(side) if len(plan.sides) > 1 else failure
                shared.events.put(TrialFault(trial, trials.failure))
                return trials
            requests = counted.requests
            trials.measurements[side].append(counted.measurement)
            shared.events.put(TrialDone(trial, counted))
        if _invalid(trials):
            return trials
        if block + 1 >= plan.blocks and plan.enough(trials.measurements):
            return trials
    return trials


def _invalid(trials: CaseTrials) -> bool:
    return any(not one.validity.valid for measured in trials.measurements.values() for one in measured)


def _out_of_budget(plan: TrialPlan, shared: _Shared) -> bool:
    return plan.budget_seconds is not None and time.monotonic() - shared.began > plan.budget_seconds


def _seed(seed: int, block: int) -> int:
    return (seed * SEEDS_PER_RUN + block) % 2**64


def _one_trial(trial: Trial, case: Case, under_test: SideUnderTest, requests: Requests | None, scale: float) -> Counted:
    with trial_directory() as directory:
        return count(
            CountedTrial(
                program=under_test.server.program,
                source_root=under_test.server.source_root,
                case=case,
                settings=under_test.settings,
                seed=trial.seed,
                directory=directory,
                requests=requests,
                scale=scale,
                stripped=under_test.server.record.stripped,
            )
        )
