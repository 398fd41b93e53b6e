"""A submission that a conductor works on: which of its jobs can be given out, and what they have led to."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from zerolap.build import Builds, parse_variant, spec_of, tools_of, unpack_build
from zerolap.fleet.roster import Roster
from zerolap.lab import (
    Lab,
    Planner,
    Results,
    begin_measuring,
    conclude,
    interrupt,
    recorded_results,
    request_of_submission,
)
from zerolap.records import (
    BuildDone,
    BuildJob,
    BuildSpec,
    Comparison,
    Event,
    Request,
    RequestState,
    RunReport,
    Side,
    Submission,
    TrialDone,
    TrialsJob,
    UsageError,
)
from zerolap.store import Artifact, Store

AnyJob = BuildJob | TrialsJob


@dataclass(frozen=True)
class Plan:
    """The jobs that can be carried out, in order; where there are none, what has to be there before, if that is known.

    Without either everything is measured.
    """

    jobs: Sequence[AnyJob] = ()
    waits_for: str = ""

    @property
    def is_measured(self) -> bool:
        """Whether nothing is left to be done."""
        return not self.jobs and not self.waits_for


@dataclass
class Ongoing:
    """A submission between its recording and its end; `plan`, `finish` and `stop` take long and run in a thread.

    `planned` are the jobs that can be given out, by id and in order; `given_up` counts how often each was given up by
    now, of which the first attempt was made at `tried_since`. `lock` is held while one of these three runs.
    """

    submission: Submission
    planned: dict[str, AnyJob] = field(default_factory=dict)
    waits_for: str = ""
    given_up: dict[str, int] = field(default_factory=dict)
    tried_since: dict[str, float] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _ended_since: set[str] = field(default_factory=set)
    _built_since: set[str] = field(default_factory=set)
    _happened: list[tuple[AnyJob, Event]] = field(default_factory=list)
    _artifacts: Sequence[Artifact] = ()
    _request: Request | None = None
    _results: Results | None = None
    _planner: Planner | None = None

    @property
    def identity(self) -> str:
        """The id of the submission, its request and its document."""
        return self.submission.id

    def take_in(self, job: AnyJob, event: Event) -> None:
        """Note what was recorded of a job, for the next plan."""
        if not isinstance(event, TrialDone):
            self._ended_since.add(job.id)
        self._happened.append((job, event))

    def note_built(self, build: str) -> None:
        """Note that a build was recorded, of this submission or another: it is not given out again."""
        self._built_since.add(build)
        self.planned = {job.id: job for job in self.planned.values() if not _is_of(job, {build})}

    def forget_given_up(self, job: str) -> None:
        """Note that the job with that id has ended, however often it was given up before."""
        self.given_up.pop(job, None)
        self.tried_since.pop(job, None)

    def give(self) -> AnyJob:
        """Return the next job to be given out, which is then not planned any more."""
        return self.planned.pop(next(iter(self.planned)))

    def plan(self, roster: Roster, lab: Lab) -> Plan:
        """Find the jobs that can be carried out, given out or not; raises `ZerolapError` if it cannot go on."""
        # What was built before this is in the store, what is built from now on may not be known to this plan.
        self._built_since = set()
        if self._planner is None:
            plan = self._prepare(roster, lab)
            if plan is not None:
                return plan
        assert self._planner is not None
        assert self._results is not None
        # What ends from now on is not known to this plan.
        self._ended_since = set()
        happened, self._happened = self._happened, []
        for job, event in happened:
            self._results.add(job, event)
        return Plan(self._planner.next_jobs(self._results))

    def adopt(self, plan: Plan, open_jobs: Iterable[str]) -> None:
        """Take over a plan, but for the jobs that are given out."""
        self.waits_for = plan.waits_for
        is_known = self._ended_since.union(open_jobs)
        jobs = [job for job in plan.jobs if not _is_of(job, self._built_since)]
        self.planned = {job.id: job for job in jobs if job.id not in is_known}

    def finish(self, lab: Lab) -> Comparison | RunReport:
        """Judge, explain and record what was measured, and return the document; raises `ZerolapError`."""
        assert self._results is not None
        return conclude(self._results, with_builds(self._artifacts, lab))

    def stop(self, lab: Lab, state: RequestState) -> None:
        """Record what there is of a submission that ends early."""
        if self._request is not None:
            interrupt(self._read_results(self._request, lab.store), lab, state)

    def stop_without_results(self, lab: Lab, state: RequestState) -> None:
        """Record the end of a submission whose results cannot be read."""
        if self._request is not None:
            interrupt(self._with_builds(Results(self._request, lab.store.blobs)), lab, state)

    def _prepare(self, roster: Roster, lab: Lab) -> Plan | None:
        """Return what is to be built first, or what has to be there; none, and the request, once all is built."""
        platform = self.submission.platform
        known, tools = roster.known_platform(platform), roster.tools_of_builder(platform)
        if known is None:
            return Plan(waits_for=f"an agent of the platform {platform}")
        if tools is None:
            return Plan(
                waits_for=f"an agent of the platform {roster.builder_of(platform)}, which builds for {platform}"
            )
        specs = {}
        for side, server in self.submission.servers.items():
            variant = parse_variant(server.variant)
            tools_of_variant = tools_of(variant, tools)
            if tools_of_variant is None:
                return Plan(waits_for=f"a builder with the compiler of the variant {server.variant}")
            specs[side] = spec_of(server.source, variant, tools_of_variant)
        digests = [spec.digest for spec in specs.values()]
        artifacts = lab.store.fleet.artifacts(digests, roster.builder_of(platform))
        missing = {side: spec for side, spec in specs.items() if not _is_there(spec, artifacts, lab.builds)}
        if missing:
            return Plan(self._builds(specs, missing))
        self._artifacts = list(artifacts.values())
        abilities = [artifacts[digest].abilities for digest in digests]
        request = request_of_submission(self.submission, specs, abilities, known)
        lab.store.begin(request)
        self._request = request
        lab.store.end(request.id, "running")
        self._results = self._read_results(request, lab.store)
        self._planner = begin_measuring(self._results, lab)
        return None

    def _read_results(self, request: Request, store: Store) -> Results:
        return self._with_builds(recorded_results(request, store))

    def _with_builds(self, results: Results) -> Results:
        results.builds |= {artifact.build.build: artifact.build for artifact in self._artifacts}
        return results

    def _builds(self, specs: Mapping[Side, BuildSpec], missing: Mapping[Side, BuildSpec]) -> list[AnyJob]:
        """Return builds; those from source may use the objects of the first, which is trusted before others."""
        first = next((spec.digest for spec in specs.values() if spec.recipe), None)
        awaited = {spec.digest for spec in missing.values()}
        jobs: dict[str, AnyJob] = {}
        for side, spec in missing.items():
            objects_of = first if spec.recipe and spec.digest != first else None
            server = self.submission.servers[side]
            job = BuildJob(
                request=self.identity, source=server.source, variant=server.variant, spec=spec, objects_of=objects_of
            )
            if objects_of not in awaited:
                jobs[job.id] = job
        return list(jobs.values())


def _is_of(job: AnyJob, builds: set[str]) -> bool:
    return isinstance(job, BuildJob) and job.spec.digest in builds


def is_built(spec: BuildSpec, builder: str, lab: Lab) -> bool:
    """Whether agents can get a build that the agents of a platform have made."""
    return _is_there(spec, lab.store.fleet.artifacts([spec.digest], builder), lab.builds)


def _is_there(spec: BuildSpec, artifacts: Mapping[str, Artifact], builds: Builds) -> bool:
    """Whether agents can get a build: its packed form is in the blobs, or it is on this machine, which they share."""
    artifact = artifacts.get(spec.digest)
    return artifact is not None and (artifact.blob is not None or builds.find(spec.digest) is not None)


def with_builds(artifacts: Sequence[Artifact], lab: Lab) -> Lab:
    """Return the lab with the builds of a submission: those of this machine, or what a builder has sent, unpacked."""
    if all(artifact.blob is None for artifact in artifacts):
        return lab
    [builder] = {artifact.builder for artifact in artifacts}
    lab = replace(lab, builder=builder)
    for artifact in artifacts:
        digest = artifact.build.build
        if artifact.blob is None:
            raise UsageError(f"{builder} has not sent the build {digest}")
        if lab.builds.find(digest) is None:
            unpack_build(lab.builds, digest, lab.store.blobs.get(artifact.blob))
    return lab


def record_build(event: BuildDone, job: BuildJob, builder: str, store: Store) -> None:
    """Record a build and its artifact; `builder` is the platform whose agents made it."""
    store.record_build(event.build, job.source)
    if event.abilities is not None:
        store.fleet.add_artifact(Artifact(event.build, builder, event.artifact, event.abilities))
