"""Events of requests and jobs, which are recorded, streamed, and shown by the progress bar."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from zerolap.records.base import Record
from zerolap.records.build import Build
from zerolap.records.measurement import Measurement
from zerolap.records.server import Abilities
from zerolap.records.trial import Side

EVENT_SCHEMA: Final = "zerolap.event/1"

Activity: TypeAlias = Literal["building", "counting", "timing", "sampling", "measuring", "tracing"]


class _Event(Record):
    schema_: Literal["zerolap.event/1"] = Field(default=EVENT_SCHEMA, alias="schema")


class JobStarted(_Event):
    """A worker has begun a job."""

    event: Literal["started"] = "started"
    job: str


class Progress(_Event):
    """The progress of a request: `done` of about `expected` trials of the activity, over `cases` cases.

    `subject` is the name of the server for builds, of the case for trials.
    """

    event: Literal["progress"] = "progress"
    activity: Activity
    subject: str = ""
    cases: int = 0
    done: int = 0
    expected: int = 0


class BuildDone(_Event):
    """A build is available.

    `artifact` is the digest of the blob with the packed build, and `abilities` are those of its server, where it was
    made for other machines.
    """

    event: Literal["build_done"] = "build_done"
    job: str
    build: Build
    artifact: str | None = None
    abilities: Abilities | None = None


class TrialDone(_Event):
    """Trials of one block are complete: those of all sides, or of a single side."""

    event: Literal["trial_done"] = "trial_done"
    job: str
    block: int
    measurements: dict[Side, Measurement]


class JobFailed(_Event):
    """A job has failed; its earlier measurements remain valid.

    `refused`: the engine cannot measure this case at all, or what is asked for cannot be built. `side` is set if a
    single side failed. `details` holds the end of a log, or a traceback.
    """

    event: Literal["failed"] = "failed"
    job: str
    reason: str
    hint: str = ""
    details: str = ""
    side: Side | None = None
    block: int | None = None
    refused: bool = False


class Note(_Event):
    """Something that the user should know."""

    event: Literal["note"] = "note"
    text: str


class JobFinished(_Event):
    """A job has succeeded; `cut_short` if its time was over before its last block."""

    event: Literal["finished"] = "finished"
    job: str
    cut_short: bool = False


Event: TypeAlias = Annotated[
    JobStarted | Progress | BuildDone | TrialDone | JobFailed | Note | JobFinished, Field(discriminator="event")
]

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def event_json(event: Event) -> str:
    """Return an event as a line of JSON."""
    return event.model_dump_json(by_alias=True)


def read_event(text: str | bytes) -> Event:
    """Return the event in a JSON document; raises `pydantic.ValidationError` for another form."""
    return _EVENT.validate_json(text)
