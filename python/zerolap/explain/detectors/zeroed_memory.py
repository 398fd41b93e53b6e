"""Memory that is cleared for each request, such as a large array on the stack that only a rare path uses."""

import re
from dataclasses import dataclass, field
from typing import Final

from zerolap.explain.categories import category_of
from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.detectors.detector import CaseEvidence, CodeLocation, Saving
from zerolap.explain.stated_figures import figure
from zerolap.records import CaseOpportunity, Estimate

CLEARS: Final = re.compile(r"_*(?:memset|bzero|explicit_bzero)\w*")
FEWEST_STORES: Final = 64.0
"""Repeated stores are examined from so many steps per request on: 512 bytes in words of eight."""
DEAREST_CALL: Final = 30.0
"""Instructions of a call from which on it clears more than a small structure."""
PART: Final = Estimate(low=0.0, expected=0.9, high=1.0)


class ZeroedMemory:
    """Finds the functions that clear much memory for each request."""

    name = "zeroed-memory"
    purpose = "large buffers that are cleared for each request"
    revision = 2

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return the functions that clear memory by repeated stores of their own, or by a library's function."""
        return evidence.worth_a_line(
            _opportunity(evidence, function, clearing) for function, clearing in _clearing(evidence).items()
        )


@dataclass
class _Clearing:
    """What clearing costs a function, by the function that carries it out; `holder` is what it is inlined into."""

    costs: dict[FunctionKey, float] = field(default_factory=dict)
    holder: FunctionKey | None = None

    def add(self, function: FunctionKey, instructions: float) -> None:
        self.costs[function] = self.costs.get(function, 0.0) + instructions


def _clearing(evidence: CaseEvidence) -> dict[FunctionKey, _Clearing]:
    clearing: dict[FunctionKey, _Clearing] = {}
    for name, stores in evidence.string_stores.items():
        function = evidence.function_named(name)
        if function is not None and stores >= FEWEST_STORES and category_of(*function) != "allocation":
            clearing.setdefault(function, _Clearing()).add(function, stores)
    for callee, callers in evidence.index.callers.items():
        if CLEARS.fullmatch(callee[0]) is None or evidence.index.is_of_program(callee):
            continue
        for caller, calls in callers.items():
            is_large = calls.calls > 0 and calls.instructions_per_call >= DEAREST_CALL
            owner = evidence.index.owner(calls)
            if is_large and evidence.index.is_of_program(caller) and category_of(*owner) != "allocation":
                of_owner = clearing.setdefault(owner, _Clearing(holder=caller))
                of_owner.add(callee, calls.instructions)
    return clearing


def _opportunity(evidence: CaseEvidence, function: FunctionKey, clearing: _Clearing) -> CaseOpportunity:
    instructions = sum(clearing.costs.values())
    return evidence.opportunity(
        ZeroedMemory.name,
        CodeLocation(function, clearing.holder),
        Saving(clearing.costs, PART),
        confidence="medium",
        evidence={"instructions_per_op": instructions},
        text=f"clears memory for {figure(instructions)} instructions per request; where what is cleared is written "
        "before it is read, or only a rare path uses it, this can be left out or done there",
    )
