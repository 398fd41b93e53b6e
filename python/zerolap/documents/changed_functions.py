"""Which functions a change changed, by the sources and by both programs, and which of them the cases execute."""

from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.documents.executed_code import ComparedCode, ExecutedCases, ExecutedCode, as_in_graphs
from zerolap.documents.program_differences import Key, differing_functions
from zerolap.records import (
    BASE,
    HEAD,
    ChangedFunction,
    ChangedFunctions,
    FunctionCode,
    Side,
    SourceFunction,
    UnknownChanges,
    may_be_built,
)

MOST_LISTED: Final = 500
MOST_CASES: Final = 3


@dataclass(frozen=True)
class DifferingFunction:
    """A changed function: its definition on each side that has it, and its changed lines with code there."""

    definitions: Mapping[Side, SourceFunction]
    lines: Mapping[Side, set[int]]
    in_diff: bool

    @property
    def definition(self) -> SourceFunction:
        """The head's, or the base's where the function is gone."""
        return self.definitions.get(HEAD) or self.definitions[BASE]


@dataclass(frozen=True)
class ExecutedChange:
    """The changed functions, those that no case executed, and the names of the cases that execute each other one."""

    functions: ChangedFunctions
    unexecuted: list[ChangedFunction]
    executed_by: dict[str, list[str]]


def changed_functions(code: ComparedCode, cases: ExecutedCases) -> ExecutedChange | None:
    """Return the changed functions by whether a case executed them: of both kinds at most `MOST_LISTED`.

    None where that is not known: a case was timed that is not counted, or in part. Raises as `ExecutedCases.of_cases`.
    """
    of_cases = list(cases.of_cases())
    executed: list[ChangedFunction] = []
    unexecuted: list[ChangedFunction] = []
    executed_by: dict[str, list[str]] = {}
    for changed in compared_functions(code):
        function, names = _with_cases(changed, of_cases, cases)
        (executed if names else unexecuted).append(function)
        if names:
            executed_by[function.function] = names
    if unexecuted and not cases.is_whole:
        return None
    whole = ChangedFunctions(
        number=len(executed) + len(unexecuted), executed=len(executed), functions=_in_order(executed)[:MOST_LISTED]
    )
    return ExecutedChange(whole, _in_order(unexecuted)[:MOST_LISTED], executed_by)


def compared_functions(code: ComparedCode) -> Iterator[DifferingFunction]:
    """Yield the functions whose lines differ; also those whose code does where lines outside of functions differ."""
    sides = (BASE, HEAD)
    by_key = {side: {function.key: function for function in code.functions[side]} for side in sides}
    lines, worded, is_outside = _changed_lines(code)
    programs = [] if code.programs is None else [_with_files(code.programs[side], by_key[side]) for side in sides]
    differing = differing_functions(*programs) if programs else frozenset()
    comparable = {key for program in programs for key in program}
    # Functions that are only inlined into others have no code of their own that could be compared: theirs does.
    inlined = {key for program in programs for function in program.values() for key in function.inlined} - comparable
    within = {key for program in programs for holder in differing & program.keys() for key in program[holder].inlined}
    # What no code comes from, such as one of two functions that became one, may have changed.
    unseen = worded - comparable - inlined
    touched = dict.fromkeys(key for side in sides for key in lines[side])
    different = differing | (within & inlined) | unseen
    changed = [key for key in touched if not programs or key in different]
    for key, other in _as_one(changed, by_key):
        at = {side: other if key not in by_key[side] and other is not None else key for side in sides}
        definitions = {side: by_key[side][at[side]] for side in sides if at[side] in by_key[side]}
        yield DifferingFunction(definitions, {side: lines[side].get(at[side], set()) for side in sides}, in_diff=True)
    if not is_outside:
        return
    for key, function in by_key[HEAD].items():
        is_in_both = key in by_key[BASE] and all(key in program for program in programs)
        if key in differing and key not in touched and is_in_both:
            yield DifferingFunction({BASE: by_key[BASE][key], HEAD: function}, {}, in_diff=False)


