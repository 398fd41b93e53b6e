"""Locked instructions, which wait for the cache line that they change and for all stores before them."""

from typing import Final

from zerolap.explain.detectors.detector import CaseEvidence, CodeLocation, Saving
from zerolap.explain.stated_figures import figure
from zerolap.records import CaseOpportunity, Estimate

FEWEST: Final = 0.9
"""Locked instructions of a function per request from which on it is looked at."""
UNCOUNTED: Final = Estimate(low=0.0, expected=0.0, high=80.0)
"""What a locked instruction takes beyond its replacement, in instructions. That was nothing in all trials
(docs/detector-precision.md), and is 5 to 20 ns on other processors, so that it does not count in the rank."""
PART: Final = Estimate(low=0.0, expected=0.0, high=1.0)
"""The saved part of the locked instructions themselves: in trials, at least as many others took their place."""


class Atomics:
    """Finds the functions that execute locked instructions for each request."""

    name = "atomics"
    purpose = "atomic counters that mostly one thread changes"
    revision = 5

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return the functions with locked instructions; a library's are not known, such as those of a mutex."""
        looked_at = [_opportunity(evidence, name, times) for name, times in evidence.locked.items() if times >= FEWEST]
        return [opportunity for opportunity in looked_at if opportunity is not None]


def _opportunity(evidence: CaseEvidence, name: str, times: float) -> CaseOpportunity | None:
    function = evidence.function_named(name)
    if function is None:
        return None
    return evidence.opportunity(
        Atomics.name,
        CodeLocation(function),
        Saving({function: times}, PART, UNCOUNTED.times(times)),
        confidence="low",
        evidence={"locked_instructions_per_op": times},
        text=f"executes {figure(times)} locked instructions per request, which take as long as up to "
        f"{figure(UNCOUNTED.high * times)} others, depending on the processor; where mostly one thread changes the "
        "value, one value for each thread, added up when it is read, does without them",
    )
