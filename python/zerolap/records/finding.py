"""An explanation or an opportunity, with its evidence."""

from typing import Literal

from zerolap.records.base import Record


class PerSide(Record):
    """A value per request on each side; null where the side has no such function."""

    base: float | None
    head: float | None


class Caller(Record):
    """A caller of the function, and its calls per request on each side."""

    function: str
    file: str | None
    calls_per_op: PerSide
    in_diff: bool


class Carrier(Record):
    """The unchanged function that a changed caller gives more or less to do; calls are null where it is inlined."""

    function: str
    file: str | None
    calls_per_op: PerSide | None
    instructions_per_op: PerSide


class Part(Record):
    """A part of a finding: a function that changed the cost by so many instructions per request, itself or by calls.

    `calls_per_op` is null for a function that is inlined.
    """

    function: str
    file: str | None
    instructions_changed_per_op: float
    share_of_change: float
    calls_per_op: PerSide | None
    text: str


class Finding(Record):
    """A reason why a case changed, or did not.

    `culprit` names a function whose cost changed, or, with a `carrier`, the one whose change is behind that; `moved` a
    cost that moved between functions; `diffuse` reports that no few functions explain the change; `cause` names a kind
    of cause, inferred from a difference between counting and timing; `limits` reports what could not be examined and
    why; `identity` whether both sides execute the same instructions, with the evidence. `instructions_per_op` includes
    the function's callees, `self_instructions_per_op` does not; likewise the sampled times `cpu_ns_per_op` and
    `self_cpu_ns_per_op`. `share_of_change` is the part of the case's total change that the finding explains; it is
    negative for what counteracts it. `calls_per_op` is null for a function that is inlined, of which
    `calls_without_inlining_per_op` are the calls in the count build of each side, where there are both. `parts` are
    what a culprit consists of where that is more than the finding states: its share is what they come to, gains and
    losses set off.
    Of what the compiler inlines, `self_instructions_per_op` has what its sentence states, or one side alone inlines.
    `replaces` is the function that carried out the command before. `allocation` names a function that allocates more or
    fewer bytes for the data: `bytes_per_key` are those that are left of what it allocated there.
    """

    kind: Literal["culprit", "moved", "diffuse", "cause", "limits", "identity", "allocation"]
    rank: int
    function: str | None = None
    file: str | None = None
    lines: list[int] | None = None
    instructions_per_op: PerSide | None = None
    self_instructions_per_op: PerSide | None = None
    calls_per_op: PerSide | None = None
    calls_without_inlining_per_op: PerSide | None = None
    bytes_per_key: PerSide | None = None
    cpu_ns_per_op: PerSide | None = None
    self_cpu_ns_per_op: PerSide | None = None
    share_of_change: float | None = None
    in_diff: bool | None = None
    carrier: Carrier | None = None
    callers: list[Caller] = []
    replaces: str | None = None
    parts: list[Part] = []
    text: str


class NamedLines(Record):
    """The lines of a function that a finding of a case names, and what it states."""

    case: str
    function: str
    file: str | None
    lines: tuple[int, ...]
    text: str
