"""Which metric says what a request costs in time."""

from collections.abc import Sequence

from zerolap.records import Verdict

CPU_TIME, CYCLES, KERNEL_CYCLES = "cpu_ns_per_op", "cycles_per_op", "kernel_cycles_per_op"
DECIDING_TIMES = (CPU_TIME, CYCLES, KERNEL_CYCLES)
"""The metrics whose verdicts are needed for the choice."""


def deciding_time(verdicts: Sequence[Verdict]) -> Verdict | None:
    """Return the verdict on what a request costs in time; none where nothing was timed.

    That is the one on CPU time. Where all slices of all starts have cycles on both sides, and starts differ less in
    them, it is the one on cycles. These are the program's own: unless those in the kernel were counted too, and did not
    change by as much as matters in the sum of both, CPU time decides, which has both.
    """
    by_metric = {verdict.metric: verdict for verdict in verdicts}
    time, cycles, kernel = (by_metric.get(metric) for metric in DECIDING_TIMES)
    if time is None or cycles is None or kernel is None or cycles.detectable >= time.detectable:
        return time
    kernel_matters = abs(kernel.head - kernel.base) > kernel.min_effect * (cycles.base + kernel.base)
    return time if kernel.is_beyond_doubt and kernel_matters and kernel.verdict != cycles.verdict else cycles
