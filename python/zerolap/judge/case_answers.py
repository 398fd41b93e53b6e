"""The answers of a comparison on a case as a whole: work, time and memory.

The rule of a metric states which answer it belongs to, and when it decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.judge.memory_answer import memory_answer
from zerolap.judge.weighed_work import deciding, weighed_work
from zerolap.records import (
    CHANGED,
    METRICS,
    Answer,
    CaseVerdict,
    Check,
    Measurement,
    MetricRule,
    TimeWord,
    Validity,
    Verdict,
    VerdictWord,
)

CPU_TIME, CYCLES, KERNEL_CYCLES = "cpu_ns_per_op", "cycles_per_op", "kernel_cycles_per_op"
DECIDING_TIMES = (CPU_TIME, CYCLES, KERNEL_CYCLES)
"""The metrics whose verdicts are needed for the choice."""
COST_AT_FULL_SPEED: Final = "full_speed_cpu_ns_per_op"
"""CPU time of requests that come in unequal batches, as users send them, beside that in equal batches."""


@dataclass(frozen=True)
class CaseAnswers:
    """The answers on a case with the metrics that they rest on, each none where there is none."""

    verdict: CaseVerdict
    deciding: str | None
    confirmed: bool
    work: VerdictWord | None = None
    work_deciding: str | None = None
    time: TimeWord | None = None
    time_deciding: str | None = None
    memory: VerdictWord | None = None
    memory_deciding: str | None = None


def case_answers(
    verdicts: Sequence[Verdict],
    validity: Validity,
    *,
    layouts_vary: bool = True,
    rules: Mapping[str, MetricRule] = METRICS,
) -> CaseAnswers:
    """Return work, time, memory and the verdict of a case from the verdicts on its metrics.

    The verdict is what is certain: a change of time, else one of work where time is not decided, else one of memory,
    else that time is the same or unsure where it was measured, else work. Code that is identical takes the same time:
    only a change that was timed speaks against it.
    A change of time is confirmed, unless each side had one layout of code and data (`layouts_vary`), which may be all
    that differs.
    """
    if not validity.valid or not verdicts:
        return CaseAnswers(verdict="invalid", deciding=None, confirmed=False)
    weighed = weighed_work(verdicts, rules)
    work, work_metric = weighed.word, weighed.metric
    time, time_metric = time_answer(verdicts, rules)
    memory, memory_metric = memory_answer(verdicts, rules)
    verdict, answer = _certain(work, time)
    if verdict not in CHANGED and memory in ("regression", "improvement"):
        verdict, answer = memory, "memory"
    metric = {"work": work_metric, "time": time_metric, "memory": memory_metric, None: None}[answer]
    confirmed = verdict in CHANGED and answer == "time" and layouts_vary
    return CaseAnswers(verdict, metric, confirmed, work, work_metric, time, time_metric, memory, memory_metric)


def _certain(work: VerdictWord | None, time: TimeWord | None) -> tuple[CaseVerdict, Answer | None]:
    """Return the verdict of a case, and the answer that it rests on."""
    if work == "identical":
        return (time, "time") if time in ("regression", "improvement") else ("same", "work")
    if time is not None and time != "unsure":
        return time, "time"
    if work is not None and (work in CHANGED or time is None):
        return work, "work"
    return ("unsure", "time") if time is not None else ("same", None)


def time_answer(
    verdicts: Sequence[Verdict], rules: Mapping[str, MetricRule] = METRICS
) -> tuple[TimeWord | None, str | None]:
    """Return the word on time and the metric that it rests on, none where nothing was timed.

    A regression of any deciding metric is one of time, whatever the others gain. Of CPU time and cycles one leads; the
    other decides where it changed beyond doubt. Time is the same where what a request costs is, throughput, and the
    p99 of an open loop where there was one.
    """
    always = deciding("time", "always", verdicts, rules)
    of_request = deciding_time(verdicts)
    leading = [verdict for verdict in always if verdict.metric not in DECIDING_TIMES or verdict is of_request]
    needed = deciding("time", "for same", verdicts, rules)
    beside = deciding("time", "where changed", verdicts, rules)
    others = [*always, *deciding("time", "beyond doubt", verdicts, rules)]
    certain = [verdict for verdict in others if verdict.is_beyond_doubt]
    opposed = _opposed_loads(of_request, needed)
    if opposed is not None:
        return "unsure", opposed.metric
    for word in CHANGED:
        changed = next((verdict for verdict in [*leading, *needed, *beside, *certain] if verdict.verdict == word), None)
        if changed is not None:
            return word, changed.metric
    if not leading:
        return ("unsure" if any(rules[verdict.metric].answer == "time" for verdict in verdicts) else None), None
    undecided = next((verdict for verdict in [*leading, *needed] if verdict.verdict == "unsure"), None)
    return ("same", leading[0].metric) if undecided is None else ("unsure", undecided.metric)


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


def _opposed_loads(of_request: Verdict | None, needed: Sequence[Verdict]) -> Verdict | None:
    """Return the verdict on the cost at full speed where it changed against that at an equal rate; none else."""
    at_full_speed = next((verdict for verdict in needed if verdict.metric == COST_AT_FULL_SPEED), None)
    if of_request is None or at_full_speed is None:
        return None
    return at_full_speed if {of_request.verdict, at_full_speed.verdict} == set(CHANGED) else None


def case_validity(measurements: Sequence[Measurement]) -> Validity:
    """Return one check of each kind over all trials of all sides: the one that failed where any did."""
    chosen: dict[str, Check] = {}
    for measurement in measurements:
        for check in measurement.validity.checks:
            if check.check not in chosen or (chosen[check.check].ok and not check.ok):
                chosen[check.check] = check
    return Validity.of(list(chosen.values()))
