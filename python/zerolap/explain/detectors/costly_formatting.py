"""Numbers and times that are written and read by the general functions of libc, where special ones do it in a part."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.explain.call_index import Calls
from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.detectors.detector import CaseEvidence, CodeLocation, Saving, named, often
from zerolap.explain.stated_figures import figure
from zerolap.records import CaseOpportunity, Estimate

PRINTF: Final = r"_*(?:IO_)?v?(?:s|sn|as|f|d)?printf(?:_chk|_internal)?|sdscatv?printf"


@dataclass(frozen=True)
class Sink:
    """A kind of costly function: what it does, what could do it instead, and the part of its cost that this saves."""

    functions: re.Pattern[str]
    does: str
    instead: str
    part: Estimate


DOUBLES: Final = Sink(
    re.compile(PRINTF),
    "formats floating-point numbers",
    "an algorithm for the shortest digits, such as Grisu or Ryu,",
    # Redis issue 8826 measured fpconv at 7.46 times the speed of "%.17g": 1 - 1/7.46.
    Estimate(low=0.7, expected=0.85, high=0.9),
)
NUMBERS: Final = Sink(
    re.compile(PRINTF),
    "formats numbers",
    "writing the digits directly, or an algorithm for the shortest digits where they are floating-point,",
    Estimate(low=0.5, expected=0.8, high=0.9),
)
PRINTED: Final = Sink(
    re.compile(PRINTF),
    "formats text and whole numbers",
    "writing the digits directly",
    Estimate(low=0.5, expected=0.8, high=0.9),
)
ASSEMBLED: Final = Sink(
    re.compile(r"sdscatfmt"),
    "assembles text from a format",
    "writing digits and text directly into a buffer of known size",
    Estimate(low=0.3, expected=0.6, high=0.8),
)
SINKS: Final = (
    PRINTED,
    ASSEMBLED,
    Sink(
        re.compile(r"_*strto(?:d|f|ld)(?:_l)?|redis_strtod"),
        "parses floating-point numbers",
        "a parser such as fast_float, or the number kept as it was parsed,",
        Estimate(low=0.3, expected=0.6, high=0.8),
    ),
    Sink(
        re.compile(r"_*(?:isoc99_|isoc23_)?v?s?scanf"),
        "parses text by a format",
        "a parser for this very text",
        Estimate(low=0.5, expected=0.8, high=0.95),
    ),
    Sink(
        re.compile(r"strftime(?:_l)?|_*localtime(?:64)?(?:_r)?|_*gmtime(?:64)?(?:_r)?|mktime"),
        "converts times to a calendar",
        "the converted time kept for as long as it holds",
        Estimate(low=0.5, expected=0.8, high=0.95),
    ),
)
ALL_OF: Final = 0.9
"""The part of the calls of a function that have to format a floating-point number for all of them to."""
DOUBLE_DIGITS: Final = re.compile(r"_*printf_fp(?:_l)?|__printf_fphex|fmt_fp")


@dataclass(frozen=True)
class _SinkCalls:
    sink: Sink
    calls: Calls


class CostlyFormatting:
    """Finds the functions of the server that format and parse by the general functions of libc."""

    name = "costly-formatting"
    purpose = "numbers and times formatted and parsed by printf, strtod and their like"
    revision = 2

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return each function of the server that calls one of the sinks, with what the sink costs it."""
        by_owner: dict[tuple[FunctionKey, str], list[_SinkCalls]] = {}
        for made in _sink_calls(evidence):
            owner = evidence.index.owner(made.calls)
            by_owner.setdefault((owner, made.sink.does), []).append(made)
        return evidence.worth_a_line(
            _opportunity(evidence, owner, all_calls) for (owner, _), all_calls in by_owner.items()
        )


def _sink_calls(evidence: CaseEvidence) -> Iterator[_SinkCalls]:
    """Yield the calls of sinks by functions of the program that are none; those by libc's own are part of a sink."""
    index = evidence.index
    for callee in index.callers:
        sink = _sink_of(callee)
        if sink is None:
            continue
        printed = _printed(evidence, callee)
        for caller, calls in index.callers[callee].items():
            if calls.instructions <= 0 or _sink_of(caller) is not None or not index.is_of_program(caller):
                continue
            yield _SinkCalls(printed if sink is PRINTED else sink, calls)


def _printed(evidence: CaseEvidence, callee: FunctionKey) -> Sink:
    """Return what a function of `printf`'s kind formats.

    A call graph does not show for whom libc formats floating-point numbers: where it does so for some calls only, and
    several functions make them, that is not known.
    """
    index = evidence.index
    below = index.below({callee: index.calls_to[callee]})
    # A function of libc for digits may call another such function.
    digits = max((key for key in below if DOUBLE_DIGITS.fullmatch(key[0])), key=lambda key: below[key], default=None)
    if digits is None:
        return PRINTED
    is_for_all = below[digits] >= ALL_OF * index.calls_to[callee]
    is_for_one = len(index.callers[callee]) == 1 and below[digits] >= ALL_OF * index.calls_to[digits]
    return DOUBLES if is_for_all or is_for_one else NUMBERS


def _sink_of(key: FunctionKey) -> Sink | None:
    return next((sink for sink in SINKS if sink.functions.fullmatch(key[0])), None)


def _opportunity(evidence: CaseEvidence, owner: FunctionKey, of_owner: Sequence[_SinkCalls]) -> CaseOpportunity:
    index, sink = evidence.index, of_owner[0].sink
    all_calls = [made.calls for made in of_owner]
    number = sum(calls.calls for calls in all_calls)
    instructions = sum(calls.instructions for calls in all_calls)
    functions = named(dict.fromkeys(calls.callee for calls in all_calls))
    entered = index.calls_to.get(owner, 0.0)
    each = number / entered if entered > 0 else None
    figures = {"calls_per_op": number, "instructions_per_op": instructions}
    twice = ""
    if each is not None and each > 1.5:
        figures["calls_per_call"] = each
        twice = f", {often(each)} each time that it is called"
    return evidence.opportunity(
        CostlyFormatting.name,
        CodeLocation(owner, all_calls[0].caller, [line for calls in all_calls for line in calls.lines]),
        Saving(index.costs_of(all_calls), sink.part),
        confidence="medium" if sink in (NUMBERS, ASSEMBLED) else "high",
        evidence=figures,
        text=f"{sink.does} by {functions} {often(number)} per request{twice}: {figure(instructions)} instructions; "
        f"{sink.instead} would save most of them",
    )
