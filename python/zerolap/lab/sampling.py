"""Carries out sampled passes: one of each side, for the cases that ask for them."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from zerolap import _core
from zerolap.cases import Case
from zerolap.engines import Sampled, SampledTrial, ServerProgram, sample
from zerolap.explain import SampledFunction, SampledSide
from zerolap.host import choose_pinning, read_topology
from zerolap.lab.trial_directory import trial_directory
from zerolap.lab.trials import SEEDS_PER_RUN, SideUnderTest, client_threads, server_threads
from zerolap.records import EnvironmentMissing, Measurement, Side, Trial, TrialFailed
from zerolap.sandbox import current_cancellation
from zerolap.store import Blobs, Store


@dataclass
class SampledTrials:
    """What a case's passes gave; `failure` says why there are no stacks."""

    measurements: dict[Side, Measurement] = field(default_factory=dict)
    failure: TrialFailed | None = None

    @property
    def usable(self) -> bool:
        """Whether there are stacks of every side that was asked for, and they are valid."""
        return self.failure is None and all(one.validity.valid for one in self.measurements.values())

    def seconds(self) -> float:
        """Return the machine time of the passes."""
        return sum(one.seconds for one in self.measurements.values())


@dataclass(frozen=True)
class SamplingPlan:
    """What to sample; `deadline` and `on_pass` are as for timed trials."""

    cases: Sequence[Case]
    sides: Mapping[Side, SideUnderTest]
    seed: int
    deadline: float | None = None
    on_pass: Callable[[str, int, int], None] = lambda *_: None


def measure_sampled(plan: SamplingPlan, identity: str, store: Store, done: dict[str, SampledTrials]) -> None:
    """Sample all sides of the cases; stacks are in the store at once.

    Raises `EnvironmentMissing`, or `KeyboardInterrupt` once the user stops it: no process is left behind.
    """
    expected = len(plan.cases) * len(plan.sides)
    passes = 0
    try:
        for case in plan.cases:
            trials = SampledTrials()
            for side in plan.sides:
                if trials.failure is not None:
                    break
                if plan.deadline is not None and time.monotonic() > plan.deadline:
                    trials.failure = TrialFailed("the budget was used up")
                    break
                _pass(case, side, plan, identity, store, trials)
                passes += 1
                plan.on_pass(case.name, passes, expected)
            done[case.name] = trials
    except BaseException:
        current_cancellation().cancel()
        raise


def sampled_side(measurement: Measurement, cpu_ns_per_op: float | None, blobs: Blobs) -> SampledSide | None:
    """Return the functions of a pass; their time is that of the timed trials, where there is one."""
    if measurement.profile is None:
        return None
    functions: dict[tuple[str, str | None], SampledFunction] = {}
    samples = 0
    for _, name, file, own, inclusive in _core.function_samples(blobs.get(measurement.profile)):
        seen = functions.get((name, file), SampledFunction(0, 0))
        functions[name, file] = SampledFunction(seen.own + own, seen.inclusive + inclusive)
        samples += own
    if samples == 0:
        return None
    return SampledSide(samples, cpu_ns_per_op or measurement.metrics["cpu_ns_per_op"], functions)


def _pass(case: Case, side: Side, plan: SamplingPlan, identity: str, store: Store, trials: SampledTrials) -> None:
    under_test = plan.sides[side]
    trial = Trial(case=case.name, side=side, engine="sampled", block=0, seed=plan.seed * SEEDS_PER_RUN % 2**64)
    try:
        sampled = _sample(case, under_test, trial.seed)
    except TrialFailed as fault:
        trials.failure = fault.of(side) if len(plan.sides) > 1 else fault
        store.record_failure(identity, trial, fault.message, fault.details)
        return
    measurement = sampled.measurement.model_copy(update={"profile": store.blobs.put(sampled.stacks)})
    store.record_trial(identity, trial, measurement)
    trials.measurements[side] = measurement


def _sample(case: Case, under_test: SideUnderTest, seed: int) -> Sampled:
    """Carry out a pass; that its recording has no place to go costs the case its stacks and no more."""
    pinning = choose_pinning(
        read_topology(), server_threads=server_threads(case, under_test.settings), client_threads=client_threads(case)
    )
    try:
        with trial_directory() as directory:
            return sample(
                SampledTrial(
                    server=ServerProgram(under_test.server.program, under_test.settings),
                    source_root=under_test.server.source_root,
                    case=case,
                    seed=seed,
                    directory=directory,
                    pinning=pinning,
                )
            )
    except EnvironmentMissing as fault:
        raise TrialFailed(fault.message, fault.hint) from fault
