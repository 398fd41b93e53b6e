"""The sentences of findings, as a reviewer writes them: the change first, then what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.explain.changed_lines import ChangedCode
from zerolap.explain.sides import ComparedFunction
from zerolap.explain.stated_figures import StatedFigure, figure
from zerolap.explain.statements import Statement, Story, WorkBelow
from zerolap.explain.suspects import Suspect
from zerolap.records import PerSide

WHOLE = 1.05
"""A part of more than this share of the change is reported as more than the whole."""
LEAST_LEFT_OUT = 0.5
"""Listed parts may differ from what they are parts of by fewer instructions: all are written without decimals."""
NAMED = 3
"""How many functions a sentence names before it counts the others."""
PER_REQUEST: Final = "per request"
PER_TICK: Final = "per tick of the timers"
OF_COMMANDS = "Command"
"""The names of functions that carry out a command end so, by the custom of Redis and its relatives."""


@dataclass(frozen=True)
class _Clause:
    """What changed, as subject and predicate."""

    subject: str
    predicate: str

    def __str__(self) -> str:
        return f"{self.subject} {self.predicate}"


@dataclass(frozen=True)
class Sentences:
    """Writes what is stated, with the unit of what was counted."""

    unit: str = PER_REQUEST

    def culprit(self, story: Story) -> str:
        """Return the sentence on a root: what changed, then what that costs with all that goes with it."""
        root, rest = story.root, "" if story.is_whole else ", with what goes with it"
        smaller = "" if abs(story.left_out) < LEAST_LEFT_OUT else "; smaller parts are left out"
        effect = f"{_effect(root.instructions, root.share, story.repeated_steps)}{smaller}"
        return f"{self._about(story)}{rest}: {effect}."

    def part(self, statement: Statement) -> str:
        """Return the sentence on a part of a root."""
        suspect = statement.suspect
        effect = _effect(suspect.instructions, suspect.share, statement.repeated_steps)
        return f"{self._clause(statement)}: {effect}."

    def called_without_inlining(self, calls: PerSide) -> str:
        """Return the sentence on how often a function is called that is inlined, by builds in which it is not."""
        return f"It is called {_times(calls)} {self.unit} (calls counted in a build without inlining)."

    def call_count(self, caller: str, callee: str, calls: StatedFigure) -> str:
        """Return the sentence on a call whose number alone matters."""
        return f"`{caller}` {self._calls(calls, f'`{callee}`', several=False)}."

    def diffuse(self, explained: float, change: float) -> str:
        """Return the sentence for a change that no few functions explain."""
        return (
            f"diffuse: the change of {change:+,.0f} instructions {self.unit} is spread over many functions; "
            f"those listed explain {max(explained, 0.0):.0%}."
        )

    def moved(self, function: str, instructions: float) -> str:
        """Return the sentence for the cost of replaced calls."""
        return (
            f"{instructions:,.0f} instructions {self.unit} only moved: `{function}` makes other calls in place of "
            "those that cost as much before."
        )

    def figure(self, stated: StatedFigure) -> str:
        """Return a figure of both sides with its unit: "1 -> 2 per request"."""
        return f"{stated.numbers} {stated.unit or self.unit}"

    def _about(self, story: Story) -> str:
        """Return what changed at a root, without what it costs."""
        if story.former is not None:
            return f"{_handler(story.function, story.former)}{self._below(story.below)}"
        if story.same_code is not None:
            cost = self._a_call(story.same_code, story.function.calls)
            return f"{_placed(story.function)} {cost}: the same code, with other arguments or data"
        leading, *further = (self._clause(statement) for statement in story.stated)
        same = [clause.predicate for clause in further if clause.subject == leading.subject]
        others = [str(clause) for clause in further if clause.subject != leading.subject]
        clauses = "; ".join([" and ".join([str(leading), *same]), *others])
        is_said = story.is_of_leading or leading.subject == _whole(story.function)
        return clauses if is_said else f"Below {_whole(story.function)}, {clauses}"

    def _clause(self, statement: Statement) -> _Clause:
        suspect = statement.suspect
        if suspect.dearer is not None:
            how = "dearer" if suspect.stated.is_more else "cheaper"
            calls = (
                f"makes calls of {_placed(suspect.dearer)}, which is unchanged, {how} ({self.figure(suspect.stated)})"
            )
            return _Clause(_whole(suspect.function), f"{calls}{self._below(statement.below)}")
        if suspect.is_own:
            return self._own(suspect, statement.code)
        return self._called(statement)

    def _own(self, suspect: Suspect, code: ChangedCode | None) -> _Clause:
        """Return the clause on a function whose own lines cost more or less, by the request or by the call."""
        cost, function = suspect.stated, suspect.function
        predicate = self._cost(cost) if cost.unit is None else self._a_call(cost, function.calls)
        predicate += "" if code is None else _changed(code)
        holders = [name for name, _ in function.holders]
        if not holders:
            return _Clause(_whole(function), f"itself {predicate}")
        return _Clause(f"{_whole(function)}, inlined into {listing(holders)},", predicate)

    def _called(self, statement: Statement) -> _Clause:
        """Return the clause on calls that are made more or less often."""
        suspect, calls = statement.suspect, statement.suspect.stated
        callers, callee, instead = suspect.callers, suspect.function, suspect.instead_of
        subject = _whole(callers[0]) if len(callers) == 1 else _several(callers)
        target = _placed(callee) if callee.file != callers[0].file else _bare(callee)
        way = f" through {listing(statement.through)}" if statement.through else ""
        predicate = f"{self._calls(calls, target, several=len(callers) > 1)}{way}"
        if instead is not None and calls.is_more:
            predicate += f", in place of {_bare(instead)}"
        elif instead is not None and calls.head:
            predicate += f", and {_bare(instead)} in its place"
        elif instead is not None:
            call = "call" if len(callers) > 1 else "calls"
            predicate = f"{call} {_bare(instead)} in place of {target} ({self.figure(calls)}){way}"
        if (cost := statement.exchanged_cost) is not None:
            predicate += f", at {figure(cost.head)} instead of {figure(cost.base)} instructions a call"
        return _Clause(subject, f"{predicate}{self._below(statement.below)}")

    def _below(self, below: WorkBelow | None) -> str:
        """Return the end of a clause on calls: the function below the callee whose own instructions changed most."""
        return "" if below is None else f", below which {_placed(below.function)} {self._cost(below.cost)}"

    def _cost(self, cost: StatedFigure) -> str:
        return f"takes {_amount(cost)} instructions ({self.figure(cost)})"

    def _a_call(self, cost: StatedFigure, calls: PerSide | None) -> str:
        times = "" if calls is None else f", called {_times(calls)} {self.unit}"
        return f"takes {_amount(cost)} instructions a call ({self.figure(cost)}){times}"

    def _calls(self, calls: StatedFigure, target: str, *, several: bool) -> str:
        """Return the verb, the callee and the numbers: "now calls `f` (0 -> 1 per request)"."""
        call = "call" if several else "calls"
        if not calls.base:
            return f"now {call} {target} ({self.figure(calls)})"
        if not calls.head:
            return f"no longer {call} {target} ({self.figure(calls)})"
        return f"{call} {target} {'more' if calls.is_more else 'less'} often ({self.figure(calls)})"


def _effect(instructions: float, share: float, repeated_steps: float) -> str:
    """Return what a change adds or saves, and its share of the whole change, as the end of a sentence."""
    steps = f", with {repeated_steps:+,.0f} steps of `rep stos` or `rep movs`" if repeated_steps else ""
    part = "against the change" if share < 0 else f"{share * 100:,.0f} % of the change"
    part += "; others take back a part" if share > WHOLE else ""
    return f"{instructions:+,.0f} instructions{steps}, {part}"


def _handler(function: ComparedFunction, former: ComparedFunction) -> str:
    """Return the clause on a function that is called through a table in place of another."""
    are_commands = function.name.endswith(OF_COMMANDS) and former.name.endswith(OF_COMMANDS)
    named = _placed(former) if former.file != function.file else _bare(former)
    return f"{_placed(function)} {'carries out the command' if are_commands else 'is called'} instead of {named}"


def _changed(code: ChangedCode) -> str:
    if not code.removed:
        return f", where `{code.added}` is new"
    return f", where `{code.removed}` {f'became `{code.added}`' if code.added else 'is gone'}"


def _amount(cost: StatedFigure) -> str:
    return "more" if cost.is_more else "fewer"


def _times(calls: PerSide) -> str:
    before, after = figure(calls.base), figure(calls.head)
    return f"{after} times" if before == after else f"{before} -> {after} times"


def _bare(function: ComparedFunction) -> str:
    """Return the function's name alone."""
    return f"`{function.name}`"


