"""Whether both sides of a case execute the same instructions, and which of such cases are timed nevertheless."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from zerolap import _core
from zerolap.judge import unequal_count
from zerolap.records import BASE, HEAD, METRICS, Build, Case, Finding, Measurement, Resolved, digest_of
from zerolap.store import BlobDamaged, Blobs

TIMED_SHARE = 12
"""One in this many cases of identical work is timed, which tests the claim that its time is identical too."""


class Difference(BaseModel):
    """Where the executed instructions differ first: a function, table or library, and what is there on each side."""

    model_config = ConfigDict(frozen=True)

    name: str
    base: str | None
    head: str | None

    @property
    def text(self) -> str:
        """The difference as words."""
        return f"`{self.name}`: {_quoted(self.base)} → {_quoted(self.head)}"


class Identity(BaseModel):
    """The result of comparing executed instructions: `differences`, or the `reason` why it is unknown.

    `instructions` are those executed in the counted windows, each counted once, `functions` those that they belong to;
    both are 0 where the programs are the same to the byte and their instructions cannot be listed.
    """

    model_config = ConfigDict(frozen=True)

    outcome: Literal["identical", "different", "unknown"]
    instructions: int = 0
    functions: int = 0
    differences: list[Difference] = []
    reason: str = ""

    @property
    def is_identical(self) -> bool:
        """Whether all that the case executes is the same on both sides but for addresses."""
        return self.outcome == "identical"

    def unless_counts_differ(self, base: Sequence[Measurement], head: Sequence[Measurement]) -> "Identity":
        """Return this, or that the sides are different where a counted metric is: one that other windows show."""
        for of_base, of_head in zip(base, head, strict=True):
            name = unequal_count(of_base, of_head)
            if name is not None:
                values = (f"{measured.metrics.get(name, 0.0):,.4g}" for measured in (of_base, of_head))
                difference = Difference(name=METRICS[name].label, base=next(values), head=next(values))
                return Identity(outcome="different", differences=[difference])
        return self

    def finding(self) -> Finding:
        """Return the evidence."""
        return Finding(kind="identity", rank=0, text=self._text())

    def _text(self) -> str:
        if self.outcome == "unknown":
            return f"Whether the executed instructions are the same is unknown: {self.reason}."
        if self.outcome == "different":
            return f"The executed instructions differ: {'; '.join(one.text for one in self.differences)}."
        if not self.instructions:
            return "Identical: the programs are the same to the byte, but for notes such as the build id."
        return (
            f"Identical as counted: over one connection, the case executes the same {self.instructions:,} instructions "
            f"in {self.functions:,} functions on both sides."
        )


def compare_executed(base: Sequence[Measurement], head: Sequence[Measurement], blobs: Blobs) -> Identity | None:
    """Return whether counted trials of both sides, in the order of blocks, executed the same.

    None where what they executed was not recorded.
    """
    compared = []
    for one, other in zip(base, head, strict=True):
        if one.executed is None or other.executed is None:
            return None
        compared.append(_compared(one.executed, other.executed, blobs))
        if not compared[-1].is_identical:
            return compared[-1]
    return max(compared, key=lambda identity: identity.instructions, default=None)


def has_io_threads(case: Case, config: Mapping[str, str]) -> bool:
    """Whether a server has I/O threads: by its topology, by the settings asked for, or by those of the case."""
    settings = {**case.config, **config, **case.topology.settings}
    return case.topology.model_copy(update={"settings": settings}).busy_threads > case.topology.nodes


def why_unknown(resolved: Resolved, builds: Mapping[str, Build], case: Case) -> str | None:
    """Return why the counts of a case do not show what it executes; none where they do."""
    base, head = (resolved.servers[side] for side in (BASE, HEAD))
    if base.config != head.config:
        return "the sides have other settings"
    uncounted = why_partly_counted(resolved, case)
    if uncounted is not None:
        return uncounted
    known = [builds[side.spec.digest] for side in (base, head) if side.spec.digest in builds]
    if len({build.arguments for build in known}) > 1:
        return "the sides have other arguments"
    if len({(build.flags, build.compiler, build.allocator, build.libc) for build in known}) > 1:
        return "the sides are built with other flags or tools"
    return None


def why_partly_counted(resolved: Resolved, case: Case) -> str | None:
    """Return which work of the servers of a timed case its counted trials leave out; none where they have all of it."""
    if any(has_io_threads(case, resolved.servers[side].config) for side in (BASE, HEAD)):
        return "the work of I/O threads is not counted with one connection"
    if case.topology.transport != "unix" or resolved.load_host:
        return "requests over a network are not counted, only those over a unix socket"
    return case.topology.counted_part or None


def timed_nevertheless(identical: Collection[str], resolved: Resolved) -> frozenset[str]:
    """Return which of the cases whose work is identical are timed: one in twelve, and one where all cases are such.

    Which they are depends on the seed, the builds and the names: other cases on each commit.
    """
    builds = [resolved.servers[side].spec.digest for side in (BASE, HEAD)]
    if builds[0] == builds[1]:
        # A build is compared with itself to find out how much its times differ.
        return frozenset(identical)
    draws = {name: int(digest_of(str(resolved.settings.seed), *builds, name), 16) for name in identical}
    drawn = frozenset(name for name, draw in draws.items() if draw % TIMED_SHARE == 0)
    if not drawn and draws and len(draws) == len(resolved.cases):
        return frozenset([min(draws, key=lambda name: draws[name])])
    return drawn


def _compared(base: str, head: str, blobs: Blobs) -> Identity:
    try:
        return Identity.model_validate_json(_core.compare_executed(blobs.get(base), blobs.get(head)))
    except (ValueError, BlobDamaged) as fault:
        return Identity(outcome="unknown", reason=f"what was recorded of them cannot be read: {fault}")


def _quoted(text: str | None) -> str:
    return "nothing" if text is None else f"`{text}`"
