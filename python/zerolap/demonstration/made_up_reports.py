"""Made-up comparisons and runs: their requests, jobs, trials and documents, written as the lab writes real ones."""

import math
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final, Literal

from zerolap.demonstration.made_up_functions import file_of
from zerolap.demonstration.made_up_server import (
    BRANCH,
    GITHUB_REPOSITORY,
    NOT_MEASURED,
    REPOSITORY,
    Machine,
    MadeUpServer,
    instant,
)
from zerolap.demonstration.made_up_trials import (
    COUNTED_BLOCKS,
    DISTURBED,
    SATURATED,
    STARTS,
    MadeUpMetrics,
    MeasuredBuild,
    functions_by_share,
)
from zerolap.demonstration.made_up_verdicts import MIN_EFFECTS, MadeUpCase, Q
from zerolap.records import (
    BASE,
    HEAD,
    Amounts,
    Block,
    Case,
    CaseResult,
    Comparison,
    FunctionCost,
    JobFinished,
    Measurement,
    Priority,
    Request,
    RequestedServer,
    RequestState,
    Resolved,
    ResolvedServer,
    RunCase,
    RunReport,
    ServerSpec,
    Settings,
    Side,
    Spread,
    StartRatio,
    Summary,
    TrialDone,
    TrialsJob,
    Validity,
)
from zerolap.store import Attempt, Outcome, Store

JOB_SECONDS: Final = 42.0
ASKED_BEFORE: Final = timedelta(seconds=90)
"""So long before it began, a request was asked for."""
RUN_COUNTED: Final = ("instructions_per_op", "allocations_per_op", "syscalls_per_op")
RUN_TIMED: Final = ("cpu_ns_per_op", "ops_per_sec", "latency_p50_us", "latency_p99_us")
IDENTICAL_TIMED: Final = 0.12
INVALID_CASE: Final = "rpush-lpop"
"""Of comparisons with a fault: it is invalid there."""
BLOCK_OF_FAULT: Final = 2


