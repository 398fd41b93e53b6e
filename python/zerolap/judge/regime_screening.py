"""Whether one block of a case in a regime shows another change than the case itself has."""

from typing import Final, TypeAlias

from zerolap.judge import memory_verdicts
from zerolap.judge.block_verdicts import SMALLEST, SMALLEST_CHANGE
from zerolap.records import METRICS, Measurement

SCREENED_SHARE: Final = 0.5
"""The part of the minimum effect from which on a change is looked at: one block may show less than all."""

OWN_SHARE: Final = 0.5
"""By how much of the case's own change one in a regime has to be larger to be another."""

_SMALLEST_CHANGE: Final = {**SMALLEST_CHANGE, **memory_verdicts.SMALLEST_CHANGE}

Block: TypeAlias = tuple[Measurement, Measurement]
"""What the base and the head measured from one seed."""


def shows_other_change(in_regime: Block, case: Block | None, min_effect: float) -> bool:
    """Return whether a counted metric changed in a regime beyond what it did in the case itself.

    A change of the case is judged with the case: one in a regime is another where it is larger, or goes the other way.
    """
    base, head = in_regime
    for name in base.metrics.keys() & head.metrics.keys():
        rule = METRICS.get(name)
        if rule is None or rule.engine != "counted" or rule.decides == "never":
            continue
        unit = max(base.metrics[name], SMALLEST.get(name, 1.0))
        margin = SCREENED_SHARE * max(min_effect * unit, _SMALLEST_CHANGE.get(name, 0.0))
        own = 0.0 if case is None else _relative_change(case, name)
        change = (head.metrics[name] - base.metrics[name]) / unit
        if not is_change_of_case(change, own, margin / unit):
            return True
    return False


def is_change_of_case(change: float, own: float, margin: float) -> bool:
    """Return whether a relative change in a regime is no other than the case's own, within a margin."""
    reach = own * (1.0 + OWN_SHARE)
    return min(0.0, reach) - margin <= change <= max(0.0, reach) + margin


def _relative_change(block: Block, name: str) -> float:
    base, head = (measurement.metrics.get(name, 0.0) for measurement in block)
    return (head - base) / max(base, SMALLEST.get(name, 1.0))
