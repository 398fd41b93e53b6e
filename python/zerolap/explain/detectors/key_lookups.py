"""The same key hashed and looked up again: once for each table and each question about it."""

import re
from collections.abc import Collection, Mapping
from typing import Final

from zerolap.explain.call_index import Calls, Line
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
from zerolap.explain.stated_figures import figure
from zerolap.records import CaseOpportunity, Estimate

ASKS: Final = re.compile(
    r"lookupKey\w*|dbFind\w*|getExpire\w*|removeExpire\w*|setExpire\w*|keyIsExpired\w*|expireIfNeeded\w*|dbExists"
    r"|db(?:Add|Overwrite|SetValue|Delete|GenericDelete|SyncDelete|AsyncDelete)\w*|(?:generic)?[sS]etKey"
)
"""Functions that ask the tables of keys and of their times to live."""
TABLE: Final = re.compile(r"dict[A-Z]\w*|hashtable[A-Z]\w*|kvstore\w+")
HASH: Final = re.compile(r"siphash(?:_nocase)?|MurmurHash64A|\w*[gG]en(?:Case)?HashFunction|\w*Sds(?:Case)?Hash")
LOOKS_UP: Final = re.compile(r"lookupKey")
"""The function that each key of a command passes at least once."""
SEVERAL_KEYS: Final = re.compile(
    r"M(?:GET|SET\w*)|DEL|UNLINK|EXISTS|TOUCH|WATCH|RENAME\w*|COPY|SORT\w*|OBJECT.*|MEMORY.*|LCS|BITOP|PF(?:COUNT|MERGE)|EXEC|MIGRATE"
    r"|B?(?:LMOVE|RPOPLPUSH|LPOP|RPOP|LMPOP|ZMPOP|ZPOPMIN|ZPOPMAX)|SMOVE|S(?:INTER|UNION|DIFF)\w*|Z(?:INTER|UNION|DIFF)\w*"
    r"|\w+STORE|GEORADIUS\w*|XREAD\w*|EVAL\w*|FCALL\w*"
)
"""Commands with more than one key, or with others within them: how many they have is seen by their look-ups alone."""
ALL_OF_IT: Final = 0.95
PART: Final = Estimate(low=0.3, expected=0.6, high=0.9)
"""The part of these look-ups that a kept hash saves at least, and a kept place in the table at most."""
PART_OF_WHOLE: Final = Estimate(low=0.5, expected=0.95, high=1.0)
"""The part of a whole look-up of a key that is saved where its result is kept."""


