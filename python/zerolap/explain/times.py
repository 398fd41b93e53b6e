"""What functions cost in time: sampled stacks scaled by the CPU time of a request."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from zerolap.records import Finding, PerSide

NamedFunction: TypeAlias = tuple[str, str | None]
"""Name and file; a function that debug information does not place has no file."""

CERTAIN = 4.0
"""Standard deviations by which a function's own time has to differ to be named."""
SMALLEST_SHARE = 0.1
MAX_CULPRITS = 3


@dataclass(frozen=True)
class SampledFunction:
    """Samples in the function itself, and in it or what it calls."""

    own: int
    inclusive: int


@dataclass(frozen=True)
class SampledSide:
    """A side's samples by function, and the CPU time of a request that all of them together stand for."""

    samples: int
    cpu_ns_per_op: float
    functions: Mapping[NamedFunction, SampledFunction]

    def own_ns(self, function: NamedFunction) -> float:
        """Return the function's own time per request."""
        return self._ns(self.functions[function].own) if function in self.functions else 0.0

    def inclusive_ns(self, function: NamedFunction) -> float:
        """Return the time per request of the function and all it calls."""
        return self._ns(self.functions[function].inclusive) if function in self.functions else 0.0

    def deviation_ns(self, function: NamedFunction) -> float:
        """Return the standard deviation of the function's own time: samples are counts (Poisson)."""
        own = self.functions[function].own if function in self.functions else 0
        return self._ns(1) * math.sqrt(max(own, 1))

    def _ns(self, samples: int) -> float:
        return samples / self.samples * self.cpu_ns_per_op


def with_times(findings: Sequence[Finding], base: SampledSide, head: SampledSide) -> list[Finding]:
    """Return the findings, those on functions with the time that these take per request."""
    return [_timed(finding, base, head) for finding in findings]


def explain_times(base: SampledSide, head: SampledSide) -> list[Finding]:
    """Return the functions whose own time changed beyond doubt, where the work is the same but its time is not."""
    total = head.cpu_ns_per_op - base.cpu_ns_per_op
    if total == 0:
        return []
    shares = {function: _sure_change(function, base, head) / total for function in {*base.functions, *head.functions}}
    listed = sorted((one for one in shares if shares[one] >= SMALLEST_SHARE), key=lambda one: (-shares[one], str(one)))
    return [_slower(function, shares[function], base, head) for function in listed[:MAX_CULPRITS]]


def _sure_change(function: NamedFunction, base: SampledSide, head: SampledSide) -> float:
    """Return the change of the function's own time; 0 where chance could have made it."""
    change = head.own_ns(function) - base.own_ns(function)
    deviation = math.hypot(base.deviation_ns(function), head.deviation_ns(function))
    return change if abs(change) > CERTAIN * deviation else 0.0


def _slower(function: NamedFunction, share: float, base: SampledSide, head: SampledSide) -> Finding:
    name, file = function
    place = f" ({file})" if file is not None else ""
    before, after = base.own_ns(function), head.own_ns(function)
    found = Finding(
        kind="culprit",
        rank=0,
        function=name,
        file=file,
        share_of_change=share,
        text=(
            f"`{name}`{place} itself takes {after:,.0f} instead of {before:,.0f} ns per request, as sampled: "
            f"{share:.0%} of the change in time."
        ),
    )
    return _timed(found, base, head)


def _timed(finding: Finding, base: SampledSide, head: SampledSide) -> Finding:
    if finding.kind != "culprit" or finding.function is None:
        return finding
    function = (finding.function, finding.file)
    if function not in base.functions and function not in head.functions:
        return finding
    return finding.model_copy(
        update={
            "cpu_ns_per_op": PerSide(base=base.inclusive_ns(function), head=head.inclusive_ns(function)),
            "self_cpu_ns_per_op": PerSide(base=base.own_ns(function), head=head.own_ns(function)),
        }
    )