def _placed(function: ComparedFunction) -> str:
    """Return the function's name with its file."""
    return f"{_bare(function)} ({function.file})" if function.file else _bare(function)


def _whole(function: ComparedFunction) -> str:
    """Return the function's name with its file and whether it was changed."""
    return f"{_bare(function)}{_location(function)}"


def _location(function: ComparedFunction) -> str:
    """Return the function's file and whether it was changed, in parentheses."""
    parts = [part for part in (function.file, "changed here" if function.body_changed else None) if part]
    return f" ({', '.join(parts)})" if parts else ""


def _several(functions: Sequence[ComparedFunction]) -> str:
    """Return the functions' names, with their file and whether they were changed where that is the same for all."""
    locations = {_location(function) for function in functions}
    return f"{listing([function.name for function in functions])}{locations.pop() if len(locations) == 1 else ''}"


def listing(names: Sequence[str]) -> str:
    """Return names of functions as prose: `a`, `b` and 3 more."""
    quoted = [f"`{name}`" for name in names]
    return joined([*quoted[: NAMED - 1], f"{len(quoted) - NAMED + 1} more"] if len(quoted) > NAMED else quoted)


def joined(parts: Sequence[str], last: str = "and") -> str:
    """Return parts as prose: "a, b and c"."""
    return f" {last} ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)
