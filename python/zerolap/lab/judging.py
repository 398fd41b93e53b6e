"""Asks the judge about a case's trials."""

from collections.abc import Mapping, Sequence

from zerolap.judge import Judged, judge_counted, wants_more
from zerolap.lab.trials import CaseTrials
from zerolap.records import METRICS, Measurement, Settings, Side


def judge_case(trials: CaseTrials, settings: Settings) -> list[Judged]:
    """Return what is concluded on each metric of a case; nothing of an invalid or failed one."""
    base, head = trials.measurements["base"], trials.measurements["head"]
    if trials.failure is not None or any(not one.validity.valid for one in [*base, *head]):
        return []
    pairs = min(len(base), len(head))
    return _judge(base[:pairs], head[:pairs], settings)


def undecided(measured: Mapping[Side, Sequence[Measurement]], settings: Settings, cases: int) -> bool:
    """Whether another block of trials could decide something in a comparison of so many cases."""
    base, head = measured["base"], measured["head"]
    judged = _judge(base, head, settings)
    return wants_more(judged, len(base), cases * len(judged))


def _judge(base: Sequence[Measurement], head: Sequence[Measurement], settings: Settings) -> list[Judged]:
    min_effect = settings.min_effect["counted"]
    judged = [
        judge_counted(name, base, head, min_effect) for name, metric in METRICS.items() if metric.engine == "counted"
    ]
    return [one for one in judged if one is not None]
