"""Asks the judge about trials."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from zerolap.judge import Judged, judge_counted, judge_timed, unequal_batching, wants_more
from zerolap.lab.timed_trials import TimedTrials
from zerolap.lab.trials import CaseTrials
from zerolap.records import METRICS, Measurement, Settings, Side, Spread

FEWEST_STARTS = 2
COSTS = ("cpu_ns_per_op", "io_threads_ns_per_op", "usec_per_call")
"""What a request costs: judged at an equal rate where batches differ."""
SERVED = ("ops_per_sec", "latency_p50_us", "latency_p99_us")
"""What users get; the tail beyond is too rare in slices of this length to be compared."""
JUDGED_TIMES = (*COSTS, *SERVED)


Bank: TypeAlias = Mapping[str, Sequence[Spread]]
"""How much starts differ on this platform, by metric."""


def judge_case(trials: CaseTrials, settings: Settings) -> list[Judged]:
    """Return what is concluded on each counted metric of a case; nothing of an invalid or failed one."""
    base, head = trials.measurements["base"], trials.measurements["head"]
    if trials.failure is not None or any(not one.validity.valid for one in [*base, *head]):
        return []
    pairs = min(len(base), len(head))
    return _judge(base[:pairs], head[:pairs], settings)


def judge_timings(timed: Mapping[str, TimedTrials], settings: Settings, bank: Bank) -> dict[str, list[Judged]]:
    """Return what is concluded on the timed metrics, by case: all cases and the bank say how much starts vary."""
    verdicts: dict[str, list[Judged]] = {}
    for metric in JUDGED_TIMES:
        chosen = {name: trials.of_cost if metric in COSTS else trials for name, trials in timed.items()}
        usable = {
            name: one.pairs()
            for name, one in chosen.items()
            if one.usable
            and one.starts >= FEWEST_STARTS
            and not (metric in COSTS and one.per_second is None and unequal_batching(one.pairs()))
        }
        for name, judged in judge_timed(metric, usable, settings.min_effect["timed"], bank.get(metric, ())).items():
            verdicts.setdefault(name, []).append(judged)
    return verdicts


def undecided(measured: Mapping[Side, Sequence[Measurement]], settings: Settings, cases: int) -> bool:
    """Whether another block of counted trials could decide something in a comparison of so many cases."""
    base, head = measured["base"], measured["head"]
    judged = _judge(base, head, settings)
    return wants_more(judged, len(base), cases * len(judged))


def _judge(base: Sequence[Measurement], head: Sequence[Measurement], settings: Settings) -> list[Judged]:
    min_effect = settings.min_effect["counted"]
    judged = [
        judge_counted(name, base, head, min_effect) for name, metric in METRICS.items() if metric.engine == "counted"
    ]
    return [one for one in judged if one is not None]
