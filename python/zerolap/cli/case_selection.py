"""The cases that a command line selects."""

from collections.abc import Sequence
from pathlib import Path

from zerolap.cases import core_suite, known_topologies, load_cases, obstacle_of, select, topology_named
from zerolap.records import Case, EnvironmentMissing, UsageError


def selected_cases(
    directory: Path | None, patterns: Sequence[str] | None, commands: Sequence[str] | None, groups: Sequence[str] | None
) -> list[Case]:
    """Return the cases; raises `CaseFileError` for a faulty file and `UsageError` if nothing matches."""
    cases = core_suite() if directory is None else load_cases(directory)
    return select(cases, patterns or [], commands or [], groups or [])


def cases_named(
    directory: Path | None, words: Sequence[str] | None, commands: Sequence[str] | None, groups: Sequence[str] | None
) -> list[Case]:
    """Return the cases of the words that are files or directories; other words select cases by name."""
    files = [Path(word) for word in words or [] if Path(word).exists()]
    absent = [word for word in words or [] if word.endswith((".yml", ".yaml")) and not Path(word).exists()]
    if absent:
        raise UsageError(f"{absent[0]}: no such file", hint="give a case file, a directory of such, or names of cases")
    if not files:
        return selected_cases(directory, words, commands, groups)
    names = [word for word in words or [] if not Path(word).exists()]
    cases = [case for file in files for case in load_cases(file)]
    return select(cases, names, commands or [], groups or [])


def deployed(cases: Sequence[Case], topology: str | None, directory: Path | None) -> list[Case]:
    """Return the cases with the topology of that name.

    Raises `UsageError` for an unknown name, `EnvironmentMissing` if the topology cannot run on this machine.
    """
    if topology is None:
        return list(cases)
    public = known_topologies(directory) if directory is not None else None
    extra, left_out = (public.topologies, public.left_out) if public is not None else (None, None)
    chosen = topology_named(topology, extra, left_out)
    obstacle = obstacle_of(chosen)
    if obstacle is not None:
        raise EnvironmentMissing(f"the topology `{chosen.name}` cannot run here: {obstacle}")
    deployed_cases = []
    for case in cases:
        lacks_another = case.cannot_run is not None and case.cannot_run[0] != "topology"
        cannot_run = case.cannot_run if lacks_another else None
        deployed_cases.append(case.model_copy(update={"topology": chosen, "cannot_run": cannot_run}))
    return deployed_cases
