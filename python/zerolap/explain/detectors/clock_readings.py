"""Readings of the clock on behalf of a command, which the server has read when it began."""

import re
from typing import Final

from zerolap.explain.call_index import Calls
from zerolap.explain.cost_graph import FunctionKey, is_named
from zerolap.explain.detectors.detector import CaseEvidence, CodeLocation, Saving, named, often
from zerolap.explain.stated_figures import figure
from zerolap.records import CaseOpportunity, Estimate

CLOCK: Final = re.compile(r"_*(?:clock_gettime|gettimeofday|time)(?:64)?|__vdso_(?:clock_gettime|gettimeofday|time)")
READER: Final = re.compile(
    r"_*(?:ustime|mstime|nstime|getMonotonicUs\w*|getMonotonicNs\w*|elapsed\w*|updateCachedTime\w*|monotonic\w+)"
)
"""Functions of the servers that read the clock for whoever calls them."""
UNCOUNTED: Final = Estimate(low=30.0, expected=60.0, high=150.0)
"""The instructions that take as long as a reading in the vdso, 15 to 40 ns; in counted servers a reading is free."""
PART: Final = Estimate(low=0.7, expected=0.9, high=1.0)


class ClockReadings:
    """Finds functions below a command that read the clock."""

    name = "clock-readings"
    purpose = "clock readings of a command beyond those that measure it"
    revision = 4

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return the functions that read the clock; the readings that measure the command are made outside of it."""
        if not evidence.command_calls:
            return []
        by_owner: dict[FunctionKey, list[tuple[Calls, float]]] = {}
        for calls, readings in _readings(evidence):
            by_owner.setdefault(evidence.index.owner(calls), []).append((calls, readings))
        return evidence.worth_a_line(_opportunity(evidence, owner, read) for owner, read in by_owner.items())


def _readings(evidence: CaseEvidence) -> list[tuple[Calls, float]]:
    """Return the calls of readers within commands by functions that are none, with the readings that they lead to."""
    index, readings = evidence.index, []
    for callee in index.callers:
        if not is_named(callee, CLOCK, READER):
            continue
        for caller, calls in index.callers[callee].items():
            if is_named(caller, CLOCK, READER) or not index.is_of_program(caller):
                continue
            within = evidence.within_command(calls)
            below = index.below({callee: within.calls})
            read = sum(times for key, times in below.items() if CLOCK.fullmatch(key[0]) and not index.callees.get(key))
            readings.append((within, read))
    return [(calls, read) for calls, read in readings if read > 0]


def _opportunity(evidence: CaseEvidence, owner: FunctionKey, read: list[tuple[Calls, float]]) -> CaseOpportunity:
    readings = sum(times for _, times in read)
    readers = named(dict.fromkeys(calls.callee for calls, _ in read))
    return evidence.opportunity(
        ClockReadings.name,
        CodeLocation(owner, read[0][0].caller, [line for calls, _ in read for line in calls.lines]),
        Saving(
            evidence.index.costs_of(calls for calls, _ in read if calls.instructions > 0),
            PART,
            UNCOUNTED.times(readings),
        ),
        confidence="medium",
        evidence={"readings_per_op": readings},
        text=f"reads the clock {often(readings)} per request by {readers}, which takes as long as about "
        f"{figure(UNCOUNTED.expected * readings)} instructions; the time at which the command began is known, and is "
        "the same for all of its parts",
    )
