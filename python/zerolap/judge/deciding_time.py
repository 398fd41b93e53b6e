"""Which metric says what a request costs in time."""

from collections.abc import Sequence

from zerolap.records import Verdict

CPU_TIME, CYCLES, KERNEL_CYCLES = "cpu_ns_per_op", "cycles_per_op", "kernel_cycles_per_op"
DECIDING_TIMES = (CPU_TIME, CYCLES, KERNEL_CYCLES)
"""The metrics whose verdicts are needed for the choice."""


def deciding_time(verdicts: Sequence[Verdict]) -> Verdict | None:
    """Return the verdict on what a request costs in time; none where nothing was timed.

    That is the one on CPU time. Where all slices of all starts have cycles on both sides, and starts differ less in
    them, it is the one on cycles. These are the program's own: where CPU time, or the cycles in the kernel, changed
    beyond doubt and they did not alike, CPU time decides all the same, which has both.
    """
    by_metric = {verdict.metric: verdict for verdict in verdicts}
    time, cycles = by_metric.get(CPU_TIME), by_metric.get(CYCLES)
    if time is None or cycles is None or cycles.detectable >= time.detectable:
        return time
    others = [time, *_weighty(by_metric.get(KERNEL_CYCLES), cycles)]
    contradicted = any(other.is_beyond_doubt and other.verdict != cycles.verdict for other in others)
    return time if contradicted else cycles


def _weighty(kernel: Verdict | None, cycles: Verdict) -> list[Verdict]:
    """Return the verdict on cycles in the kernel if its change matters in the sum of both."""
    if kernel is None:
        return []
    total = cycles.base + kernel.base
    return [kernel] if abs(kernel.head - kernel.base) > kernel.min_effect * total else []
