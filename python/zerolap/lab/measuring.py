"""Has all engines measure what a run or a comparison asks for."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from zerolap.engines import Engine
from zerolap.judge import MIN_BLOCKS
from zerolap.lab.plugging import PluggedPlan, PluggedTrials, measure_plugged
from zerolap.lab.progress import Progress
from zerolap.lab.recording import record_events
from zerolap.lab.sampling import SampledTrials, SamplingPlan, measure_sampled
from zerolap.lab.session import trials_at_once
from zerolap.lab.timed_trials import TimedTrials
from zerolap.lab.timing import TimingPlan, measure_timed
from zerolap.lab.trials import CaseTrials, SideUnderTest, TrialPlan
from zerolap.records import Case, Measurement, Settings, Side, Spread
from zerolap.store import Store

COUNTING_SHARE = 0.5
"""Of the budget, where cases are also to be timed."""


@dataclass
class Measured:
    """What was measured of the cases so far, by name; a case may lack an engine."""

    counted: dict[str, CaseTrials] = field(default_factory=dict)
    timed: dict[str, TimedTrials] = field(default_factory=dict)
    sampled: dict[str, SampledTrials] = field(default_factory=dict)
    plugged: dict[str, PluggedTrials] = field(default_factory=dict)

    def cases(self, order: Sequence[Case]) -> list[Case]:
        """Return the cases that were measured at all, in the order given."""
        return [
            case
            for case in order
            if case.name in self.counted
            or self._was_timed(case.name)
            or case.name in self.sampled
            or case.name in self.plugged
        ]

    def _was_timed(self, name: str) -> bool:
        trials = self.timed.get(name)
        return trials is not None and (
            trials.starts > 0 or trials.failure is not None or bool(trials.disturbed) or trials.cut_short
        )

    def seconds(self) -> float:
        """Return the machine time of all trials."""
        counted = sum(
            one.seconds for trials in self.counted.values() for side in trials.measurements.values() for one in side
        )
        return (
            counted
            + sum(trials.seconds() for trials in self.timed.values())
            + sum(trials.seconds() for trials in self.sampled.values())
            + sum(one.seconds for trials in self.plugged.values() for one in trials.measurements.values())
        )


@dataclass(frozen=True)
class Work:
    """What to measure; `identity` is the run's or comparison's.

    `enough` says of a case's counted measurements, of at least so many `blocks`, whether they suffice; `on_counted` is
    called with each case once it is counted; `worth_sampling` says which cases are sampled once the others have been
    measured. `bank` is what the platform said of the spread of starts in the metric that decides. `plugged` are engines
    that measure the one side of a run by themselves.
    """

    identity: str
    cases: Sequence[Case]
    sides: Mapping[Side, SideUnderTest]
    settings: Settings
    enough: Callable[[Mapping[Side, Sequence[Measurement]]], bool]
    on_counted: Callable[[CaseTrials], None]
    worth_sampling: Callable[[Measured], Sequence[Case]]
    bank: Sequence[Spread] = ()
    blocks: int = MIN_BLOCKS
    plugged: Mapping[str, Engine] = field(default_factory=dict)


def measure(work: Work, store: Store, progress: Progress, measured: Measured) -> None:
    """Count all cases, time those that may be, sample those worth it; `measured` holds at any time what there is.

    Raises what the engines raise, and `KeyboardInterrupt` once the user stops it.
    """
    settings = work.settings
    deadline = None if settings.budget_seconds is None else time.monotonic() + settings.budget_seconds
    if "counted" in settings.engines:
        plan = TrialPlan(
            cases=work.cases,
            sides=work.sides,
            enough=work.enough,
            seed=settings.seed,
            quick=settings.quick,
            blocks=work.blocks,
            workers=trials_at_once(),
            budget_seconds=_counting_seconds(settings),
        )
        record_events(plan, work.identity, store, progress, measured.counted, work.on_counted)
    if "timed" in settings.engines and not settings.quick:
        counted = measured.counted
        cases = [case for case in work.cases if case.name not in counted or counted[case.name].usable]
        progress.timing(len(cases))
        timing = TimingPlan(cases, work.sides, settings, work.bank, deadline, progress.trial_done)
        measure_timed(timing, work.identity, store, measured.timed)
    if work.plugged:
        progress.measuring(len(work.cases))
        plugged = PluggedPlan(
            work.cases, work.plugged, work.sides["base"], settings.seed, deadline, progress.trial_done
        )
        measure_plugged(plugged, work.identity, store, measured.plugged)
    if "sampled" in settings.engines:
        chosen = work.worth_sampling(measured)
        if chosen:
            progress.sampling(len(chosen))
            sampling = SamplingPlan(chosen, work.sides, settings.seed, deadline, progress.trial_done)
            measure_sampled(sampling, work.identity, store, measured.sampled)


def _counting_seconds(settings: Settings) -> float | None:
    """Return how long counting may go on: what users feel has to have its part of a budget."""
    if settings.budget_seconds is None or "timed" not in settings.engines or settings.quick:
        return settings.budget_seconds
    return settings.budget_seconds * COUNTING_SHARE
