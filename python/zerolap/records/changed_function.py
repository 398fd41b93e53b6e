"""The functions that a change changed, and which of them the measured cases execute."""

from zerolap.records.base import Record


class ChangedFunction(Record):
    """A function whose code differs between the builds, as the head defines it, or the base where it is gone.

    `in_diff` is whether lines of it differ; the code of others differs because of a macro, a type or a table. `lines`
    of those that differ have code, `executed_lines` of these were executed. `cases` are the first of the `case_count`
    cases that execute it.
    """

    function: str
    file: str
    line: int
    in_diff: bool
    lines: int = 0
    executed_lines: int = 0
    cases: list[str] = []
    case_count: int = 0


class ChangedFunctions(Record):
    """How many functions a change changed, how many of them a case executed, and the first of these.

    Those whose lines differ come first. Where some were not executed, `tested_commands` are those that the change's
    tests send, and `proposed_cases` may execute them: they send these commands, or some whose handlers are in the files
    of these functions.
    """

    number: int
    executed: int
    functions: list[ChangedFunction]
    proposed_cases: list[str] = []
    tested_commands: list[str] = []

    @property
    def unexecuted(self) -> int:
        """How many of them no case executed."""
        return self.number - self.executed

    @property
    def are_all_unexecuted(self) -> bool:
        """Whether what was measured shows nothing of the change."""
        return self.number > 0 and self.executed == 0
