"""Which commands the tests send that a change adds or changes, from lines of Tcl, which may be hostile.

Clients of a test suite are commands of Tcl: `r set key value`, `[$rd blpop list 0]`, `R 0 cluster info`. Nothing is
parsed as Tcl does it: a word at the place of a command that no server has is one of the test's own.
"""

import re
from collections import Counter
from collections.abc import Collection
from itertools import islice
from typing import Final

from zerolap.records import Changes, FileChange

TESTS: Final = "tests/"
SUFFIX: Final = ".tcl"
MOST_LINES: Final = 20_000
MOST_COMMANDS: Final = 50
LONGEST_LINE: Final = 1_000
SENT: Final = re.compile(
    # Of a line the beginning, or what begins a command within it.
    r"(?:^|[\[{;\"])\s*"
    r"(?:r|rr|R\s+-?\d{1,4}|\$\w{1,40}|\$::\w{1,40}|\[[\w: -]{1,40}\])"
    r"\s+(?:-?\d{1,4}\s+)?([A-Za-z][A-Za-z0-9._-]{0,39})(?![\w.=(:-])"
)
"""A command that a client of the tests is given: its own, one in a variable, or the one of a numbered server."""


def commands_of_tests(changes: Changes, known: Collection[str]) -> list[str]:
    """Return which of the `known` commands, in upper case, new lines of tests send: those of most lines first."""
    lines = (line for file in changes.files if _is_test(file) for hunk in file.hunks for line in hunk.lines_with("+"))
    sent: Counter[str] = Counter()
    for line in islice(lines, MOST_LINES):
        words = (match[1].upper() for match in SENT.finditer(line[:LONGEST_LINE]))
        sent.update(set(words).intersection(known))
    return [command for command, _ in sent.most_common(MOST_COMMANDS)]


def _is_test(file: FileChange) -> bool:
    return file.new_file.startswith(TESTS) and file.new_file.endswith(SUFFIX)
