"""An explanation or an opportunity, with its evidence."""

from typing import Literal

from zerolap.records.base import Record


class PerSide(Record):
    """A value per request on each side; null where the side has no such function."""

    base: float | None
    head: float | None


class Caller(Record):
    """Who calls the function, and how often per request on each side."""

    function: str
    file: str | None
    calls_per_op: PerSide
    in_diff: bool


class Finding(Record):
    """Why a case changed.

    `culprit` names a function whose cost changed; `moved` a cost that only changed its place; `diffuse` says that no
    few functions explain the change; `cause` which kind of cause it points to that counting and timing differ; `limits`
    says what could not be seen and why; `identity` whether both sides execute the same instructions, with the evidence.
    `instructions_per_op` counts the function with all it calls,
    `self_instructions_per_op` without; `cpu_ns_per_op` and `self_cpu_ns_per_op` are its sampled time likewise.
    `share_of_change` is the part of the case's whole change that this finding explains.
    """

    kind: Literal["culprit", "moved", "diffuse", "cause", "limits", "identity"]
    rank: int
    function: str | None = None
    file: str | None = None
    lines: list[int] | None = None
    instructions_per_op: PerSide | None = None
    self_instructions_per_op: PerSide | None = None
    calls_per_op: PerSide | None = None
    cpu_ns_per_op: PerSide | None = None
    self_cpu_ns_per_op: PerSide | None = None
    share_of_change: float | None = None
    in_diff: bool | None = None
    callers: list[Caller] = []
    text: str
