"""The work on one request: its next jobs, what they have led to, and its document at the end.

The local loop and the conductor drive executions; all that is particular to a request is here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from zerolap.documents import (
    Results,
    add_to_bank,
    comparison_of,
    read_bank,
    record_start_ratios,
    recorded_results,
    run_of,
)
from zerolap.lab.counted_forks import CountedForks
from zerolap.lab.lab import Lab
from zerolap.lab.measured_snapshots import MeasuredSnapshots
from zerolap.lab.measured_sweep import MeasuredSweep
from zerolap.lab.planner import Planner, build_jobs
from zerolap.lab.platforms import PlatformAway, PlatformView
from zerolap.lab.reasons import explainer_of
from zerolap.lab.requests import of_count_builds
from zerolap.lab.resolving import resolve
from zerolap.records import (
    Build,
    BuildJob,
    BuildSpec,
    Comparison,
    DocumentState,
    EmulatedSweep,
    Event,
    Progress,
    Request,
    Resolved,
    RunReport,
    Side,
    SnapshotSweep,
    Sweep,
    SweepReport,
    TrialDone,
    TrialsJob,
    UnreadableRecord,
    UsageError,
)
from zerolap.store import Store

Document: TypeAlias = Comparison | RunReport | SweepReport
"""What a request leads to."""


@dataclass(frozen=True)
class Plan:
    """The jobs that can be carried out, in order; where there are none, what they wait for, if for anything.

    Without either everything is measured.
    """

    jobs: Sequence[BuildJob | TrialsJob] = ()
    waits_for: str = ""

    @property
    def is_measured(self) -> bool:
        """Whether nothing is left to be done."""
        return not self.jobs and not self.waits_for


class Measured(Protocol):
    """What the jobs of a request have measured, what is to be measured next, and the document of it."""

    @property
    def builds(self) -> dict[str, Build]:
        """The builds of the servers, by their digests."""

    def add(self, job: BuildJob | TrialsJob, event: Event) -> None:
        """Take in what was recorded of a job; what was taken in before changes nothing."""

    def recorded(self, job: BuildJob | TrialsJob) -> Sequence[TrialDone]:
        """Return the trials of a job that are recorded, though it has not ended."""

    def next_jobs(self) -> Sequence[TrialsJob]:
        """Return the jobs that can be carried out, in order."""

    def progress(self, job: TrialsJob) -> Progress:
        """Return how far the trials of a job's kind have come."""

    def reached(self) -> str:
        """Return how much is measured, for a message."""

    def record(self, state: DocumentState, *, reasons: bool) -> Document | None:
        """Record the document in a state, and return it; none where that state has none."""


class MeasuredCases:
    """The cases of a comparison or a run."""

    def __init__(self, resolved: Resolved, results: Results, lab: Lab, platform: PlatformView) -> None:
        self.builds = results.builds
        self._resolved = resolved
        self._results = results
        self._store = lab.store
        self._platform = platform
        self._planner = Planner(resolved, read_bank(lab.store, resolved.platform.fingerprint))

    def add(self, job: BuildJob | TrialsJob, event: Event) -> None:
        """Take in what was recorded of a job; what was taken in before changes nothing."""
        self._results.add(job, event)

    def recorded(self, job: BuildJob | TrialsJob) -> Sequence[TrialDone]:
        """Return the trials of a job that are recorded, though it has not ended."""
        return self._results.recorded.get(job.id, [])

    def next_jobs(self) -> Sequence[TrialsJob]:
        """Return the jobs that can be carried out, in order."""
        return self._planner.next_jobs(self._results)

    def progress(self, job: TrialsJob) -> Progress:
        """Return how far the trials of a job's kind have come."""
        return self._planner.progress(self._results, job)

    def reached(self) -> str:
        """Return how many cases have something to report."""
        return f"{len(self._results.reported())} of {len(self._resolved.cases)} cases"

    def record(self, state: DocumentState, *, reasons: bool) -> Comparison | RunReport:
        """Record the document as it is now, and return it.

        Of a comparison that is done, how much starts differed and what each of them says is recorded too.
        """
        results, store = self._results, self._store
        if self._resolved.kind == "run":
            report = run_of(results, store)
            store.record_run(report)
            return report
        explainer = explainer_of(results, self._platform.lab()) if reasons else None
        if state == "done":
            add_to_bank(results, store)
        comparison = comparison_of(results, state, store, explainer)
        store.record_comparison(comparison)
        if state == "done":
            record_start_ratios(results, comparison, store)
        return comparison


