"""What a conductor records: the attempts at jobs, artifacts, platforms and agents."""

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, or_, select, update

from zerolap.records import (
    Abilities,
    AttemptState,
    Build,
    Event,
    GivenJob,
    JobFailed,
    JobFinished,
    JobKind,
    RequestState,
    TrialDone,
    TrialsJob,
    UnreadableRecord,
    UsageError,
    read_stored,
    read_stored_given_job,
)
from zerolap.store import recorded_requests as requests, trials
from zerolap.store.blobs import Blobs
from zerolap.store.database import Database, insert_new, insert_of
from zerolap.store.recorded_requests import RequestInShort, find
from zerolap.store.tables import agent, artifact, attempt, fleet_platform, job, join_token, request

OPEN_ATTEMPTS: Final = ("ready", "claimed")


@dataclass
class StoredJob:
    """A job as it is recorded, read when it is first needed: a conductor may have many thousands of them."""

    id: str
    kind: JobKind
    engine: str | None
    document: str

    @cached_property
    def job(self) -> GivenJob:
        """The job; raises `UnreadableRecord`."""
        return read_stored_given_job(self.document, self.id)


@dataclass(frozen=True)
class Attempt:
    """A job given to the agents of a platform: `ready` until an agent holds it, `claimed` until that agent ends it.

    `delivery` is the delivery by which `agent` holds it, `starts` is how often an agent has begun it. Times are in
    seconds since the epoch.
    """

    id: str
    request: str
    platform: str
    given: GivenJob | StoredJob
    state: AttemptState = "ready"
    agent: str | None = None
    delivery: int = 0
    publications: int = 0
    starts: int = 0
    created: float = 0.0
    claimed: float | None = None
    ended: float | None = None
    reason: str = ""

    @property
    def job(self) -> GivenJob:
        """The job, which may have to be read first: what looks at many attempts uses `job_id`, `kind` and `engine`."""
        return self.given.job if isinstance(self.given, StoredJob) else self.given

    @property
    def job_id(self) -> str:
        """The id of the job."""
        return self.given.id

    @property
    def kind(self) -> JobKind:
        """The kind of the job."""
        return self.given.kind

    @property
    def engine(self) -> str | None:
        """The engine that carries out the trials of the job; none if it has no trials."""
        return self.given.engine if isinstance(self.given, StoredJob | TrialsJob) else None

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.state in OPEN_ATTEMPTS


@dataclass(frozen=True)
class FleetPlatform:
    """A platform that a conductor serves: `builder` builds for it, `document` is what its agents must be."""

    name: str
    builder: str
    document: str = "{}"


@dataclass(frozen=True)
class KnownAgent:
    """An agent that has reported; `document` is its last report, `refusal` why it is given no jobs."""

    name: str
    lab: str
    platform: str
    document: str
    seen: float
    draining: bool = False
    refusal: str | None = None


@dataclass(frozen=True)
class Artifact:
    """A build that agents can fetch: the digest of its packed form, and what it knows.

    `builder` is the platform whose agents made it. Others may make another program of the same specification.
    """

    build: Build
    builder: str
    blob: str | None
    abilities: Abilities


@dataclass(frozen=True)
class Outcome:
    """What an agent reported of an attempt; `state` is the attempt's new state, none if it goes on."""

    attempt: Attempt
    event: Event
    state: AttemptState | None = None


@dataclass(frozen=True)
class AdmittedAgent:
    """An agent that may join with a token, until a time in seconds since the epoch.

    `replaces`: it belongs to the fleet already, and gets another key.
    """

    agent: str
    lab: str
    platform: str
    kind: Literal["bench", "build", "load"]
    expires: float
    replaces: bool = False


@dataclass(frozen=True)
class EndedAttempt:
    """An attempt that has ended, without its job, of which it has the id and the kind."""

    id: str
    job: str
    kind: JobKind
    state: AttemptState
    created: float
    reason: str


_WITH_JOB = select(attempt, job.c.kind, job.c.engine, job.c.document).join(job, job.c.id == attempt.c.job_id)


