"""System calls of a request beyond those that bring it in and send its reply."""

import re
from typing import Final

from zerolap.explain.cost_graph import FunctionKey
from zerolap.explain.detectors.detector import CaseEvidence, CodeLocation, Saving, named, often
from zerolap.explain.stated_figures import figure
from zerolap.records import NO_SAVING, CaseOpportunity, Estimate

EACH_REQUEST: Final = re.compile(
    r"_*(?:GI_)?_*(?:libc_)?(?:read|readv|recv|recvfrom|write|writev|send|sendmsg|epoll_p?wait2?)"
)
"""System calls that read requests and write replies; the requests of a pipeline share them."""
FEWEST: Final = 0.01
"""Per request: fewer are those of the memory's growth and of timers."""
UNCOUNTED: Final = Estimate(low=300.0, expected=1000.0, high=3000.0)
"""The instructions that take as long as a system call, 0.1 to 1 µs: those of the kernel are not counted."""


class SystemCalls:
    """Finds functions of the server that make system calls of their own for a request."""

    name = "system-calls"
    purpose = "system calls of a request beyond reading it, writing its reply and waiting"
    revision = 4

    def detect(self, evidence: CaseEvidence) -> list[CaseOpportunity]:
        """Return the functions of the server above such system calls."""
        index = evidence.index
        by_owner: dict[FunctionKey, dict[FunctionKey, float]] = {}
        for key, number in index.syscalls.items():
            if number >= FEWEST and EACH_REQUEST.fullmatch(key[0]) is None:
                for owner, part in _owners(evidence, key).items():
                    by_owner.setdefault(owner, {})[key] = number * part
        return evidence.worth_a_line(_opportunity(evidence, owner, made) for owner, made in by_owner.items())


def _owners(evidence: CaseEvidence, key: FunctionKey) -> dict[FunctionKey, float]:
    """Return the functions of the program that lead to a library's function, with their parts of its calls."""
    index = evidence.index
    owners: dict[FunctionKey, float] = {}
    parts = {key: 1.0}
    # Callees first: the part of a function is known once those of all that it calls are.
    for function in reversed(index.order):
        part = parts.get(function, 0.0)
        if not part:
            continue
        callers = [calls for calls in index.callers.get(function, {}).values() if index.goes_down(calls)]
        whole = sum(calls.calls for calls in callers)
        if index.is_of_program(function) or not whole:
            owners[function] = part
            continue
        for calls in callers:
            parts[calls.caller] = parts.get(calls.caller, 0.0) + part * calls.calls / whole
    return owners


def _opportunity(evidence: CaseEvidence, owner: FunctionKey, made: dict[FunctionKey, float]) -> CaseOpportunity:
    number = sum(made.values())
    return evidence.opportunity(
        SystemCalls.name,
        CodeLocation(owner),
        Saving({}, NO_SAVING, UNCOUNTED.times(number)),
        confidence="medium",
        evidence={"syscalls_per_op": number},
        text=f"calls the kernel {often(number)} per request by {named(made)}, which takes as long as about "
        f"{figure(UNCOUNTED.expected * number)} instructions; what is done for many requests at once, "
        "or by another thread, does not keep the request waiting",
    )
