"""Which changed functions no measured case executes, in words; which changed files, where functions are not known."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.records import ChangedFunction, ChangedFunctions, Comparison
from zerolap.sheets.detail import Lengths
from zerolap.sheets.format import counted, listing
from zerolap.sheets.sheet import Sentence, as_name

LABEL: Final = "Not measured"


@dataclass(frozen=True)
class UnexecutedCode:
    """What no case of any comparison of one change executes.

    `number` is how many of `changed` functions no case executes, `functions` are the first of them. `beside` are those
    that are executed without any of their changed lines. `proposed_cases` may execute more, and `tested_commands` too.
    `statement` is that nothing of the change was measured.
    """

    number: int = 0
    changed: int = 0
    functions: Sequence[ChangedFunction] = ()
    beside: Sequence[ChangedFunction] = ()
    files: Sequence[str] = ()
    proposed_cases: Sequence[str] = ()
    tested_commands: Sequence[str] = ()
    statement: str | None = None

    def sentences(self, most: int, lengths: Lengths) -> Iterator[Sentence]:
        """Yield what was not measured, with the first `most` names."""
        if self.number and most:
            of = counted(self.changed, "changed function", "changed functions")
            names = _named([_function(function, lengths) for function in self.functions], self.number, most)
            proposed = _named([as_name(case) for case in self.proposed_cases], len(self.proposed_cases), most)
            reached = f"; {proposed} may execute them" if proposed else ""
            tested = _named([as_name(name) for name in self.tested_commands], len(self.tested_commands), most)
            sent = f"; the tests of the change send {tested}" if tested else ""
            yield Sentence(label=LABEL, text=f"{self.number:,} of {of}: {names}{reached}{sent}")
        if self.beside and most:
            names = _named([_function(function, lengths) for function in self.beside], len(self.beside), most)
            yield Sentence(label=LABEL, text=f"the changed lines of {names}, of which only other lines are executed")
        if self.files and most:
            names = _named([lengths.named(file) for file in self.files], len(self.files), most)
            which = "it" if len(self.files) == 1 else "them"
            yield Sentence(label=LABEL, text=f"{names}: no measured case executes a function of {which}")


def unexecuted_code(comparisons: Sequence[Comparison]) -> UnexecutedCode:
    """Return what no case of these comparisons of one change executes; nothing where one of them does not know it."""
    functions = [each.changed_functions for each in comparisons if each.changed_functions is not None]
    if functions and len(functions) == len(comparisons):
        return _unexecuted_functions(comparisons, functions)
    files = [each.changed_files for each in comparisons if each.changed_files is not None]
    if not files or len(files) < len(comparisons):
        return UnexecutedCode()
    return UnexecutedCode(
        files=[file for file in files[0].unexecuted if all(file in of.unexecuted for of in files)],
        statement="no measured case executes a changed file" if all(of.are_all_unexecuted for of in files) else None,
    )


def _unexecuted_functions(comparisons: Sequence[Comparison], changed: Sequence[ChangedFunctions]) -> UnexecutedCode:
    unmeasured = [_by_name(comparison.unmeasured or []) for comparison in comparisons]
    of_all = [function for name, function in unmeasured[0].items() if all(name in others for others in unmeasured)]
    beside = [_by_name(function for function in of.functions if _is_beside(function)) for of in changed]
    is_none = all(of.are_all_unexecuted for of in changed)
    return UnexecutedCode(
        # Each comparison lists only so many.
        number=min(of.unexecuted for of in changed) if len(changed) == 1 or is_none else len(of_all),
        changed=changed[0].number,
        functions=of_all,
        beside=[function for name, function in beside[0].items() if all(name in others for others in beside)],
        proposed_cases=changed[0].proposed_cases,
        tested_commands=changed[0].tested_commands,
        statement="no measured case executes a changed function" if is_none else None,
    )


def _by_name(functions: Iterable[ChangedFunction]) -> dict[tuple[str, str], ChangedFunction]:
    return {(function.function, function.file): function for function in functions}


def _is_beside(function: ChangedFunction) -> bool:
    return function.lines > 0 and not function.executed_lines


def _function(function: ChangedFunction, lengths: Lengths) -> str:
    return f"{lengths.named(function.function)} ({lengths.named(f'{function.file}:{function.line}')})"


def _named(names: Sequence[str], number: int, most: int) -> str:
    further = number - len(names[:most])
    return f"{listing(names[:most])}{f' and {further:,} more' if further else ''}"
