r"""Attributes a change of cost to functions.

The whole cost is the sum over functions of calls times own cost, n s. How often a function is called follows from its
callers: n = sum n_g m_g, where g makes m_g calls of it each time. The difference of a product parts exactly into
d(a b) = w(a) db + w(b) da, where w(.) are the means of both sides. With it the difference of the whole parts into

    d(sum n s) = sum_f w(n_f) ds_f  +  sum_(g,f) w(n_g) dm_gf u_f,    u_f = w(s_f) + sum_c w(m_fc) u_c

u is what one call of a function costs with all that it calls. The first terms are functions that work more themselves,
the second functions that call others more often; what their callees cost more is found at these. A function of one side
only is treated as a function of both that the other side never calls.

Where one factor of a product rises and the other falls, w(.) are the smaller values of both sides, which part it as
exactly. With means, a function that is called a tenth as often at ten times the cost would save and add five times what
it ever costs.

Calls that are made as often on both sides, though their caller is called more or less often, do not follow from the
calls of their caller: a function that is executed for each request calls another for some. Such an edge is no part of
what a call of the caller costs, and its calls are taken as they are: w(n_g) dm_gf is their difference then.

A call that replaces another is one change, not two: only the difference of both is attributed. Nothing else is offset:
if a function gains in one place what it loses in another, both are changes.
"""

from collections.abc import Callable, Set as AbstractSet
from dataclasses import dataclass, replace

from zerolap.explain.cost_graph import CostGraph, FunctionKey

NEGLIGIBLE = 1e-6
MAX_ROUNDS = 200
"""The most levels of calls through which costs are passed up; more only matter for deep recursion."""
LARGEST_UNIT_COST = 4.0
"""A call costs at most so many times what it was seen to cost. Rare functions have few calls in both windows, and may
seem to call each other without end."""

SAME_NUMBER = 0.01
"""The number of removed calls and that of the calls which replace them differ by this at most, relatively."""

Calls = dict[FunctionKey, dict[FunctionKey, float]]
"""The calls that each function makes each time it is called, by callee."""
Replaced = Callable[[FunctionKey, FunctionKey | None, FunctionKey | None], bool]
"""Whether a caller makes calls to a new callee in place of those to an old callee.

None stands for its own instructions, among which a callee was inlined."""


@dataclass(frozen=True)
class Term:
    """Instructions per request by which `caller` changed the cost: by itself, or by its calls to `callee`.

    Of its own instructions, those that belong to a function inlined into it are a term by themselves, with that as
    `owner`. `calls` are those to the callee more or fewer each time. `instead_of` is the callee that it was exchanged
    with.
    """

    caller: FunctionKey
    callee: FunctionKey | None
    instructions: float
    owner: FunctionKey | None = None
    calls: float = 0.0
    instead_of: FunctionKey | None = None


@dataclass(frozen=True)
class Blame:
    """The terms, less replaced calls, and the cost of replaced calls by function."""

    terms: list[Term]
    cancelled: dict[FunctionKey, float]


@dataclass(frozen=True)
class _Side:
    """How often each function is called; each time: its own cost, that of what is inlined, its calls, its seen cost."""

    times: dict[FunctionKey, float]
    own: dict[FunctionKey, float]
    inlined: dict[FunctionKey, dict[FunctionKey, float]]
    makes: Calls
    seen: dict[FunctionKey, float]


def assign_blame(base: CostGraph, head: CostGraph, replaced: Replaced | None = None) -> Blame:
    """Return the terms of the change from base to head; both must name the same functions alike."""
    entered = {callee for graph in (base, head) for _, callee in graph.edges}
    old, new = _side(base, entered), _side(head, entered)
    old, new = _completed(old, new), _completed(new, old)
    independent = _independent(old, new)
    unit_costs = _unit_costs(old, new, independent)
    terms: list[Term] = []
    cancelled: dict[FunctionKey, float] = {}
    for key in sorted(old.times):
        kept, set_off = _net(_terms_of(key, old, new, unit_costs, independent), replaced)
        terms += kept
        if set_off > NEGLIGIBLE:
            cancelled[key] = set_off
    return Blame(terms=terms, cancelled=cancelled)


def _side(graph: CostGraph, entered: AbstractSet[FunctionKey]) -> _Side:
    """Return one side; a function that the counting began inside of is taken as called once a request.

    A function that is `entered` on the other side only is so rare that its calls fell into one window: it is left out
    here.
    """
    entering: dict[FunctionKey, float] = {}
    for (_, callee), edge in graph.edges.items():
        entering[callee] = entering.get(callee, 0.0) + edge.calls
    times = {key: entering.get(key, 0.0 if key in entered else 1.0) for key in graph.nodes}
    times = {key: calls for key, calls in times.items() if calls > NEGLIGIBLE}
    makes: Calls = {}
    for (caller, callee), edge in graph.edges.items():
        if caller in times and callee in times:
            makes.setdefault(caller, {})[callee] = edge.calls / times[caller]
    own = {key: graph.nodes[key].instructions / times[key] for key in times}
    inlined = {key: {owner: cost / times[key] for owner, cost in graph.nodes[key].inlined.items()} for key in times}
    seen = {key: (graph.inclusive(key) or 0.0) / times[key] for key in times}
    return _Side(times, own, inlined, makes, seen)


