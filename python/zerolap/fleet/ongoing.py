"""A submission that a conductor works on: which of its jobs can be given out, and what they have led to."""

from collections.abc import Mapping
from dataclasses import dataclass, field

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
from zerolap.records import BuildDone, BuildJob, BuildSpec, Event, Request, RequestState, Side, Submission, TrialsJob
from zerolap.store import Artifact, Store

AnyJob = BuildJob | TrialsJob


@dataclass
class Ongoing:
    """A submission between its recording and its end; `plan` and `finish` take long and run in a thread.

    `planned` are the jobs that can be given out, by id and in order; `waits_for` is what must be there before any can.
    """

    submission: Submission
    planned: dict[str, AnyJob] = field(default_factory=dict)
    waits_for: str = ""
    is_measured: bool = False
    given_up: dict[str, int] = field(default_factory=dict)
    _happened: list[tuple[AnyJob, Event]] = field(default_factory=list)
    _results: Results | None = None
    _planner: Planner | None = None

    @property
    def identity(self) -> str:
        """The id of the submission, its request and its document."""
        return self.submission.id

    def take_in(self, job: AnyJob, event: Event) -> None:
        """Note what was recorded of a job, for the next plan."""
        self._happened.append((job, event))

    def plan(self, roster: Roster, lab: Lab, open_jobs: frozenset[str]) -> None:
        """Find the jobs that can be given out, except those that are; raises `ZerolapError` if it cannot go on."""
        self.waits_for, self.planned = "", {}
        if self._planner is None:
            self._prepare(roster, lab)
        if self._planner is None or self._results is None:
            self.planned = {job: of for job, of in self.planned.items() if job not in open_jobs}
            return
        happened, self._happened = self._happened, []
        for job, event in happened:
            self._results.add(job, event)
        jobs = self._planner.next_jobs(self._results)
        self.is_measured = not jobs
        self.planned = {job.id: job for job in jobs if job.id not in open_jobs}

    def finish(self, lab: Lab) -> None:
        """Judge, explain and record what was measured; raises `ZerolapError`."""
        assert self._results is not None
        for server in self._results.request.servers.values():
            _bring(server.spec.digest, lab)
        conclude(self._results, lab)

    def stop(self, lab: Lab, state: RequestState) -> None:
        """Record what there is of a submission that ends early."""
        if self._results is not None:
            interrupt(self._read_results(self._results.request, lab), lab, state)

    def _prepare(self, roster: Roster, lab: Lab) -> None:
        """Find what is to be built; make the request once all is built."""
        known = roster.known_platform(self.submission.platform)
        tools = roster.tools_of_builder(self.submission.platform)
        if known is None:
            self.waits_for = f"an agent of the platform {self.submission.platform}"
            return
        if tools is None:
            builder = roster.builder_of(self.submission.platform)
            self.waits_for = f"an agent of the platform {builder}, which builds for {self.submission.platform}"
            return
        specs = self._specs(tools)
        if specs is None:
            return
        artifacts = lab.store.fleet.artifacts(spec.digest for spec in specs.values())
        missing = {side: spec for side, spec in specs.items() if not _is_there(spec, artifacts, lab.builds)}
        if missing:
            self._plan_builds(specs, missing)
            return
        abilities = [artifacts[spec.digest].abilities for spec in specs.values()]
        request = request_of_submission(self.submission, specs, abilities, known)
        lab.store.begin(request)
        lab.store.end(request.id, "running")
        self._results = self._read_results(request, lab)
        self._planner = begin_measuring(self._results, lab)

    def _read_results(self, request: Request, lab: Lab) -> Results:
        results = recorded_results(request, lab.store)
        for server in request.servers.values():
            build = lab.store.build(server.spec.digest)
            if build is not None:
                results.builds[server.spec.digest] = build
        return results

    def _specs(self, tools: Mapping[str, tuple[str, ...]]) -> dict[Side, BuildSpec] | None:
        specs = {}
        for side, server in self.submission.servers.items():
            variant = parse_variant(server.variant)
            tools_of_variant = tools_of(variant, tools)
            if tools_of_variant is None:
                self.waits_for = f"a builder with the compiler of the variant {server.variant}"
                return None
            specs[side] = spec_of(server.source, variant, tools_of_variant)
        return specs

    def _plan_builds(self, specs: Mapping[Side, BuildSpec], missing: Mapping[Side, BuildSpec]) -> None:
        """Plan builds: those from source may use the objects of the first such one, which is trusted before others."""
        first = next((spec.digest for spec in specs.values() if spec.recipe), None)
        awaited = {spec.digest for spec in missing.values()}
        for side, spec in missing.items():
            objects_of = first if spec.recipe and spec.digest != first else None
            server = self.submission.servers[side]
            job = BuildJob(
                request=self.identity, source=server.source, variant=server.variant, spec=spec, objects_of=objects_of
            )
            if objects_of not in awaited:
                self.planned[job.id] = job


def _is_there(spec: BuildSpec, artifacts: Mapping[str, Artifact], builds: Builds) -> bool:
    """Whether agents can get a build: its packed form is in the blobs, or it is on this machine, which they share."""
    artifact = artifacts.get(spec.digest)
    return artifact is not None and (artifact.blob is not None or builds.find(spec.digest) is not None)


def _bring(digest: str, lab: Lab) -> None:
    """Unpack the artifact of a build here, if it is not here yet."""
    if lab.builds.find(digest) is not None:
        return
    artifact = lab.store.fleet.artifacts([digest]).get(digest)
    if artifact is not None and artifact.blob is not None:
        unpack_build(lab.builds, digest, lab.store.blobs.get(artifact.blob))


def record_build(event: BuildDone, job: BuildJob, store: Store) -> None:
    """Record a build and its artifact."""
    store.record_build(event.build, job.source)
    if event.abilities is not None:
        store.fleet.add_artifact(Artifact(event.build.build, event.artifact, event.abilities))