class KeyLookups:
    """Finds commands that look the same key up several times."""

    name = "key-lookups"
    purpose = "the same key hashed and looked up several times for one command"
    revision = 5

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return the commands that ask the tables more often than they have keys.

        Where a count build has counted calls, those of inlined functions are among them.
        """
        evidence = evidence.without_inlining
        if not evidence.command_calls:
            return []
        return evidence.worth_a_line(_opportunity(evidence, entry, times) for entry, times in evidence.entries.items())


def _opportunity(evidence: CaseEvidence, entry: FunctionKey, times: float) -> CaseOpportunity | None:
    below = evidence.index.below({entry: times})
    questions = [(calls, calls.calls * _part(evidence, below, calls)) for calls in _questions(evidence, below)]
    asked = sum(number for _, number in questions)
    keys, looked_up = times, {key: number for key, number in below.items() if LOOKS_UP.fullmatch(key[0])}
    if not evidence.commands or any(SEVERAL_KEYS.fullmatch(command) for command in evidence.commands):
        keys = max(times, sum(looked_up.values()))
    again = asked - keys
    if again < ALL_OF_IT * times:
        return None
    starts: dict[FunctionKey, float] = {}
    askers: dict[FunctionKey, float] = {}
    whole = sum(looked_up.values()) - keys
    for calls, number in questions:
        starts[calls.callee] = starts.get(calls.callee, 0.0) + number * again / asked
        askers[calls.caller] = askers.get(calls.caller, 0.0) + number
    part = PART
    if whole >= ALL_OF_IT * times:
        # Not only tables are asked again: with all that it does, the look-up of the key is made again.
        starts = {key: number * whole / (whole + keys) for key, number in looked_up.items()}
        part = PART_OF_WHOLE
    costs = evidence.index.costs_below(starts)
    of_lookups = [calls for key in looked_up for calls in evidence.index.callers.get(key, {}).values()]
    count_build = evidence.are_of_count_build([*(calls for calls, _ in questions), *of_lookups])
    most_first = sorted(askers, key=lambda asker: -askers[asker])
    place = _common(evidence, entry)
    return evidence.opportunity(
        KeyLookups.name,
        CodeLocation(place, lines=_lines_of(evidence, place, [calls for calls, _ in questions])),
        Saving(costs, part),
        confidence="medium",
        evidence={
            counted_in("lookups_per_op", count_build=count_build): asked,
            counted_in("keys_per_op", count_build=count_build): keys,
            "instructions_per_op": sum(costs.values()),
        },
        text=f"looks keys up {often(asked / times)} where {figure(keys / times)} would do"
        f"{OF_COUNT_BUILD[count_build]}, by {named(most_first)}: {figure(sum(costs.values()))} instructions for what "
        "was looked up before; the entry of the first look-up can be handed on",
    )


def _questions(evidence: CaseEvidence, below: Mapping[FunctionKey, float]) -> list[Calls]:
    """Return the calls of tables that hash a key, by functions that ask for a key."""
    return [
        calls
        for caller in below
        for callee, calls in evidence.index.callees.get(caller, {}).items()
        if TABLE.fullmatch(callee[0]) is not None
        # What asks may be inlined into the function of the command.
        and any(ASKS.fullmatch(name) is not None for name, _ in (caller, evidence.index.owner(calls)))
        and _hashes(evidence, callee)
    ]


def _part(evidence: CaseEvidence, below: Mapping[FunctionKey, float], calls: Calls) -> float:
    """Return the part of calls that is made on behalf of the command."""
    entered = evidence.index.calls_to.get(calls.caller, 0.0)
    return min(below[calls.caller] / entered, 1.0) if entered > 0 else 0.0


def _hashes(evidence: CaseEvidence, function: FunctionKey) -> bool:
    """Whether a call of a table's function usually hashes a key."""
    # Of a table's function that several kinds of tables use, each hash is a part.
    below = evidence.index.below({function: 1.0})
    return sum(times for (name, _), times in below.items() if HASH.fullmatch(name) is not None) > 0.5


def _lines_of(evidence: CaseEvidence, function: FunctionKey, questions: Collection[Calls]) -> list[Line]:
    """Return the lines in which a function asks the tables itself, or calls what leads to such questions."""
    askers = {calls.caller for calls in questions}
    asked = {calls.callee for calls in questions if calls.caller == function}
    return [
        line
        for callee, calls in evidence.index.callees.get(function, {}).items()
        if callee in asked or not evidence.index.below({callee: 1.0}).keys().isdisjoint(askers)
        for line in calls.lines
    ]


def _common(evidence: CaseEvidence, entry: FunctionKey) -> FunctionKey:
    """Return the lowest function below a command that all of its look-ups pass."""
    index = evidence.index
    asked: dict[FunctionKey, float] = {}
    for function in reversed(index.order):
        questions = sum(index.per_call(calls) for calls in _questions(evidence, {function: 1.0}))
        made = index.callees.get(function, {}).items()
        further = sum(index.per_call(calls) * asked.get(callee, 0.0) for callee, calls in made)
        asked[function] = questions + further
    function = entry
    while True:
        onward = next(
            (
                callee
                for callee, calls in index.callees.get(function, {}).items()
                if index.goes_down(calls)
                and ALL_OF_IT <= index.per_call(calls) <= 2 - ALL_OF_IT
                and asked.get(callee, 0.0) >= ALL_OF_IT * asked[function]
            ),
            None,
        )
        if onward is None or ASKS.fullmatch(onward[0]) is not None:
            return function
        function = onward
