"""What another build of the same code was measured to bring: another compiler, other flags or another allocator."""

from typing import Literal

from zerolap.records.base import Record
from zerolap.records.estimate import Estimate


class VariantCase(Record):
    """A case whose time changed in another build, confirmed: `gain` is by how much that is faster, below 0 for a loss.

    It is the ratio of throughputs, or that of costs upside down, less 1. `metric` is what the verdict rests on, and
    `comparison` the id of the comparison that has it.
    """

    case: str
    commands: tuple[str, ...]
    metric: str
    gain: Estimate
    comparison: str


class CommandGain(Record):
    """What another build brings for a command: the mean over its cases, 0 for those that did not change."""

    command: str
    gain: Estimate
    cases: int


class BuildVariant(Record):
    """Another build of the same code that was faster, as measured: no prediction, and no part of any sum.

    `variant` is in the words of `--variant`; `flags`, `compiler` and `allocator` are those that took effect. `gain` is
    the mean over `commands`, each weighted equally. `improvements` and `losses` are the cases with
    confirmed changes of time, the largest first; `unchanged` and `undecided` count the others.
    """

    detector: Literal["build-variants"] = "build-variants"
    category: Literal["build"] = "build"
    variant: str
    flags: str
    compiler: str
    allocator: str
    gain: Estimate
    commands: tuple[CommandGain, ...]
    improvements: tuple[VariantCase, ...]
    losses: tuple[VariantCase, ...]
    unchanged: int
    undecided: int
    comparisons: tuple[str, ...]