def _with_files(program: Mapping[Key, FunctionCode], definitions: Iterable[Key]) -> dict[Key, FunctionCode]:
    """Return the code of functions by name and file, also of those that the debug information has no code of.

    Such is one that jumps to another of the same code.
    """
    places: dict[str, set[Key]] = {}
    for key in definitions:
        places.setdefault(key[0], set()).add(key)
    return {
        min(places[name]) if not file and len(places.get(name, ())) == 1 else (name, file): function
        for (name, file), function in program.items()
    }


def _as_one(
    changed: Sequence[Key], by_key: Mapping[Side, Mapping[Key, SourceFunction]]
) -> Iterator[tuple[Key, Key | None]]:
    """Yield each function, with the key that it had in the base if it was moved to another file."""
    removed = {key[0]: key for key in changed if key not in by_key[HEAD]}
    added = {key[0]: key for key in changed if key not in by_key[BASE]}
    for key in changed:
        if removed.get(key[0]) != key or key[0] not in added:
            yield key, removed.get(key[0]) if added.get(key[0]) == key else None


def _changed_lines(code: ComparedCode) -> tuple[dict[Side, dict[Key, set[int]]], set[Key], bool]:
    """Return the changed lines of functions by side, and whether others changed that functions may depend on.

    Between them are the functions that have changed lines which are no mere comments.
    """
    by_function: dict[Side, dict[Key, set[int]]] = {BASE: {}, HEAD: {}}
    worded: set[Key] = set()
    if isinstance(code.changes, UnknownChanges):
        return by_function, worded, True
    is_outside = bool(code.changes.left_out)
    for side, by_file in zip((BASE, HEAD), code.changes.lines(), strict=True):
        definitions = _by_first_line(code.functions[side])
        for file, numbers in by_file.items():
            holders = definitions.get(as_in_graphs(file), {})
            starts, with_code = sorted(holders), code.code_lines[side].get(as_in_graphs(file), frozenset())
            for number, has_code in numbers:
                at = bisect(starts, number) - 1
                # Functions that one macro defines share their lines.
                holding = (
                    [function for function in holders[starts[at]] if number <= function.last_line] if at >= 0 else []
                )
                is_outside = is_outside or (has_code and not holding and may_be_built(file))
                # Programs show what a comment is: one may begin or end that has code in it.
                for function in holding if has_code or code.programs is not None else ():
                    lines = by_function[side].setdefault(function.key, set())
                    lines |= {number} & with_code
                    if has_code:
                        worded.add(function.key)
    return by_function, worded, is_outside


def _by_first_line(functions: Sequence[SourceFunction]) -> dict[str, dict[int, list[SourceFunction]]]:
    """Return the functions by file and by the line that they begin in."""
    by_file: dict[str, dict[int, list[SourceFunction]]] = {}
    for function in functions:
        by_file.setdefault(function.file, {}).setdefault(function.first_line, []).append(function)
    return by_file


def _with_cases(
    changed: DifferingFunction, executed_by: Sequence[tuple[str, Mapping[Side, ExecutedCode]]], cases: ExecutedCases
) -> tuple[ChangedFunction, list[str]]:
    """Return a changed function with the cases that execute it, and its changed lines: the base's if none is new."""
    names = []
    side: Side = HEAD if changed.lines.get(HEAD) else BASE
    executed_lines: set[int] = set()
    for name, by_side in executed_by:
        if any(
            side in by_side and by_side[side].has(definition, cases.definitions[side])
            for side, definition in changed.definitions.items()
        ):
            names.append(name)
        if side in by_side:
            executed = by_side[side].lines
            file = changed.definition.file
            executed_lines |= {line for line in changed.lines.get(side, ()) if (file, line) in executed}
    function = ChangedFunction(
        function=changed.definition.name,
        file=changed.definition.file,
        line=changed.definition.first_line,
        in_diff=changed.in_diff,
        lines=len(changed.lines.get(side, ())),
        executed_lines=len(executed_lines),
        cases=names[:MOST_CASES],
        case_count=len(names),
    )
    return function, names


def _in_order(functions: Sequence[ChangedFunction]) -> list[ChangedFunction]:
    return sorted(functions, key=lambda function: (not function.in_diff, function.file, function.line))