class Execution:
    """Carries a request from its builds to its document; not for several threads at once.

    `resolved` is none until the servers are built. What happens to the jobs is recorded by whoever drives the
    execution, before it is taken in.
    """

    def __init__(self, request: Request, lab: Lab, platform: PlatformView) -> None:
        self.request = request
        self.resolved: Resolved | None = lab.store.resolved(request.id)
        self._lab = lab
        self._platform = platform
        self._measured: Measured | None = None

    # Builds.

    def next_builds(self) -> Plan:
        """Return the builds that are missing and can be begun; raises `ZerolapError` where there can be none."""
        try:
            specs, count_specs = self._specs(), self._count_specs()
            there = self._platform.builds(specs | {f"{side}, count build": spec for side, spec in count_specs.items()})
        except PlatformAway as away:
            return Plan(waits_for=str(away))
        jobs = build_jobs(self.request, specs, there)
        if not jobs and count_specs:
            first = next(iter(count_specs))
            # What a server brings along is compiled alike for both. Of a change nothing is used for its base.
            trusted = count_specs[first] if count_specs[first].digest in there else specs[first]
            jobs = build_jobs(of_count_builds(self.request, trusted.digest), count_specs, there)
        return Plan(jobs)

    def resolve(self) -> Resolved:
        """Return what the request means, now that its servers are built; raises `PlatformAway` or `ZerolapError`."""
        if self.resolved is not None:
            return self.resolved
        specs = self._specs()
        abilities = self._platform.abilities(self.request, specs)
        resolved = resolve(self.request, specs, abilities, self._platform.known(), self._count_specs())
        notes = (*self._platform.notes(resolved.cases), *resolved.notes)
        sweep = self.request.sweep
        kernel = self._platform.kernel(sweep.kernel) if isinstance(sweep, EmulatedSweep) else None
        return resolved.model_copy(update={"notes": notes, "kernel": kernel})

    def begin(self, resolved: Resolved) -> None:
        """Begin to measure, or go on with what is recorded."""
        self._lab.store.begin(resolved)
        self.resolved = resolved
        specs = {side: server.spec for side, server in resolved.servers.items()}
        self._measured = self._recorded(resolved)
        for side, server in resolved.servers.items():
            # Another commit of the same content may have been built, for another request.
            build = self._measured.builds.get(specs[side].digest)
            if build is not None:
                self._lab.store.record_build(build, server.source)
        self.record("running", reasons=False)

    def _recorded(self, resolved: Resolved) -> Measured:
        """Return what the store holds of the trials, and the builds that the platform has."""
        store = self._lab.store
        measured: Measured
        if resolved.request.sweep is None:
            measured = MeasuredCases(resolved, recorded_results(resolved, store), self._lab, self._platform)
        else:
            measured = measured_sweep(resolved, resolved.request.sweep, store)
        measured.builds.update(self._platform.builds({side: server.spec for side, server in resolved.servers.items()}))
        return measured

    def _specs(self) -> dict[Side, BuildSpec]:
        if self.resolved is not None:
            return {side: server.spec for side, server in self.resolved.servers.items()}
        return dict(self._platform.specs(self.request))

    def _count_specs(self) -> dict[Side, BuildSpec]:
        """Return the specifications of the count builds; none where they are not asked for."""
        if not self.request.count_build:
            return {}
        if self.resolved is not None:
            recorded = {side: server.count_spec for side, server in self.resolved.servers.items()}
            return {side: spec for side, spec in recorded.items() if spec is not None}
        return dict(self._platform.specs(of_count_builds(self.request)))

    # Trials.

    def next_jobs(self) -> Plan:
        """Return the jobs that can be carried out, given out or not; raises `ZerolapError` if there can be none."""
        if self._measured is None:
            builds = self.next_builds()
            if not builds.is_measured:
                return builds
            try:
                self.begin(self.resolve())
            except PlatformAway as away:
                return Plan(waits_for=str(away))
        assert self._measured is not None
        return Plan(self._measured.next_jobs())

    def take_in(self, job: BuildJob | TrialsJob, event: Event) -> None:
        """Take in what was recorded of a job; what was taken in before changes nothing."""
        if self._measured is not None:
            self._measured.add(job, event)

    def recorded_trials(self, job: BuildJob | TrialsJob) -> Sequence[TrialDone]:
        """Return the trials of a job that are recorded, though it has not ended."""
        return [] if self._measured is None else self._measured.recorded(job)

    def progress(self, job: TrialsJob) -> Progress | None:
        """Return how far the trials of a job's kind have come; none before there are any."""
        return None if self._measured is None else self._measured.progress(job)

    def reached(self) -> str | None:
        """Return how much is measured, for a message; none while the servers are not built."""
        return None if self._measured is None else self._measured.reached()

    # The document.

    def finish(self) -> Document:
        """Judge, explain and record what was measured, and return the document; raises `ZerolapError`."""
        document = self.record("done", reasons=True)
        assert document is not None
        return document

    def stop(self, state: DocumentState) -> None:
        """Record what there is of a request that ends early, without reasons."""
        if self._measured is None and self.resolved is not None:
            self._measured = self._recorded(self.resolved)
        self.record(state, reasons=False)

    def stop_without_results(self, state: DocumentState) -> None:
        """Record the end of a request whose results cannot be read."""
        if self.resolved is not None and self.request.sweep is None:
            results = Results(self.resolved, self._lab.store.blobs)
            self._measured = MeasuredCases(self.resolved, results, self._lab, self._platform)
            self.record(state, reasons=False)

    def record(self, state: DocumentState, *, reasons: bool) -> Document | None:
        """Record the document as it is now, and return it; none while the servers are not built.

        A sweep has none until it is done.
        """
        return None if self._measured is None else self._measured.record(state, reasons=reasons)


