"""Made-up comparisons, runs and sweeps: planned, judged and explained as the lab does it with what it measures."""

import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import Final, Literal

from zerolap.demonstration.made_up_reasons import MadeUpExplainer
from zerolap.demonstration.made_up_server import (
    ARM,
    BRANCH,
    GITHUB_REPOSITORY,
    NOT_MEASURED,
    REPOSITORY,
    Machine,
    MadeUpServer,
    instant,
)
from zerolap.demonstration.made_up_trials import (
    DISTURBED,
    MISSED,
    START_SCATTER,
    UNSTEADY_SCATTER,
    MadeUpMetrics,
    MeasuredBuild,
)
from zerolap.documents import CaseExplainer, Results
from zerolap.engines import Simulated
from zerolap.lab import Execution, Lab, LocalPlatform
from zerolap.records import (
    BASE,
    HEAD,
    Block,
    Build,
    BuildSpec,
    Event,
    Kernel,
    Measurement,
    Priority,
    Request,
    RequestedServer,
    Resolved,
    ResolvedServer,
    Settings,
    Side,
    TrialsJob,
)
from zerolap.store import Attempt, Outcome, Store

JOB_SECONDS: Final = 7.0
BUDGET_SECONDS: Final = 1200.0
ASKED_BEFORE: Final = timedelta(seconds=90)
"""So long before it began, a request was asked for."""
INVALID_CASE: Final = "rpush-lpop"
"""Of reports with a fault: the head finds too few of its keys."""
DISTURBED_CASE: Final = "sismember"
"""Of reports with a fault: other guests of the machine took processors from all of its starts."""


@dataclass(frozen=True)
class MadeUpRequest(ABC):
    """A request that a machine has begun to carry out at a time; its trials are made up."""

    server: MadeUpServer
    machine: Machine
    began: datetime

    @property
    @abstractmethod
    def sides(self) -> dict[Side, int]:
        """The commits by side."""

    @property
    @abstractmethod
    def request(self) -> Request:
        """The request as it was asked for."""

    @property
    def kernel(self) -> Kernel | None:
        """The kernel of emulated machines; none without such."""
        return None

    @abstractmethod
    def measured(self, job: TrialsJob, block: Block, side: Side, trials: "MadeUpTrials") -> Measurement:
        """Return what a trial of a job measures on a side."""

    @property
    def asked(self) -> datetime:
        """When it was asked for."""
        return self.began - ASKED_BEFORE

    @cached_property
    def resolved(self) -> Resolved:
        """What the request means on its machine."""
        return Resolved(
            request=self.request,
            platform=self.server.platform(self.machine, self.began),
            servers={
                side: ResolvedServer(
                    source=self.server.source(position),
                    variant="default",
                    spec=self.server.spec(position, self.machine),
                )
                for side, position in self.sides.items()
            },
            cases=self.request.cases,
            notes=self.request.notes,
            kernel=self.kernel,
        )

    def begin(self, store: Store) -> Execution:
        """Record the request, its builds, and that it runs; return its execution."""
        store.submit([self.request])
        execution = Execution(self.request, Lab(store), MadeUpPlatform(self, store))
        execution.begin(self.resolved)
        return execution

    def record(self, store: Store, trials: "MadeUpTrials") -> None:
        """Have the whole of it planned, measured by a simulated engine and judged, and record it with its end."""
        execution = self.begin(store)
        attempts: list[Attempt] = []
        outcomes: list[Outcome] = []
        while jobs := self.jobs(execution):
            for job in jobs:
                attempts.append(self.attempt(job, len(attempts)))
                for event in trials.carry_out(job, self):
                    outcomes.append(Outcome(attempts[-1], event))
                    execution.take_in(job, event)
        store.fleet.add_attempts(attempts)
        store.fleet.take_in([], outcomes)
        execution.finish()
        store.end(self.request.id, "done")
        submitted = self.asked.timestamp()
        store.dated.request(self.request.id, submitted, self.began.timestamp() + JOB_SECONDS * len(attempts))

    def jobs(self, execution: Execution) -> list[TrialsJob]:
        """Return the next jobs, which are no builds."""
        return [job for job in execution.next_jobs().jobs if isinstance(job, TrialsJob)]

    def attempt(self, job: TrialsJob, place: int) -> Attempt:
        """Return the attempt at a job, which has so many jobs before it."""
        claimed = self.began.timestamp() + JOB_SECONDS * place
        return Attempt(
            id=self.server.identity("a", job.id),
            request=self.request.id,
            platform=self.machine,
            given=job,
            state="done",
            agent="arm-agent-a" if self.machine == ARM else "x86-agent-a",
            delivery=1,
            publications=1,
            starts=1,
            created=self.began.timestamp() - 30,
            claimed=claimed,
            ended=claimed + JOB_SECONDS - 2,
        )


