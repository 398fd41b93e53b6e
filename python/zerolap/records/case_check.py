"""What a case was seen to do in a moment, and what is wrong with it."""

from typing import Literal, TypeAlias

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.build import MeasuredServer
from zerolap.records.platform import Platform
from zerolap.records.skipped import Skipped

CHECK_SCHEMA = "zerolap.check/1"
SCRIPTS = frozenset({"EVAL", "EVALSHA", "FCALL"})
"""Commands of which nobody says whether they write."""

FaultKind: TypeAlias = Literal[
    "failed", "errors", "misses", "new keys", "drained", "expires", "out of memory", "client saturated", "no requests"
]


class CommandFacts(Record):
    """What was seen of one command's requests, a few hundred of them, before and after a burst at full speed.

    Shares are of the requests that got no error. `nothing_share` is of replies that say there is nothing: nil, empty
    arrays, 0 for a key that is not there; `nothing_share_first` is of the first thirty. `missing_share` is of requests
    none of whose keys was there, of those that have keys; `place_missing_share` of those that lack the key at one and
    the same place among several; `zero_share_first` and `zero_share_after` of replies that are 0. `life_seconds` is the
    shortest time that a key had left. `burst_errors` are the errors at full speed, which the others do not count.
    """

    command: str
    writes: bool
    requests: int
    errors: dict[str, int]
    nothing_share_first: float
    nothing_share: float
    nothing_share_after: float
    zero_share_first: float = 0.0
    zero_share_after: float = 0.0
    missing_share: float
    place_missing_share: float = 0.0
    life_seconds: float | None
    example: str
    burst_errors: int = 0
    first_burst_error: str | None = None


class Held(Record):
    """How much a server holds; bytes are none where it does not tell them, `expiring_keys` have a time to live."""

    keys: int
    expiring_keys: int = 0
    data_bytes: int | None = None
    all_bytes: int | None = None


class HeldOverTime(Record):
    """How much the server held: at its start, after the load, before the burst at full speed, after it, at the end."""

    empty: Held
    loaded: Held
    before_burst: Held
    after_burst: Held
    left: Held


class CaseFacts(Record):
    """What was seen of a case; shares are of the time of the burst at full speed, on a processor or waiting for one.

    `factor` is what data sets and key ranges were scaled by, `seconds` and `requests` what the case itself asks for,
    `sampled_requests` and `burst_requests` what was sent here. One that `evicts` has less memory than its data need;
    `memory_limit_bytes` is what one may use that does not. `key_range` is how many keys the case itself draws from,
    `burst_found` how many requests of the burst found something, `hidden_errors` how many errors the server counted in
    it that no reply told.
    """

    commands: list[CommandFacts]
    held: HeldOverTime
    client_share: float
    server_share: float
    sampled_requests: int
    burst_requests: int
    ops_per_sec: float
    factor: float
    seconds: float | None
    requests: int | None
    has_dataset: bool
    evicts: bool = False
    per_second: int | None = None
    memory_limit_bytes: int | None = None
    key_range: int | None = None
    hidden_errors: int = 0
    burst_found: int | None = None

    @property
    def planned_requests(self) -> float:
        """What the case itself would send at this speed; 0 where it does not say."""
        rate = self.ops_per_sec if self.per_second is None else min(self.ops_per_sec, self.per_second)
        return self.requests or (self.seconds or 0.0) * rate

    @property
    def sent_requests(self) -> int:
        """All that was sent here."""
        return sum(command.requests for command in self.commands) + self.burst_requests


class Fault(Record):
    """One thing that is wrong with a case, by measurement: the value seen and the limit it is held against."""

    kind: FaultKind
    command: str | None = None
    text: str
    value: float | None = None
    limit: str | None = None


class CheckedCase(Record):
    """A case with its faults; `warnings` are those of its file, with line."""

    case: str
    group: str
    faults: list[Fault]
    warnings: list[str]
    facts: CaseFacts | None = None


class CheckReport(Record):
    """The document of `zerolap suites check`."""

    schema_: str = Field(default=CHECK_SCHEMA, alias="schema", serialization_alias="schema")
    created: str
    command_line: str
    server: MeasuredServer
    platform: Platform
    cases: list[CheckedCase]
    skipped: list[Skipped] = []
