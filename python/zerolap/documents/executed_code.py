"""What the counted trials of each case executed: functions and lines of the source, by side."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from zerolap import _core
from zerolap.documents.case_trials import Trials
from zerolap.documents.identity import why_partly_counted
from zerolap.documents.results import Results
from zerolap.records import (
    BASE,
    HEAD,
    CallGraph,
    Case,
    Changes,
    FunctionCode,
    Measurement,
    Side,
    SourceFunction,
    SourceFunctions,
    UnknownChanges,
)

GRAPHS: Final = ("graph", "graph_alone", "graph_tick")
SOURCES: Final = "src/"


def as_in_graphs(file: str) -> str:
    """Return a file's name as call graphs show it: as the server's Makefile does, which runs in the directory `src`."""
    return file.removeprefix(SOURCES)


Lines: TypeAlias = Mapping[str, frozenset[int]]
"""Numbers of lines by file."""


@dataclass(frozen=True)
class ComparedCode:
    """The code of both sides: functions, the code of each by name and file, lines with code, what differs.

    Without `programs` these cannot be compared, and functions count as changed by their lines alone.
    """

    functions: Mapping[Side, Sequence[SourceFunction]]
    programs: Mapping[Side, Mapping[tuple[str, str], FunctionCode]] | None
    code_lines: Mapping[Side, Lines]
    changes: Changes | UnknownChanges


@dataclass(frozen=True)
class ExecutedCode:
    """What a case executed on one side; `names` are functions that have code of their own, in whichever file.

    `functions` are names with files, also of those that are inlined; `lines` are numbers of changed files.
    """

    names: frozenset[str]
    functions: frozenset[tuple[str, str]]
    files: frozenset[str]
    lines: frozenset[tuple[str, int]]

    def has(self, function: SourceFunction, definitions: SourceFunctions) -> bool:
        """Whether a function was executed; of several with its name only if it is known which."""
        return function.key in self.functions or (
            function.name in self.names and len(definitions.definitions(function.name)) == 1
        )


class ExecutedCases:
    """What each measured case executed, read once for each of the recorded graphs; by default of all cases."""

    def __init__(self, results: Results, code: ComparedCode, cases: Sequence[Case] | None = None) -> None:
        self.definitions = {side: SourceFunctions(functions) for side, functions in code.functions.items()}
        self._blobs = results.blobs
        self._code_lines = code.code_lines
        self._read: dict[tuple[Side, tuple[str, ...]], ExecutedCode] = {}
        self._cases = [(case, results.counted.get(case.name)) for case in (results.cases if cases is None else cases)]
        counted = [trials for _, trials in self._cases if trials is not None and trials.usable and trials.all]
        self.is_whole = bool(counted) and all(_is_known(case, trials, results) for case, trials in self._cases)
        """Whether what is not among it was not executed: of all cases, all that was measured was counted."""

    def of_cases(self) -> Iterator[tuple[str, Mapping[Side, ExecutedCode]]]:
        """Yield each case that was counted, with what it executed. Raises `ValueError`, `OSError`, `BlobDamaged`."""
        for case, trials in self._cases:
            if trials is not None and trials.usable and trials.all:
                measured = {side: trials.measurements.get(side, [])[:1] for side in (BASE, HEAD)}
                yield case.name, {side: self._executed(side, first[0]) for side, first in measured.items() if first}

    def _executed(self, side: Side, measurement: Measurement) -> ExecutedCode:
        digests = tuple(digest for kind in GRAPHS if (digest := getattr(measurement, kind)) is not None)
        of_all = (side, (*digests, measurement.executed or ""))
        if of_all not in self._read:
            graphs = [CallGraph.model_validate_json(self._blobs.get(digest)) for digest in digests]
            names = _core.executed_functions(self._blobs.get(measurement.executed)) if measurement.executed else []
            self._read[of_all] = _executed_code(graphs, names, self.definitions[side], self._code_lines[side].keys())
        return self._read[of_all]


def _is_known(case: Case, counted: Trials | None, results: Results) -> bool:
    """Whether all that was measured of a case was counted, with its functions."""
    is_counted = counted is not None and counted.usable and bool(counted.all)
    # I/O threads, network connections and replicas execute functions that no call graph shows.
    if case.name in results.timed and (not is_counted or why_partly_counted(results.resolved, case) is not None):
        return False
    measurements = counted.measurements.values() if counted is not None and is_counted else ()
    return all(of_side[0].graph is not None for of_side in measurements if of_side)


def _executed_code(
    graphs: list[CallGraph], names: list[str], definitions: SourceFunctions, changed_files: Collection[str]
) -> ExecutedCode:
    functions: set[tuple[str, str]] = set()
    files: set[str] = set()
    lines: set[tuple[str, int]] = set()
    for graph in graphs:
        shown = [as_in_graphs(file) for file in graph.files]
        for function in graph.functions:
            # What a window executed less often than another one is executed too.
            if function.file is not None and (function.instructions or function.calls):
                files.add(shown[function.file])
                functions.add((function.name, shown[function.file]))
            lines |= {(shown[file], line) for file, line, cost in function.lines if cost}
    owners = (definitions.at(file, line) for file, line in lines)
    functions |= {owner.key for owner in owners if owner is not None}
    files |= {file for file, _ in lines}
    of_changed = frozenset(place for place in lines if place[0] in changed_files)
    return ExecutedCode(frozenset(names), frozenset(functions), frozenset(files), of_changed)
