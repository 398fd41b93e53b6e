"""Finds possible causes where figures of a case disagree: counts, work and time, or the times of its starts."""

from collections.abc import Mapping, Sequence
from typing import Final

from zerolap.explain.text import joined
from zerolap.records import (
    CHANGED,
    METRICS,
    TAIL,
    TAIL_METRICS,
    UNCHANGED,
    Finding,
    LopsidedReason,
    Verdict,
    WildStarts,
)

TIME_LABELS: Mapping[str, str] = {"cpu_ns_per_op": "CPU time per request", "cycles_per_op": "cycles per request"}

MOST_CYCLES: Mapping[str, float] = {
    "kernel_cycles_per_op": 1,
    "branch_misses_per_op": 30,
    "cache_misses_per_op": 500,
    "tlb_misses_per_op": 100,
}
"""The cycles that each of these costs at most; for misses, on current processors."""
SMALLEST_PART = 0.1
"""A cause that cannot explain this share of a change in cycles is not named."""
OF_SLOW_STARTS: Final[Mapping[LopsidedReason, str]] = {
    "mean": "whether time is the same on the average of all starts is open",
    "sides": "so many on one side are more than chance",
    "other cases": "one side has such starts in most other cases, more than by chance, and so may this one",
}
"""What slow starts mean for the verdict that they leave unsure."""
PRICED: Final[Mapping[str, str]] = {
    "syscalls_per_op": "a system call",
    "allocations_per_op": "an allocation",
    "clock_readings_per_op": "a clock reading",
}
"""The names of counts that are weighed as instructions, as sentences use them."""
TICK: Final = "instructions_per_tick"
ROUNDED: Final = 1_000
"""Larger numbers are written without decimals."""
OUTCOMES: Final[Mapping[str, str]] = {
    "regression": "together they are a loss",
    "improvement": "together they are a gain",
    "unsure": "whether together they are a gain is not certain",
}


def explain_cause(verdicts: Sequence[Verdict]) -> Finding | None:
    """Return the finding on work, time per request and throughput that disagree; none where they agree."""
    by_metric = {verdict.metric: verdict for verdict in verdicts}
    bursts = _in_bursts(by_metric.get("cpu_ns_per_op"), by_metric.get("whole_cpu_ns_per_op"))
    if bursts is not None:
        return Finding(kind="cause", rank=0, text=bursts)
    # Judging takes a while to import, which what one version could do without does not need.
    from zerolap.judge import deciding_time

    time = deciding_time(verdicts)
    served = _served_against(time, by_metric.get("ops_per_sec"))
    if served is not None:
        return Finding(kind="cause", rank=0, text=served)
    work = by_metric.get("instructions_per_op") or by_metric.get("retired_instructions_per_op")
    if work is None or time is None or "unsure" in (work.verdict, time.verdict):
        return None
    if work.verdict == time.verdict or (work.verdict in UNCHANGED and time.verdict in UNCHANGED):
        return None
    return Finding(kind="cause", rank=0, text=_text(work, time, by_metric))


def _text(work: Verdict, time: Verdict, by_metric: Mapping[str, Verdict]) -> str:
    figures = f"{TIME_LABELS[time.metric]} {_percent(time)}, instructions per request {_percent(work)}"
    if time.verdict == "same":
        return (
            f"{figures}: the work changed, its time did not by as much as matters. The instructions are cheap ones, or "
            "the processor does them while it waits for memory."
        )
    same = work.verdict in UNCHANGED
    amount = "the same" if same else "more" if work.change > 0 else "less"
    outcome = f"{figures}: {amount} work {'' if same else 'that '}runs {_pace(time)}"
    known = [verdict for metric in MOST_CYCLES if (verdict := by_metric.get(metric)) is not None]
    with_time = [verdict for verdict in known if _explains(verdict, time, by_metric.get("cycles_per_op"))]
    if with_time:
        return f"{outcome}, with {'more' if time.change > 0 else 'fewer'} {joined([*map(_figures, with_time)])}."
    if same:
        unchanged = {verdict.metric for verdict in known if verdict.verdict == "same"}
        return f"{outcome}{_at_the_same(unchanged)}. That points to {joined(_possible_causes(unchanged), 'or')}."
    return f"{outcome}. That points to caches, memory or locks as the larger part of the cost."


def _explains(seen: Verdict, time: Verdict, cycles: Verdict | None) -> bool:
    """Whether misses, or cycles in the kernel, changed as time did, by enough to be a part of its change."""
    if seen.verdict not in CHANGED or (seen.change > 0) != (time.change > 0):
        return False
    if seen.metric == "kernel_cycles_per_op" and time.metric == "cycles_per_op":
        # These are the program's own.
        return False
    if cycles is None:
        return True
    cost = abs(seen.head - seen.base) * MOST_CYCLES[seen.metric]
    return cost >= SMALLEST_PART * abs(cycles.head - cycles.base)


def _figures(verdict: Verdict) -> str:
    return f"{METRICS[verdict.metric].label} ({verdict.base:.3g} → {verdict.head:.3g}, {_percent(verdict)})"


