"""Which of the changed files the measured cases execute, from the call graphs of counted trials."""

from typing import Final

from zerolap.documents.executed_code import ComparedCode, ExecutedCases, as_in_graphs
from zerolap.records import ChangedFiles, FileChange, UnknownChanges, is_compiled

NAMED_FILES: Final = 5


def changed_files(code: ComparedCode, cases: ExecutedCases) -> ChangedFiles | None:
    """Return the changed files that are in either program, and those of them that no measured case executes.

    None where that is not known: the sources cannot be compared, or a case was timed that is not counted, or in part.
    Raises as `ExecutedCases.of_cases`.
    """
    if isinstance(code.changes, UnknownChanges):
        return None
    changed = [change for change in code.changes.files if is_compiled(_name(change))]
    executed = {file for _, by_side in cases.of_cases() for code in by_side.values() for file in code.files}
    unexecuted = [change for change in changed if not _names(change) & executed]
    if unexecuted and not cases.is_whole:
        return None
    known = {as_in_graphs(function.file) for of_side in code.functions.values() for function in of_side}
    # Another program's, or built without debug information: whether it is executed shows nowhere.
    absent = [change for change in unexecuted if not _names(change) & known]
    return ChangedFiles(
        compiled=[_name(change) for change in changed if change not in absent],
        unexecuted=[_name(change) for change in unexecuted if change not in absent],
    )


def _name(change: FileChange) -> str:
    return change.new_file or change.old_file


def _names(change: FileChange) -> set[str]:
    return {as_in_graphs(name) for name in (change.old_file, change.new_file) if name}


def unexecuted_notes(files: ChangedFiles | None) -> list[str]:
    """Return the note on changed files that no measured case executes."""
    if files is None or not files.unexecuted:
        return []
    names = files.unexecuted[:NAMED_FILES]
    more = len(files.unexecuted) - len(names)
    further = f" and {more:,} more" if more else ""
    which = "it" if len(files.unexecuted) == 1 else "them"
    return [f"not measured: {', '.join(names)}{further}: no measured case executes a function of {which}"]
