"""Trigonometry, powers, roots and logarithms: functions of libm, which cost as much as a look-up."""

import re
from typing import Final

from zerolap.explain.call_index import Calls
from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.detectors.detector import (
    SMALLEST_SHARE,
    CaseEvidence,
    CodePlace,
    Saving,
    figure,
    named,
    often,
    shown,
)
from zerolap.records import CaseOpportunity, Estimate

LIBM: Final = re.compile(
    r"_*(?:ieee754_|GI_)*(?P<name>a?(?:sin|cos|tan)h?|sincos|atan2|pow|exp2?|exp10|expm1|log(?:2|10|1p)?|cbrt|hypot|fmod"
    r"|tgamma|lgamma)(?:f|l)?(?:_(?:fma4?|avx2?|sse2|finite|compat|r))*(?:@@?GLIBC.*)?"
)
PART: Final = Estimate(low=0.1, expected=0.4, high=0.7)
"""What cheaper checks first and fewer functions of the same argument save: Redis's pull request 11535 took 22 % off
GEOSEARCH BYBOX, of which trigonometry was 55 %, and 11579 took another third off."""


class Mathematics:
    """Finds the functions of the server that call libm."""

    name = "mathematics"
    purpose = "trigonometry, powers and logarithms computed for each request or element"
    revision = 1

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return each function of the server that calls libm, with what that costs."""
        index = evidence.index
        by_owner: dict[FunctionKey, list[Calls]] = {}
        for callee in index.callers:
            if LIBM.fullmatch(callee[0]) is None or index.is_of_program(callee):
                continue
            for caller, calls in index.callers[callee].items():
                if calls.instructions > 0 and index.is_of_program(caller):
                    by_owner.setdefault(index.owner(calls), []).append(calls)
        least = SMALLEST_SHARE * index.total
        opportunities = [_opportunity(evidence, owner, all_calls) for owner, all_calls in by_owner.items()]
        return [one for one in opportunities if one.saved_instructions_per_op.expected >= least]


def _plain(calls: Calls) -> str:
    """Return the name that the C standard has for a function, without that of the processor."""
    match = LIBM.fullmatch(calls.callee[0])
    return match["name"] if match is not None else shown(calls.callee)


def _opportunity(evidence: CaseEvidence, owner: FunctionKey, all_calls: list[Calls]) -> CaseOpportunity:
    calls = sum(one.calls for one in all_calls)
    instructions = sum(one.instructions for one in all_calls)
    entered = evidence.index.calls_to.get(owner, 0.0)
    functions = named((name, "") for name in dict.fromkeys(map(_plain, all_calls)))
    figures = {"calls_per_op": calls, "instructions_per_op": instructions}
    each = ""
    if entered > 0:
        figures["calls_per_call"] = calls / entered
        each = f", {often(calls / entered)} each time that it is called"
    return evidence.opportunity(
        Mathematics.name,
        CodePlace(owner, all_calls[0].caller, [line for one in all_calls for line in one.lines]),
        Saving(evidence.index.costs_of(all_calls), PART),
        confidence="low",
        evidence=figures,
        text=f"computes {functions} {often(calls)} per request{each}: "
        f"{figure(instructions)} instructions; cheaper checks first, or values that are kept, save a part of them",
    )
