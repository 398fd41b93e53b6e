"""Who makes system calls or allocations, or reads the clock: for cases whose instructions stayed the same."""

from collections.abc import Callable, Mapping, Sequence

from zerolap.explain.allocations import CALLS_ALLOCATOR
from zerolap.explain.stated_figures import StatedFigure
from zerolap.explain.text import Sentences
from zerolap.records import Caller, CallGraph, Finding, GraphEdge, PerSide

MAX_FINDINGS = 5
SMALLEST_CALLS = 0.001
CLOCK_FUNCTIONS = frozenset({"clock_gettime", "gettimeofday", "time"})

Location = tuple[str, str | None]
"""The name and file of a function."""
_Pair = tuple[Location, Location]
MOST_WRAPPERS = 4
"""An allocator has at most so many functions of the server around it, such as one that asks for the size, and one that
must not fail."""


def explain_allocations(base: CallGraph, head: CallGraph) -> list[Finding]:
    """Return the allocations whose number changed most, by who decides on them: not servers' own wrappers."""
    old, new = (_by_who_decides(graph) for graph in (base, head))
    return _explained(old, new)


def explain_calls(base: CallGraph, head: CallGraph, counted: Callable[[CallGraph, GraphEdge], bool]) -> list[Finding]:
    """Return the calls whose number changed most, of those that `counted` picks; shares are of the whole change."""
    old, new = (_calls(graph, [edge for edge in graph.edges if counted(graph, edge)]) for graph in (base, head))
    return _explained(old, new)


def _explained(old: Mapping[_Pair, float], new: Mapping[_Pair, float]) -> list[Finding]:
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
                text=Sentences().call_count(caller[0], callee[0], StatedFigure.of(calls)),
            )
        )
    return findings


def makes_system_calls(graph: CallGraph, edge: GraphEdge) -> bool:
    """Whether the call is to a function that enters the kernel itself."""
    return graph.functions[edge.callee].syscalls > 0


def reads_clock(graph: CallGraph, edge: GraphEdge) -> bool:
    """Whether the call reads a clock, which is the pinned clock while a server is counted."""
    return graph.functions[edge.callee].name.partition("@")[0] in CLOCK_FUNCTIONS


def _by_who_decides(graph: CallGraph) -> dict[_Pair, float]:
    """Return the allocations by caller and callee, of wrappers those of their callers in proportion to their calls."""
    entering: dict[int, list[GraphEdge]] = {}
    for edge in graph.edges:
        if edge.calls > 0 and edge.caller != edge.callee:
            entering.setdefault(edge.callee, []).append(edge)
    decided: list[GraphEdge] = []
    taken = [edge for edge in graph.edges if graph.is_allocation(edge)]
    for _ in range(MOST_WRAPPERS):
        within: dict[int, float] = {}
        for edge in taken:
            if CALLS_ALLOCATOR.fullmatch(graph.functions[edge.caller].name) and edge.caller in entering:
                within[edge.caller] = within.get(edge.caller, 0.0) + edge.calls
            else:
                decided.append(edge)
        taken = [
            edge.model_copy(update={"calls": allocations * edge.calls / sum(call.calls for call in entering[wrapper])})
            for wrapper, allocations in within.items()
            for edge in entering[wrapper]
        ]
    return _calls(graph, [*decided, *taken])


def _calls(graph: CallGraph, edges: Sequence[GraphEdge]) -> dict[_Pair, float]:
    calls: dict[_Pair, float] = {}
    for edge in edges:
        pair = _location(graph, edge.caller), _location(graph, edge.callee)
        calls[pair] = calls.get(pair, 0.0) + edge.calls
    # What happens in the small window only, such as a buffer that grows at first, is less than none a request.
    return {pair: max(0.0, of_pair) for pair, of_pair in calls.items()}


def _location(graph: CallGraph, index: int) -> Location:
    function = graph.functions[index]
    return function.name, None if function.file is None else graph.files[function.file]