def _at_the_same(unchanged: set[str]) -> str:
    labels = [METRICS[metric].label.removesuffix(" per request") for metric in MOST_CYCLES if metric in unchanged]
    return f" at the same {joined(labels)} per request" if labels else ""


def _possible_causes(unchanged: set[str]) -> list[str]:
    """Return causes that counted instructions do not show, except those that counted misses rule out."""
    causes = ["the nearer caches" if "cache_misses_per_op" in unchanged else "caches and the layout of data"]
    if "branch_misses_per_op" not in unchanged:
        causes.append("branch prediction")
    return [*causes, "locks and atomics", "page faults", "where the code was placed"]


def _served_against(time: Verdict | None, served: Verdict | None) -> str | None:
    if time is None or served is None or not served.is_beyond_doubt:
        return None
    figures = f"requests per second {_percent(served)}, {TIME_LABELS[time.metric]} {_percent(time)}"
    if time.verdict == "same":
        verb = "waits more" if served.change < 0 else "waits less"
        return f"{figures}: the server works as before, it {verb}. That points to sleep, locks, disk or the network."
    if {time.verdict, served.verdict} == set(CHANGED):
        more = "more" if served.change > 0 else "less"
        return (
            f"{figures}: {more} is served for {more} CPU time. That points to work that moved to or from other "
            "threads; whether throughput or CPU time matters depends on the use."
        )
    return None


def _in_bursts(typical: Verdict | None, whole: Verdict | None) -> str | None:
    """Return that the CPU time of all slices changed otherwise than that of a typical slice; none if it did not."""
    if typical is None or whole is None or whole.verdict not in CHANGED:
        return None
    if whole.low <= typical.high and typical.low <= whole.high:
        return None
    return (
        f"CPU time per request of the whole server {_percent(whole)}, in a typical slice {_percent(typical)}: what "
        "changed happens now and then, or not in the requests themselves. That points to timers, such as expiry and "
        "defragmentation, background threads or forked children."
    )


def _pace(time: Verdict) -> str:
    return "slower" if time.change > 0 else "faster"


def _percent(verdict: Verdict) -> str:
    return f"{verdict.change:+.1%} [{verdict.low:+.1%}, {verdict.high:+.1%}]"


NEED_NOT_BE_KNOWN: Final = {*TAIL_METRICS, "latency_p50_us", "latency_p99_us"} - {TAIL}


def explain_slow_starts(verdicts: Sequence[Verdict]) -> Finding | None:
    """Return the finding on starts far from the others; none where they leave all verdicts as they are.

    Latencies that need not be known for time to be differ much between all starts.
    """
    for verdict in verdicts:
        if verdict.metric in NEED_NOT_BE_KNOWN:
            continue
        if verdict.wild_starts is not None and verdict.wild_starts.reason is not None:
            metric = METRICS.get(verdict.metric)
            label = verdict.metric if metric is None else metric.label
            return Finding(kind="cause", rank=0, text=f"{label}: {_slow_starts(verdict, verdict.wild_starts)}.")
    return None


def _slow_starts(verdict: Verdict, wild: WildStarts) -> str:
    meaning = OF_SLOW_STARTS[wild.reason] if wild.reason is not None else ""
    if not wild.base and not wild.head:
        return f"none of {verdict.samples} starts lies far from the others; {meaning}"
    sides = [
        f"in {count} of {verdict.samples} starts the {side} took far longer than in the others"
        for side, count in (("head", wild.head), ("base", wild.base))
        if count
    ]
    return (
        f"{' and '.join(sides)}, up to {wild.largest:.2f} times as long; the mean of all starts is "
        f"{wild.mean_change:+.1%}, that of typical starts {verdict.change:+.1%}; {meaning}"
    )


def explain_opposed_work(verdicts: Sequence[Verdict]) -> Finding | None:
    """Return the finding on counted figures of which some gained and others lost; none where they agree."""
    # Judging takes a while to import, which what one version could do without does not need.
    from zerolap.judge import weighed_work

    weighed = weighed_work(verdicts)
    if not weighed.gains or not weighed.losses or weighed.word is None:
        return None
    of_losses, of_gains = (" and ".join(map(_counts, figures)) for figures in (weighed.losses, weighed.gains))
    metrics = {verdict.metric for verdict in (*weighed.gains, *weighed.losses)}
    text = f"Counted figures speak against each other: less of {of_gains}, more of {of_losses}; "
    text += OUTCOMES[weighed.word] + _weights(metrics)
    if TICK in metrics:
        text += ". What the timers do is beside all requests: how much it matters depends on how busy a server is"
    return Finding(kind="cause", rank=0, text=text + ".")


def _counts(verdict: Verdict) -> str:
    metric = METRICS.get(verdict.metric)
    label = verdict.metric if metric is None else metric.label
    change = f", {verdict.change:+.1%}" if verdict.base else ""
    return f"{label} ({_number(verdict.base)} → {_number(verdict.head)}{change})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= ROUNDED else f"{value:.3g}"


def _weights(metrics: set[str]) -> str:
    from zerolap.judge import WORTH

    priced = [f"{name} counts as {WORTH[metric]:,.0f}" for metric, name in PRICED.items() if metric in metrics]
    return f" (in instructions, {', '.join(priced)})" if priced else ""
