"""Which of the changed files the measured cases execute, from the call graphs of counted trials."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from zerolap.documents.case_trials import Trials
from zerolap.documents.conclusions import CaseExplainer
from zerolap.documents.identity import why_partly_counted
from zerolap.documents.results import Results
from zerolap.records import BASE, HEAD, CallGraph, ChangedFiles, Changes, FileChange, UnknownChanges, is_compiled
from zerolap.store import BlobDamaged, Blobs

GRAPHS: Final = ("graph", "graph_alone", "graph_tick")
SOURCES: Final = "src/"
NAMED_FILES: Final = 5


@dataclass(frozen=True)
class _Changed:
    """A file that a change has, by its name; `names` are those in the call graphs of both sides."""

    name: str
    names: frozenset[str]

    @classmethod
    def of(cls, change: FileChange) -> "_Changed":
        names = [name for name in (change.old_file, change.new_file) if name]
        # Call graphs show files as the server's Makefile does, which runs in this directory.
        return cls(change.new_file or change.old_file, frozenset(name.removeprefix(SOURCES) for name in names))


def changed_files(results: Results, explainer: CaseExplainer) -> ChangedFiles | None:
    """Return the changed files that are in either program, and those of them that no measured case executes.

    None where that is not known: the sources cannot be compared, or a case was timed that is not counted, or in part.
    """
    if isinstance(explainer.changes, UnknownChanges):
        return None
    try:
        return _changed_files(results, explainer, explainer.changes)
    except (ValueError, OSError, BlobDamaged):
        # What was measured stands, though a call graph or the debug information cannot be read.
        return None


def _changed_files(results: Results, explainer: CaseExplainer, changes: Changes) -> ChangedFiles | None:
    changed = [_Changed.of(file) for file in changes.files if is_compiled(file.new_file or file.old_file)]
    unexecuted = list(changed)
    # Of cases that both sides execute alike, the call graphs are one.
    graphs = dict.fromkeys(_graphs(results))
    for digest in graphs:
        if digest is not None and unexecuted:
            executed = _executed(digest, results.blobs)
            unexecuted = [file for file in unexecuted if not file.names & executed]
    if unexecuted and (None in graphs or not graphs):
        return None
    if unexecuted:
        known = {function.file.removeprefix(SOURCES) for of_side in explainer.functions for function in of_side}
        absent = [file for file in unexecuted if not file.names & known]
        # Another program's, or built without debug information: whether it is executed shows nowhere.
        changed, unexecuted = ([file for file in files if file not in absent] for files in (changed, unexecuted))
    return ChangedFiles(compiled=[file.name for file in changed], unexecuted=[file.name for file in unexecuted])


def _graphs(results: Results) -> Iterator[str | None]:
    """Yield the call graphs of each measured case; None for a case of which not all that was measured was counted."""
    for case in results.resolved.cases:
        counted = results.counted.get(case.name)
        is_counted = counted is not None and counted.usable and bool(counted.all)
        if case.name in results.timed and (not is_counted or why_partly_counted(results.resolved, case) is not None):
            # I/O threads, network connections and replicas execute functions that no call graph shows.
            yield None
        if counted is not None and is_counted:
            yield from _graphs_of(counted)


def _graphs_of(counted: Trials) -> Iterator[str | None]:
    for side in (BASE, HEAD):
        for measurement in counted.measurements.get(side, [])[:1]:
            graphs = [getattr(measurement, kind) for kind in GRAPHS]
            yield from (digest for digest in graphs if digest is not None)
            if measurement.graph is None:
                yield None


def _executed(digest: str, blobs: Blobs) -> set[str]:
    """Return the files of the functions that a call graph has, and of those that are inlined into them."""
    graph = CallGraph.model_validate_json(blobs.get(digest))
    functions = [function for function in graph.functions if function.instructions > 0 or function.calls > 0]
    files = {function.file for function in functions if function.file is not None}
    files |= {file for function in functions for file, _, _ in function.lines}
    return {graph.files[file].removeprefix(SOURCES) for file in files}


def unexecuted_notes(files: ChangedFiles | None) -> list[str]:
    """Return the note on changed files that no measured case executes."""
    if files is None or not files.unexecuted:
        return []
    names = files.unexecuted[:NAMED_FILES]
    more = len(files.unexecuted) - len(names)
    further = f" and {more:,} more" if more else ""
    which = "it" if len(files.unexecuted) == 1 else "them"
    return [f"not measured: {', '.join(names)}{further}: no measured case executes a function of {which}"]