@dataclass(frozen=True)
class Orders:
    """What users ask the conductor for by the store.

    `open_requests` are the ids of the requests that have not ended, in the order of recording; `draining` are the names
    of the agents that are to take no further jobs.
    """

    open_requests: list[str]
    draining: frozenset[str]


class FleetRecords:
    """The tables of a conductor; its methods may be called from any thread, and raise as those of `Store`."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._blobs = blobs

    # Requests.

    def newest_requests(self, limit: int | None = None) -> list[RequestInShort]:
        """Return the newest requests to the fleet in short, or all, the newest first."""
        with self._database.read_transaction() as connection:
            return requests.newest_in_short(connection, limit)

    def open_requests_on(self, topic: str) -> list[RequestInShort]:
        """Return the requests to the fleet that have not ended and whose topic begins so, in the order of recording."""
        with self._database.read_transaction() as connection:
            return requests.open_in_short(connection, topic)

    def in_short(self, identity: str) -> RequestInShort | None:
        """Return the request to the fleet with that id in short."""
        with self._database.read_transaction() as connection:
            return requests.in_short(connection, identity)

    def comparisons(self, limit: int, before: str | None = None) -> list[RequestInShort]:
        """Return the newest comparisons that the fleet was asked for in short, the newest first.

        With `before`, only those older than the one with that id are returned.
        """
        with self._database.read_transaction() as connection:
            return requests.comparisons_in_short(connection, limit, before)

    def open_requests(self) -> list[str]:
        """Return the ids of the requests to the fleet that have not ended, in the order of recording."""
        with self._database.read_transaction() as connection:
            return requests.open_ids(connection)

    def states(self, identities: Iterable[str]) -> dict[str, RequestState]:
        """Return the states of requests by id."""
        with self._database.read_transaction() as connection:
            return requests.states(connection, identities)

    def set_state(self, identity: str, state: RequestState, reason: str = "") -> bool:
        """Set the state of a request that has not ended, and end its attempts if it ends so.

        Returns false, and changes nothing, if it has ended already.
        """
        with self._database.write_transaction() as connection:
            if not requests.set_state(connection, identity, state, reason):
                return False
            if state not in requests.OPEN_STATES:
                _cancel_attempts(connection, identity)
        return True

    def cancel_attempts(self, identity: str) -> None:
        """End the attempts of a request that have not ended."""
        with self._database.write_transaction() as connection:
            _cancel_attempts(connection, identity)

    def retry(self, identity: str) -> None:
        """Have an ended request carried out again: trials are kept, failures are forgotten.

        Raises `UsageError` for one that has not ended.
        """
        with self._database.write_transaction() as connection:
            row = find(connection, request, identity, "request")
            if row.state in requests.OPEN_STATES:
                raise UsageError(f"{row.id} is {row.state}: there is nothing to retry", hint="zerolap fleet status")
            values = {"state": "waiting", "reason": "", "ended": None}
            connection.execute(update(request).where(request.c.id == row.id).values(**values))
            failed = (job.c.request_id == row.id, job.c.failure.is_not(None))
            connection.execute(update(job).where(*failed).values(failure=None, log=None))
            given_up = (attempt.c.request_id == row.id, attempt.c.state == "given up")
            connection.execute(update(attempt).where(*given_up).values(state="cancelled"))

    # Attempts.

    def add_attempts(self, new: Sequence[Attempt]) -> None:
        """Record attempts, and the jobs of requests that they are for, before they are published."""
        with self._database.write_transaction() as connection:
            trials.keep_jobs(connection, [added.job for added in new])
            rows = [_columns(added) for added in new]
            # They may be there: a server that is lost at the end of a transaction does not tell whether it has ended.
            connection.execute(insert_new(connection, attempt), rows)

    def open_attempts(
        self, on_unreadable: Callable[[str, UnreadableRecord], None] = lambda _request, _fault: None
    ) -> list[Attempt]:
        """Return the attempts that have not ended, in the order of recording.

        `on_unreadable` is called with the request of each attempt whose job cannot be read, which is left out; trials
        are read when they are first needed.
        """
        statement = _WITH_JOB.where(attempt.c.state.in_(OPEN_ATTEMPTS)).order_by(attempt.c.number)
        attempts = []
        with self._database.read_transaction() as connection:
            for row in connection.execute(statement):
                try:
                    of_row = _attempt(row)
                    if of_row.kind != "trials":
                        # Builds and load are few, and looked at all the time: they are read now.
                        of_row = replace(of_row, given=of_row.job)
                    attempts.append(of_row)
                except UnreadableRecord as fault:
                    on_unreadable(row.request_id, fault)
        return attempts

    def attempts(self, identity: str) -> list[Attempt]:
        """Return all attempts at the jobs of a request, in the order of recording; raises `UnreadableRecord`."""
        statement = _WITH_JOB.where(attempt.c.request_id == identity).order_by(attempt.c.number)
        with self._database.read_transaction() as connection:
            return [_attempt(row) for row in connection.execute(statement)]

    def ended_attempts(self, identity: str) -> list[EndedAttempt]:
        """Return the attempts at the jobs of a request that have ended, in the order of recording."""
        columns = (attempt.c.id, attempt.c.job_id, job.c.kind, attempt.c.state, attempt.c.created, attempt.c.reason)
        is_meant = (attempt.c.request_id == identity, attempt.c.state.not_in(OPEN_ATTEMPTS))
        statement = select(*columns).join(job, job.c.id == attempt.c.job_id).where(*is_meant)
        with self._database.read_transaction() as connection:
            return [EndedAttempt(*row) for row in connection.execute(statement.order_by(attempt.c.number))]

    def job_states(self, identity: str) -> dict[str, AttemptState]:
        """Return the state of the last attempt at each job of a request, by the id of the job."""
        columns = select(attempt.c.job_id, attempt.c.state).where(attempt.c.request_id == identity)
        with self._database.read_transaction() as connection:
            return {row.job_id: row.state for row in connection.execute(columns.order_by(attempt.c.number))}

    def job_counts(self, identities: Collection[str]) -> dict[str, dict[tuple[JobKind, AttemptState], int]]:
        """Return how many jobs of each request there are, by their kind and the state of the last attempt at each."""
        is_meant = attempt.c.request_id.in_(identities)
        last = select(func.max(attempt.c.number)).where(is_meant).group_by(attempt.c.job_id)
        statement = (
            select(attempt.c.request_id, job.c.kind, attempt.c.state, func.count())
            .join(attempt, job.c.id == attempt.c.job_id)
            .where(attempt.c.number.in_(last))
            .group_by(attempt.c.request_id, job.c.kind, attempt.c.state)
        )
        counts: dict[str, dict[tuple[JobKind, AttemptState], int]] = {identity: {} for identity in identities}
        with self._database.read_transaction() as connection:
            for identity, kind, state, jobs in connection.execute(statement):
                counts[identity][kind, state] = jobs
        return counts

    def attempt_counts(self, identity: str) -> dict[AttemptState, int]:
        """Return how many attempts at the jobs of a request there were, by their state."""
        counts = select(attempt.c.state, func.count().label("attempts")).where(attempt.c.request_id == identity)
        with self._database.read_transaction() as connection:
            rows = connection.execute(counts.group_by(attempt.c.state).order_by(func.min(attempt.c.number)))
            return {row.state: row.attempts for row in rows}

    def take_in(self, changed: Sequence[Attempt], outcomes: Sequence[Outcome]) -> None:
        """Record changed attempts and what was reported of others, in one transaction.

        Trials and outcomes that are recorded already, and attempts that have ended, stay as they are.
        """
        logs = {
            index: self._blobs.put(outcome.event.details.encode())
            for index, outcome in enumerate(outcomes)
            if isinstance(outcome.event, JobFailed) and outcome.event.details
        }
        ended = [
            replace(outcome.attempt, state=outcome.state, ended=time.time())
            for outcome in outcomes
            if outcome.state is not None
        ]
        # The last state of an attempt is that which counts.
        by_id = {of_attempt.id: of_attempt for of_attempt in [*changed, *ended]}
        with self._database.write_transaction() as connection:
            _keep_outcomes(connection, outcomes, logs)
            _update_attempts(connection, [by_id[identity] for identity in sorted(by_id)])

    def recorded_trials(self, identity: str) -> tuple[TrialDone, ...]:
        """Return the trials of the job with that id that are recorded."""
        with self._database.read_transaction() as connection:
            return trials.read_trials_of_job(connection, identity)

    # Artifacts.

    def add_artifact(self, new: Artifact) -> None:
        """Record an artifact of a build that is recorded, replacing an older one of the same builder."""
        documents = {"abilities": new.abilities.model_dump_json(), "document": new.build.model_dump_json()}
        values = {"blob": new.blob, **documents}
        with self._database.write_transaction() as connection:
            statement = insert_of(connection, artifact).values(build=new.build.build, builder=new.builder, **values)
            connection.execute(statement.on_conflict_do_update(index_elements=["build", "builder"], set_=values))

    def artifacts(self, builds: Iterable[str], builder: str) -> dict[str, Artifact]:
        """Return the artifacts of builds that a builder has made, by their digests.

        One that cannot be read is left out: its build is made again, and replaces it.
        """
        statement = select(artifact).where(artifact.c.build.in_(list(builds)), artifact.c.builder == builder)
        artifacts = {}
        with self._database.read_transaction() as connection:
            for row in connection.execute(statement):
                with contextlib.suppress(UnreadableRecord):
                    artifacts[row.build] = _artifact(row)
        return artifacts

    # Platforms and agents.

    def set_platforms(self, platforms: Sequence[FleetPlatform]) -> None:
        """Record the platforms that the conductor serves, instead of those that are recorded."""
        with self._database.write_transaction() as connection:
            connection.execute(delete(fleet_platform))
            if platforms:
                rows = [{"name": one.name, "builder": one.builder, "document": one.document} for one in platforms]
                connection.execute(insert(fleet_platform), rows)

    def platforms(self) -> list[FleetPlatform]:
        """Return the platforms that a conductor serves, by name."""
        with self._database.read_transaction() as connection:
            rows = connection.execute(select(fleet_platform).order_by(fleet_platform.c.name))
            return [FleetPlatform(row.name, row.builder, row.document) for row in rows]

    def saw_agents(self, agents: Sequence[KnownAgent]) -> None:
        """Record agents, replacing what is known of them, but for whether they are to be drained."""
        with self._database.write_transaction(is_change=False) as connection:
            statement = insert_of(connection, agent)
            changed = {name: statement.excluded[name] for name in ("lab", "platform", "document", "seen", "refusal")}
            rows = [{**asdict(known), "draining": False} for known in sorted(agents, key=lambda known: known.name)]
            if rows:
                connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=changed), rows)

    def agents(self) -> list[KnownAgent]:
        """Return the agents that have ever reported, by name."""
        with self._database.read_transaction() as connection:
            rows = connection.execute(select(agent).order_by(agent.c.name))
            return [KnownAgent(**row._mapping) for row in rows]

    def orders(self) -> Orders:
        """Return what other processes have asked the conductor for."""
        with self._database.read_transaction() as connection:
            draining = connection.execute(select(agent.c.name).where(agent.c.draining)).scalars()
            return Orders(requests.open_ids(connection), frozenset(draining))

    def drain(self, name: str, *, draining: bool = True) -> list[str]:
        """Have the agent, or the agents of the platform, of that name take no further jobs, or take them again.

        Returns their names; raises `UsageError` if there are none.
        """
        is_meant = (agent.c.name == name) | (agent.c.platform == name)
        with self._database.write_transaction() as connection:
            names = list(connection.execute(select(agent.c.name).where(is_meant).order_by(agent.c.name)).scalars())
            connection.execute(update(agent).where(is_meant).values(draining=draining))
        if not names:
            raise UsageError(f"no agent or platform {name!r} is known", hint="zerolap fleet status lists them")
        return names

    # Tokens by which agents join.

    def add_join_token(self, digest: str, admitted: AdmittedAgent) -> None:
        """Record a token by its SHA-256; those that have expired are removed."""
        with self._database.write_transaction() as connection:
            connection.execute(delete(join_token).where(join_token.c.expires < time.time()))
            connection.execute(insert(join_token).values(digest=digest, **asdict(admitted)))

    def redeem_join_token(self, digest: str) -> AdmittedAgent | None:
        """Return which agent a token admits, and remove the token; none if it is not known, was used or has expired."""
        is_meant = (join_token.c.digest == digest, join_token.c.expires >= time.time())
        with self._database.write_transaction() as connection:
            row = connection.execute(delete(join_token).where(*is_meant).returning(join_token)).first()
        if row is None:
            return None
        return AdmittedAgent(row.agent, row.lab, row.platform, row.kind, row.expires, row.replaces)


def _cancel_attempts(connection: Connection, identity: str) -> None:
    is_meant = (attempt.c.request_id == identity, attempt.c.state.in_(OPEN_ATTEMPTS))
    connection.execute(update(attempt).where(*is_meant).values(state="cancelled", ended=time.time()))


def _keep_outcomes(connection: Connection, outcomes: Sequence[Outcome], logs: Mapping[int, str]) -> None:
    """Write what was reported of trials; `logs` are the blobs of failures, by the place of the outcome."""
    done, finished = [], []
    for index, outcome in enumerate(outcomes):
        of_job, event = outcome.attempt.job, outcome.event
        if not isinstance(of_job, TrialsJob):
            # Its end is that of the attempt; a build itself is recorded with its artifact.
            continue
        if isinstance(event, TrialDone):
            done.append((of_job, event))
        elif isinstance(event, JobFailed):
            trials.keep_failure(connection, of_job.id, event, logs.get(index))
        elif isinstance(event, JobFinished):
            finished.append(event)
    trials.keep_trials(connection, done)
    trials.keep_finishes(connection, finished)


def _update_attempts(connection: Connection, attempts: Sequence[Attempt]) -> None:
    """Write the columns of attempts that have not ended in the database."""
    if not attempts:
        return
    names = ("state", "agent", "delivery", "publications", "starts", "claimed", "ended", "reason")
    # Not `in_`, whose number of parameters is not known before.
    is_open = or_(*(attempt.c.state == state for state in OPEN_ATTEMPTS))
    statement = update(attempt).where(attempt.c.id == bindparam("of_attempt"), is_open)
    rows = [{"of_attempt": one.id, **{f"new_{name}": getattr(one, name) for name in names}} for one in attempts]
    connection.execute(statement.values({name: bindparam(f"new_{name}") for name in names}), rows)


def _columns(of_attempt: Attempt) -> dict[str, Any]:
    """Return the columns of an attempt."""
    return {
        "id": of_attempt.id,
        "request_id": of_attempt.request,
        "job_id": of_attempt.job_id,
        "platform": of_attempt.platform,
        "state": of_attempt.state,
        "agent": of_attempt.agent,
        "delivery": of_attempt.delivery,
        "publications": of_attempt.publications,
        "starts": of_attempt.starts,
        "created": of_attempt.created,
        "claimed": of_attempt.claimed,
        "ended": of_attempt.ended,
        "reason": of_attempt.reason,
    }


def _attempt(row: Row[Any]) -> Attempt:
    counts = ("delivery", "publications", "starts")
    same = ("id", "platform", "state", "agent", *counts, "created", "claimed", "ended", "reason")
    columns = {name: getattr(row, name) for name in same}
    given = StoredJob(row.job_id, row.kind, row.engine, row.document)
    return Attempt(request=row.request_id, given=given, **columns)


def _artifact(row: Row[Any]) -> Artifact:
    name = f"the artifact of the build {row.build}"
    build, abilities = read_stored(Build, row.document, name), read_stored(Abilities, row.abilities, name)
    return Artifact(build, row.builder, row.blob, abilities)
