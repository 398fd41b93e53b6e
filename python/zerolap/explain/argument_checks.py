"""What the arguments of calls say of an opportunity that supposes them to be equal."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from zerolap.explain.detectors.detector import COMMAND, counted_in
from zerolap.explain.detectors.key_lookups import KeyLookups
from zerolap.explain.detectors.repeated_calls import IF_EQUAL, RepeatedCalls
from zerolap.explain.detectors.repeated_checks import RepeatedChecks
from zerolap.records import ArgumentCheck, CaseOpportunity, Confidence, CountedWork

KEY_HASH: Final = re.compile(r"\w*Sds(?:Key)?Hash")
"""The functions by which tables hash keys that are strings; they are called by a pointer, and so not inlined."""
OF_CLIENT: Final = re.compile(r"[cC]lient")
"""A check with this in its name takes a client as its first argument."""
ALL_OF: Final = 0.9
NONE_OF: Final = 0.1
"""The parts of the supposed repetitions from which on all of them are seen, and up to which none is."""
REQUESTS, CALLS, REPEATED = "checked_requests", "checked_calls_per_op", "checked_repeated_per_op"
"""The figures that a check adds to the evidence of an opportunity."""

Location: TypeAlias = tuple[str, str, str]
"""The detector, function and file of an opportunity of a case."""


@dataclass(frozen=True)
class Supposition:
    """What an opportunity supposes: so many calls per request of these functions have arguments of an earlier call.

    With `of_keys`, the arguments are keys, which are the same wherever they lie; with `of_client`, it is the client as
    the first argument that decides. `of_count_build` states that a build without inlining makes these calls.
    """

    functions: re.Pattern[str]
    repeated_per_op: float
    of_keys: bool = False
    of_client: bool = False
    of_count_build: bool = False

    def seen_part(self, repeated_per_op: float) -> float:
        """Return the part of the supposed repetitions that was seen, at most all."""
        return min(repeated_per_op / self.repeated_per_op, 1.0)

    def is_confirmed_by(self, repeated_per_op: float) -> bool:
        """Whether so many repetitions are all that is supposed."""
        return self.seen_part(repeated_per_op) >= ALL_OF

    def is_refuted_by(self, repeated_per_op: float) -> bool:
        """Whether so few repetitions are none of what is supposed."""
        return self.seen_part(repeated_per_op) <= NONE_OF


def supposition(opportunity: CaseOpportunity) -> Supposition | None:
    """Return what an opportunity supposes of arguments; none where it does not depend on them."""
    itself = re.compile(re.escape(opportunity.function))
    in_count_build = counted_in("calls_per_op", count_build=True), counted_in("lookups_per_op", count_build=True)
    of_count_build = any(name in opportunity.evidence for name in in_count_build)

    def figure(name: str) -> float:
        return opportunity.evidence[counted_in(name, count_build=of_count_build)]

    functions, of_keys, of_client = itself, False, False
    try:
        match opportunity.detector:
            case RepeatedCalls.name:
                repeated_per_op = figure("calls_per_op") * (1.0 - 1.0 / figure("calls_per_call"))
            case RepeatedChecks.name:
                of_client = OF_CLIENT.search(opportunity.function) is not None
                repeated_per_op = figure("calls_per_op") - opportunity.evidence["commands_per_op"]
            case KeyLookups.name:
                functions, of_keys = KEY_HASH, True
                repeated_per_op = figure("lookups_per_op") - figure("keys_per_op")
            case _:
                return None
    except (KeyError, ZeroDivisionError):
        # A detector of a plugin may have the name of a detector of the lab.
        return None
    if repeated_per_op <= 0:
        return None
    return Supposition(functions, repeated_per_op, of_keys, of_client, of_count_build)


def opportunity_location(of: CaseOpportunity | ArgumentCheck) -> Location:
    """Return the location of an opportunity of a case, or of what was seen of its arguments."""
    return of.detector, of.function, of.file


def suppositions(opportunities: Iterable[CaseOpportunity]) -> dict[Location, Supposition]:
    """Return what the opportunities of a case suppose of arguments, by location.

    Several commands of a case may have an opportunity at the same location: what is seen there is seen of all of them.
    """
    supposed: dict[Location, Supposition] = {}
    for opportunity in opportunities:
        of_opportunity = supposition(opportunity)
        if of_opportunity is not None:
            location = opportunity_location(opportunity)
            others = supposed[location].repeated_per_op if location in supposed else 0.0
            supposed[location] = replace(of_opportunity, repeated_per_op=others + of_opportunity.repeated_per_op)
    return supposed


def command_of(opportunity: CaseOpportunity) -> str | None:
    """Return the function of the command that an opportunity lies in; none where that is not known."""
    first = opportunity.frames[0] if opportunity.frames else ""
    return first if COMMAND.fullmatch(first) is not None else None


def with_argument_checks(work: CountedWork) -> CountedWork:
    """Return the work with what its arguments say of its opportunities: confidence, savings, evidence and sentence."""
    checks = {opportunity_location(check): check for check in work.argument_checks}
    if not checks:
        return work
    supposed = suppositions(work.opportunities)
    opportunities = (
        _with_check(opportunity, supposed[opportunity_location(opportunity)], checks[opportunity_location(opportunity)])
        if opportunity_location(opportunity) in supposed.keys() & checks.keys()
        else opportunity
        for opportunity in work.opportunities
    )
    return work.model_copy(update={"opportunities": tuple(opportunities)})


def _with_check(opportunity: CaseOpportunity, supposed: Supposition, check: ArgumentCheck) -> CaseOpportunity:
    if check.obstacle:
        return opportunity.model_copy(update={"text": f"{opportunity.text}; not checked: {check.obstacle}"})
    seen = supposed.seen_part(check.repeated_per_op)
    part = 1.0 if supposed.is_confirmed_by(check.repeated_per_op) else seen
    return opportunity.model_copy(
        update={
            "saved_instructions_per_op": opportunity.saved_instructions_per_op.times(part),
            "uncounted_instructions_per_op": opportunity.uncounted_instructions_per_op.times(part),
            "removed": tuple(
                removed.model_copy(
                    update={"instructions_per_op": removed.instructions_per_op * part, "share": removed.share * part}
                )
                for removed in opportunity.removed
            ),
            "confidence": _confidence(supposed, check.repeated_per_op),
            "evidence": opportunity.evidence
            | {REQUESTS: check.requests, CALLS: check.calls_per_op, REPEATED: check.repeated_per_op},
            "text": f"{opportunity.text.removesuffix(IF_EQUAL)}; {_seen(check, supposed)}",
        }
    )


def _confidence(supposed: Supposition, repeated_per_op: float) -> Confidence:
    if supposed.is_confirmed_by(repeated_per_op):
        return "high"
    return "low" if supposed.is_refuted_by(repeated_per_op) else "medium"


def _seen(check: ArgumentCheck, supposed: Supposition) -> str:
    calls, repeated = _figure(check.calls_per_op), _figure(check.repeated_per_op)
    has = "has" if repeated == "1" else "have"
    what = "keys that are hashed" if supposed.of_keys else "calls"
    earlier = "been hashed in it before" if supposed.of_keys else "the arguments of an earlier call"
    return f"checked in {check.requests:,} requests: of {calls} {what} in a request, {repeated} {has} {earlier}"


def _figure(value: float) -> str:
    return f"{round(value, 2):,g}"
