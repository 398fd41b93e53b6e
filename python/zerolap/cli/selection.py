"""The cases that a command line selects."""

from collections.abc import Sequence
from pathlib import Path

from zerolap.cases import Case, core_suite, known_topologies, load_cases, select, topology_named


def selected_cases(
    directory: Path | None, patterns: Sequence[str] | None, commands: Sequence[str] | None, groups: Sequence[str] | None
) -> list[Case]:
    """Return the cases; raises `CaseFileError` for a bad file and `UsageError` where nothing matches."""
    cases = core_suite() if directory is None else load_cases(directory)
    return select(cases, patterns or [], commands or [], groups or [])


def cases_named(
    directory: Path | None, words: Sequence[str] | None, commands: Sequence[str] | None, groups: Sequence[str] | None
) -> list[Case]:
    """Return the cases of all words that are files or directories, or else those that the words name."""
    files = [Path(word) for word in words or [] if Path(word).exists()]
    if not files:
        return selected_cases(directory, words, commands, groups)
    names = [word for word in words or [] if not Path(word).exists()]
    cases = [case for file in files for case in load_cases(file)]
    return select(cases, names, commands or [], groups or [])


def deployed(cases: Sequence[Case], topology: str | None, directory: Path | None) -> list[Case]:
    """Return the cases with the topology that the user chose; raises `UsageError` if there is none of that name."""
    if topology is None:
        return list(cases)
    public = known_topologies(directory) if directory is not None else None
    extra, left_out = (public.topologies, public.left_out) if public is not None else (None, None)
    chosen = topology_named(topology, extra, left_out)
    return [case.model_copy(update={"topology": chosen.name, "deployment": chosen}) for case in cases]
