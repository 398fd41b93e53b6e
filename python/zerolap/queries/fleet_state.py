"""The fleet: its agents, what each of them runs, what waits, what was lost, and the newest requests."""

import time
from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, Field

from zerolap.queries.named_commits import NamedCommit, named_commits
from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.records import (
    REPORT_PATHS,
    AttemptState,
    FleetJob,
    JobFailure,
    JobKind,
    Priority,
    Record,
    ReportPath,
    RequestState,
    UnreadableRecord,
    moment_text,
    read_stored,
)
from zerolap.store import KnownAgent, RequestInShort, Store

GONE_AFTER_SECONDS: Final = 60.0
"""An agent without a report for this time is gone, as in `zerolap fleet status`."""
MOST_HELD: Final = 500
MOST_LOST: Final = 50
MOST_REQUESTS: Final = 200
OPEN: Final = frozenset({"waiting", "running"})

AgentState: TypeAlias = Literal["busy", "idle", "draining", "refused", "gone"]


class FleetAgent(Record):
    """An agent; `since` is when its state began, empty where that is not known.

    `seen` is its last report, `refusal` why it is given no jobs, `fingerprint` that of its machine, empty where its
    report cannot be read. `runs` is its current job, `ran` its last one.
    """

    name: str
    lab: str
    platform: str
    state: AgentState
    since: str
    draining: bool
    seen: str
    seen_seconds_ago: float
    refusal: str
    version: str
    cpu: str
    fingerprint: str
    runs: FleetJob | None
    ran: FleetJob | None


class FleetQueue(Record):
    """A platform: its builder, its agents that take jobs, and its open jobs.

    `oldest` is when the oldest open job was recorded.
    """

    platform: str
    builder: str
    agents: int
    waiting: int
    held: int
    oldest: str


class FleetRequest(Record):
    """A request to the fleet; `jobs` are counted by the state of the last try at each."""

    id: str
    path: ReportPath
    platform: str
    sides: tuple[str, ...]
    head_commit: NamedCommit | None
    state: RequestState
    is_open: bool
    priority: Priority
    cause: str
    reason: str
    submitted: str
    ended: str
    jobs: dict[AttemptState, int]


class FleetState(Record):
    """The fleet. `held` are the jobs that agents hold, `lost` the newest that were given up or have failed.

    `requests` are the newest, that first which was asked for last.
    """

    agents: tuple[FleetAgent, ...]
    queues: tuple[FleetQueue, ...]
    held: tuple[FleetJob, ...]
    lost: tuple[FleetJob, ...]
    requests: tuple[FleetRequest, ...]


class FleetParameters(Parameters):
    """How many of the newest requests are shown."""

    limit: Annotated[int, Field(ge=1, le=MOST_REQUESTS, description="How many of the newest requests.")] = 20


class _Machine(BaseModel):
    cpu: str = ""
    fingerprint: str = ""


class _AgentReport(BaseModel):
    """What is read of an agent's last report; a refused one of another version may have less."""

    zerolap: str = ""
    platform: _Machine = _Machine()


def read_fleet_state(sources: QuerySources, parameters: FleetParameters) -> FleetState:
    """Return the state of a fleet; without one, of the agent that is this machine."""
    store = sources.store
    known, now = store.fleet.agents(), time.time()
    held, lost = store.attempts.held(MOST_HELD), store.attempts.lost(MOST_LOST)
    ended = store.attempts.last_of_agents([agent.name for agent in known])
    requests = store.fleet.newest_requests(parameters.limit)
    counts = store.fleet.job_counts([work.id for work in requests])
    commits = named_commits(sources, (work.head_commit for work in requests))
    runs = {job.agent: job for job in held if job.agent is not None}
    agents = tuple(_agent(agent, runs.get(agent.name), ended.get(agent.name), now) for agent in known)
    return FleetState(
        agents=agents,
        queues=tuple(_queues(store, agents)),
        held=tuple(held),
        lost=tuple(lost),
        requests=tuple(
            _request(work, counts[work.id], commits)
            for work in sorted(requests, key=lambda work: work.submitted or 0.0, reverse=True)
        ),
    )