@dataclass(frozen=True)
class MadeUpReport:
    """A comparison of two commits, or the run of one, on a machine, begun at a time.

    `base` is none for a run. With `is_detailed` it has timelines, stacks and call graphs. `has_fault`: a case is
    invalid because the machine was disturbed. `trigger` is what caused it, `agent` who measured it.
    """

    server: MadeUpServer
    base: int | None
    head: int
    machine: Machine
    began: datetime
    agent: str
    cases: tuple[str, ...] = ()
    is_timed: bool = True
    is_detailed: bool = False
    has_fault: bool = False
    priority: Priority = "backfill"
    topic: str = ""
    trigger: str = "schedule"
    command_line: str = ""
    digests: dict[str, str] = field(default_factory=dict)

    @cached_property
    def id(self) -> str:
        """The id of request and document."""
        return self.server.identity("r" if self.base is None else "c", self.base, self.head, self.machine, self.topic)

    @property
    def asked(self) -> datetime:
        """When it was asked for."""
        return self.began - ASKED_BEFORE

    @property
    def kind(self) -> Literal["compare", "run"]:
        """Whether two commits are compared, or one is measured."""
        return "run" if self.base is None else "compare"

    @property
    def sides(self) -> dict[Side, int]:
        """The commits by side."""
        return {HEAD: self.head} if self.base is None else {BASE: self.base, HEAD: self.head}

    @property
    def selected(self) -> tuple[Case, ...]:
        """The cases that are measured."""
        return tuple(case for case in self.server.cases if not self.cases or case.name in self.cases)

    @property
    def counted_blocks(self) -> int:
        """How often each case is counted on a side."""
        return COUNTED_BLOCKS if self.is_detailed else 2

    @property
    def starts(self) -> int:
        """How many starts of each side are timed."""
        return STARTS if self.is_detailed else 3

    @cached_property
    def settings(self) -> Settings:
        """How it is measured."""
        return Settings(
            engines=["counted", "timed", "sampled"] if self.is_timed else ["counted"],
            min_effect=dict(MIN_EFFECTS),
            q=Q,
            budget_seconds=480.0,
            seed=self.server.draw("seed", self.id).randrange(1 << 31),
            level=0.99,
            equivalence_level=0.05,
            regression_rule="interval beyond 0, estimate beyond the minimum effect",
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
            command_line=self.command_line or shlex.join(words),
            servers={
                side: RequestedServer(source=self.server.source(position)) for side, position in self.sides.items()
            },
            cases=self.selected,
            settings=self.settings,
            platform=self.machine,
            priority=self.priority,
            topic=self.topic or f"{GITHUB_REPOSITORY}@{BRANCH}",
            trigger=self.trigger,
            notes=(NOT_MEASURED,),
            is_seed_drawn=True,
        )

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
            cases=self.selected,
            notes=(NOT_MEASURED,),
        )

    def begin(self, store: Store) -> None:
        """Record the request, its builds, and that it runs."""
        for position in self.sides.values():
            store.record_build(self.server.build(position, self.machine), self.server.source(position))
        store.begin(self.resolved)

    def record(self, store: Store, state: RequestState = "done") -> None:
        """Record the whole of it with its end."""
        self.begin(store)
        attempts, outcomes = self.measured(store)
        store.fleet.add_attempts(attempts)
        store.fleet.take_in([], outcomes)
        if self.base is None:
            store.record_run(self.run_report())
        else:
            comparison = self.comparison()
            store.record_comparison(comparison)
            if self.is_timed:
                store.record_spreads(self.id, self._spreads(), "standalone")
                store.record_start_ratios(self.id, self._start_ratios(outcomes))
        store.end(self.id, state)
        submitted = self.asked.timestamp()
        store.dated.request(self.id, submitted, submitted + 60 + JOB_SECONDS * len(attempts))

    # Trials.

    def job(self, case: Case, engine: str) -> TrialsJob:
        """Return the job of a case and an engine."""
        blocks = {"counted": self.counted_blocks, "timed": self.starts}.get(engine, 1)
        return TrialsJob(
            request=self.id,
            case=case,
            servers={
                side: ServerSpec(
                    build=self.server.spec(position, self.machine).digest, topology=case.topology, config=case.config
                )
                for side, position in self.sides.items()
            },
            engine=engine,
            blocks=tuple(Block(number=number, seed=self.settings.seed + number) for number in range(blocks)),
            amounts=Amounts(),
        )

    def measured(self, store: Store) -> tuple[list[Attempt], list[Outcome]]:
        """Return the attempts at all jobs, and what was measured in them."""
        attempts: list[Attempt] = []
        outcomes: list[Outcome] = []
        for case in self.selected:
            for engine in self._engines(case):
                job = self.job(case, engine)
                attempt = self._attempt(job, len(attempts))
                attempts.append(attempt)
                for block in range(len(job.blocks)):
                    measurements = {side: self._measurement(store, case, engine, block, side) for side in self.sides}
                    done = TrialDone(job=job.id, block=block, measurements=measurements)
                    outcomes.append(Outcome(attempt, done))
                outcomes.append(Outcome(attempt, JobFinished(job=job.id)))
        return attempts, outcomes

    def _engines(self, case: Case) -> Sequence[str]:
        if not self._is_timed(case):
            return ("counted",)
        return ("counted", "timed", "sampled") if self.is_detailed else ("counted", "timed")

    def _is_timed(self, case: Case) -> bool:
        """Whether a case is timed: of those that are identical, a sample is."""
        if self.base is None or not self.server.is_identical(self.base, self.head, case.name):
            return self.is_timed
        return self.is_timed and self.server.draw("sample", self.id, case.name).random() < IDENTICAL_TIMED

    def _attempt(self, job: TrialsJob, place: int) -> Attempt:
        created = self.began.timestamp() - 30
        claimed = self.began.timestamp() + JOB_SECONDS * place
        return Attempt(
            id=self.server.identity("a", job.id),
            request=self.id,
            platform=self.machine,
            given=job,
            state="done",
            agent=self.agent,
            delivery=1,
            publications=1,
            starts=1,
            created=created,
            claimed=claimed,
            ended=claimed + JOB_SECONDS - 2,
        )

    def _measurement(self, store: Store, case: Case, engine: str, block: int, side: Side) -> Measurement:
        build = self._build(store, case, side)
        if engine == "sampled":
            return build.sampled()
        if engine == "counted":
            return build.counted(block, self._graph(build, side) if block == 0 and self.is_detailed else None)
        is_disturbed = self.has_fault and block == BLOCK_OF_FAULT and case.name == INVALID_CASE
        return build.timed(block, has_timeline=self.is_detailed, fault=DISTURBED if is_disturbed else None)

    def _graph(self, build: MeasuredBuild, side: Side) -> str:
        key = f"{build.case} {side}"
        if key not in self.digests:
            self.digests[key] = build.graph()
        return self.digests[key]

    def _build(self, store: Store, case: Case, side: Side) -> MeasuredBuild:
        return MeasuredBuild(self._metrics(case, self.sides[side]), store.blobs)

    def _metrics(self, case: Case, position: int) -> MadeUpMetrics:
        return MadeUpMetrics(self.server, case.name, position, self.machine, self.began, self.id)

    # Documents.

    def comparison(self) -> Comparison:
        """Return the document of a comparison."""
        cases = [self._case_result(case) for case in self.selected]
        words = [case.verdict for case in cases]
        return Comparison(
            id=self.id,
            created=instant(self.asked),
            command_line=self.request.exact_command_line,
            state="done",
            base=self.server.measured(self.sides[BASE], self.machine),
            head=self.server.measured(self.head, self.machine),
            platform=self.server.platform(self.machine, self.began),
            settings=self.settings,
            summary=Summary(
                regression=words.count("regression"),
                improvement=words.count("improvement"),
                same=words.count("same"),
                unsure=words.count("unsure"),
                invalid=words.count("invalid"),
                machine_seconds=round(JOB_SECONDS * 0.7 * len(cases), 1),
            ),
            notes=[NOT_MEASURED],
            cases=cases,
        )

    def _compared(self, case: Case) -> MadeUpCase:
        return MadeUpCase(
            case,
            self._metrics(case, self.sides[BASE]),
            self._metrics(case, self.head),
            self._is_timed(case),
            self.counted_blocks,
            self.starts,
        )

    def _case_result(self, case: Case) -> CaseResult:
        if self.has_fault and case.name == INVALID_CASE:
            return self._compared(case).invalid(DISTURBED)
        return self._compared(case).result()

    def run_report(self) -> RunReport:
        """Return the document of a run."""
        return RunReport(
            id=self.id,
            created=instant(self.asked),
            command_line=self.request.exact_command_line,
            server=self.server.measured(self.head, self.machine),
            platform=self.server.platform(self.machine, self.began),
            settings=self.settings,
            machine_seconds=round(JOB_SECONDS * 0.6 * len(self.selected), 1),
            notes=[NOT_MEASURED],
            cases=[self._run_case(case) for case in self.selected],
        )

    def _run_case(self, case: Case) -> RunCase:
        measured = self._metrics(case, self.head)
        metrics = {metric: measured.mean("counted", metric, self.counted_blocks) for metric in RUN_COUNTED}
        metrics |= {metric: measured.mean("timed", metric, self.starts) for metric in RUN_TIMED}
        instructions, cpu = metrics["instructions_per_op"], metrics["cpu_ns_per_op"]
        counted = dict(functions_by_share(self.server.function_weights(case.name, self.head, None)))
        shares = functions_by_share(self.server.function_weights(case.name, self.head, self.machine))
        is_invalid = self.has_fault and case.name == INVALID_CASE
        return RunCase(
            case=case.name,
            commands=case.verbs,
            group=case.group,
            topology=case.topology.name,
            validity=Validity.of([SATURATED]) if is_invalid else Validity.of([]),
            metrics={} if is_invalid else metrics,
            functions=[]
            if is_invalid
            else [
                FunctionCost(
                    function=name,
                    file=file_of(name),
                    self_instructions_per_op=round(counted.get(name, 0.0) * instructions, 1),
                    calls_per_op=1.0,
                    self_cpu_ns_per_op=round(share * cpu, 1),
                    share=round(share, 4),
                )
                for name, share in shares[:12]
            ],
            samples=self.starts,
        )

    # What is learnt of starts.

    def _spreads(self) -> dict[tuple[str, str], Spread]:
        spreads = {}
        for case in self.selected:
            draw = self.server.draw("spread", self.id, case.name)
            variance = (0.006 * math.exp(draw.gauss(0, 0.25))) ** 2
            spreads[case.name, "cpu_ns_per_op"] = Spread(variance=variance, degrees=2.0 * (self.starts - 1))
        return spreads

    def _start_ratios(self, outcomes: Iterable[Outcome]) -> list[StartRatio]:
        ratios = []
        for outcome in outcomes:
            job, done = outcome.attempt.job, outcome.event
            if not isinstance(job, TrialsJob) or not isinstance(done, TrialDone) or job.engine != "timed":
                continue
            base, head = (done.measurements[side].metrics["cpu_ns_per_op"] for side in (BASE, HEAD))
            ratio = math.log(head / base)
            ratios.append(
                StartRatio(
                    case=job.case.name, metric="cpu_ns_per_op", engine="timed", block=done.block, log_ratio=ratio
                )
            )
        return ratios
