"""What a case did in a brief run, and its faults."""

from typing import Final, Literal, TypeAlias

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.build import MeasuredServer
from zerolap.records.measurement import Check
from zerolap.records.platform import Platform
from zerolap.records.skipped import Skipped

CHECK_SCHEMA: Final = "zerolap.check/1"
LARGEST_NOTHING_SHARE = 0.1
"""Share of replies that find nothing; with more, other work than that of the command is measured."""
SCRIPTS = frozenset({"EVAL", "EVALSHA", "FCALL"})
"""Commands that may or may not write."""

PROVING_CALLS = 1000
"""Calls by the server's own count, none failed or rejected, that prove that a case measures a command."""

FaultKind: TypeAlias = Literal[
    "failed",
    "errors",
    "misses",
    "new keys",
    "drained",
    "expires",
    "out of memory",
    "client saturated",
    "no requests",
    "expectation",
]


class ExecutedCalls(Record):
    """Calls of a command by the server's own count; `rejected` ones were not executed, `failed` ones replied errors."""

    calls: int = 0
    failed: int = 0
    rejected: int = 0

    def __sub__(self, earlier: "ExecutedCalls") -> "ExecutedCalls":
        return ExecutedCalls(
            calls=self.calls - earlier.calls,
            failed=self.failed - earlier.failed,
            rejected=self.rejected - earlier.rejected,
        )

    @property
    def proves(self) -> bool:
        """Whether the command was executed often enough, and never without success."""
        return self.calls >= PROVING_CALLS and not self.failed and not self.rejected


class CommandFacts(Record):
    """What a few hundred requests of one command did, before and after a burst at full speed.

    Shares are of the requests without error replies. `nothing_share` counts replies without a result: nil, empty
    arrays, 0 for a missing key; `nothing_share_first` is that of the first thirty. `missing_share` counts, among
    requests with keys, those of which no key existed; `place_missing_share` those that lack the key at the same
    position among several; `zero_share_first` and `zero_share_after` count replies that are 0. `life_seconds` is the
    shortest time to live of a key. `burst_errors` are the errors at full speed, which `errors` does not include.
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
    encodings: dict[str, int] = {}


class Held(Record):
    """The data that a server holds; bytes are None if it does not report them, `expiring_keys` have a time to live.

    `elements` are those of all keys, of strings their bytes; None where there are many keys.
    """

    keys: int
    expiring_keys: int = 0
    elements: int | None = None
    data_bytes: int | None = None
    all_bytes: int | None = None


class HeldOverTime(Record):
    """The data that the server held at its start, after the load, before and after the burst, and at the end."""

    empty: Held
    loaded: Held
    before_burst: Held
    after_burst: Held
    left: Held


class CaseFacts(Record):
    """What a case did; shares are those of the burst's time that a thread ran on a processor or waited for one.

    `factor` is the scale of data sets and key ranges, `seconds` and `requests` are those of the unscaled case,
    `sampled_requests` and `burst_requests` were sent in the check. A case that `evicts` has less memory than its data
    need; for others `memory_limit_bytes` is the limit. `key_range` is the number of keys of the unscaled case,
    `burst_found` the requests of the burst that found something, `hidden_errors` the errors that the server counted in
    the burst but no reply reported. `calls` are those of the burst by the server's own count, by command; `checks` are
    of what the case expects of replies and encodings.
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
    calls: dict[str, ExecutedCalls] = {}
    checks: list[Check] = []

    @property
    def planned_requests(self) -> float:
        """The requests that the unscaled case sends at this speed; 0 if it has neither requests nor seconds."""
        rate = self.ops_per_sec if self.per_second is None else min(self.ops_per_sec, self.per_second)
        return self.requests or (self.seconds or 0.0) * rate

    @property
    def sent_requests(self) -> int:
        """All requests that were sent in the check."""
        return sum(command.requests for command in self.commands) + self.burst_requests


class Fault(Record):
    """A fault of a case that was measured, with the measured value and its limit."""

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
    """The document of `zerolap suites check`; `id` is that of its request."""

    id: str = Field(default="", exclude=True)
    schema_: Literal["zerolap.check/1"] = Field(default=CHECK_SCHEMA, alias="schema")
    created: str
    command_line: str
    server: MeasuredServer
    platform: Platform
    cases: list[CheckedCase]
    skipped: list[Skipped] = []
