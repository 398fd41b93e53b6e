"""A check whose answer stays the same throughout a request, made again for each part of its reply."""

import re
from typing import Final

from zerolap.explain.call_index import Calls
from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.detectors.detector import SMALLEST_SHARE, CaseEvidence, CodePlace, Saving, figure, named, often
from zerolap.records import CaseOpportunity, Estimate

CHECK: Final = re.compile(
    r"_?prepareClientToWrite\w*|clientHasPendingReplies|getClientType|mustObeyClient|isInsideYieldingLongCommand"
    r"|shouldPropagate|isReadyToShutdown|closeClientOnOutputBufferLimitReached|checkClientOutputBufferLimits"
    r"|prepareReplicasToWrite|isDeferredReplyEnabled|isClientReadonly|moduleHasCommandFilters"
)
"""Functions whose answer depends on the client and on settings, which no part of a request changes."""
FEWEST: Final = 2.0
KEPT: Final = 0.1
"""What a caller still does in place of a check: it hands the answer on."""


class RepeatedChecks:
    """Finds checks of the client that a request makes more than once."""

    name = "repeated-checks"
    purpose = "the same check of the client made for each part of a reply"
    revision = 1

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return the checks that are made more than once for a command, those within other checks left out."""
        if not evidence.command_calls:
            return []
        least = SMALLEST_SHARE * evidence.index.total
        opportunities = [
            _opportunity(evidence, function)
            for function in evidence.within_commands
            if CHECK.fullmatch(function[0]) is not None
        ]
        return [one for one in opportunities if one is not None and one.saved_instructions_per_op.expected >= least]


def _opportunity(evidence: CaseEvidence, function: FunctionKey) -> CaseOpportunity | None:
    index = evidence.index
    made = [
        calls
        for caller, calls in index.callers.get(function, {}).items()
        if caller in evidence.within_commands and CHECK.fullmatch(caller[0]) is None and calls.instructions > 0
    ]
    number = sum(calls.calls for calls in made)
    commands = sum(evidence.entries.values())
    if commands <= 0 or number < FEWEST * commands:
        return None
    most = max(made, key=lambda calls: calls.instructions)
    instructions = sum(calls.instructions for calls in made)
    part = 1.0 - commands / number
    return evidence.opportunity(
        RepeatedChecks.name,
        CodePlace(function, most.caller, [line for calls in made for line in calls.lines]),
        Saving(index.costs_of(made), Estimate(low=part / 2, expected=part * (1 - KEPT), high=part)),
        confidence="high",
        evidence={"calls_per_op": number, "instructions_per_op": instructions},
        text=f"is called {often(number)} per request by {named(_callers(made))}, with one answer for all of it: "
        f"{figure(instructions)} instructions; once per request would do",
    )


def _callers(made: list[Calls]) -> list[FunctionKey]:
    return [calls.caller for calls in sorted(made, key=lambda calls: -calls.instructions)]
