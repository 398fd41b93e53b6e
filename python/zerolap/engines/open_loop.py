"""The open loop of a timed start: latencies at rates below what the base can do, where pauses are seen.

A closed loop at full speed sends nothing while it waits: a pause is one late reply for each connection, however many
requests would have come meanwhile (coordinated omission). In the open loop requests are due at a fixed rate, and
latencies count from then. Slices of the sides alternate in random order, as those at full speed.

What others do with the processors is larger than most tails: a thread that waits for its processor for a millisecond
is ten times the usual p99. So slices in which a server or the load had to wait are not used, and more are taken
instead.
"""

import math
import random
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.engines.pairing import turns_of_pairs
from zerolap.engines.slices import SentSlice, Slice, SliceWork, TimedSide
from zerolap.records import (
    BASE,
    FAR_TAIL,
    LONGEST_PAUSE,
    OPEN_LOOP_LOADS,
    TAIL,
    TAIL_AT_HALF,
    Case,
    Measurement,
    OpenLoad,
    OpenLoadRecord,
    Side,
    latencies_us,
    sum_of_histograms,
)

SLICE_SECONDS: Final = 0.003
"""Short, as a wait for a processor costs the whole slice, and long enough for a hundred pipelines of most cases."""
WANTED_SLICES: Final = (4, 14)
"""Of each side at each load: the higher one is that by which time is the same."""
MOST_TIMES: Final = 2
"""How many times as many pairs there are at most, where others use the processors."""
FEWEST_SLICES: Final = 3
"""Of each side: with fewer undisturbed ones all slices are used."""
LONGEST_SECONDS: Final = (0.06, 0.2)
"""Of all sides at each load, for cases whose requests are slow, and beside others."""
WAITED_SHARE: Final = 0.03
"""The part of a slice that server and load may wait for their processors; p99 is a tenth of one."""
FAR_TAIL_REQUESTS: Final = 2000
"""The fewest requests of a side of which p99.9 is computed: two are beyond it."""


@dataclass(frozen=True)
class OpenLoop:
    """The loads that were put on all sides of a start, and what each side did at each of them."""

    loads: tuple[OpenLoad, ...]
    records: Mapping[Side, Sequence[OpenLoadRecord]]

    def metrics(self, side: Side) -> dict[str, float]:
        """Return the latencies of a side by metric.

        p99 is the geometric mean of that of each slice. The p99 of all of them together is that of the worst slice, and
        differs between equal starts by three to ten times as much (docs/timed.md).
        """
        half, high = self.records[side]
        latencies = {TAIL_AT_HALF: _mean_p99(half), TAIL: _mean_p99(high)}
        if all(_requests(records[-1]) >= FAR_TAIL_REQUESTS for records in self.records.values()):
            latencies[FAR_TAIL] = _percentile(high, 0.999)
        latencies[LONGEST_PAUSE] = _percentile(high, 1.0)
        return {name: value for name, value in latencies.items() if value > 0}


def run_open_loop(
    sides: Mapping[Side, TimedSide],
    case: Case,
    loads: tuple[OpenLoad, ...],
    at_full_speed: Sequence[Slice],
    chance: random.Random,
) -> OpenLoop:
    """Put the loads on all sides, in turns; where `loads` are none yet, they follow from the base's full speed."""
    loads = loads or choose_loads(case, at_full_speed)
    taken = [
        _run_load(sides, SliceWork.of(case, load.requests, load.per_second), chance, wanted, seconds)
        for load, wanted, seconds in zip(loads, WANTED_SLICES, LONGEST_SECONDS, strict=True)
    ]
    return OpenLoop(loads, {side: [records[side] for records in taken] for side in sides})


def choose_loads(case: Case, at_full_speed: Sequence[Slice]) -> tuple[OpenLoad, ...]:
    """Return the loads for a case by what its base did at full speed.

    Slices are whole pipelines of all connections and whole cycles of commands, as those at full speed. A draining
    keyspace is not asked for more than these ask of it.
    """
    undisturbed = [
        slice_at_full_speed.result.ops_per_sec
        for slice_at_full_speed in at_full_speed
        if not slice_at_full_speed.is_disturbed
    ]
    if len(undisturbed) >= FEWEST_SLICES:
        capacity = statistics.median(undisturbed)
    else:
        # What others leave is not what the base can do: its fastest slice is nearer to that.
        capacity = max(slice_at_full_speed.result.ops_per_sec for slice_at_full_speed in at_full_speed)
    unit = math.lcm(case.client.pipeline * case.client.connections, case.client.cycle)
    most = at_full_speed[0].result.requests if case.state == "drains" else None
    loads = []
    for part in OPEN_LOOP_LOADS:
        per_second = max(1, round(part * capacity))
        requests = max(1, round(per_second * SLICE_SECONDS / unit)) * unit
        loads.append(OpenLoad(per_second=per_second, requests=requests if most is None else min(requests, most)))
    return tuple(loads)


def _run_load(
    sides: Mapping[Side, TimedSide], work: SliceWork, chance: random.Random, wanted: int, seconds: float
) -> dict[Side, OpenLoadRecord]:
    turns, slices = turns_of_pairs(list(sides), chance), {side: list[SentSlice]() for side in sides}
    end = time.monotonic() + seconds
    for number in range(MOST_TIMES * wanted):
        if number >= FEWEST_SLICES and time.monotonic() >= end:
            break
        for side in next(turns):
            slices[side].append(sides[side].send(work))
        if all(sum(is_calm(sent) for sent in of_side) >= wanted for of_side in slices.values()):
            break
    used = used_slices(slices)
    return {
        side: OpenLoadRecord(
            per_second=work.per_second or 0,
            slices=len(slices[side]),
            p99_us=[latencies_us(sent.result.histogram_ns, [0.99])[0] for sent in of_side if sent.result.histogram_ns],
            histogram_ns=sum_of_histograms([sent.result.histogram_ns for sent in of_side]),
        )
        for side, of_side in used.items()
    }


def used_slices(slices: Mapping[Side, Sequence[SentSlice]]) -> dict[Side, Sequence[SentSlice]]:
    """Return the slices whose latencies are used: as many of each side, as the longest one grows with their number."""
    calm = {side: [sent for sent in of_side if is_calm(sent)] for side, of_side in slices.items()}
    number = min(map(len, calm.values()))
    if number < FEWEST_SLICES:
        return dict(slices)
    return {side: of_side[:number] for side, of_side in calm.items()}


def is_calm(sent: SentSlice) -> bool:
    """Whether server and load had their processors when they wanted them, but for a small part of the slice."""
    return sent.waited_share <= WAITED_SHARE


def _mean_p99(record: OpenLoadRecord) -> float:
    return statistics.geometric_mean(record.p99_us) if record.p99_us and min(record.p99_us) > 0 else 0.0


def _percentile(record: OpenLoadRecord, share: float) -> float:
    return latencies_us(record.histogram_ns, [share])[0] if record.histogram_ns else 0.0


def _requests(record: OpenLoadRecord) -> int:
    return sum(count for _, count in record.histogram_ns)


def base_of(slices: Mapping[Side, Sequence[Slice]]) -> Sequence[Slice]:
    """Return the slices of the side whose full speed the loads follow from."""
    return slices[BASE] if BASE in slices else next(iter(slices.values()))


def with_tails(measurement: Measurement, open_loop: OpenLoop | None, side: Side) -> Measurement:
    """Return what was measured of a side with its tails, if there was an open loop."""
    if open_loop is None:
        return measurement
    return measurement.model_copy(update={"metrics": {**measurement.metrics, **open_loop.metrics(side)}})
