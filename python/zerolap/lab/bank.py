"""What comparisons of a build with itself say of a platform."""

from zerolap.judge import spread_of_starts
from zerolap.lab.judging import COSTS, JUDGED_TIMES, Bank
from zerolap.lab.measuring import Measured
from zerolap.records import Comparison, Spread
from zerolap.store import Store


def read_bank(store: Store, platform: str) -> Bank:
    """Return what is known of the platform with that fingerprint."""
    return {metric: store.spreads(platform, metric) for metric in JUDGED_TIMES}


def add_to_bank(comparison: Comparison, same_settings: bool, measured: Measured, store: Store) -> None:
    """Record how much starts differed where both sides are one build under the same settings."""
    if comparison.base.build != comparison.head.build or not same_settings:
        return
    found: dict[tuple[str, str], Spread] = {}
    for name, trials in measured.timed.items():
        for metric in JUDGED_TIMES:
            chosen = trials.of_cost if metric in COSTS else trials
            spread = spread_of_starts(metric, chosen.pairs()) if chosen.usable else None
            if spread is not None:
                found[name, metric] = spread
    store.record_spreads(comparison.id, found)
