"""The same key hashed and looked up again: once for each table and each question about it."""

import re
from typing import Final

from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.detectors.detector import SMALLEST_SHARE, CaseEvidence, CodePlace, Saving, figure, named, often
from zerolap.records import CaseOpportunity, Estimate

ASKS: Final = re.compile(
    r"lookupKey\w*|dbFind\w*|getExpire\w*|removeExpire\w*|setExpire\w*|keyIsExpired\w*|expireIfNeeded\w*|dbExists"
    r"|db(?:Add|Overwrite|SetValue|Delete|GenericDelete|SyncDelete|AsyncDelete)\w*|(?:generic)?[sS]etKey"
)
"""Functions that ask the tables of keys and of their times to live."""
TABLE: Final = re.compile(r"dict[A-Z]\w*|hashtable[A-Z]\w*|kvstore\w+")
HASH: Final = re.compile(r"siphash|MurmurHash64A|\w*[gG]enHashFunction|\w*SdsHash")
LOOKS_UP: Final = re.compile(r"lookupKey")
"""The function that each key of a command passes once."""
PART: Final = Estimate(low=0.3, expected=0.6, high=0.9)
"""What of these look-ups a kept hash, at least, or a kept place in the table saves."""


class KeyLookups:
    """Finds commands that look the same key up several times."""

    name = "key-lookups"
    purpose = "the same key hashed and looked up several times for one command"
    revision = 1

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return the commands that ask the tables more often than they have keys."""
        if not evidence.command_calls:
            return []
        least = SMALLEST_SHARE * evidence.index.total
        opportunities = (_opportunity(evidence, entry, times) for entry, times in evidence.entries.items())
        return [one for one in opportunities if one is not None and one.saved_instructions_per_op.expected >= least]


def _opportunity(evidence: CaseEvidence, entry: FunctionKey, times: float) -> CaseOpportunity | None:
    index = evidence.index
    below = index.below({entry: times})
    questions = [
        (calls, calls.calls * min(below[caller] / index.calls_to[caller], 1.0))
        for caller in below
        if ASKS.fullmatch(caller[0]) is not None and index.calls_to.get(caller, 0.0) > 0
        for callee, calls in index.callees.get(caller, {}).items()
        if TABLE.fullmatch(callee[0]) is not None and _hashes(evidence, callee)
    ]
    asked = sum(number for _, number in questions)
    keys = max(sum(number for key, number in below.items() if LOOKS_UP.fullmatch(key[0])), times)
    again = asked - keys
    if again < times:
        return None
    costs = index.costs_below(_starts([(calls.callee, number * again / asked) for calls, number in questions]))
    askers = dict.fromkeys(calls.caller for calls, _ in sorted(questions, key=lambda question: -question[1]))
    return evidence.opportunity(
        KeyLookups.name,
        CodePlace(entry),
        Saving(costs, PART),
        confidence="medium",
        evidence={"lookups_per_op": asked, "keys_per_op": keys, "instructions_per_op": sum(costs.values())},
        text=f"looks keys up {often(asked / times)} where {figure(keys / times)} would do, by {named(askers)}: "
        f"{figure(sum(costs.values()))} instructions for what was looked up before",
    )


def _hashes(evidence: CaseEvidence, function: FunctionKey) -> bool:
    """Whether a call of a table's function hashes a key."""
    return any(
        HASH.fullmatch(name) for (name, _), times in evidence.index.below({function: 1.0}).items() if times > 0.5
    )


def _starts(numbers: list[tuple[FunctionKey, float]]) -> dict[FunctionKey, float]:
    starts: dict[FunctionKey, float] = {}
    for function, number in numbers:
        starts[function] = starts.get(function, 0.0) + number
    return starts