def _agent(known: KnownAgent, runs: FleetJob | None, ran: FleetJob | None, now: float) -> FleetAgent:
    state = _state(known, runs, now)
    since = {"busy": "" if runs is None else runs.since, "idle": "" if ran is None else ran.ended or ""}
    report = _report(known)
    return FleetAgent(
        name=known.name,
        lab=known.lab,
        platform=known.platform,
        state=state,
        since=moment_text(known.seen) if state == "gone" else since.get(state, ""),
        draining=known.draining,
        seen=moment_text(known.seen),
        seen_seconds_ago=round(max(0.0, now - known.seen), 1),
        refusal=known.refusal or "",
        version=report.zerolap,
        cpu=report.platform.cpu,
        fingerprint=report.platform.fingerprint,
        runs=runs,
        ran=ran,
    )


def _state(known: KnownAgent, runs: FleetJob | None, now: float) -> AgentState:
    if known.refusal is not None:
        return "refused"
    if now - known.seen > GONE_AFTER_SECONDS:
        return "gone"
    if known.draining:
        return "draining"
    return "idle" if runs is None else "busy"


def _report(known: KnownAgent) -> _AgentReport:
    try:
        return read_stored(_AgentReport, known.document, f"the agent {known.name}")
    except UnreadableRecord:
        return _AgentReport()


def _queues(store: Store, agents: Iterable[FleetAgent]) -> Iterable[FleetQueue]:
    served = {platform.name: platform.builder for platform in store.fleet.platforms()}
    queues = {queue.platform: queue for queue in store.attempts.queues()}
    working = [agent.platform for agent in agents if agent.state in ("busy", "idle")]
    for name in sorted({*served, *served.values(), *queues}):
        queue = queues.get(name)
        yield FleetQueue(
            platform=name,
            builder=served.get(name, ""),
            agents=working.count(name),
            waiting=0 if queue is None else queue.waiting,
            held=0 if queue is None else queue.held,
            oldest="" if queue is None else moment_text(queue.oldest),
        )


def _request(
    work: RequestInShort, counts: Mapping[tuple[JobKind, AttemptState], int], commits: Mapping[str, NamedCommit]
) -> FleetRequest:
    jobs: dict[AttemptState, int] = {}
    for (_, state), count in counts.items():
        jobs[state] = jobs.get(state, 0) + count
    return FleetRequest(
        id=work.id,
        path=REPORT_PATHS[work.kind],
        platform=work.platform,
        sides=tuple(side.name for side in work.sides.values()),
        head_commit=commits.get(work.head_commit or ""),
        state=work.state,
        is_open=work.state in OPEN,
        priority=work.priority,
        cause=work.trigger,
        reason=work.reason or work.unreadable,
        submitted=moment_text(work.submitted),
        ended=moment_text(work.ended),
        jobs=jobs,
    )


def _agent_rows(fleet: FleetState) -> Iterable[TableRow]:
    yield ("agent", "lab", "platform", "state", "since", "seen", "job", "request", "job since", "refusal", "version")
    for agent in fleet.agents:
        runs = agent.runs
        job = ("", "", "") if runs is None else (runs.subject or runs.kind, runs.request, runs.since)
        row = (agent.name, agent.lab, agent.platform, agent.state, agent.since, agent.seen)
        yield (*row, *job, agent.refusal, agent.version)


FLEET: Final = PageQuery(
    name="fleet",
    summary="Agents with what they run, queues, lost jobs, and the newest requests to the fleet",
    parameters=FleetParameters,
    result=FleetState,
    read=read_fleet_state,
    table=_agent_rows,
)


class JobFailureParameters(Parameters):
    """Which job."""

    job: Annotated[str, Field(pattern=r"^j-[0-9a-f-]{1,64}$", description="Its id.")]


def _read_failure(sources: QuerySources, parameters: JobFailureParameters) -> JobFailure:
    return sources.store.attempts.failure(parameters.job)


JOB_FAILURE: Final = PageQuery(
    name="job-failure",
    summary="Why a job has failed, with the end of its log",
    parameters=JobFailureParameters,
    result=JobFailure,
    read=_read_failure,
)
