"""Chooses the metric of the time of a request: CPU time or cycles."""

from collections.abc import Sequence

from zerolap.records import Verdict

CPU_TIME, CYCLES, KERNEL_CYCLES = "cpu_ns_per_op", "cycles_per_op", "kernel_cycles_per_op"
DECIDING_TIMES = (CPU_TIME, CYCLES, KERNEL_CYCLES)
"""The metrics whose verdicts are needed for the choice."""


def deciding_time(verdicts: Sequence[Verdict]) -> Verdict | None:
    """Return the verdict on the time of a request; none where nothing was timed.

    That is the one on CPU time, unless all slices have cycles, in the program and in the kernel, and starts differ less
    in those of the program: then it is the one on the program's cycles. CPU time decides even so where the kernel's
    cycles changed beyond doubt, otherwise than the program's, by more than the minimum effect on the sum of both.
    """
    by_metric = {verdict.metric: verdict for verdict in verdicts}
    time, cycles, kernel = (by_metric.get(metric) for metric in DECIDING_TIMES)
    if time is None or cycles is None or kernel is None or cycles.detectable >= time.detectable:
        return time
    kernel_matters = abs(kernel.head - kernel.base) > kernel.min_effect * (cycles.base + kernel.base)
    return time if kernel.is_beyond_doubt and kernel_matters and kernel.verdict != cycles.verdict else cycles