def measured_sweep(resolved: Resolved, sweep: Sweep, store: Store) -> MeasuredSweep:
    """Return what the store holds of the trials of a sweep, except for its builds."""
    measured: MeasuredSweep
    if isinstance(sweep, SnapshotSweep):
        measured = MeasuredSnapshots(resolved, store, sweep)
    elif resolved.kernel is None:
        raise UnreadableRecord(f"the sweep {resolved.id} has no kernel", hint="ask for the same anew")
    else:
        measured = CountedForks(resolved, store, sweep, resolved.kernel)
    for recorded in store.jobs(resolved.id):
        for event in recorded.events:
            measured.add(recorded.job, event)
    return measured


def read_sweep(store: Store, identity: str) -> SweepReport:
    """Return a stored sweep; of one that has not ended, what was recorded so far. Raises `ZerolapError`."""
    unfinished = store.sweeps.unfinished(identity)
    if unfinished is None:
        return store.sweeps.report(identity)
    resolved = store.resolved(unfinished)
    sweep = None if resolved is None else resolved.request.sweep
    measured = None if resolved is None or sweep is None else measured_sweep(resolved, sweep, store)
    if resolved is None or measured is None or not measured.measured:
        raise UsageError(f"{unfinished} has nothing measured yet", hint=f"zerolap resume {unfinished}")
    for server in resolved.servers.values():
        build = store.build(server.spec.digest)
        if build is not None:
            measured.builds[build.build] = build
    report = measured.report()
    note = f"the sweep has not ended: this is what was recorded, {measured.reached()}"
    return report.model_copy(update={"notes": [*report.notes, note]})
