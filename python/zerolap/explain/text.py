"""The sentences of findings, as a reviewer writes them: the change first, then what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.records import PerSide

WHOLE = 1.05
"""Share of the change from which on a function's part is reported as more than the whole."""
NAMED = 3
"""Functions that a sentence names before it counts the others."""
LEAST_NUMBER = 5e-4
"""What is less is written as none: so little per request is the rest of a difference of two windows."""

TOO_MANY_FUNCTIONS = "Too many functions are executed for the change to be attributed to them."
PER_REQUEST = "per request"
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
        parts = [part for part in (self.file, "changed here" if self.changed_here else None) if part]
        return f"{self.bare} ({', '.join(parts)})" if parts else self.bare


@dataclass(frozen=True)
class Effect:
    """Instructions per request that a change adds or saves, and their share of the whole change."""

    instructions: float
    share: float

    def __str__(self) -> str:
        """Return it as the end of a sentence."""
        return f"{self.instructions:+,.0f} instructions, {self._part()}"

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


def own(function: NamedFunction, instructions: PerSide, inlined_into: Sequence[str], *, more: bool) -> Clause:
    """Return the clause on a function whose own lines cost more or less."""
    verb = "takes more instructions" if more else "takes fewer instructions"
    predicate = f"{verb} ({figure(instructions.base)} -> {figure(instructions.head)} per request)"
    if not inlined_into:
        return Clause(function.whole, f"itself {predicate}")
    return Clause(f"{function.whole}, inlined into {listing(inlined_into)},", predicate)


def called(
    callers: Sequence[NamedFunction],
    callee: NamedFunction,
    calls: PerSide,
    through: Sequence[str],
    instead: NamedFunction | None,
) -> Clause:
    """Return the clause on calls that are made more or less often; `through` names functions in between."""
    subject = callers[0].whole if len(callers) == 1 else listing([caller.function for caller in callers])
    target = callee.placed if callee.file != callers[0].file else callee.bare
    way = f" through {listing(through)}" if through else ""
    exchanged = "" if instead is None else f", {'instead of' if calls.head else 'but'} {instead.bare}"
    return Clause(subject, f"{_calls(calls, target, several=len(callers) > 1)}{way}{exchanged}")


def dearer(caller: NamedFunction, callee: NamedFunction, each_call: PerSide, *, more: bool) -> Clause:
    """Return the clause on a changed function that gives an unchanged function more or less to do."""
    return Clause(
        caller.whole,
        f"makes calls of {callee.placed}, which is unchanged, {'dearer' if more else 'cheaper'} {_each(each_call)}",
    )


def handler(function: NamedFunction, replaced: NamedFunction) -> Clause:
    """Return the clause on a function that is called through a table in place of another."""
    are_commands = function.function.endswith(OF_COMMANDS) and replaced.function.endswith(OF_COMMANDS)
    former = replaced.placed if replaced.file != function.file else replaced.bare
    return Clause(function.placed, f"{'carries out the command' if are_commands else 'is called'} instead of {former}")


def same_code(function: NamedFunction, each_call: PerSide, calls: PerSide | None, *, more: bool) -> Clause:
    """Return the clause on a function of a library that costs more or less a call."""
    times = "" if calls is None else f", called {_times(calls)} per request"
    return Clause(
        function.placed,
        f"takes {'more' if more else 'fewer'} instructions a call {_each(each_call)}{times}: the same code, with other "
        "arguments or data",
    )


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


def _each(each_call: PerSide) -> str:
    return f"({figure(each_call.base)} -> {figure(each_call.head)} instructions a call)"


def called_without_inlining(calls: PerSide) -> str:
    """Return the sentence on how often a function is called that is inlined, by builds in which it is not."""
    return f"It is called {_times(calls)} per request (calls counted in a build without inlining)."


def call_count(caller: str, callee: str, calls: PerSide) -> str:
    """Return the sentence on a call whose number alone matters."""
    return f"`{caller}` {_calls(calls, f'`{callee}`', several=False)}."


def _calls(calls: PerSide, target: str, *, several: bool) -> str:
    """Return the verb, the callee and the numbers: "now calls `f` (0 -> 1 per request)"."""
    call = "call" if several else "calls"
    figures = f"({figure(calls.base)} -> {figure(calls.head)} per request)"
    if not calls.base:
        return f"now {call} {target} {figures}"
    if not calls.head:
        return f"no longer {call} {target} {figures}"
    how = "more often" if calls.head > calls.base else "less often"
    return f"{call} {target} {how} {figures}"


def listing(names: Sequence[str]) -> str:
    """Return names as prose: `a`, `b` and 3 more."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > NAMED:
        return f"{', '.join(quoted[: NAMED - 1])} and {len(quoted) - NAMED + 1} more"
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else "".join(quoted)


def figure(value: float | None) -> str:
    """Return a number per request with the digits that matter; none is 0."""
    if value is None or abs(value) < LEAST_NUMBER:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


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
