"""What explains a made-up comparison: functions and changed lines of sources that do not exist."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from zerolap.build import BuiltServer, Program
from zerolap.demonstration.made_up_functions import SERVER, file_of, function_tree
from zerolap.demonstration.made_up_server import COSTS, PLANTED, REPOSITORY, Machine, MadeUpServer
from zerolap.explain import Structures
from zerolap.lab import Explainer
from zerolap.records import Changes, FileChange, Hunk, SourceFunction
from zerolap.store import Blobs

LINES_BEFORE: Final = 3
LINES_OF_FUNCTION: Final = 24
OTHER_FILE: Final = "src/networking.c"
"""What a commit changes that changes code, but none of the planted functions."""
DOCUMENTATION: Final = "README.md"
CHANGED_LINES: Final = "-    int fits = isKnown(c);\n+    int fits = isKnown(c) && isFresh(c);\n"


class MadeUpExplainer(Explainer):
    """Explains a comparison of two commits by call graphs that are recorded, with sources that are made up."""

    def __init__(self, server: MadeUpServer, base: int, head: int, machine: Machine, blobs: Blobs) -> None:
        built = [
            BuiltServer(server.build(position, machine), Program(REPOSITORY / SERVER)) for position in (base, head)
        ]
        super().__init__(built[0], built[1], (server.source(base), server.source(head)), blobs)
        self._server = server
        self._range = range(base + 1, head + 1)

    @cached_property
    def functions(self) -> tuple[list[SourceFunction], list[SourceFunction]]:
        """The functions of all cases, which are at the same lines of both sides."""
        names = sorted({name for case in COSTS for path in function_tree(case) for name in path})
        defined = [(name, file) for name in names if (file := file_of(name)) is not None]
        functions = []
        for name, file in defined:
            first = self._server.first_line(name) - LINES_BEFORE
            functions.append(SourceFunction(file, name, first, first + LINES_OF_FUNCTION))
        return functions, functions

    @cached_property
    def changes(self) -> Changes:
        """What the commits between both sides change."""
        files: dict[str, list[Hunk]] = {}
        for position in self._range:
            for file, line in self._changed_lines(position):
                hunk = Hunk(old_start=line, old_lines=1, new_start=line, new_lines=1, text=CHANGED_LINES)
                files.setdefault(file, []).append(hunk)
        return Changes(
            files=[FileChange(old_file=file, new_file=file, hunks=hunks) for file, hunks in sorted(files.items())]
        )

    def _changed_lines(self, position: int) -> Sequence[tuple[str, int]]:
        planted = [change for change in PLANTED if change.position == position]
        if planted:
            return [(f"src/{file_of(change.function)}", change.line) for change in planted]
        changes_code = self._server.commits[position].changes_code
        return [(OTHER_FILE if changes_code else DOCUMENTATION, 40 + position)]

    @cached_property
    def _structures(self) -> tuple[Structures, Structures]:
        return {}, {}
