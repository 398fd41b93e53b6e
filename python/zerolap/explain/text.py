"""The sentences of findings, as a reviewer writes them: the change first, then what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.explain.changed_lines import ChangedCode
from zerolap.explain.stated_figures import PER_REQUEST, StatedFigure, figure
from zerolap.records import PerSide

WHOLE = 1.05
"""Share of the change from which on a function's part is reported as more than the whole."""
LEAST_LEFT_OUT = 0.5
"""Instructions by which listed parts may differ from what they are parts of: all are written without decimals."""
NAMED = 3
"""Functions that a sentence names before it counts the others."""

TOO_MANY_FUNCTIONS = "Too many functions are executed for the change to be attributed to them."
OF_COMMANDS = "Command"
"""End of the names of functions that carry out a command, by the custom of Redis and its relatives."""


@dataclass(frozen=True)
class NamedFunction:
    """A function as sentences name it: its file where that is known, and whether its lines differ."""

    function: str
    file: str | None
    changed_here: bool

    @property
    def bare(self) -> str:
        """The name alone."""
        return f"`{self.function}`"

    @property
    def placed(self) -> str:
        """The name with its file."""
        return f"{self.bare} ({self.file})" if self.file else self.bare

    @property
    def whole(self) -> str:
        """The name with its file and whether it was changed."""
        return f"{self.bare}{self.place}"

    @property
    def place(self) -> str:
        """Its file and whether it was changed, in parentheses."""
        parts = [part for part in (self.file, "changed here" if self.changed_here else None) if part]
        return f" ({', '.join(parts)})" if parts else ""


@dataclass(frozen=True)
class Effect:
    """Instructions per request that a change adds or saves, and their share of the whole change.

    `leaves_out` are instructions of parts too small to be listed below it, `repeated_steps` those that a processor does
    not execute each by itself.
    """

    instructions: float
    share: float
    leaves_out: float = 0.0
    repeated_steps: float = 0.0

    def __str__(self) -> str:
        """Return it as the end of a sentence."""
        rest = "" if abs(self.leaves_out) < LEAST_LEFT_OUT else "; smaller parts are left out"
        steps = f", with {self.repeated_steps:+,.0f} steps of `rep stos` or `rep movs`" if self.repeated_steps else ""
        return f"{self.instructions:+,.0f} instructions{steps}, {self._part()}{rest}"

    def _part(self) -> str:
        if self.share < 0:
            return "against the change"
        part = f"{self.share * 100:,.0f} % of the change"
        return part if self.share <= WHOLE else f"{part}; others take back a part"


@dataclass(frozen=True)
class Clause:
    """What changed, as subject and predicate."""

    subject: str
    predicate: str


def own(
    function: NamedFunction,
    cost: StatedFigure,
    calls: PerSide | None,
    inlined_into: Sequence[str],
    code: ChangedCode | None,
) -> Clause:
    """Return the clause on a function whose own lines cost more or less, by the request or by the call."""
    predicate = f"takes {_amount(cost)} instructions ({cost})" if cost.unit == PER_REQUEST else _a_call(cost, calls)
    predicate += "" if code is None else _changed(code)
    if not inlined_into:
        return Clause(function.whole, f"itself {predicate}")
    return Clause(f"{function.whole}, inlined into {listing(inlined_into)},", predicate)


def _changed(code: ChangedCode) -> str:
    if not code.removed:
        return f", where `{code.added}` is new"
    return f", where `{code.removed}` {f'became `{code.added}`' if code.added else 'is gone'}"


def _amount(cost: StatedFigure) -> str:
    return "more" if cost.is_more else "fewer"


def called(
    callers: Sequence[NamedFunction],
    callee: NamedFunction,
    calls: StatedFigure,
    through: Sequence[str],
    instead: NamedFunction | None,
) -> Clause:
    """Return the clause on calls that are made more or less often; `through` names functions in between."""
    subject = callers[0].whole if len(callers) == 1 else _several(callers)
    target = callee.placed if callee.file != callers[0].file else callee.bare
    way = f" through {listing(through)}" if through else ""
    made = f"{_calls(calls, target, several=len(callers) > 1)}{way}"
    if instead is None:
        return Clause(subject, made)
    if calls.is_more:
        return Clause(subject, f"{made}, in place of {instead.bare}")
    if calls.head:
        return Clause(subject, f"{made}, and {instead.bare} in its place")
    call = "call" if len(callers) > 1 else "calls"
    return Clause(subject, f"{call} {instead.bare} in place of {target} ({calls}){way}")


def _several(functions: Sequence[NamedFunction]) -> str:
    """Return the functions' names, with their file and whether they were changed where that is the same for all."""
    places = {function.place for function in functions}
    return f"{listing([function.function for function in functions])}{places.pop() if len(places) == 1 else ''}"


def dearer(caller: NamedFunction, callee: NamedFunction, each_call: StatedFigure) -> Clause:
    """Return the clause on a changed function that gives an unchanged function more or less to do."""
    how = "dearer" if each_call.is_more else "cheaper"
    return Clause(caller.whole, f"makes calls of {callee.placed}, which is unchanged, {how} ({each_call})")


def at_cost_of(clause: Clause, each_call: StatedFigure) -> Clause:
    """Return the clause on an exchanged call with what a call of the function costs that was called, and is now."""
    costs = f"at {figure(each_call.head)} instead of {figure(each_call.base)} instructions a call"
    return Clause(clause.subject, f"{clause.predicate}, {costs}")


