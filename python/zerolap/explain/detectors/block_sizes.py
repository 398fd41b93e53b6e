"""The allocator asked how large its blocks are, at each allocation and again at each release."""

from typing import Final

from zerolap.explain.allocations import ASKS_FOR_SIZE, is_allocator
from zerolap.explain.call_index import Calls
from zerolap.explain.cost_graph import is_named
from zerolap.explain.detectors.detector import CaseEvidence, CodeLocation, Saving, named, often
from zerolap.explain.stated_figures import figure
from zerolap.records import CaseOpportunity, Estimate

PART: Final = Estimate(low=0.2, expected=0.5, high=0.9)
"""The part of the questions that is saved where an allocation returns the size with the block. Releases still have to
ask, unless the requested size is the one that is counted."""


class BlockSizes:
    """Finds functions that ask the allocator for the size of each block."""

    name = "block-sizes"
    purpose = "the allocator asked for the size of each block that it gives and takes back"
    revision = 2

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return the function that asks most often, with what all of the questions cost."""
        index = evidence.index
        asking = [
            calls
            for callee, callers in index.callers.items()
            if is_named(callee, ASKS_FOR_SIZE)
            for caller, calls in callers.items()
            if index.is_of_program(caller) and calls.instructions > 0
            if not (is_allocator(caller) or is_named(caller, ASKS_FOR_SIZE))
        ]
        return evidence.worth_a_line([_opportunity(evidence, asking)]) if asking else []


def _opportunity(evidence: CaseEvidence, asking: list[Calls]) -> CaseOpportunity:
    number = sum(calls.calls for calls in asking)
    instructions = sum(calls.instructions for calls in asking)
    by_size = sorted(asking, key=lambda calls: -calls.instructions)
    asked, askers = by_size[0].callee, named(calls.caller for calls in by_size)
    return evidence.opportunity(
        BlockSizes.name,
        # One place for all cases, whichever wrapper asks most in each.
        CodeLocation(asked, by_size[0].caller, [line for calls in asking for line in calls.lines]),
        Saving(evidence.index.costs_of(asking), PART),
        confidence="medium",
        evidence={"questions_per_op": number, "instructions_per_op": instructions},
        text=f"is called {often(number)} per request by {askers} for the sizes of blocks: {figure(instructions)} "
        "instructions; an allocation can return the size with the block, and a release be given it",
    )
