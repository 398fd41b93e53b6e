"""Locked instructions, which wait for the cache line that they change and for all stores before them."""

from typing import Final

from zerolap.explain.detectors.detector import CaseEvidence, CodePlace, Saving
from zerolap.explain.stated_figures import figure
from zerolap.records import CaseOpportunity, Estimate

FEWEST: Final = 0.9
"""Locked instructions of a function per request from which on it is looked at."""
UNCOUNTED: Final = Estimate(low=0.0, expected=20.0, high=80.0)
"""What a locked instruction takes beyond the plain, in instructions: 5 to 20 ns where no other thread wants the line.
It may be necessary."""
PART: Final = Estimate(low=0.0, expected=1.0, high=1.0)


class Atomics:
    """Finds the functions that execute locked instructions for each request."""

    name = "atomics"
    purpose = "atomic counters that mostly one thread changes"
    revision = 4

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return the functions with locked instructions; a library's are not known, such as those of a mutex."""
        return evidence.worth_a_line(
            _opportunity(evidence, name, times) for name, times in evidence.locked.items() if times >= FEWEST
        )


def _opportunity(evidence: CaseEvidence, name: str, times: float) -> CaseOpportunity | None:
    function = evidence.function_named(name)
    if function is None:
        return None
    return evidence.opportunity(
        Atomics.name,
        CodePlace(function),
        Saving({function: times}, PART, UNCOUNTED.times(times)),
        confidence="medium",
        evidence={"locked_instructions_per_op": times},
        text=f"executes {figure(times)} locked instructions per request, which take as long as about "
        f"{figure(UNCOUNTED.expected * times)} others; where mostly one thread changes the value, "
        "one value for each thread, added up when it is read, does without them",
    )