def below_which(clause: Clause, function: NamedFunction, cost: StatedFigure) -> Clause:
    """Return the clause with the function below the named callee whose own instructions changed most."""
    return Clause(
        clause.subject,
        f"{clause.predicate}, below which {function.placed} takes {_amount(cost)} instructions ({cost})",
    )


def handler(function: NamedFunction, replaced: NamedFunction) -> Clause:
    """Return the clause on a function that is called through a table in place of another."""
    are_commands = function.function.endswith(OF_COMMANDS) and replaced.function.endswith(OF_COMMANDS)
    former = replaced.placed if replaced.file != function.file else replaced.bare
    return Clause(function.placed, f"{'carries out the command' if are_commands else 'is called'} instead of {former}")


def same_code(function: NamedFunction, each_call: StatedFigure, calls: PerSide | None) -> Clause:
    """Return the clause on a function of a library that costs more or less a call."""
    return Clause(function.placed, f"{_a_call(each_call, calls)}: the same code, with other arguments or data")


def _a_call(cost: StatedFigure, calls: PerSide | None) -> str:
    times = "" if calls is None else f", called {_times(calls)} per request"
    return f"takes {_amount(cost)} instructions a call ({cost}){times}"


def _times(calls: PerSide) -> str:
    before, after = figure(calls.base), figure(calls.head)
    return f"{after} times" if before == after else f"{before} -> {after} times"


def sentence(clause: Clause, effect: Effect, *, is_whole: bool = True) -> str:
    """Return the clause with what it costs; where it is not the whole, the effect is of what goes with it too."""
    return f"{clause.subject} {clause.predicate}{_rest(is_whole)}: {effect}."


def _rest(is_whole: bool) -> str:
    return "" if is_whole else ", with what goes with it"


def below(root: NamedFunction, clauses: Sequence[Clause], effect: Effect, *, is_whole: bool) -> str:
    """Return the sentence on a changed function: the clauses are its largest parts, the effect is that of all of it."""
    (leading, *further) = clauses
    same = [clause.predicate for clause in further if clause.subject == leading.subject]
    story = " and ".join([f"{leading.subject} {leading.predicate}", *same])
    story = "; ".join([story, *(f"{c.subject} {c.predicate}" for c in further if c.subject != leading.subject)])
    begin = "" if leading.subject == root.whole else f"Below {root.whole}, "
    return f"{begin}{story}{_rest(is_whole)}: {effect}."


def of_ticks(sentence: str) -> str:
    """Return a sentence on requests as a sentence on ticks of the server's timers."""
    return sentence.replace(PER_REQUEST, "per tick of the timers")


def called_without_inlining(calls: PerSide) -> str:
    """Return the sentence on how often a function is called that is inlined, by builds in which it is not."""
    return f"It is called {_times(calls)} per request (calls counted in a build without inlining)."


def call_count(caller: str, callee: str, calls: StatedFigure) -> str:
    """Return the sentence on a call whose number alone matters."""
    return f"`{caller}` {_calls(calls, f'`{callee}`', several=False)}."


def _calls(calls: StatedFigure, target: str, *, several: bool) -> str:
    """Return the verb, the callee and the numbers: "now calls `f` (0 -> 1 per request)"."""
    call = "call" if several else "calls"
    if not calls.base:
        return f"now {call} {target} ({calls})"
    if not calls.head:
        return f"no longer {call} {target} ({calls})"
    return f"{call} {target} {'more' if calls.is_more else 'less'} often ({calls})"


def listing(names: Sequence[str]) -> str:
    """Return names as prose: `a`, `b` and 3 more."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > NAMED:
        return f"{', '.join(quoted[: NAMED - 1])} and {len(quoted) - NAMED + 1} more"
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else "".join(quoted)


def diffuse(explained: float, total: float) -> str:
    """Return the sentence for a change that no few functions explain."""
    return (
        f"diffuse: the change of {total:+,.0f} instructions per request is spread over many functions; "
        f"those listed explain {max(explained, 0.0):.0%}."
    )


def moved(function: str, instructions: float) -> str:
    """Return the sentence for the cost of replaced calls."""
    return (
        f"{instructions:,.0f} instructions per request only moved: `{function}` makes other calls in place of those "
        "that cost as much before."
    )


def stripped(sides: Sequence[str]) -> str:
    """Return the sentence for a binary without symbols."""
    return (
        f"The binary of {' and '.join(sides)} is stripped: functions that are not exported are invisible, "
        "their cost is shown without a name or under a neighbour's; calls between them are not seen."
    )


def repeated_steps(steps: StatedFigure, functions: Sequence[str]) -> str:
    """Return the sentence on instructions of a change that a processor does not execute each by itself."""
    return (
        f"Steps of `rep stos` and `rep movs` in {listing(functions)} are a part of the change ({steps}). Each is "
        "counted as an instruction, and a processor executes many of them at once: time changes by less."
    )


def no_debug_information() -> str:
    """Return the sentence for a binary without line numbers."""
    return "Without debug information (`-g`) inlined functions and changed lines cannot be distinguished."


def unknown_changes(reason: str) -> str:
    """Return the sentence for sources of which it is not known what differs."""
    return f"{reason}: functions are not matched with changed lines."


def changes_left_out(files: Sequence[str]) -> str:
    """Return the sentence for files whose changes are too large to be read."""
    named = ", ".join(f"`{file}`" for file in files[:NAMED])
    others = f" and {len(files) - NAMED:,} other files" if len(files) > NAMED else ""
    return (
        f"The changes of {named}{others} are too large to be read: functions there are not matched with changed lines."
    )
