"""What happens to a request and its jobs: what is recorded, what a stream shows, and what the progress bar draws."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from zerolap.records.base import Record
from zerolap.records.build import Build
from zerolap.records.measurement import Measurement
from zerolap.records.trial import Side

EVENT_SCHEMA: Final = "zerolap.event/1"

Activity: TypeAlias = Literal["building", "counting", "timing", "sampling", "measuring"]


class _Event(Record):
    schema_: Literal["zerolap.event/1"] = Field(default=EVENT_SCHEMA, alias="schema")


class JobStarted(_Event):
    """A worker has begun a job."""

    event: Literal["started"] = "started"
    job: str


class Progress(_Event):
    """How far a request has come: `done` of about `expected` trials of the activity, over so many cases.

    Of builds `subject` is the server's name, of trials the case's.
    """

    event: Literal["progress"] = "progress"
    activity: Activity
    subject: str = ""
    cases: int = 0
    done: int = 0
    expected: int = 0


class BuildDone(_Event):
    """A build is there."""

    event: Literal["build_done"] = "build_done"
    job: str
    build: Build


class TrialDone(_Event):
    """Trials of one block have been carried out: of all sides that belong together, or of one by itself."""

    event: Literal["trial_done"] = "trial_done"
    job: str
    block: int
    measurements: dict[Side, Measurement]


class JobFailed(_Event):
    """A job has failed; what it measured before stands.

    `refused`: the engine cannot measure this case at all. `side` is set where one side alone is the reason. `details`
    holds the end of a log.
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
    """A job has ended well; `cut_short` where its time was over before its last block."""

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
