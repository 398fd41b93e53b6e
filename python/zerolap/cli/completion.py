"""What shells complete: cases, revisions, ids of results, and words of options.

Only names that a shell takes literally are offered: a branch of somebody else may be called `$(command)`.
"""

import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import typer

from zerolap.errors import ZerolapError

LITERAL = re.compile(r"[\w./@+~^:,=-]+")
"""Names without characters that a shell expands, splits or ends a command at."""
MOST_NAMES = 1000
GIT_SECONDS = 2
REPO, CASES = "repo", "cases_directory"

Completer = Callable[[typer.Context, str], list[str]]


def list_of(*words: str) -> Completer:
    """Return what completes a list of these words with commas between."""

    def complete(_: typer.Context, incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        left = [word for word in words if word not in before.split(",")]
        return [f"{before}{comma}{word}" for word in _offered(left, last)]

    return complete


def case_names(context: typer.Context, incomplete: str) -> list[str]:
    """Complete names of cases: of `--cases`, or of the core suite."""
    return _offered((name for name, _, _ in _cases(context)), incomplete)


def cases_or_verbs(context: typer.Context, incomplete: str) -> list[str]:
    """Complete a case, or first of all one of the verbs beside the command that is called without its name."""
    group = context.parent.command if context.parent is not None and context.command.hidden else None
    verbs = getattr(group, "commands", {}) if not context.params.get("cases") else {}
    shown = [name for name, command in verbs.items() if not command.hidden]
    return [*_offered(shown, incomplete), *case_names(context, incomplete)]


def case_groups(context: typer.Context, incomplete: str) -> list[str]:
    """Complete groups of cases."""
    return _offered((group for _, group, _ in _cases(context)), incomplete)


def case_commands(context: typer.Context, incomplete: str) -> list[str]:
    """Complete commands that cases send."""
    return _offered((verb for _, _, verbs in _cases(context) for verb in verbs), incomplete)


def suites(_: typer.Context, incomplete: str) -> list[str]:
    """Complete the names of the suites; shells complete files by themselves."""
    from zerolap.cases import ALL_SUITES, packaged_suites

    return _offered([*packaged_suites(), ALL_SUITES], incomplete)


def topologies(_: typer.Context, incomplete: str) -> list[str]:
    """Complete names of topologies."""
    from zerolap.cases import standard_topologies

    return _offered(standard_topologies(), incomplete)


def revisions(context: typer.Context, incomplete: str) -> list[str]:
    """Complete branches and tags of the repository, also behind the `..` of a range or the `,` of a list."""
    begun = re.match(r"(.*(?:\.\.|,)|tags:)?(.*)", incomplete)
    before, last = (begun[1] or "", begun[2]) if begun is not None else ("", incomplete)
    return [f"{before}{name}" for name in _offered(_refs(context.params.get(REPO) or Path()), last)]


def revisions_and_cases(context: typer.Context, incomplete: str) -> list[str]:
    """Complete a server and then a case."""
    return [*revisions(context, incomplete), *case_names(context, incomplete)]


def results(context: typer.Context, incomplete: str) -> list[str]:
    """Complete ids of stored results, the newest first."""
    return _offered(("latest", *_ids(context, is_unfinished=False)), incomplete)


def unfinished_results(context: typer.Context, incomplete: str) -> list[str]:
    """Complete ids of what was interrupted."""
    return _offered(("latest", *_ids(context, is_unfinished=True)), incomplete)


def _offered(names: Iterable[str], incomplete: str) -> list[str]:
    literal = (name for name in names if name.startswith(incomplete) and LITERAL.fullmatch(name))
    return list(dict.fromkeys(literal))[:MOST_NAMES]


def _cases(context: typer.Context) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield name, group and commands of the cases; nothing where a file is faulty, which the verb itself reports."""
    from zerolap.cli.case_selection import selected_cases

    try:
        cases = selected_cases(context.params.get(CASES), None, None, None)
    except ZerolapError:
        return
    for case in cases:
        yield case.name, case.group, case.verbs


def _refs(repository: Path) -> Iterator[str]:
    yield "HEAD"
    command = ["git", "-C", str(repository), "for-each-ref", "--sort=-creatordate", f"--count={MOST_NAMES}"]
    try:
        listed = subprocess.run(
            [*command, "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    yield from listed.stdout.decode(errors="replace").splitlines()


def _ids(context: typer.Context, *, is_unfinished: bool) -> Iterator[str]:
    from zerolap.cli.listing import newest_results
    from zerolap.store import DEFAULT_DIRECTORY, Store

    location = context.params.get("store") or str(DEFAULT_DIRECTORY)
    if "://" not in location and not Path(location).exists():
        # Opening it would make it.
        return
    try:
        with Store.open_to_read(location) as store:
            for result in newest_results(store):
                if not is_unfinished or result.is_unfinished:
                    yield result.id
    except ZerolapError:
        return
