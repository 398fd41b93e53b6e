"""States which counted figures of a case speak against each other, and what they weigh."""

from collections.abc import Mapping, Sequence
from typing import Final

from zerolap.records import METRICS, Finding, MetricRule, Verdict

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


def explain_opposed_work(verdicts: Sequence[Verdict], rules: Mapping[str, MetricRule] = METRICS) -> Finding | None:
    """Return the finding on counted figures of which some gained and others lost; none where they agree."""
    # Judging takes a while to import, which what one version could do without does not need.
    from zerolap.judge import weighed_work

    weighed = weighed_work(verdicts, rules)
    if not weighed.gains or not weighed.losses or weighed.word is None:
        return None
    of_losses, of_gains = (" and ".join(map(_figures, figures)) for figures in (weighed.losses, weighed.gains))
    metrics = {verdict.metric for verdict in (*weighed.gains, *weighed.losses)}
    text = f"Counted figures speak against each other: less of {of_gains}, more of {of_losses}; "
    text += OUTCOMES[weighed.word] + _weights(metrics)
    if TICK in metrics:
        text += ". What the timers do is beside all requests: how much it matters depends on how busy a server is"
    return Finding(kind="cause", rank=0, text=text + ".")


def _figures(verdict: Verdict) -> str:
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
