"""One piece of a request as a value, without anything local in it."""

from functools import cached_property
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from zerolap.records.amounts import Amounts
from zerolap.records.base import Record
from zerolap.records.build import BuildSpec, digest_of
from zerolap.records.case import Case
from zerolap.records.revision import Source
from zerolap.records.server import ServerSpec
from zerolap.records.trial import Side

JOB_SCHEMA: Final = "zerolap.job/1"


class Block(Record):
    """A trial of each side from one seed; `number` counts from 0 within the case and engine of a request."""

    number: int
    seed: int


class BuildJob(Record):
    """A source to be built in a variant; `spec` is what it must come to."""

    schema_: Literal["zerolap.job/1"] = Field(default=JOB_SCHEMA, alias="schema")
    kind: Literal["build"] = "build"
    request: str
    source: Source
    variant: str
    spec: BuildSpec

    @cached_property
    def id(self) -> str:
        """Names the job within all requests."""
        return "j-" + digest_of(self.request, "build", self.spec.digest)


class TrialsJob(Record):
    """Trials of one case by one engine on one platform, all sides together.

    `servers` are by the sides' names. `load_tool` is the program that puts load on the server where it is not the lab's
    own. `seconds_left` bounds the time that the job may take: it begins no further block then.
    """

    schema_: Literal["zerolap.job/1"] = Field(default=JOB_SCHEMA, alias="schema")
    kind: Literal["trials"] = "trials"
    request: str
    case: Case
    servers: dict[Side, ServerSpec]
    engine: str
    blocks: tuple[Block, ...]
    amounts: Amounts = Amounts()
    load_tool: str | None = None
    seconds_left: float | None = None

    @cached_property
    def id(self) -> str:
        """Names the job within all requests; a resumed request makes the same jobs again."""
        what = self.model_dump_json(by_alias=True, exclude={"seconds_left", "case"})
        return "j-" + digest_of(what, self.case.name, self.case.digest)

    @property
    def is_paced(self) -> bool:
        """Whether all sides are sent requests at an equal rate."""
        return self.amounts.per_second is not None


Job: TypeAlias = Annotated[BuildJob | TrialsJob, Field(discriminator="kind")]

_JOB: TypeAdapter[BuildJob | TrialsJob] = TypeAdapter(Job)


def job_json(job: BuildJob | TrialsJob) -> str:
    """Return a job as JSON."""
    return job.model_dump_json(by_alias=True)


def read_job(text: str | bytes) -> BuildJob | TrialsJob:
    """Return the job in a JSON document; raises `pydantic.ValidationError` for another form."""
    return _JOB.validate_json(text)
