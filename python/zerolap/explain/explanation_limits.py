"""The limits of an explanation: what builds and sources cannot show, and what counts overstate."""

from collections.abc import Iterator, Mapping, Sequence

from zerolap.explain.roots import SMALLEST_SHARE
from zerolap.explain.sides import Evidence
from zerolap.explain.stated_figures import StatedFigure
from zerolap.explain.statements import REPEATED_SHARE
from zerolap.explain.text import NAMED, Sentences, listing
from zerolap.records import CallGraph, UnknownChanges

MOST_FUNCTIONS, MOST_CALLS = 3_000, 10_000
"""What changed is found within minutes in call graphs up to this size. Requests execute some hundreds of functions."""
TOO_MANY_FUNCTIONS = "Too many functions are executed for the change to be attributed to them."


def is_too_large(graph: CallGraph) -> bool:
    """Whether looking for what changed in a call graph would take too long."""
    return len(graph.functions) > MOST_FUNCTIONS or len(graph.edges) > MOST_CALLS


def limits_of(evidence: Evidence, change: float, sentences: Sentences) -> Iterator[str]:
    """Yield what these builds or sources cannot show of a change, and what counts overstate."""
    if sum(figure.changed_by(change) for figure in evidence.repeated_steps.values()) >= REPEATED_SHARE:
        yield _repeated_steps(evidence.repeated_steps, change, sentences)
    stripped = [side for side, is_so in (("base", evidence.base_stripped), ("head", evidence.head_stripped)) if is_so]
    if stripped:
        yield (
            f"The binary of {' and '.join(stripped)} is stripped: functions that are not exported are invisible, "
            "their cost is shown without a name or under a neighbour's; calls between them are not seen."
        )
    elif not evidence.has_lines:
        yield "Without debug information (`-g`) inlined functions and changed lines cannot be distinguished."
    if isinstance(evidence.changes, UnknownChanges):
        yield f"{evidence.changes.reason}: functions are not matched with changed lines."
    elif evidence.changes.left_out:
        yield _changes_left_out(evidence.changes.left_out)


def _repeated_steps(steps: Mapping[str, StatedFigure], change: float, sentences: Sentences) -> str:
    changed = {name: figure for name, figure in steps.items() if figure.changed_by(change) >= SMALLEST_SHARE}
    # Many functions with a small part each are a large part together.
    named = changed or steps
    functions = sorted(named, key=lambda name: -abs(named[name].change))
    return (
        f"Steps of `rep stos` and `rep movs` in {listing(functions)} are a part of the change "
        f"({sentences.figure(StatedFigure.sum_of(named.values()))}). Each is counted as an instruction, and a "
        "processor executes many of them at once: time changes by less."
    )


def _changes_left_out(files: Sequence[str]) -> str:
    named = ", ".join(f"`{file}`" for file in files[:NAMED])
    others = f" and {len(files) - NAMED:,} other files" if len(files) > NAMED else ""
    return (
        f"The changes of {named}{others} are too large to be read: functions there are not matched with changed lines."
    )
