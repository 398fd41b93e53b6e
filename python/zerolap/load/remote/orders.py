"""What the two machines of a trial say to each other: orders of the servers' side, and answers of the load host."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from zerolap.load.generator import SliceResult
from zerolap.records import Check, Client, Record

MOST_REQUESTS = 1 << 40
"""The most requests of a slice."""
LONGEST_MESSAGE = 2000

Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=40)]


class Start(Record):
    """Connect a load generator to the server at a port, for the measured requests of a client."""

    order: Literal["start"] = "start"
    name: Name
    client: Client
    seed: Annotated[int, Field(ge=0, lt=1 << 64)]
    port: Annotated[int, Field(ge=1, lt=1 << 16)]


class TakeSlice(Record):
    """Send so many requests, and wait for all replies."""

    order: Literal["slice"] = "slice"
    name: Name
    requests: Annotated[int, Field(ge=1, le=MOST_REQUESTS)]
    per_second: Annotated[int, Field(ge=1, lt=1 << 63)] | None = None


class Stop(Record):
    """End a load generator."""

    order: Literal["stop"] = "stop"
    name: Name


class BeginWatch(Record):
    """Watch from now on what disturbs the machine; ends a watch that is under way."""

    order: Literal["begin watch"] = "begin watch"


class EndWatch(Record):
    """End the watch."""

    order: Literal["end watch"] = "end watch"


class OrderDone(Record):
    """The order was carried out."""

    reply: Literal["done"] = "done"


class TakenSlice(Record):
    """A slice, with times of the load host's clock."""

    reply: Literal["slice"] = "slice"
    result: SliceResult


class Seen(Record):
    """What was seen by a watch: checks by the names that they have on one machine."""

    reply: Literal["seen"] = "seen"
    checks: list[Check] = Field(max_length=100)


class OrderFailed(Record):
    """An order could not be carried out: for what the trial does, the case asks for, or the load host lacks."""

    reply: Literal["failed"] = "failed"
    by: Literal["trial", "case", "environment"]
    message: str = Field(max_length=LONGEST_MESSAGE)


Order: TypeAlias = Annotated[Start | TakeSlice | Stop | BeginWatch | EndWatch, Field(discriminator="order")]
OrderReply: TypeAlias = Annotated[OrderDone | TakenSlice | Seen | OrderFailed, Field(discriminator="reply")]
read_order = TypeAdapter[Order](Order).validate_json
read_reply = TypeAdapter[OrderReply](OrderReply).validate_json
