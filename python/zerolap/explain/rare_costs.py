"""Who makes system calls or allocations, or reads the clock: for cases whose instructions stayed the same."""

from collections.abc import Callable

from zerolap.explain import text
from zerolap.explain.facts import Fact
from zerolap.records import Caller, CallGraph, Finding, GraphEdge, PerSide

MAX_FINDINGS = 5
SMALLEST_CALLS = 0.001
CLOCK_FUNCTIONS = frozenset({"clock_gettime", "gettimeofday", "time"})

Place = tuple[str, str | None]
"""Name and file of a function."""


def explain_calls(base: CallGraph, head: CallGraph, counted: Callable[[CallGraph, GraphEdge], bool]) -> list[Finding]:
    """Return the calls whose number changed most, of those that `counted` picks; shares are of the whole change."""
    old, new = _calls(base, counted), _calls(head, counted)
    total = sum(new.values()) - sum(old.values())
    changed = {pair: new.get(pair, 0.0) - old.get(pair, 0.0) for pair in old.keys() | new.keys()}
    ranked = sorted(changed, key=lambda pair: (-abs(changed[pair]), str(pair)))
    findings: list[Finding] = []
    for caller, callee in ranked[:MAX_FINDINGS]:
        if abs(changed[caller, callee]) < SMALLEST_CALLS or total == 0:
            break
        calls = PerSide(base=old.get((caller, callee), 0.0), head=new.get((caller, callee), 0.0))
        findings.append(
            Finding(
                kind="culprit",
                rank=len(findings) + 1,
                function=callee[0],
                file=callee[1],
                calls_per_op=calls,
                share_of_change=changed[caller, callee] / total,
                callers=[Caller(function=caller[0], file=caller[1], calls_per_op=calls, in_diff=False)],
                text=text.call_count(caller[0], callee[0], Fact.of(calls)),
            )
        )
    return findings


def makes_system_calls(graph: CallGraph, edge: GraphEdge) -> bool:
    """Whether the call is to a function that enters the kernel itself."""
    return graph.functions[edge.callee].syscalls > 0


def reads_clock(graph: CallGraph, edge: GraphEdge) -> bool:
    """Whether the call reads a clock, which is the pinned clock while a server is counted."""
    return graph.functions[edge.callee].name.partition("@")[0] in CLOCK_FUNCTIONS


def _calls(graph: CallGraph, counted: Callable[[CallGraph, GraphEdge], bool]) -> dict[tuple[Place, Place], float]:
    calls: dict[tuple[Place, Place], float] = {}
    for edge in graph.edges:
        if counted(graph, edge):
            pair = _place(graph, edge.caller), _place(graph, edge.callee)
            calls[pair] = calls.get(pair, 0.0) + edge.calls
    # What happens in the small window only, such as a buffer that grows at first, is less than none a request.
    return {pair: max(0.0, of_pair) for pair, of_pair in calls.items()}


def _place(graph: CallGraph, index: int) -> Place:
    function = graph.functions[index]
    return function.name, None if function.file is None else graph.files[function.file]