def _completed(side: _Side, other: _Side) -> _Side:
    """Return the side with the other's further functions, with no calls."""
    missing = other.times.keys() - side.times.keys()
    return _Side(
        side.times | dict.fromkeys(missing, 0.0),
        side.own | {key: other.own[key] for key in missing},
        side.inlined | {key: other.inlined[key] for key in missing},
        side.makes | {key: other.makes[key] for key in missing if key in other.makes},
        side.seen | {key: other.seen[key] for key in missing},
    )


def _independent(old: _Side, new: _Side) -> set[tuple[FunctionKey, FunctionKey]]:
    """Return the edges of which as many calls are made on both sides, though their callers are called otherwise."""
    return {
        (key, callee)
        for key in old.times
        if not is_same_number(old.times[key], new.times[key])
        for callee, before, after in _both(key, old, new)
        if before > 0 and after > 0 and is_same_number(before * old.times[key], after * new.times[key])
    }


def is_same_number(calls: float, others: float) -> bool:
    """Whether two numbers of calls are the same, but for what differs between windows."""
    return abs(calls - others) <= SAME_NUMBER * max(calls, others)


def _weights(before: float, after: float, other_before: float, other_after: float) -> tuple[float, float]:
    """Return w(a) and w(b) by which the difference of the product a b parts, from a and b on both sides."""
    if (after - before) * (other_after - other_before) < 0:
        return min(before, after), min(other_before, other_after)
    return (before + after) / 2, (other_before + other_after) / 2


def _unit_costs(
    old: _Side, new: _Side, independent: AbstractSet[tuple[FunctionKey, FunctionKey]]
) -> dict[FunctionKey, float]:
    """Return what a call costs with all that it calls, by the values of both sides that weigh its number."""
    times = {key: (old.times[key], new.times[key]) for key in old.own}
    own = {key: _weights(*times[key], old.own[key], new.own[key])[1] for key in old.own}
    makes = {
        key: [
            (callee, _weights(*times[key], old_calls, new_calls)[1])
            for callee, old_calls, new_calls in _both(key, old, new)
            if (key, callee) not in independent
        ]
        for key in own
    }
    largest = {key: LARGEST_UNIT_COST * max(old.seen[key], new.seen[key], own[key]) for key in own}
    costs = dict(own)
    for _ in range(MAX_ROUNDS):
        passed = {
            key: min(largest[key], own[key] + sum(calls * costs[callee] for callee, calls in makes[key])) for key in own
        }
        settled = all(abs(passed[key] - costs[key]) <= NEGLIGIBLE for key in own)
        costs = passed
        if settled:
            break
    return costs


def _both(key: FunctionKey, old: _Side, new: _Side) -> list[tuple[FunctionKey, float, float]]:
    """Return the callees of a function with the calls it makes each time on either side."""
    before, after = old.makes.get(key, {}), new.makes.get(key, {})
    return [
        (callee, before.get(callee, 0.0), after.get(callee, 0.0)) for callee in sorted(before.keys() | after.keys())
    ]


def _terms_of(
    key: FunctionKey,
    old: _Side,
    new: _Side,
    unit_costs: dict[FunctionKey, float],
    independent: AbstractSet[tuple[FunctionKey, FunctionKey]],
) -> list[Term]:
    times = old.times[key], new.times[key]
    own_times, _ = _weights(*times, old.own[key], new.own[key])
    before, after = old.inlined[key], new.inlined[key]
    owned = {owner: after.get(owner, 0.0) - before.get(owner, 0.0) for owner in {**before, **after}}
    terms = [Term(key, None, (new.own[key] - old.own[key] - sum(owned.values())) * own_times)]
    terms += [Term(key, None, change * own_times, owner) for owner, change in sorted(owned.items())]
    for callee, old_calls, new_calls in _both(key, old, new):
        calls = new_calls - old_calls
        made = calls * _weights(*times, old_calls, new_calls)[0]
        if (key, callee) in independent:
            made = new_calls * new.times[key] - old_calls * old.times[key]
        terms.append(Term(key, callee, made * unit_costs[callee], calls=calls))
    return [term for term in terms if abs(term.instructions) > NEGLIGIBLE]


def _net(terms: list[Term], replaced: Replaced | None) -> tuple[list[Term], float]:
    """Join two terms where a call replaced another; also return the cost that the two had in common."""
    kept, set_off = list(terms), 0.0
    if replaced is None:
        return kept, set_off
    for lost in sorted(terms, key=lambda term: term.instructions):
        for gained in sorted(terms, key=lambda term: -term.instructions):
            if lost.instructions >= 0 or gained.instructions <= 0:
                continue
            if lost in kept and gained in kept and _is_replaced(lost, gained, replaced):
                kept.remove(lost)
                kept.remove(gained)
                kept += _difference(lost, gained)
                set_off += min(-lost.instructions, gained.instructions)
    return kept, set_off


def _is_replaced(lost: Term, gained: Term, replaced: Replaced) -> bool:
    both_are_calls = lost.callee is not None and gained.callee is not None
    if both_are_calls and abs(lost.calls + gained.calls) > SAME_NUMBER * abs(gained.calls):
        return False
    return replaced(lost.caller, lost.callee, gained.callee)


def _difference(lost: Term, gained: Term) -> list[Term]:
    """Return what is left of two terms, at the larger of them."""
    instructions = lost.instructions + gained.instructions
    if abs(instructions) <= NEGLIGIBLE:
        return []
    larger, smaller = (gained, lost) if instructions > 0 else (lost, gained)
    return [replace(larger, instructions=instructions, instead_of=smaller.callee)]
