"""Carries out the trials of engines that measure one server by themselves: a load tool's, and those of plugins."""

import math
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from zerolap.cases import Case
from zerolap.engines import Engine, EngineTrial
from zerolap.host import choose_pinning, read_topology
from zerolap.lab.trial_directory import trial_directory
from zerolap.lab.trials import SEEDS_PER_RUN, SideUnderTest, client_threads, server_threads
from zerolap.records import CaseRefused, EnvironmentMissing, Measurement, Trial, TrialFailed, ZerolapError
from zerolap.sandbox import current_cancellation
from zerolap.store import Store


@dataclass
class PluggedTrials:
    """What a case's trials gave, by engine: a measurement, a failure, or why it was refused."""

    measurements: dict[str, Measurement] = field(default_factory=dict)
    failures: dict[str, TrialFailed] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    cut_short: bool = False

    @property
    def failure(self) -> TrialFailed | None:
        """The first failure, if there is one."""
        return next(iter(self.failures.values()), None)

    @property
    def valid(self) -> dict[str, Measurement]:
        """The measurements that may be used."""
        return {engine: one for engine, one in self.measurements.items() if one.validity.valid}

    @property
    def is_refused(self) -> bool:
        """Whether all engines that were asked for refused the case."""
        return bool(self.refusals) and not (self.measurements or self.failures or self.cut_short)

    def limits(self, *, alone: bool) -> list[str]:
        """Return what could not be measured, and why; of engines that stand `alone` the case itself says it."""
        told = dict(self.refusals)
        if not alone:
            told |= {engine: fault.message for engine, fault in self.failures.items()}
            for engine, one in self.measurements.items():
                if not one.validity.valid:
                    failed = one.validity.failed
                    told[engine] = ", ".join(f"{check.check} {check.value}, limit {check.limit}" for check in failed)
        return [f"not measured by `{engine}`: {reason}" for engine, reason in told.items()]

    def metrics(self, taken: Mapping[str, float]) -> dict[str, float]:
        """Return what may be used; a name that another engine has taken bears that of its own engine before it."""
        metrics: dict[str, float] = {}
        for engine, measurement in self.valid.items():
            for name, value in measurement.metrics.items():
                metrics[f"{engine}_{name}" if name in taken or name in metrics else name] = value
        return metrics


@dataclass(frozen=True)
class PluggedPlan:
    """What to carry out, each engine once for each case; `deadline` and `on_trial` are as for timed trials."""

    cases: Sequence[Case]
    engines: Mapping[str, Engine]
    under_test: SideUnderTest
    seed: int
    deadline: float | None = None
    on_trial: Callable[[str, int, int], None] = lambda *_: None


def require_engines(engines: Mapping[str, Engine]) -> None:
    """Raise `EnvironmentMissing` if one of the engines cannot work here."""
    for name, engine in engines.items():
        missing = engine.missing()
        if missing is not None:
            raise EnvironmentMissing(f"the engine `{name}` cannot be used: {missing}")


def measure_plugged(plan: PluggedPlan, identity: str, store: Store, done: dict[str, PluggedTrials]) -> None:
    """Measure all cases; what was measured is in the store at once and in `done`.

    Raises `EnvironmentMissing`, or `KeyboardInterrupt` once the user stops it: no process is left behind.
    """
    expected = len(plan.cases) * len(plan.engines)
    ended = 0
    try:
        for case in plan.cases:
            for name, engine in plan.engines.items():
                trials = done.setdefault(case.name, PluggedTrials())
                if plan.deadline is not None and time.monotonic() > plan.deadline:
                    trials.cut_short = True
                    break
                _measure(case, name, engine, plan, trials)
                _record(case, name, plan, identity, store, trials)
                ended += 1
                plan.on_trial(case.name, ended, expected)
    except BaseException:
        current_cancellation().cancel()
        raise


def _measure(case: Case, name: str, engine: Engine, plan: PluggedPlan, trials: PluggedTrials) -> None:
    under_test = plan.under_test
    pinning = choose_pinning(
        read_topology(), server_threads=server_threads(case, under_test.settings), client_threads=client_threads(case)
    )
    try:
        with trial_directory() as directory:
            trial = EngineTrial(
                program=under_test.server.program,
                settings=under_test.settings,
                case=case,
                seed=_seed(plan),
                directory=directory,
                pinning=pinning,
            )
            trials.measurements[name] = _sound(engine.measure(trial))
    except CaseRefused as refused:
        trials.refusals[name] = refused.message
    except TrialFailed as fault:
        trials.failures[name] = fault
    except (ZerolapError, OSError):
        raise
    except (Exception, SystemExit) as fault:  # noqa: BLE001 - foreign code, which may raise anything; told as the case's failure
        reason = f"the engine `{name}` failed: {type(fault).__name__}: {fault}"
        trials.failures[name] = TrialFailed(reason, details=traceback.format_exc())


def _sound(measured: object) -> Measurement:
    """Return what an engine returned; raises `TypeError` or `ValueError` if it cannot be stored."""
    if not isinstance(measured, Measurement):
        raise TypeError(f"it returned {measured!r}, which is no Measurement")
    for name, value in measured.metrics.items():
        if not math.isfinite(value):
            raise ValueError(f"{name} is {value}")
    return measured


def _record(case: Case, name: str, plan: PluggedPlan, identity: str, store: Store, trials: PluggedTrials) -> None:
    trial = Trial(case=case.name, side="base", engine=name, block=0, seed=_seed(plan))
    if name in trials.measurements:
        store.record_trial(identity, trial, trials.measurements[name])
    elif name in trials.failures:
        store.record_failure(identity, trial, trials.failures[name].message, trials.failures[name].details)


def _seed(plan: PluggedPlan) -> int:
    return plan.seed * SEEDS_PER_RUN % 2**64