@dataclass(frozen=True)
class MadeUpReport(MadeUpRequest):
    """A comparison of two commits, or the run of one.

    `base` is none for a run. With `is_detailed` it has the stacks of all cases. `has_fault`: a case is invalid, and
    another one was disturbed. The times of the case `unsteady` differ much from start to start. `trigger` is what
    caused it.
    """

    base: int | None
    head: int
    cases: tuple[str, ...] = ()
    is_detailed: bool = False
    has_fault: bool = False
    unsteady: str = ""
    priority: Priority = "backfill"
    topic: str = ""
    trigger: str = "schedule"

    @cached_property
    def id(self) -> str:
        """The id of request and document."""
        return self.server.identity("r" if self.base is None else "c", self.base, self.head, self.machine, self.topic)

    @property
    def kind(self) -> Literal["compare", "run"]:
        """Whether two commits are compared, or one is measured."""
        return "run" if self.base is None else "compare"

    @property
    def sides(self) -> dict[Side, int]:
        """The commits by side."""
        return {HEAD: self.head} if self.base is None else {BASE: self.base, HEAD: self.head}

    @cached_property
    def settings(self) -> Settings:
        """How it is measured."""
        return Settings(
            engines=["counted", "timed", "sampled"],
            min_effect={"counted": 0.005, "timed": 0.02},
            q=0.01,
            budget_seconds=BUDGET_SECONDS,
            seed=self.server.draw("seed", self.id).randrange(1 << 31),
        )

    @cached_property
    def request(self) -> Request:
        """The request as it was asked for."""
        names = [self.server.commits[position].name for position in self.sides.values()]
        words = ["zerolap", self.kind, *([] if self.base is None else [names[0]])]
        words += [names[-1]] if self.base is not None else ["--server", names[-1]]
        words += [*self.cases, "--repo", str(REPOSITORY), "--platform", self.machine]
        return Request(
            id=self.id,
            kind=self.kind,
            created=instant(self.asked),
            command_line=shlex.join(words),
            servers={
                side: RequestedServer(source=self.server.source(position)) for side, position in self.sides.items()
            },
            cases=tuple(case for case in self.server.cases if not self.cases or case.name in self.cases),
            settings=self.settings,
            platform=self.machine,
            priority=self.priority,
            topic=self.topic or f"{GITHUB_REPOSITORY}@{BRANCH}",
            trigger=self.trigger,
            all_stacks=self.is_detailed,
            notes=(NOT_MEASURED,),
            is_seed_drawn=True,
        )

    def measured(self, job: TrialsJob, block: Block, side: Side, trials: "MadeUpTrials") -> Measurement:
        """Return what a trial of a job measures on a side."""
        case = job.case.name
        scatter = UNSTEADY_SCATTER if case == self.unsteady else START_SCATTER
        metrics = MadeUpMetrics(self.server, case, self.sides[side], self.machine, self.began, self.id, scatter)
        build = MeasuredBuild(metrics, trials.blobs, trials.shared)
        if job.engine == "sampled":
            return build.sampled(block.number)
        if job.engine == "timed":
            return build.timed(block, job.amounts, DISTURBED if self.has_fault and case == DISTURBED_CASE else None)
        is_faulty = self.has_fault and case == INVALID_CASE and side == HEAD
        return build.counted(block.number, MISSED if is_faulty else None)


class MadeUpTrials:
    """Carries out the jobs of requests by a simulated engine.

    `shared` has digests of blobs that many trials share, by kind, case and the last commit that changed the case.
    """

    def __init__(self, store: Store) -> None:
        self.blobs = store.blobs
        self.shared: dict[tuple[str, str, int], str] = {}
        self._place = Lab(store).place

    def carry_out(self, job: TrialsJob, request: MadeUpRequest) -> Iterator[Event]:
        """Carry out a job of a request."""
        return Simulated(measured=partial(request.measured, trials=self)).carry_out(job, self._place)


class MadeUpPlatform(LocalPlatform):
    """The machine of a request: it has all builds, none of which is a program."""

    def __init__(self, request: MadeUpRequest, store: Store) -> None:
        super().__init__(Lab(store))
        self._request = request
        self._blobs = store.blobs

    def builds(self, specs: Mapping[Side, BuildSpec]) -> Mapping[str, Build]:
        """Return the builds."""
        server, machine = self._request.server, self._request.machine
        return {specs[side].digest: server.build(place, machine) for side, place in self._request.sides.items()}

    def explainer(self, results: Results) -> CaseExplainer:
        """Return what explains the comparison by sources that are made up."""
        sides = self._request.sides
        return MadeUpExplainer(self._request.server, sides[BASE], sides[HEAD], self._request.machine, self._blobs)
