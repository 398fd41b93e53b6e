"""Selects cases by name, command and group."""

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import chain

from zerolap.cases._regimes import cases_in_regimes_named
from zerolap.cases._values import near
from zerolap.records import Case, UsageError, container_of

_LIST_ALL = "`zerolap suites list` shows all cases"


def select(
    cases: Sequence[Case],
    patterns: Iterable[str] = (),
    commands: Iterable[str] = (),
    groups: Iterable[str] = (),
) -> list[Case]:
    """Return the cases, in their order, that match at least one value of every option given.

    Patterns are names or globs; commands, in upper or lower case, and groups may be globs too. A container such as
    XINFO matches all its subcommands. A pattern with an `@` also matches cases in regimes.

    Raises:
        UsageError: An option's value matches no case, or no case matches all options.
    """
    patterns = list(patterns)
    cases = [*cases, *cases_in_regimes_named(cases, patterns)]
    chosen = list(cases)
    options: list[tuple[str, list[str], Callable[[Case], list[str]]]] = [
        ("case", list(patterns), lambda case: [case.name]),
        ("command", [command.upper() for command in commands], _command_names),
        ("group", list(groups), lambda case: [case.group, *case.groups]),
    ]
    for kind, wanted, words_of in options:
        known = list(dict.fromkeys(chain.from_iterable(map(words_of, cases))))
        for pattern in wanted:
            if not any(fnmatchcase(word, pattern) for word in known):
                raise UsageError(f'no {kind} matches "{pattern}"', hint=_hint(pattern, known))
        if wanted:
            chosen = [case for case in chosen if _matches(words_of(case), wanted)]
    if not chosen:
        given = ", ".join(f"{kind} {' or '.join(wanted)}" for kind, wanted, _ in options if wanted)
        raise UsageError(f"no case matches all of: {given}" if given else "there are no cases", hint=_LIST_ALL)
    return chosen


def _command_names(case: Case) -> list[str]:
    return list(dict.fromkeys(name for verb in case.verbs for name in (verb, container_of(verb))))


def _matches(words: Iterable[str], wanted: Sequence[str]) -> bool:
    return any(fnmatchcase(word, pattern) for word in words for pattern in wanted)


def _hint(pattern: str, known: Sequence[str]) -> str:
    within = [word for word in known if pattern and pattern.lower() in word.lower()]
    suggestion = near(pattern, known)
    if not suggestion and within:
        suggestion = f"did you mean {', '.join(within[:3])}?"
    return f"{suggestion} {_LIST_ALL}".strip()
