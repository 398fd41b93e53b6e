"""What agents and the conductor send each other, as JSON."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from zerolap.records import BuildJob, Event, GivenJob, JobFinished, LoadJob, Platform, Record, TrialDone, TrialsJob

PROTOCOL: Final = 7
"""The number of this form of the messages; another form has another number."""

AgentKind: TypeAlias = Literal["bench", "build", "load"]

LONGEST_NAME: Final = 200
"""The longest name in characters: an index of PostgreSQL takes no text of thousands of bytes."""


def has_zero_byte(value: object) -> bool:
    """Whether a text in a value of plain types has a character with the code 0, which PostgreSQL does not take."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, Mapping):
        return any(has_zero_byte(key) or has_zero_byte(one) for key, one in value.items())
    return isinstance(value, list | tuple | set | frozenset) and any(map(has_zero_byte, value))


def _without_zero_bytes(text: str) -> str:
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


class Version(BaseModel):
    """What every version of Zerolap can read of a greeting, of an answer and of an offered job. It never changes."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    message: str = ""
    protocol: Annotated[int, Field(ge=0, lt=1 << 31)] = 0
    zerolap: Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(_without_zero_bytes)] = ""


class OfferedJob(Record):
    """The content of a job's message: the job, the attempt that it is published for, and the token for its files.

    Load comes from an agent of the platform `load_host` if there is one: the claim has to state where that agent can
    connect. The token of load for others is the secret by which it connects.
    """

    protocol: int = PROTOCOL
    attempt: str
    token: str
    job: GivenJob
    load_host: Annotated[str, Field(max_length=LONGEST_NAME)] = ""


class Hello(Record):
    """An agent reports what it is; sent when it connects and whenever it is asked to.

    `platform` describes the machine, `memory_bytes` is all of its memory. `tools` are the compilers of a builder with
    what identifies each; `missing` are the engines that a bench agent cannot use, with the reason; `address` is where
    agents that put load on its servers reach it, empty if none do.
    """

    message: Literal["hello"] = "hello"
    protocol: int = PROTOCOL
    kind: AgentKind
    zerolap: str
    platform: Platform
    architecture: str
    memory_bytes: int
    counters: bool = False
    tools: dict[str, tuple[str, ...]] = {}
    missing: dict[str, str] = {}
    address: str = ""

    @model_validator(mode="after")
    def _can_be_recorded(self) -> "Hello":
        if has_zero_byte(self.model_dump()):
            raise ValueError("a text has a character with the code 0")
        if not 0 <= self.platform.cores < 1 << 31:
            raise ValueError("no machine has so many processors")
        if len(self.platform.fingerprint) > LONGEST_NAME:
            raise ValueError(f"a fingerprint has at most {LONGEST_NAME} characters")
        return self


class Claim(Record):
    """An agent was given an attempt by the bus and asks whether it may carry it out.

    `load_address`, as `host:port`, is where it waits for the agent that puts load on its servers, and
    `load_certificate` is the SHA-256 digest of the certificate that it presents there.
    """

    message: Literal["claim"] = "claim"
    attempt: str
    delivery: Annotated[int, Field(ge=1, lt=1 << 31)]
    load_address: Annotated[str, Field(max_length=300)] | None = None
    load_certificate: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None


class Heartbeat(Record):
    """An agent is there, and works on an attempt or on none."""

    message: Literal["heartbeat"] = "heartbeat"
    attempt: str | None = None


class Report(Record):
    """An event of the job of an attempt that the agent holds, and the end of the job if it came right after."""

    message: Literal["report"] = "report"
    attempt: str
    event: Event
    end: JobFinished | None = None


class GiveUp(Record):
    """An agent cannot carry out an attempt: its machine, not the job, is at fault."""

    message: Literal["give up"] = "give up"
    attempt: str
    reason: Annotated[str, AfterValidator(_without_zero_bytes)]


Message: TypeAlias = Annotated[Hello | Claim | Heartbeat | Report | GiveUp, Field(discriminator="message")]


class MessageReply(Record):
    """The conductor's answer.

    `accepted` is false for what does not count, for the `reason` given: the agent drops the attempt then. `unknown`:
    the conductor does not know the agent yet, which introduces itself again. `again`: the message did not arrive whole,
    and is to be sent again. A `draining` agent takes no further job. `recorded` are the trials of the claimed job that
    earlier attempts carried out. `load_secret` is known to the agent alone that puts load on the servers of the job.
    """

    protocol: int = PROTOCOL
    accepted: bool
    reason: str = ""
    unknown: bool = False
    again: bool = False
    draining: bool = False
    recorded: tuple[TrialDone, ...] = ()
    load_secret: str = ""


_MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)


def read_message(content: bytes) -> Message:
    """Return the message in a JSON document; raises `pydantic.ValidationError` for another form."""
    return _MESSAGE.validate_json(content)


def version_of(content: bytes) -> Version:
    """Return the version of what another version of Zerolap may have sent; its protocol is 0 where that has none."""
    try:
        return Version.model_validate_json(content)
    except ValidationError:
        return Version()


def message_json(message: Record) -> bytes:
    """Return a message, an answer or an offered job as JSON."""
    return message.model_dump_json(by_alias=True).encode()


def subject_of(job: GivenJob) -> str:
    """Return what a job is about, for people."""
    match job:
        case BuildJob():
            return job.source.name
        case TrialsJob():
            return f"{job.case.name} ({job.engine})"
        case LoadJob():
            return f"load for {job.address}"
