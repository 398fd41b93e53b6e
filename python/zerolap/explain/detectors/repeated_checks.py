"""A check whose answer stays the same throughout a request, made again for each part of its reply."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from zerolap.explain.call_index import Calls
from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.detectors.detector import (
    OF_COUNT_BUILD,
    CaseEvidence,
    CodeLocation,
    Saving,
    counted_in,
    named,
    often,
)
from zerolap.explain.detectors.group_detector import CaseGroup
from zerolap.explain.detectors.growth import Line, Point, median_line, points_by_size
from zerolap.explain.stated_figures import figure
from zerolap.records import CaseOpportunity, Estimate

CHECK: Final = re.compile(
    r"_?prepareClientToWrite\w*|clientHasPendingReplies|getClientType|mustObeyClient|isInsideYieldingLongCommand"
    r"|shouldPropagate|isReadyToShutdown|closeClientOnOutputBufferLimitReached|checkClientOutputBufferLimits"
    r"|prepareReplicasToWrite|isDeferredReplyEnabled|isClientReadonly|moduleHasCommandFilters"
)
"""Functions whose answer depends on the client and on settings, which no part of a request changes."""
FEWEST: Final = 2.0
LEAST_SLOPE: Final = 0.1
"""Calls are stated from so many for an element on."""
FLAT: Final = Line(0.0, 0.0)
SINGULAR: Final = {"elements": "element", "parts of the reply": "part of the reply", "arguments": "argument"}
"""The words for one element of the data, by the unit of a group."""
KEPT: Final = 0.1
"""The part of a check's cost that remains in a caller: it passes the answer on."""


class RepeatedChecks:
    """Finds checks of the client that a request makes more than once."""

    name = "repeated-checks"
    purpose = "the same check of the client made for each part of a reply"
    revision = 2

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return the checks that are made more than once for a command, those within other checks left out.

        Where a count build has counted calls, those of inlined checks are among them.
        """
        evidence = evidence.without_inlining
        if not evidence.command_calls:
            return []
        checks = [function for function in evidence.within_commands if CHECK.fullmatch(function[0]) is not None]
        return evidence.worth_a_line(_opportunity(evidence, check) for check in checks)

    def detect_group(self, group: CaseGroup) -> Mapping[str, Sequence[CaseOpportunity]]:
        """Return what `detect` reports of each case, with the line that the calls follow over the sizes."""
        if group.unit not in SINGULAR:
            return {}
        by_case = {sized.case: self.detect(sized.evidence) for sized in group.cases}
        calls: dict[_Number, list[Point]] = {}
        for sized in group.cases:
            for check in by_case[sized.case]:
                number = _number_of(check)
                calls.setdefault(number, []).append((sized.size, check.evidence[number.figure]))
        points = {number: points_by_size(of_number) for number, of_number in calls.items()}
        lines = {number: median_line(of_number) for number, of_number in points.items() if len(of_number) > 1}
        return {
            case: [
                _with_line(check, lines[number], len(points[number]), group.unit)
                for check in checks
                if lines.get(number := _number_of(check), FLAT).slope >= LEAST_SLOPE
            ]
            for case, checks in by_case.items()
        }


class _Number(NamedTuple):
    """A number of calls: of which function, and by which name the evidence has it."""

    function: str
    file: str
    figure: str


def _number_of(check: CaseOpportunity) -> _Number:
    names = [counted_in("calls_per_op", count_build=is_counted) for is_counted in (False, True)]
    return _Number(check.function, check.file, next(name for name in names if name in check.evidence))


def _opportunity(evidence: CaseEvidence, function: FunctionKey) -> CaseOpportunity | None:
    index = evidence.index
    entering = [
        calls
        for caller, calls in index.callers.get(function, {}).items()
        if caller in evidence.within_commands and CHECK.fullmatch(caller[0]) is None and calls.instructions > 0
    ]
    made = [evidence.within_command(calls) for calls in entering]
    number = sum(calls.calls for calls in made)
    commands = sum(evidence.entries.values())
    if commands <= 0 or number < FEWEST * commands:
        return None
    most = max(made, key=lambda calls: calls.instructions)
    instructions = sum(calls.instructions for calls in made)
    part = 1.0 - commands / number
    count_build = evidence.are_of_count_build(entering)
    return evidence.opportunity(
        RepeatedChecks.name,
        CodeLocation(function, most.caller, [line for calls in made for line in calls.lines]),
        Saving(index.costs_of(made), Estimate(low=part / 2, expected=part * (1 - KEPT), high=part)),
        confidence="high",
        evidence={
            counted_in("calls_per_op", count_build=count_build): number,
            "commands_per_op": commands,
            "instructions_per_op": instructions,
        },
        text=f"is called {often(number)} per request{OF_COUNT_BUILD[count_build]} by {named(_callers(made))}, with one "
        f"answer for all of it: {figure(instructions)} instructions; {often(commands)} per request would do",
    )


def _with_line(check: CaseOpportunity, line: Line, sizes: int, unit: str) -> CaseOpportunity:
    """Return the opportunity with how often the check is made for each element, and besides."""
    element = SINGULAR[unit]
    evidence = {f"calls_per_{element.replace(' ', '_')}": line.slope, "calls_besides": line.intercept, "sizes": sizes}
    return check.model_copy(
        update={
            "evidence": check.evidence | evidence,
            "text": f"{check.text}; called {line.slope:.2f} times per {element} (fit over {sizes} sizes)",
        }
    )


def _callers(made: list[Calls]) -> list[FunctionKey]:
    return [calls.caller for calls in sorted(made, key=lambda calls: -calls.instructions)]
