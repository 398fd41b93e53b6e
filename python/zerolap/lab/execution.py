"""The work on one request: its next jobs, what they have led to, and its document at the end.

The local loop and the conductor drive executions; all that is particular to a request is here.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from zerolap.documents import (
    CaseExplainer,
    Results,
    add_to_bank,
    check_of,
    comparison_of,
    read_bank,
    record_start_ratios,
    recorded_results,
    results_with_builds,
    run_of,
)
from zerolap.lab.counted_forks import emulated_report
from zerolap.lab.lab import Lab
from zerolap.lab.measured_snapshots import snapshot_report
from zerolap.lab.planner import Planner, build_jobs
from zerolap.lab.platforms import PlatformAway, PlatformView
from zerolap.lab.regimes import chosen_regimes
from zerolap.lab.requests import of_count_builds
from zerolap.lab.resolving import resolve
from zerolap.lab.sweep_planner import CheckPlanner, EmulatedPlanner, KnownJobsPlanner, SnapshotPlanner
from zerolap.records import (
    BuildJob,
    BuildSpec,
    CheckReport,
    Comparison,
    DocumentState,
    EmulatedSweep,
    Event,
    Kernel,
    Progress,
    Request,
    Resolved,
    RunReport,
    Side,
    SnapshotSweep,
    SweepReport,
    TrialDone,
    TrialsJob,
    UnreadableRecord,
    UsageError,
    ZerolapError,
)
from zerolap.store import Store

Document: TypeAlias = Comparison | RunReport | SweepReport | CheckReport
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
        self._results: Results | None = None
        self._planner: Planner | KnownJobsPlanner | None = None
        self._explainer: CaseExplainer | None = None

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
        self._results = recorded_results(resolved, self._lab.store)
        specs = {side: server.spec for side, server in resolved.servers.items()}
        self._results.builds |= self._platform.builds(specs)
        for side, server in resolved.servers.items():
            # Another commit of the same content may have been built, for another request.
            build = self._results.builds.get(specs[side].digest)
            if build is not None:
                self._lab.store.record_build(build, server.source)
        self._planner = _planner_of(resolved, self._lab.store)
        self.record("running", reasons=False)

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
        if self._planner is None:
            builds = self.next_builds()
            if not builds.is_measured:
                return builds
            try:
                self.begin(self.resolve())
            except PlatformAway as away:
                return Plan(waits_for=str(away))
        assert self._planner is not None
        assert self._results is not None
        if isinstance(self._planner, Planner) and self._planner.awaits_regimes(self._results):
            self._choose_regimes(self._planner, self._results)
        return Plan(self._planner.next_jobs(self._results))

    def _choose_regimes(self, planner: Planner, results: Results) -> None:
        explainer = None
        # Without the builds it is not known what changed; cases are counted in some regimes then.
        with contextlib.suppress(ZerolapError):
            explainer = self._explaining(results)
        chosen = chosen_regimes(results, explainer)
        results.regimes_left_out = chosen.left_out
        planner.add_regimes(chosen)

    def _explaining(self, results: Results) -> CaseExplainer:
        """Return what explains the comparison, which reads builds and sources once."""
        if self._explainer is None:
            self._explainer = self._platform.explainer(results)
        return self._explainer

    def take_in(self, job: BuildJob | TrialsJob, event: Event) -> None:
        """Take in what was recorded of a job; what was taken in before changes nothing."""
        if self._results is not None:
            self._results.add(job, event)

    def recorded_trials(self, job: BuildJob | TrialsJob) -> Sequence[TrialDone]:
        """Return the trials of a job that are recorded, though it has not ended."""
        return [] if self._results is None else self._results.recorded.get(job.id, [])

    def progress(self, job: TrialsJob) -> Progress | None:
        """Return how far the trials of a job's kind have come; none before there are any."""
        if self._planner is None or self._results is None:
            return None
        return self._planner.progress(self._results, job)

    def reached(self) -> str | None:
        """Return how much is measured, for a message; none while the servers are not built."""
        if self._results is None or self.resolved is None:
            return None
        if self.request.sweep is None:
            return f"{len(self._results.reported())} of {len(self.resolved.cases)} cases"
        return f"{_repetitions(self._results)} repetitions"

    # The document.

    def finish(self) -> Document:
        """Judge, explain and record what was measured, and return the document; raises `ZerolapError`."""
        document = self.record("done", reasons=True)
        assert document is not None
        return document

    def stop(self, state: DocumentState) -> None:
        """Record what there is of a request that ends early, without reasons."""
        if self._results is None and self.resolved is not None:
            self._results = recorded_results(self.resolved, self._lab.store)
            specs = {side: server.spec for side, server in self.resolved.servers.items()}
            self._results.builds |= self._platform.builds(specs)
        self.record(state, reasons=False)

    def stop_without_results(self, state: DocumentState) -> None:
        """Record the end of a request whose results cannot be read."""
        if self.resolved is not None:
            self._results = Results(self.resolved, self._lab.store.blobs)
            self.record(state, reasons=False)

    def record(self, state: DocumentState, *, reasons: bool) -> Document | None:
        """Record the document as it is now, and return it; none while the servers are not built.

        A sweep and a check have none until they are done; that of a check is read from its trials each time. Of a
        comparison that is done, how much starts differed and what each of them says is recorded too.
        """
        if self._results is None:
            return None
        store = self._lab.store
        if self.request.kind == "check":
            return check_of(self._results) if state == "done" else None
        if self.request.kind == "snapshot":
            if state != "done":
                return None
            sweep = _sweep_report(self._results)
            store.sweeps.record(sweep)
            return sweep
        if self.request.kind == "run":
            report = run_of(self._results, store)
            store.record_run(report)
            return report
        explainer = self._explaining(self._results) if reasons else None
        if state == "done":
            add_to_bank(self._results, store)
        comparison = comparison_of(self._results, state, store, explainer)
        store.record_comparison(comparison)
        if state == "done":
            record_start_ratios(self._results, comparison, store)
        return comparison


