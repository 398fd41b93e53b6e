"""An execution as a conductor drives it: which of its jobs can be given out, and what agents have recorded of them."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from zerolap.build import Builds
from zerolap.fleet.roster import Roster, RosterSnapshot
from zerolap.lab import (
    Document,
    Execution,
    KnownAbilities,
    KnownPlatform,
    Lab,
    Plan,
    PlatformAway,
    specs_of,
    with_builds,
)
from zerolap.records import (
    ANCHOR,
    Abilities,
    Build,
    BuildDone,
    BuildJob,
    BuildSpec,
    Case,
    DocumentState,
    EnvironmentMissing,
    Event,
    Kernel,
    KernelFiles,
    Request,
    RequestState,
    Side,
    TrialDone,
    TrialsJob,
    UsageError,
)
from zerolap.store import Artifact, Store


class RemotePlatform:
    """A platform of a fleet, as its agents describe it, who are those in `roster`."""

    def __init__(self, name: str, roster: RosterSnapshot, lab: Lab) -> None:
        self.roster = roster
        self._name = name
        self._lab = lab
        self._artifacts: dict[str, Artifact] = {}

    def known(self) -> KnownPlatform:
        """Return the platform under its name; raises `PlatformAway` while no agent has reported."""
        known = self.roster.known_platform(self._name)
        if known is None:
            raise PlatformAway(self.roster.missing_agent(self._name))
        return replace(known, platform=known.platform.model_copy(update={"name": self._name}))

    def specs(self, request: Request) -> Mapping[Side, BuildSpec]:
        """Return the specifications of the builds; raises `PlatformAway` while no agent can build them."""
        self.known()
        tools = self.roster.tools_of_builder(self._name)
        if tools is None:
            builder = self.roster.builder_of(self._name)
            raise PlatformAway(f"{self.roster.missing_agent(builder)}, which builds for {self._name}")
        specs = {}
        for side, spec in specs_of(request, tools).items():
            if spec is None:
                raise PlatformAway(f"a builder with the compiler of the variant {request.servers[side].variant}")
            specs[side] = spec
        return specs

    def builds(self, specs: Mapping[Side, BuildSpec]) -> Mapping[str, Build]:
        """Return the builds that agents can get: from the blobs, or on this machine, which they share."""
        digests = [spec.digest for spec in specs.values()]
        self._artifacts = self._lab.store.fleet.artifacts(digests, self.roster.builder_of(self._name))
        return {
            digest: artifact.build
            for digest, artifact in self._artifacts.items()
            if _is_there(artifact, self._lab.builds)
        }

    def abilities(self, request: Request, specs: Mapping[Side, BuildSpec]) -> KnownAbilities:
        """Return what the servers support together, as their builder has reported it."""
        reported = [self._artifacts[spec.digest].abilities for side, spec in specs.items() if side != ANCHOR]
        together = reported[0]
        for abilities in reported[1:]:
            together = Abilities.together_with(together, abilities)
        return together

    def notes(self, cases: Sequence[Case]) -> Sequence[str]:
        """Return nothing: what a machine lacks is reported by its agent."""
        return ()

    def kernel(self, files: KernelFiles) -> Kernel:
        """Raise `UsageError`: kernels are built on the machine that emulates, and their files do not travel."""
        raise UsageError(f"no agent builds the kernel of `{files.path}`", hint="leave --platform out")

    def lab(self) -> Lab:
        """Return the lab with the builds: those of this machine, or what a builder has sent, unpacked."""
        return with_builds(list(self._artifacts.values()), self._lab)


@dataclass
class FleetExecution:
    """The execution of a request to a fleet; `finish` and `stop` take long and are to be called in a thread.

    All other methods are of the event loop. What a thread works with is handed over to it, and does not change.

    `planned` are the jobs that can be given out, by id and in order; `given_up` counts how often each was given up by
    now, of which the first attempt was made at `tried_since`. `failure` is why the request cannot go on. `recorded` is
    the state that the store has of it, with its reason; `times_recorded` counts how often each was. It was last planned
    at `planned_at` and is not planned again before `pause_seconds` are over. `submitted` is when it was, in seconds
    since the epoch; since the conductor has taken it up, it took `agent_seconds` of the time of agents. `lock` is held
    while something runs in a thread, `recording` while its state is written.
    """

    request: Request
    roster: Roster
    lab: Lab
    submitted: float = field(default_factory=time.time)
    planned: dict[str, BuildJob | TrialsJob] = field(default_factory=dict)
    waits_for: str = ""
    given_up: dict[str, int] = field(default_factory=dict)
    tried_since: dict[str, float] = field(default_factory=dict)
    failure: str | None = None
    recorded: tuple[RequestState, str] | None = None
    times_recorded: Counter[tuple[RequestState, str]] = field(default_factory=Counter)
    planned_at: float = 0.0
    pause_seconds: float = 0.0
    turn: int = 0
    agent_seconds: float = 0.0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    recording: asyncio.Lock = field(default_factory=asyncio.Lock)
    is_ending: bool = False
    """Whether its end is being written and reported by whoever planned it: the review leaves it alone then."""
    _ended_since: set[str] = field(default_factory=set)
    _built_since: set[str] = field(default_factory=set)
    _happened: list[tuple[BuildJob | TrialsJob, Event]] = field(default_factory=list)
    _execution: Execution | None = None
    _platform: RemotePlatform = field(init=False)

    def __post_init__(self) -> None:
        self._platform = RemotePlatform(self.request.platform, self.roster.snapshot(), self.lab)

    @property
    def id(self) -> str:
        """The id of the request and its document."""
        return self.request.id

    @property
    def platform(self) -> str:
        """The name of the platform that the request is for."""
        return self.request.platform

    def take_in(self, job: BuildJob | TrialsJob, event: Event) -> None:
        """Note what was recorded of a job, for the next plan."""
        if not isinstance(event, TrialDone):
            self._ended_since.add(job.id)
        self._happened.append((job, event))

    def note_built(self, build: str) -> None:
        """Note that a build was recorded, of this request or another: it is not given out again."""
        self._built_since.add(build)
        self.planned = {job.id: job for job in self.planned.values() if not _is_of(job, {build})}

    def note_given_up(self, job: str, created: float) -> int:
        """Note that an attempt at the job with that id was given up; returns how many were by now."""
        self.given_up[job] = self.given_up.get(job, 0) + 1
        self.tried_since.setdefault(job, created)
        return self.given_up[job]

    def forget_given_up(self, job: str) -> None:
        """Note that the job with that id has ended, however often it was given up before."""
        self.given_up.pop(job, None)
        self.tried_since.pop(job, None)

    def give(self, job: BuildJob | TrialsJob) -> None:
        """Note that a job is given out, which is then not planned any more."""
        del self.planned[job.id]

    async def plan(self) -> Plan:
        """Return the jobs that can be carried out, given out or not; raises `ZerolapError` if it cannot go on."""
        # What was built before this is in the store, what is built from now on may not be known to this plan.
        self._built_since = set()
        # What ends from now on is not known to this plan.
        self._ended_since = set()
        happened, self._happened = self._happened, []
        try:
            return await asyncio.to_thread(self._planned_after, tuple(happened), self.roster.snapshot())
        except EnvironmentMissing:
            # The next plan takes it in; what was taken in by this one changes nothing then.
            self._happened = [*happened, *self._happened]
            raise

    def _planned_after(self, happened: Sequence[tuple[BuildJob | TrialsJob, Event]], roster: RosterSnapshot) -> Plan:
        """Return the plan after what has happened, with these agents; takes long."""
        self._platform.roster = roster
        execution = self._opened()
        for job, event in happened:
            execution.take_in(job, event)
        return execution.next_jobs()

    def adopt(self, plan: Plan, open_jobs: Iterable[str]) -> None:
        """Take over a plan, but for the jobs that are given out."""
        self.waits_for = plan.waits_for
        is_known = self._ended_since.union(open_jobs)
        jobs = [job for job in plan.jobs if not _is_of(job, self._built_since)]
        self.planned = {job.id: job for job in jobs if job.id not in is_known}

    def finish(self) -> Document:
        """Judge, explain and record what was measured, and return the document; raises `ZerolapError`."""
        return self._opened().finish()

    def stop(self, state: DocumentState) -> None:
        """Record what there is of a request that ends early."""
        # Anew, as what was recorded last may not have been taken in.
        self._execution = None
        self._opened().stop(state)

    def stop_without_results(self, state: DocumentState) -> None:
        """Record the end of a request whose results cannot be read."""
        self._opened().stop_without_results(state)

    def _opened(self) -> Execution:
        if self._execution is None:
            self._execution = Execution(self.request, self.lab, self._platform)
        return self._execution


def _is_of(job: BuildJob | TrialsJob, builds: set[str]) -> bool:
    return isinstance(job, BuildJob) and job.spec.digest in builds


def is_built(spec: BuildSpec, builder: str, lab: Lab) -> bool:
    """Whether agents can get a build that the agents of a platform have made."""
    artifact = lab.store.fleet.artifacts([spec.digest], builder).get(spec.digest)
    return artifact is not None and _is_there(artifact, lab.builds)


def _is_there(artifact: Artifact, builds: Builds) -> bool:
    return artifact.blob is not None or builds.find(artifact.build.build) is not None


def record_build(event: BuildDone, job: BuildJob, builder: str, store: Store) -> None:
    """Record a build and its artifact; `builder` is the platform whose agents made it."""
    store.record_build(event.build, job.source)
    if event.abilities is not None:
        store.fleet.add_artifact(Artifact(event.build, builder, event.artifact, event.abilities))
