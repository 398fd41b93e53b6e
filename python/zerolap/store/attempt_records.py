"""What agents do and did: the jobs that they hold, those that wait, and those that were lost, in short."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel
from sqlalchemy import Row, Select, func, select

from zerolap.records import (
    REPORT_PATHS,
    AttemptState,
    FleetJob,
    JobFailed,
    JobFailure,
    UnreadableRecord,
    UsageError,
    moment_text,
    read_stored,
)
from zerolap.store.blobs import Blobs
from zerolap.store.database import Database
from zerolap.store.store_errors import BlobDamaged
from zerolap.store.tables import attempt, job, request

LOST: Final[tuple[AttemptState, ...]] = ("given up", "failed")
LOOKED_AT: Final = 2_000
"""How many of the newest attempts are searched for an agent's last one: a lab has millions of attempts."""
MOST_LOG_BYTES: Final = 64 << 10
_IN_SHORT: Final = (
    *(attempt.c[name] for name in ("number", "id", "request_id", "job_id", "platform", "state", "agent")),
    *(attempt.c[name] for name in ("publications", "starts", "created", "claimed", "ended", "reason")),
    *(job.c.kind, job.c.case, job.c.engine),
    request.c.kind.label("request_kind"),
)


@dataclass(frozen=True)
class PlatformQueue:
    """The jobs of a platform that have not ended: how many wait, how many are held, since when the oldest is there."""

    platform: str
    waiting: int
    held: int
    oldest: float | None


class _NamedSource(BaseModel):
    name: str


class _SourceOfBuild(BaseModel):
    source: _NamedSource


class AttemptRecords:
    """Reads attempts for those who look at a fleet; its methods may be called from any thread."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._blobs = blobs

    def held(self, limit: int) -> list[FleetJob]:
        """Return the attempts that agents hold, in the order of recording."""
        return self._read(_in_short().where(attempt.c.state == "claimed").order_by(attempt.c.number).limit(limit))

    def queues(self) -> list[PlatformQueue]:
        """Return the queues that are not empty, by platform."""
        open_states = attempt.c.state.in_(("ready", "claimed"))
        statement = (
            select(attempt.c.platform, attempt.c.state, func.count().label("jobs"), func.min(attempt.c.created))
            .where(open_states)
            .group_by(attempt.c.platform, attempt.c.state)
        )
        queues: dict[str, PlatformQueue] = {}
        with self._database.read_transaction() as connection:
            for platform, state, jobs, oldest in connection.execute(statement):
                queue = queues.get(platform, PlatformQueue(platform, 0, 0, None))
                queue = replace(queue, oldest=oldest if queue.oldest is None else min(queue.oldest, oldest))
                queue = replace(queue, waiting=jobs) if state == "ready" else replace(queue, held=jobs)
                queues[platform] = queue
        return [queues[name] for name in sorted(queues)]

    def lost(self, limit: int) -> list[FleetJob]:
        """Return the newest attempts that were given up or have failed, the newest first."""
        lost: list[Row[Any]] = []
        with self._database.read_transaction() as connection:
            for state in LOST:
                # One state at a time: the index has them in the order of recording.
                newest = _in_short().where(attempt.c.state == state).order_by(attempt.c.number.desc())
                lost += connection.execute(newest.limit(limit)).all()
        return self._jobs(sorted(lost, key=lambda row: row.ended or row.created, reverse=True)[:limit])

    def last_of_agents(self, agents: Collection[str]) -> dict[str, FleetJob]:
        """Return the last attempt that each agent has ended, by its name; those are left out who did none lately."""
        newest = select(attempt.c.number).order_by(attempt.c.number.desc()).limit(LOOKED_AT).subquery()
        last = (
            select(func.max(attempt.c.number))
            .where(attempt.c.number.in_(select(newest.c.number)), attempt.c.ended.is_not(None))
            .group_by(attempt.c.agent)
        )
        ended = self._read(_in_short().where(attempt.c.number.in_(last)))
        return {
            of_agent.agent: of_agent for of_agent in ended if of_agent.agent is not None and of_agent.agent in agents
        }

    def failure(self, job_id: str) -> JobFailure:
        """Return why the job with that id has failed; raises `UsageError` if it has not, or is not known."""
        statement = select(job.c.failure, job.c.log).where(job.c.id == job_id)
        with self._database.read_transaction() as connection:
            row = connection.execute(statement).first()
        if row is None or row.failure is None:
            raise UsageError(f"no failure of the job {job_id} is recorded")
        failed = read_stored(JobFailed, row.failure, f"the failure of the job {job_id}")
        try:
            content = b"" if row.log is None else self._blobs.get(row.log)
        except BlobDamaged as fault:
            content = fault.message.encode()
        log = content[-MOST_LOG_BYTES:].decode(errors="replace")
        return JobFailure(
            job=job_id, reason=failed.reason, hint=failed.hint, log=log, is_cut=len(content) > MOST_LOG_BYTES
        )

    def _read(self, statement: Select[Any]) -> list[FleetJob]:
        with self._database.read_transaction() as connection:
            rows = connection.execute(statement).all()
        return self._jobs(rows)

    def _jobs(self, rows: Sequence[Row[Any]]) -> list[FleetJob]:
        builds = [row.job_id for row in rows if row.kind == "build"]
        documents = select(job.c.id, job.c.document).where(job.c.id.in_(builds))
        with self._database.read_transaction() as connection:
            sources = {row.id: _source_name(row.document) for row in connection.execute(documents)} if builds else {}
        return [_job_of(row, row.case or sources.get(row.job_id, "")) for row in rows]


def _in_short() -> Select[Any]:
    of_request = select(*_IN_SHORT).join(job, job.c.id == attempt.c.job_id)
    return of_request.join(request, request.c.id == attempt.c.request_id)


def _source_name(document: str) -> str:
    try:
        return read_stored(_SourceOfBuild, document, "the job").source.name
    except UnreadableRecord:
        return ""


def _job_of(row: Row[Any], subject: str) -> FleetJob:
    same = ("kind", "engine", "platform", "state", "agent", "publications", "starts", "reason")
    return FleetJob(
        **{name: getattr(row, name) for name in same},
        attempt=row.id,
        job=row.job_id,
        subject=subject,
        request=row.request_id,
        path=REPORT_PATHS[row.request_kind],
        since=moment_text(row.claimed or row.created),
        ended=moment_text(row.ended) or None,
    )
