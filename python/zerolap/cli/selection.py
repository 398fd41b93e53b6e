"""The cases that a command line selects."""

from collections.abc import Sequence
from pathlib import Path

from zerolap.cases import Case, core_suite, load_cases, select


def selected_cases(
    directory: Path | None, patterns: Sequence[str] | None, commands: Sequence[str] | None, groups: Sequence[str] | None
) -> list[Case]:
    """Return the cases; raises `CaseFileError` for a bad file and `UsageError` where nothing matches."""
    cases = core_suite() if directory is None else load_cases(directory)
    return select(cases, patterns or [], commands or [], groups or [])
