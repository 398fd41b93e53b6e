r"""Which functions' doing a change of cost is.

A function costs, for each call of it, s itself and for each callee c as many calls m_c as it makes at the cost i_c of
one: i = s + sum m_c i_c. The difference of both sides parts exactly into

    di = ds + sum (dm_c  mean(i_c))  +  sum (mean(m_c) di_c)

The first two terms are the function's own doing: it works more, or it calls more. The last is its callees' doing and
is parted there in the same way. Weighted by the mean number of calls, the own terms of all functions add up to the
whole change, whatever was inlined or renamed.
"""

from dataclasses import dataclass

from zerolap.explain.cost_graph import CostGraph, Edge, FunctionKey

NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class Term:
    """Instructions per request by which `caller` changed the cost: by itself, or by its calls to `callee`."""

    caller: FunctionKey
    callee: FunctionKey | None
    instructions: float


@dataclass(frozen=True)
class Blame:
    """All terms after what cancels inside a function, and what cancelled by function."""

    terms: list[Term]
    cancelled: dict[FunctionKey, float]


def assign_blame(base: CostGraph, head: CostGraph) -> Blame:
    """Return the terms of the change from base to head; both must name the same functions alike."""
    base_out, head_out = _leaving(base), _leaving(head)
    terms: list[Term] = []
    cancelled: dict[FunctionKey, float] = {}
    for key in base.nodes.keys() | head.nodes.keys():
        own = _terms_of(key, base, head, base_out.get(key, {}), head_out.get(key, {}))
        kept, set_off = _net(own)
        terms += kept
        if set_off > NEGLIGIBLE:
            cancelled[key] = set_off
    return Blame(terms=terms, cancelled=cancelled)


def _leaving(graph: CostGraph) -> dict[FunctionKey, dict[FunctionKey, Edge]]:
    leaving: dict[FunctionKey, dict[FunctionKey, Edge]] = {}
    for (caller, callee), edge in graph.edges.items():
        leaving.setdefault(caller, {})[callee] = edge
    return leaving


def _terms_of(
    key: FunctionKey,
    base: CostGraph,
    head: CostGraph,
    base_out: dict[FunctionKey, Edge],
    head_out: dict[FunctionKey, Edge],
) -> list[Term]:
    """Return what a function itself changed; one that is only on one side is its callers' doing."""
    if key not in base.nodes or key not in head.nodes:
        return []
    base_calls, head_calls = _times(base, key), _times(head, key)
    mean_calls = (base_calls + head_calls) / 2
    own = head.nodes[key].instructions / head_calls - base.nodes[key].instructions / base_calls
    terms = [Term(key, None, own * mean_calls)]
    nothing = Edge()
    for callee in base_out.keys() | head_out.keys():
        old, new = base_out.get(callee, nothing), head_out.get(callee, nothing)
        more = new.calls / head_calls - old.calls / base_calls
        terms.append(Term(key, callee, more * _mean_cost(old, new) * mean_calls))
    return [term for term in terms if abs(term.instructions) > NEGLIGIBLE]


def _times(graph: CostGraph, key: FunctionKey) -> float:
    """Return the calls of a function; one that the counting began inside of is taken as one call a request."""
    calls = graph.nodes[key].calls
    return calls if calls > NEGLIGIBLE else 1.0


def _mean_cost(old: Edge, new: Edge) -> float:
    costs = [edge.instructions / edge.calls for edge in (old, new) if edge.calls > NEGLIGIBLE]
    return sum(costs) / len(costs) if costs else 0.0


def _net(terms: list[Term]) -> tuple[list[Term], float]:
    """Take off what cancels inside one function: a call that replaces another, work that was inlined."""
    more = sum(term.instructions for term in terms if term.instructions > 0)
    less = -sum(term.instructions for term in terms if term.instructions < 0)
    set_off = min(more, less)
    if set_off <= NEGLIGIBLE:
        return terms, 0.0
    sign, larger = (1.0, more) if more >= less else (-1.0, less)
    factor = (larger - set_off) / larger
    kept = [
        Term(term.caller, term.callee, term.instructions * factor) for term in terms if term.instructions * sign > 0
    ]
    return kept, set_off
