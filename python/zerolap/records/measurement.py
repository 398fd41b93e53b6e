"""A trial's outcome."""

from typing import Annotated, Final, TypeAlias

from pydantic import Field, FiniteFloat

from zerolap.records.base import Record
from zerolap.records.trial import Amounts

Text: TypeAlias = Annotated[str, Field(max_length=200)]
"""A name, time or digest of a measurement: agents send them, and databases have them in columns."""


class Check(Record):
    """One condition of validity: the value seen and the limit it is held against."""

    check: str
    ok: bool
    value: float | str | None
    limit: str

    @classmethod
    def at_most(cls, check: str, value: float, limit: float) -> "Check":
        """Return whether a value is not above its limit."""
        return cls(check=check, ok=value <= limit, value=value, limit=f"<= {limit:g}")

    @classmethod
    def at_least(cls, check: str, value: float, limit: float) -> "Check":
        """Return whether a value is not below its limit."""
        return cls(check=check, ok=value >= limit, value=value, limit=f">= {limit:g}")


DISTURBANCES: Final = frozenset({"steal", "other_load", "swap", "suspended_seconds", "clock_stepped_seconds"})
"""The names of the checks of what a machine does beside a timed trial."""
LOAD_HOST: Final = "load_host_"
"""The prefix of checks of what happened on the load host."""
CHECKS_OF_MACHINE: Final = DISTURBANCES | {LOAD_HOST + check for check in DISTURBANCES}
CHECKS_OF_TIMING: Final = CHECKS_OF_MACHINE | {"slice_seconds", "client_saturation", "rate", "oversubscribed"}
"""Checks whose failure is not about what the servers did: the start is worth repeating, and counts stay valid."""
CHECKS_OF_SERVER: Final = frozenset({"errors", "hit_rate", "misses", "reply", "executed", "keys", "replicas"})
"""Checks that fail by what a server does, not by its machine, its load or the instrument."""


class Validity(Record):
    """Whether a measurement may be used, and why not."""

    valid: bool
    checks: list[Check]

    @classmethod
    def of(cls, checks: list[Check]) -> "Validity":
        """Return the validity that these checks add up to."""
        return cls(valid=all(check.ok for check in checks), checks=checks)

    @property
    def failed(self) -> list[Check]:
        """The checks that do not hold."""
        return [check for check in self.checks if not check.ok]


class Placement(Record):
    """Where the code and data of a timed or sampled trial's program lay.

    With a `seed`, functions and variables were put into the order of that seed by a link of their own, on all sides
    alike. Without one the program ran as it was built, from a fresh copy; `failure` is why.
    """

    seed: int | None = None
    failure: str = ""


class Measurement(Record):
    """Metrics by name, their validity, and the amounts that were chosen on the way, which later trials take over.

    `graph`, `graph_alone`, `graph_tick`, `call_counts`, `timeline`, `stacks`, `executed`, `traced`, `record` and
    `allocations` are digests of blobs: the call graphs of a request, of one that comes alone and of a tick of the
    timers, the calls of a request as a count build makes them (`CallCounts`), the slices of a timed trial, sampled
    stacks or those of a traced trial's waits, the executed instructions without addresses, what was traced
    (`TracedCase`), the repetition of a sweep (`SweepRepetition`), its trace (`SnapshotTrace`) or a case that was
    checked (`CheckedCase`), where what was left at the end was allocated (`AllocationSites`). `executed_code` is a
    digest of the executed instructions that is equal for programs that execute the same. `placement` is of timed and
    sampled trials.
    `seconds` is the machine time of the trial, repetitions included; `began` is when the last repetition began, as
    ISO 8601 in UTC. `method` is the version of the engine's method, `zerolap` that of the program. `facts` is
    `Platform.facts_digest` of the machine as it was then, `instrument` the program that counted with its version,
    `load_host` the name of the machines of which one put load on the server, empty where the server's own did.
    `start_position` is how many cases the servers of a timed start had before this one, where it is shared. What an
    older version has not recorded is empty.
    """

    metrics: dict[str, FiniteFloat]
    validity: Validity
    amounts: Amounts = Amounts()
    graph: str | None = None
    graph_alone: str | None = None
    graph_tick: str | None = None
    call_counts: str | None = None
    timeline: str | None = None
    stacks: str | None = None
    placement: Placement | None = None
    executed: str | None = None
    executed_code: Text | None = None
    traced: str | None = None
    record: str | None = None
    allocations: str | None = None
    seconds: FiniteFloat = 0.0
    method: int = 1
    zerolap: str = ""
    began: Text = ""
    facts: Text = ""
    instrument: Text = ""
    load_host: Text = ""
    start_position: int | None = None

    @property
    def blobs(self) -> list[str]:
        """The digests of the blobs that this refers to."""
        graphs = (self.graph, self.graph_alone, self.graph_tick)
        others = (self.call_counts, self.timeline, self.stacks, self.executed, self.traced, self.record)
        digests = (*graphs, *others, self.allocations)
        return [digest for digest in digests if digest is not None]
