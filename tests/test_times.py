"""Sampled time as evidence, and batches that are not alike: made-up numbers with known answers."""

import pytest
from made_records import a_slice

from zerolap.explain import explain_times, with_times
from zerolap.judge import TimedPair, unequal_batching
from zerolap.records import (
    Finding,
    SampledFunction,
    SampledPass,
    SampledSide,
    Timeline,
    latencies_us,
    sum_of_histograms,
)

LOOKUP, PARSE = ("lookupKey", "db.c"), ("processMultibulkBuffer", "networking.c")


def side(cpu_ns: float, **own: int) -> SampledSide:
    functions = {LOOKUP: own.get("lookup", 0), PARSE: own.get("parse", 0), ("rest", None): own.get("rest", 0)}
    return SampledSide(
        samples=sum(functions.values()),
        cpu_ns_per_op=cpu_ns,
        functions={name: SampledFunction(own=count, inclusive=2 * count) for name, count in functions.items() if count},
    )


def test_the_function_whose_own_time_changed_is_named() -> None:
    base = side(1000.0, lookup=400, parse=600, rest=3000)
    head = side(1200.0, lookup=1000, parse=600, rest=3200)
    culprits = explain_times(base, head)
    assert [culprit.function for culprit in culprits] == ["lookupKey"]
    only = culprits[0]
    assert only.self_cpu_ns_per_op is not None
    assert only.self_cpu_ns_per_op.base == pytest.approx(100.0)
    assert only.self_cpu_ns_per_op.head == pytest.approx(250.0)
    assert only.share_of_change == pytest.approx(0.75)
    assert "itself takes 250 instead of 100 ns per request" in only.text


def test_what_chance_makes_names_nobody() -> None:
    base = side(1000.0, lookup=400, parse=600, rest=1000)
    head = side(1020.0, lookup=430, parse=580, rest=1000)
    assert explain_times(base, head) == []


def side_of_passes(cpu_ns: float, lookup: list[int], rest: int = 2000) -> SampledSide:
    """A side of passes in which one function has these samples of its own."""
    passes = [
        SampledPass(own + rest, {LOOKUP: SampledFunction(own, own), ("rest", None): SampledFunction(rest, rest)})
        for own in lookup
    ]
    return SampledSide.of(passes, cpu_ns)


def test_a_change_within_what_passes_differ_by_names_nobody() -> None:
    """Both comparisons have the same samples in all; in the second, passes of one side are far apart."""
    steady = explain_times(side_of_passes(1000.0, [200] * 4), side_of_passes(1100.0, [400] * 4))
    assert [culprit.function for culprit in steady] == ["lookupKey"]
    restless = explain_times(side_of_passes(1000.0, [50, 350, 100, 300]), side_of_passes(1100.0, [700, 100, 650, 150]))
    assert restless == []


def test_the_interval_of_a_change_in_time_is_wider_where_passes_differ() -> None:
    base = side_of_passes(1000.0, [200] * 4)
    assert base.dispersion(LOOKUP) == 1.0
    [calm] = explain_times(base, side_of_passes(1300.0, [900] * 4))
    [wide] = explain_times(base, side_of_passes(1300.0, [700, 1100, 800, 1000]))
    assert width_of_interval(wide.text) > 2 * width_of_interval(calm.text) > 0


def width_of_interval(text: str) -> float:
    low, high = text.partition("[")[2].partition("]")[0].split(", ")
    return float(high) - float(low)


def test_culprits_by_instructions_get_their_time() -> None:
    finding = Finding(kind="culprit", rank=1, function="lookupKey", file="db.c", text="…")
    unknown = Finding(kind="culprit", rank=2, function="inlined", file="a.h", text="…")
    limits = Finding(kind="limits", rank=3, text="…")
    base, head = side(1000.0, lookup=100, rest=900), side(1000.0, lookup=200, rest=800)
    timed, same, other = with_times([finding, unknown, limits], base, head)
    assert timed.cpu_ns_per_op is not None
    assert (timed.cpu_ns_per_op.base, timed.cpu_ns_per_op.head) == (pytest.approx(200.0), pytest.approx(400.0))
    assert (same, other) == (unknown, limits)


def starts(per_read: float, per_cycle: float | None, ops_per_sec: float) -> Timeline:
    alike = a_slice(
        seconds=0.01, requests_per_read=per_read, requests_per_cycle=per_cycle, metrics={"ops_per_sec": ops_per_sec}
    )
    return Timeline(slices=[alike] * 5, histogram_ns=[])


def test_batches_within_five_percent_are_alike() -> None:
    pairs = [TimedPair.of(starts(16.0, 100.0, 1e5), starts(15.5, 104.0, 1.1e5))]
    assert unequal_batching(pairs) is None


def test_unequal_batches_ask_for_half_the_slower_sides_rate() -> None:
    pairs = [TimedPair.of(starts(8.0, 100.0, 1e5), starts(10.0, 160.0, 1.4e5))]
    found = unequal_batching(pairs)
    assert found is not None
    assert (found.of, found.base, found.head, found.per_second) == ("event-loop cycle", 100.0, 160.0, 50_000)


def test_an_anchor_with_other_batches_asks_for_half_the_rate_of_the_slowest_of_three() -> None:
    base, head, anchor = starts(16.0, None, 1.2e5), starts(16.0, None, 1.1e5), starts(12.0, None, 0.8e5)
    alike, anchored = [TimedPair.of(base, head)], [TimedPair.of(anchor, head)]
    assert unequal_batching(alike) is None
    unequal = unequal_batching(alike, anchored)
    assert unequal is not None
    assert (unequal.base, unequal.head, unequal.per_second) == (12.0, 16.0, 40_000)
    slow_anchor = [TimedPair.of(starts(16.0, None, 0.5e5), head)]
    both = unequal_batching([TimedPair.of(starts(12.0, None, 1.2e5), head)], slow_anchor)
    assert both is not None
    assert both.per_second == 25_000


def test_a_server_that_tells_of_no_cycles_is_judged_by_its_reads() -> None:
    pairs = [TimedPair.of(starts(8.0, None, 1e5), starts(10.0, None, 1.4e5))]
    found = unequal_batching(pairs)
    assert found is not None
    assert found.of == "read"


def test_percentiles_are_those_of_all_replies() -> None:
    histogram = sum_of_histograms([[(1000, 60), (3000, 30)], [(2000, 9), (1000, 1), (9000, 1)]])
    assert histogram == [(1000, 61), (2000, 9), (3000, 30), (9000, 1)]
    assert latencies_us(histogram, [0.5, 0.69, 0.9, 0.999, 1.0]) == [1.0, 2.0, 3.0, 9.0, 9.0]
    with pytest.raises(ValueError, match="empty histogram"):
        latencies_us([], [0.5])
