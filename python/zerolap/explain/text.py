"""The sentences of findings."""

from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.records import Caller, PerSide

CALLS_DIFFER = 0.01
WHOLE = 1.05
"""Share of the change from which on a function's part is told as more than the whole."""


@dataclass(frozen=True)
class Culprit:
    """What the sentence on a function tells: `own` if its own work changed rather than how often it is called.

    `instructions` are its own where `own`, else with all that it calls; `through` names functions between it and the
    caller.
    """

    function: str
    file: str | None
    changed_here: bool
    own: bool
    calls: PerSide
    instructions: PerSide
    share: float
    caller: Caller | None
    through: Sequence[str]


def culprit(found: Culprit) -> str:
    """Return the sentence on a function whose cost changed."""
    place = ", ".join(part for part in (found.file, "changed here" if found.changed_here else "") if part)
    subject = f"`{found.function}` ({place})" if place else f"`{found.function}`"
    effect = f"{_signed(found.instructions)} instructions per request, {_part(found.share)}"
    if found.own:
        return f"{subject} itself {_costs(found.instructions)} instructions per request: {effect}."
    times = f"{_times(found.calls.head)} per request instead of {_times(found.calls.base)}"
    return f"{subject} is called {times}{_by(found)}: {effect}."


def _part(share: float) -> str:
    part = f"{share:.0%} of the change"
    return part if share <= WHOLE else f"{part}, of which other functions take back a part"


def _by(found: Culprit) -> str:
    if found.caller is None:
        return ""
    place = f" ({found.caller.file}, changed here)" if found.caller.in_diff else ""
    through = f" through {' and '.join(f'`{name}`' for name in found.through)}" if found.through else ""
    return f" by `{found.caller.function}`{place}{through}"


def _times(calls: float | None) -> str:
    return "once" if calls is not None and abs(calls - 1) < CALLS_DIFFER else f"{_number(calls)} times"


def _costs(instructions: PerSide) -> str:
    return f"takes {_number(instructions.head)} instead of {_number(instructions.base)}"


def _signed(instructions: PerSide) -> str:
    return f"{(instructions.head or 0.0) - (instructions.base or 0.0):+,.0f}"


def _number(value: float | None) -> str:
    if value is None:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def called(callee: str, caller: str, calls: PerSide) -> str:
    """Return the sentence on a call that is made more or less often."""
    return f"`{caller}` calls `{callee}` {_times(calls.head)} per request instead of {_times(calls.base)}."


def diffuse(explained: float, total: float) -> str:
    """Return the sentence for a change that no few functions explain."""
    return (
        f"diffuse: the change of {total:+,.0f} instructions per request is spread over many functions; "
        f"those listed explain {max(explained, 0.0):.0%}."
    )


def moved(function: str, instructions: float) -> str:
    """Return the sentence for cost that only changed its place."""
    return (
        f"{instructions:,.0f} instructions per request only moved within `{function}` and what it calls "
        "(calls replaced or inlined); they are set off."
    )


def stripped(sides: Sequence[str]) -> str:
    """Return the sentence for a binary without symbols."""
    return (
        f"The binary of {' and '.join(sides)} is stripped: functions that are not exported are invisible, "
        "their cost is shown without a name or under a neighbour's; calls between them are not seen."
    )


def no_debug_information() -> str:
    """Return the sentence for a binary without line numbers."""
    return "Without debug information (`-g`) inlined functions and changed lines cannot be told apart."


def no_changes() -> str:
    """Return the sentence for sources that cannot be compared."""
    return (
        "The sources are not both revisions of one repository or trees: functions are not matched with changed lines."
    )
