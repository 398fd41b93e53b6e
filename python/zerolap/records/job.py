"""Jobs: pieces of a request as values, without local state, and what agents of a fleet do of them."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import Field, TypeAdapter

from zerolap.records.base import Record, read_stored
from zerolap.records.build import BuildSpec, digest_of
from zerolap.records.case import Case
from zerolap.records.request import ReportPath
from zerolap.records.revision import ArchiveSource
from zerolap.records.server import ServerSpec
from zerolap.records.sweep_report import SweepPart
from zerolap.records.trial import Amounts, Side

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


JOB_SCHEMA: Final = "zerolap.job/1"


class Block(Record):
    """A trial of each side from one seed; `number` counts from 0 within the case and engine of a request."""

    number: int
    seed: int


class _Job(Record):
    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy, which may be another job."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("id", None)
        return copied


class BuildJob(_Job):
    """A source, whose files are in the blobs, to be built in a variant; `spec` is the specification that must result.

    Objects of the build with the digest `objects_of` may be used again.
    """

    schema_: Literal["zerolap.job/1"] = Field(default=JOB_SCHEMA, alias="schema")
    kind: Literal["build"] = "build"
    request: str
    source: ArchiveSource
    variant: str
    spec: BuildSpec
    objects_of: str | None = None

    @cached_property
    def id(self) -> str:
        """The job's id, unique over all requests."""
        return "j-" + digest_of(self.request, "build", self.spec.digest)


class TrialsJob(_Job):
    """Trials of one case by one engine on one platform, all sides together.

    `servers` are by side, and so are `count_builds`, the digests of the builds in which the calls of the first block
    are counted besides, where that is asked for. `load_tool` is the program that puts load on the server, if it is not
    the lab's own. After `seconds_left` the job begins no further block. A job of a sweep has a single side, and `part`
    is what it measures.
    """

    schema_: Literal["zerolap.job/1"] = Field(default=JOB_SCHEMA, alias="schema")
    kind: Literal["trials"] = "trials"
    request: str
    case: Case
    servers: dict[Side, ServerSpec]
    count_builds: dict[Side, str] = {}
    engine: str
    blocks: tuple[Block, ...]
    amounts: Amounts = Amounts()
    load_tool: str | None = None
    seconds_left: float | None = None
    part: SweepPart | None = None

    @cached_property
    def id(self) -> str:
        """The job's id, unique over all requests; a resumed request has the same ids."""
        left_out = {"seconds_left", "case"} if self.count_builds else {"seconds_left", "case", "count_builds"}
        content = self.model_dump_json(by_alias=True, exclude=left_out)
        return "j-" + digest_of(content, self.case.name, self.case.digest)

    @property
    def builds(self) -> frozenset[str]:
        """The digests of the builds that are needed to carry it out."""
        return frozenset([*(server.build for server in self.servers.values()), *self.count_builds.values()])

    @property
    def is_paced(self) -> bool:
        """Whether requests are sent to all sides at an equal rate."""
        return self.amounts.per_second is not None


class LoadJob(_Job):
    """Load for trials that the agent at `address`, as `host:port`, carries out: its orders are executed there.

    It belongs to one attempt at the trials, and ends with it. `certificate` is the SHA-256 digest of the one that is
    presented at the address; a job that an older version recorded has none, and cannot be carried out.
    """

    schema_: Literal["zerolap.job/1"] = Field(default=JOB_SCHEMA, alias="schema")
    kind: Literal["load"] = "load"
    request: str
    attempt: str
    address: str
    certificate: str = ""

    @cached_property
    def id(self) -> str:
        """The job's id, unique over all requests."""
        return "j-" + digest_of(self.request, "load", self.attempt, self.address, self.certificate)


Job: TypeAlias = Annotated[BuildJob | TrialsJob, Field(discriminator="kind")]
GivenJob: TypeAlias = Annotated[BuildJob | TrialsJob | LoadJob, Field(discriminator="kind")]
"""What an agent of a fleet is given: a job of a plan, or load for one that another agent carries out."""

_JOB: TypeAdapter[BuildJob | TrialsJob] = TypeAdapter(Job)
_GIVEN_JOB: TypeAdapter[BuildJob | TrialsJob | LoadJob] = TypeAdapter(GivenJob)


def job_json(job: BuildJob | TrialsJob | LoadJob) -> str:
    """Return a job as JSON."""
    return job.model_dump_json(by_alias=True)


def read_stored_job(text: str, identity: str) -> BuildJob | TrialsJob:
    """Return the job of that id that a store holds; raises `UnreadableRecord`."""
    return read_stored(_JOB, text, f"the job {identity}")


def read_stored_given_job(text: str, identity: str) -> BuildJob | TrialsJob | LoadJob:
    """Return the job of any kind with that id that a store holds; raises `UnreadableRecord`."""
    return read_stored(_GIVEN_JOB, text, f"the job {identity}")


def read_job(text: str | bytes) -> BuildJob | TrialsJob:
    """Return the job in a JSON document; raises `pydantic.ValidationError` for another form."""
    return _JOB.validate_json(text)
