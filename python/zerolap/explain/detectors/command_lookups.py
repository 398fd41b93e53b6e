"""The name of the command looked up for each request, though a client mostly sends the command that it sent before."""

import re
from typing import Final

from zerolap.explain.call_index import Calls
from zerolap.explain.cost_graph import is_named
from zerolap.explain.detectors.detector import CaseEvidence, CodeLocation, Saving, named
from zerolap.explain.stated_figures import figure
from zerolap.records import CaseOpportunity, Estimate

LOOKS_UP: Final = re.compile(r"lookupCommand\w*|isContainerCommandBySds|commandCheckExistence")
TABLE: Final = re.compile(r"dict[A-Z]\w*|hashtable[A-Z]\w*|rax[A-Z]\w*")
PART: Final = Estimate(low=0.0, expected=0.4, high=0.9)
"""A comparison with the command before saves nine tenths where they are equal; half of the requests are taken to be."""


class CommandLookups:
    """Finds the look-up of the command's name in the table of commands."""

    name = "command-lookups"
    purpose = "the command's name looked up again for each request"
    revision = 1

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return the function that looks commands up, with what the table of commands costs."""
        index = evidence.index
        asking = [
            calls
            for caller, callees in index.callees.items()
            if is_named(caller, LOOKS_UP)
            for callee, calls in callees.items()
            if is_named(callee, TABLE) and calls.instructions > 0
        ]
        return evidence.worth_a_line([_opportunity(evidence, asking)]) if asking else []


def _opportunity(evidence: CaseEvidence, asking: list[Calls]) -> CaseOpportunity:
    number = sum(calls.calls for calls in asking)
    instructions = sum(calls.instructions for calls in asking)
    most = max(asking, key=lambda calls: calls.instructions)
    owner = evidence.index.owner(most)
    tables = named(dict.fromkeys(calls.callee for calls in asking))
    return evidence.opportunity(
        CommandLookups.name,
        CodeLocation(
            owner if is_named(owner, LOOKS_UP) else most.caller,
            most.caller,
            [line for calls in asking for line in calls.lines],
        ),
        Saving(evidence.index.costs_of(asking), PART),
        confidence="medium",
        evidence={"lookups_per_op": number, "instructions_per_op": instructions},
        text=f"looks the command up by {tables}: {figure(instructions)} instructions per request; where a client sends "
        "the command that it sent before, comparing the names would do",
    )