def _planner_of(resolved: Resolved, store: Store) -> Planner | KnownJobsPlanner:
    sweep = resolved.request.sweep
    if resolved.kind == "check":
        return CheckPlanner(resolved)
    if sweep is None:
        return Planner(resolved, read_bank(store, resolved.platform.fingerprint))
    if isinstance(sweep, SnapshotSweep):
        return SnapshotPlanner(resolved, sweep)
    return EmulatedPlanner(resolved, sweep, _kernel_of(resolved))


def _kernel_of(resolved: Resolved) -> Kernel:
    if resolved.kernel is None:
        raise UnreadableRecord(f"the sweep {resolved.id} has no kernel", hint="ask for the same anew")
    return resolved.kernel


def _sweep_report(results: Results) -> SweepReport:
    """Return the document of a sweep as it is now; raises `TrialFailed` where there is none."""
    resolved, sweep = results.resolved, results.resolved.request.sweep
    if isinstance(sweep, SnapshotSweep):
        return snapshot_report(results, sweep)
    assert sweep is not None
    return emulated_report(results, sweep, _kernel_of(resolved))


def _repetitions(results: Results) -> int:
    """Return how many repetitions of a sweep are measured, of whatever it repeats."""
    return sum(
        len(of_side)
        for engine in results.resolved.settings.engines
        for trials in results.other.get(engine, {}).values()
        for of_side in trials.measurements.values()
    )


def read_sweep(store: Store, identity: str) -> SweepReport:
    """Return a stored sweep; of one that is not done, what was recorded so far. Raises `ZerolapError`."""
    unfinished = store.sweeps.unfinished(identity)
    if unfinished is None:
        return store.sweeps.report(identity)
    results = results_with_builds(unfinished, store)
    if results is None or not _repetitions(results):
        raise UsageError(f"{unfinished} has nothing measured yet", hint=f"zerolap resume {unfinished}")
    report = _sweep_report(results)
    note = f"the sweep is not done: this is what was recorded, {_repetitions(results)} repetitions"
    return report.model_copy(update={"notes": [*report.notes, note]})
