"""What agents of a fleet do and did, in short."""

from typing import Literal, TypeAlias

from zerolap.records.base import Record
from zerolap.records.request import ReportPath

AttemptState: TypeAlias = Literal["ready", "claimed", "done", "failed", "given up", "cancelled"]
JobKind: TypeAlias = Literal["build", "trials", "load"]


class FleetJob(Record):
    """A try of an agent at a job.

    `subject` is the case that is measured or the source that is built, empty for load and where it cannot be read.
    `path` leads to the page of the `request`. `publications` is how often the job was given to the bus, `starts` how
    often an agent has begun it, `since` when it was taken or, before that, recorded.
    """

    attempt: str
    job: str
    kind: JobKind
    engine: str | None
    subject: str
    request: str
    path: ReportPath
    platform: str
    state: AttemptState
    agent: str | None
    since: str
    ended: str | None
    publications: int
    starts: int
    reason: str


class JobFailure(Record):
    """Why a job has failed: the reason, what to do, and the end of its log; `is_cut` where there was more of it."""

    job: str
    reason: str
    hint: str
    log: str
    is_cut: bool
