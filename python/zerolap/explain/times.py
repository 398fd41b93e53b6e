"""What functions cost in time: what both sides' sampled stacks show of a change."""

import math
from collections.abc import Sequence

from zerolap.records import Finding, NamedFunction, PerSide, SampledSide

CERTAIN = 4.0
"""A function is named if its own time differs by more than so many standard deviations."""
INTERVAL = 1.96
"""The standard deviations to either side of a 95 % interval."""
SMALLEST_SHARE = 0.1
MAX_CULPRITS = 3


def with_times(findings: Sequence[Finding], base: SampledSide, head: SampledSide) -> list[Finding]:
    """Return the findings, those on functions with the time that these take per request."""
    return [_timed(finding, base, head) for finding in findings]


def explain_times(base: SampledSide, head: SampledSide) -> list[Finding]:
    """Return the functions whose own time changed beyond doubt, where the work is the same but its time is not."""
    total = head.cpu_ns_per_op - base.cpu_ns_per_op
    if total == 0:
        return []
    shares = {function: _sure_change(function, base, head) / total for function in {*base.functions, *head.functions}}
    listed = sorted(
        (function for function in shares if shares[function] >= SMALLEST_SHARE),
        key=lambda function: (-shares[function], str(function)),
    )
    return [_slower(function, shares[function], base, head) for function in listed[:MAX_CULPRITS]]


def _sure_change(function: NamedFunction, base: SampledSide, head: SampledSide) -> float:
    """Return the change of the function's own time; 0 where chance could have made it."""
    change = head.own_ns(function) - base.own_ns(function)
    return change if abs(change) > CERTAIN * _deviation(function, base, head) else 0.0


def _deviation(function: NamedFunction, base: SampledSide, head: SampledSide) -> float:
    return math.hypot(base.deviation_ns(function), head.deviation_ns(function))


def _slower(function: NamedFunction, share: float, base: SampledSide, head: SampledSide) -> Finding:
    name, file = function
    location = f" ({file})" if file is not None else ""
    before, after = base.own_ns(function), head.own_ns(function)
    margin = INTERVAL * _deviation(function, base, head)
    low, high = after - before - margin, after - before + margin
    found = Finding(
        kind="culprit",
        rank=0,
        function=name,
        file=file,
        share_of_change=share,
        text=(
            f"`{name}`{location} itself takes {after:,.0f} instead of {before:,.0f} ns per request, as sampled: "
            f"{after - before:+,.0f} ns [{low:+,.0f}, {high:+,.0f}], {share * 100:.0f} % of the change in time."
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
