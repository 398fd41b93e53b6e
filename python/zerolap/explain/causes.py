"""What it points to that work and time did not change alike."""

from collections.abc import Sequence

from zerolap.records import Finding, Verdict

CHANGED = ("regression", "improvement")
UNCHANGED = ("same", "identical")


def explain_cause(verdicts: Sequence[Verdict]) -> Finding | None:
    """Return the finding on work, CPU time per request and throughput that disagree; none where they agree."""
    by_metric = {verdict.metric: verdict for verdict in verdicts}
    bursts = _in_bursts(by_metric.get("cpu_ns_per_op"), by_metric.get("whole_cpu_ns_per_op"))
    if bursts is not None:
        return Finding(kind="cause", rank=0, text=bursts)
    served = _served_against(by_metric.get("cpu_ns_per_op"), by_metric.get("ops_per_sec"))
    if served is not None:
        return Finding(kind="cause", rank=0, text=served)
    work, time = by_metric.get("instructions_per_op"), by_metric.get("cpu_ns_per_op")
    if work is None or time is None or "unsure" in (work.verdict, time.verdict):
        return None
    if work.verdict == time.verdict or (work.verdict in UNCHANGED and time.verdict in UNCHANGED):
        return None
    return Finding(kind="cause", rank=0, text=_text(work, time))


def _text(work: Verdict, time: Verdict) -> str:
    figures = f"CPU time per request {_percent(time)}, instructions per request {_percent(work)}"
    if work.verdict in UNCHANGED:
        return (
            f"{figures}: the same work runs {_pace(time)}. That points to what counting cannot see: caches and the "
            "layout of data, branch prediction, locks and atomics, page faults, or where the code was placed."
        )
    if time.verdict == "same":
        return (
            f"{figures}: the work changed, its time did not by as much as matters. The instructions are cheap ones, or "
            "the processor does them while it waits for memory."
        )
    return (
        f"{figures}: {'more' if work.change > 0 else 'less'} work that runs {_pace(time)}. That points to caches, "
        "memory or locks as the larger part of the cost."
    )


def _served_against(time: Verdict | None, served: Verdict | None) -> str | None:
    if time is None or served is None or not served.is_beyond_doubt:
        return None
    figures = f"requests per second {_percent(served)}, CPU time per request {_percent(time)}"
    if time.verdict == "same":
        verb = "waits more" if served.change < 0 else "waits less"
        return f"{figures}: the server works as before, it {verb}. That points to sleep, locks, disk or the network."
    if {time.verdict, served.verdict} == set(CHANGED):
        more = "more" if served.change > 0 else "less"
        return (
            f"{figures}: {more} is served for {more} CPU time. That points to work that goes on on other threads, "
            "or no longer does; which of the two matters, only its user can say."
        )
    return None


def _in_bursts(typical: Verdict | None, whole: Verdict | None) -> str | None:
    """Return that the CPU time of whole starts changed otherwise than that of a typical slice; none if it did not."""
    if typical is None or whole is None or not whole.is_beyond_doubt:
        return None
    if whole.low <= typical.high and typical.low <= whole.high:
        return None
    return (
        f"CPU time per request of whole starts {_percent(whole)}, of a typical slice {_percent(typical)}: what changed "
        "is in few slices, or not in the requests themselves. That points to timers, such as expiry and "
        "defragmentation, background threads or forked children."
    )


def _pace(time: Verdict) -> str:
    return "slower" if time.change > 0 else "faster"


def _percent(verdict: Verdict) -> str:
    return f"{verdict.change:+.1%} [{verdict.low:+.1%}, {verdict.high:+.1%}]"
