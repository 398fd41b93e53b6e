"""What agents and the conductor send each other, as JSON."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from zerolap.records import Event, Job, Platform, TrialDone
from zerolap.records.base import Record

AgentKind: TypeAlias = Literal["bench", "build"]


class OfferedJob(Record):
    """The content of a job's message: the job, the attempt that it is published for, and the token for its files."""

    attempt: str
    token: str
    job: Job


class Hello(Record):
    """An agent reports what it is; sent when it connects and whenever it is asked to.

    `platform` describes the machine, `memory_bytes` is all of its memory. `tools` are the compilers of a builder with
    what identifies each; `missing` are the engines that a bench agent cannot use, with the reason.
    """

    message: Literal["hello"] = "hello"
    kind: AgentKind
    zerolap: str
    platform: Platform
    architecture: str
    memory_bytes: int
    counters: bool = False
    tools: dict[str, tuple[str, ...]] = {}
    missing: dict[str, str] = {}


class Claim(Record):
    """An agent was given an attempt by the bus and asks whether it may carry it out."""

    message: Literal["claim"] = "claim"
    attempt: str
    delivery: int


class Heartbeat(Record):
    """An agent is there, and works on an attempt or on none."""

    message: Literal["heartbeat"] = "heartbeat"
    attempt: str | None = None


class Report(Record):
    """An event of the job of an attempt that the agent holds."""

    message: Literal["report"] = "report"
    attempt: str
    event: Event


class GiveUp(Record):
    """An agent cannot carry out an attempt: its machine, not the job, is at fault."""

    message: Literal["give up"] = "give up"
    attempt: str
    reason: str


Message: TypeAlias = Annotated[Hello | Claim | Heartbeat | Report | GiveUp, Field(discriminator="message")]


class Answer(Record):
    """The conductor's answer.

    `accepted` is false for what does not count, for the `reason` given: the agent drops the attempt then. `unknown`:
    the conductor does not know the agent yet, which introduces itself again. `again`: the message did not arrive whole,
    and is to be sent again. A `draining` agent takes no further job. `recorded` are the trials of the claimed job that
    earlier attempts carried out.
    """

    accepted: bool
    reason: str = ""
    unknown: bool = False
    again: bool = False
    draining: bool = False
    recorded: tuple[TrialDone, ...] = ()


_MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)


def read_message(content: bytes) -> Message:
    """Return the message in a JSON document; raises `pydantic.ValidationError` for another form."""
    return _MESSAGE.validate_json(content)


def message_json(message: Record) -> bytes:
    """Return a message, an answer or an offered job as JSON."""
    return message.model_dump_json(by_alias=True).encode()
