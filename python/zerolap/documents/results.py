"""What the jobs of a request have measured so far, by case and engine."""

from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.documents.case_trials import CaseResults, TimedTrials, Trials
from zerolap.documents.identity import Identity, compare_executed, timed_nevertheless, why_unknown
from zerolap.judge import AS_BUILT_COST, DEFAULT_MIN_EFFECT, MEMORY, MIN_BLOCKS, REGIME_BLOCKS, bytes_differ
from zerolap.records import (
    BASE,
    CONTROL,
    COUNTER_METRICS,
    HEAD,
    MEMORY_METRICS,
    METRICS,
    TRACED_METRICS,
    Build,
    BuildDone,
    BuildJob,
    Case,
    Event,
    JobFailed,
    JobFinished,
    Measurement,
    Resolved,
    TrialDone,
    TrialsJob,
)
from zerolap.store import Blobs

COUNTING_SHARE = 0.5
"""The share of the budget for counting where cases are timed too: the rest is for what users feel."""


class Results:
    """All results of a request, taken in event by event.

    `in_regimes` are the cases in regimes that were counted besides those of the request, `regimes_left_out` regimes
    with cases that there was no time for.

    `other` holds the trials of the engines `traced` and `loaded` and of those of plugins, by engine, and `recorded` the
    trials of jobs that have not ended. `blobs` are what measurements refer to.
    """

    def __init__(self, resolved: Resolved, blobs: Blobs) -> None:
        self.resolved = resolved
        self.builds: dict[str, Build] = {}
        self.counted: dict[str, Trials] = {}
        self.timed: dict[str, TimedTrials] = {}
        self.sampled: dict[str, Trials] = {}
        self.other: dict[str, dict[str, Trials]] = {}
        self.ended_jobs: set[str] = set()
        self.recorded: dict[str, list[TrialDone]] = {}
        self.version = 0
        self._counted_ns = 0
        self._other_ns = 0
        self.blobs = blobs
        self._identities: dict[str, Identity] = {}
        self._identical = _IdenticalCases(-1)
        self._in_regimes: dict[str, Case] = {}
        self.regimes_left_out: Sequence[tuple[str, str]] = ()

    @property
    def in_regimes(self) -> list[Case]:
        """The cases in regimes of which there are trials, by regime."""
        return sorted(self._in_regimes.values(), key=lambda case: (case.regime.name if case.regime else "", case.name))

    @property
    def cases(self) -> list[Case]:
        """The cases of the request, then those in regimes."""
        return [*self.resolved.cases, *self.in_regimes]

    def is_identical_in_regime(self, case: Case) -> bool:
        """Return whether both sides of a case in a regime are known to execute the same."""
        identity = self.identity(case)
        return identity is not None and identity.is_identical

    def add(self, job: TrialsJob | BuildJob, event: Event) -> None:
        """Take in an event; one that was taken in before changes nothing."""
        self.version += 1
        if isinstance(event, JobFailed | JobFinished | BuildDone):
            if job.id in self.ended_jobs:
                return
            self.ended_jobs.add(job.id)
            self.recorded.pop(job.id, None)
        if isinstance(event, BuildDone):
            self.builds[event.build.build] = event.build
        if isinstance(job, BuildJob):
            return
        if isinstance(event, TrialDone):
            new = self._not_recorded(event)
            if new is None:
                return
            event = new
            self.recorded.setdefault(job.id, []).append(event)
            self._add_machine_time(job, event)
        trials = self._trials(job)
        if isinstance(trials, TimedTrials) and isinstance(event, TrialDone):
            trials.start(event.block, event.measurements, self.blobs)
        else:
            trials.add(event)
        if job.engine == "counted" and isinstance(event, JobFinished):
            self._compare_executed(trials)

    def _add_machine_time(self, job: TrialsJob, done: TrialDone) -> None:
        # In integers, whose sum does not depend on the order in which trials end.
        added_ns = sum(round(measurement.seconds * 1e9) for measurement in done.measurements.values())
        if job.engine == "counted":
            self._counted_ns += added_ns
        else:
            self._other_ns += added_ns

    def _compare_executed(self, trials: Trials) -> None:
        """Note whether both sides of a case execute the same: here, as plans read no blobs."""
        if self.resolved.kind != "compare" or not trials.usable:
            return
        whole = trials.whole
        compared = compare_executed(whole[BASE], whole[HEAD], self.blobs)
        if compared is not None and compared.is_identical:
            compared = compared.unless_counts_differ(whole[BASE], whole[HEAD])
        if compared is not None:
            self._identities[trials.case.name] = compared

    def _not_recorded(self, event: TrialDone) -> TrialDone | None:
        """Return the part of an event that was not taken in before; trials are reported by side or all together."""
        recorded = self.recorded.get(event.job, ())
        sides = {side for done in recorded if done.block == event.block for side in done.measurements}
        if event.job in self.ended_jobs or event.measurements.keys() <= sides:
            return None
        if not sides:
            return event
        new = {side: measured for side, measured in event.measurements.items() if side not in sides}
        return event.model_copy(update={"measurements": new})

    def _trials(self, job: TrialsJob) -> Trials:
        case = job.case
        if case.regime is not None and case.regime.is_added:
            self._in_regimes.setdefault(case.name, case)
        if job.engine == "timed":
            trials = self.timed.get(case.name)
            if trials is None:
                trials = self.timed[case.name] = self._timed_trials(job)
            if job.amounts.as_built:
                if trials.as_built is None:
                    trials.as_built = self._timed_trials(job)
                return trials.as_built
            if not job.is_paced:
                return trials
            if trials.paced is None:
                trials.paced = self._timed_trials(job)
            return trials.paced
        by_case = {"counted": self.counted, "sampled": self.sampled}.get(job.engine)
        if by_case is None:
            by_case = self.other.setdefault(job.engine, {})
        return by_case.setdefault(case.name, Trials(case, {side: [] for side in job.servers}))

    def _timed_trials(self, job: TrialsJob) -> TimedTrials:
        programs = {server.spec.digest for server in self.resolved.servers.values()}
        return TimedTrials(
            job.case,
            {side: [] for side in job.servers},
            per_second=job.amounts.per_second,
            is_one_program=len(programs) == 1,
        )

    def of_case(self, case: Case) -> "CaseResults":
        """Return what all engines measured of a case."""
        name = case.name
        return CaseResults(
            case=case,
            identity=self.identity(case),
            counted=self.counted.get(name),
            timed=self.timed.get(name),
            sampled=self.sampled.get(name),
            other={engine: trials[name] for engine, trials in self.other.items() if name in trials},
            budget_is_over=self.budget_is_over,
        )

    def identity(self, case: Case) -> Identity | None:
        """Return whether both sides of a case execute the same; none where that was not recorded."""
        trials = self.counted.get(case.name)
        if self.resolved.kind != "compare" or trials is None or not trials.usable or not trials.jobs_done:
            return None
        compared = self._identities.get(case.name)
        if compared is None:
            return None
        reason = why_unknown(self.resolved, self.builds, case)
        return compared if reason is None else Identity(outcome="unknown", reason=reason)

    @property
    def identical(self) -> frozenset[str]:
        """The cases of which both sides are known to execute the same."""
        return self._identical_cases().all

    def is_counted_out(self, trials: Trials) -> bool:
        """Whether a case needs no further blocks, as both sides execute the same and take the same bytes.

        Other bytes in one block are confirmed by as many as other changes are.
        """
        if trials.case.name not in self.identical:
            return False
        whole = trials.whole
        least = self.resolved.settings.min_effect.get(MEMORY, DEFAULT_MIN_EFFECT[MEMORY])
        differ = any(bytes_differ(*sides, least) for sides in zip(whole[BASE], whole[HEAD], strict=True))
        return not differ or trials.blocks >= MIN_BLOCKS

    @property
    def not_to_be_timed(self) -> frozenset[str]:
        """The cases that are not worth any time, as both sides execute the same as far as it was counted.

        All are timed where a sample of such cases showed that their time changed nevertheless.
        """
        return self._identical_cases().untimed

    @property
    def sample_of_identical(self) -> frozenset[str]:
        """The cases that are timed only to check that what executes the same takes the same time.

        Of a build that is compared with itself none is a sample: its cases are timed like all others.
        """
        return self._identical_cases().sample

    def _identical_cases(self) -> "_IdenticalCases":
        if self._identical.version != self.version:
            identities = {case.name: self.identity(case) for case in self.resolved.cases}
            identical = frozenset(
                name for name, identity in identities.items() if identity is not None and identity.is_identical
            )
            timed = timed_nevertheless(identical, self.resolved) if identical else frozenset()
            is_one_build = len({server.spec.digest for server in self.resolved.servers.values()}) == 1
            sample = frozenset() if is_one_build else timed
            self._identical = _IdenticalCases(self.version, identical, identical - timed, sample)
        return self._identical

    @property
    def metrics_judged(self) -> int:
        """How many metrics a case is judged by: those of the processor's counters only where these are there."""
        measurements = (measurement for trials in self.timed.values() for measurement in trials.all)
        has_counters = any(not COUNTER_METRICS.isdisjoint(measurement.metrics) for measurement in measurements)
        # Those of memory have a q of their own.
        judged = METRICS.keys() - {CONTROL, AS_BUILT_COST} - TRACED_METRICS - MEMORY_METRICS
        own = len(judged - (frozenset() if has_counters else COUNTER_METRICS))
        return own + len(self.resolved.settings.plugin_metrics)

    def reported(self) -> list["CaseResults"]:
        """Return what was measured of the cases of which there is something to report, in the order of the request.

        That is so of those that were begun, and of all once the budget is used up.
        """
        left = self.seconds_left(counting="counted" in self.resolved.settings.engines)
        is_over = left is not None and left <= 0
        every = [self.of_case(case) for case in self.resolved.cases]
        in_regimes = [self.of_case(case) for case in self.in_regimes if self._is_reported(case)]
        return [*(measured for measured in every if is_over or measured.has_begun), *in_regimes]

    def _is_reported(self, in_regime: Case) -> bool:
        """Whether a case in a regime has verdicts: its first block led to more, or it fails on one side alone."""
        trials = self.counted.get(in_regime.name)
        if trials is None:
            return False
        sound = [side for side, of_side in trials.measurements.items() if of_side and all(map(_is_valid, of_side))]
        return trials.blocks >= REGIME_BLOCKS or (trials.speaks_against_case and len(sound) == 1)

    def seconds_left(self, *, counting: bool = False) -> float | None:
        """Return what is left of the budget; none where there is none. Counted trials run side by side."""
        settings = self.resolved.settings
        if settings.budget_seconds is None:
            return None
        counted = self.counted_seconds / max(1, self.resolved.platform.cores)
        if counting and settings.asks_for_time:
            return settings.budget_seconds * COUNTING_SHARE - counted
        return settings.budget_seconds - counted - self.other_seconds

    @property
    def budget_is_over(self) -> bool:
        """Whether no time is left for further trials."""
        left = self.seconds_left()
        return left is not None and left <= 0

    @property
    def counted_seconds(self) -> float:
        """The machine time of counted trials."""
        return self._counted_ns / 1e9

    @property
    def other_seconds(self) -> float:
        """The machine time of all other trials, which run one at a time."""
        return self._other_ns / 1e9

    @property
    def machine_seconds(self) -> float:
        """The machine time of all trials."""
        return self.counted_seconds + self.other_seconds


def _is_valid(measurement: Measurement) -> bool:
    return measurement.validity.valid


@dataclass(frozen=True)
class _IdenticalCases:
    """The cases that execute the same on both sides by a version of results: all, those not to be timed, the sample."""

    version: int
    all: frozenset[str] = frozenset()
    untimed: frozenset[str] = frozenset()
    sample: frozenset[str] = frozenset()
