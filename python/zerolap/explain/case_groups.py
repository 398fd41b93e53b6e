"""Which cases send the same commands with data of different sizes, and how large those are relative to each other."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from zerolap.explain.data_sizes import UNITS, WRITES, SizeUnit, stated_sizes
from zerolap.records import Case, CaseOpportunity, ClientCommand, CountedWork

SMALLEST_RANGE: Final = 2.0
"""Costs are compared if the largest size is at least so many times the smallest."""
ALIKE: Final = 0.05
"""Sizes have the unit of another size if their growth differs from its growth by at most this."""
MOST_CASES: Final = 30
SCRIPTED: Final = frozenset({"EVAL", "EVALSHA", "EVALSHA_RO", "EVAL_RO", "FCALL", "FCALL_RO"})
"""Commands that do something else with each script, so that their whole lines have to be equal."""
OPTIONS: Final = frozenset(
    {"AGGREGATE", "ALPHA", "ANY", "ASC", "BEFORE", "AFTER", "BIT", "BLOCK", "BY", "BYBOX", "BYLEX", "BYRADIUS"}
    | {"BYSCORE", "BYTE", "CH", "COUNT", "DESC", "EX", "EXAT", "FIELDS", "FNX", "FROMLONLAT", "FROMMEMBER", "FXX"}
    | {"GET", "GROUP", "GT", "IDX", "INCR", "KEEPTTL", "LEFT", "LEN", "LIMIT", "LT", "MATCH", "MAXLEN", "MINID"}
    | {"NOACK", "NOMKSTREAM", "NOVALUES", "NX", "PERSIST", "PX", "PXAT", "RANK", "REV", "RIGHT", "STORE", "STOREDIST"}
    | {"STREAMS", "TYPE", "WEIGHTS", "WITHCOORD", "WITHDIST", "WITHHASH", "WITHMATCHLEN", "WITHSCORE", "WITHSCORES"}
    | {"WITHVALUES", "XX"}
)
"""Words by which a command does something else; other arguments are data, but for the whole numbers of reading ones."""
WHOLE_NUMBER: Final = re.compile(r"-?\d+")

Sizes: TypeAlias = Mapping[SizeUnit, float]


@dataclass(frozen=True)
class SizeGroup:
    """Cases of the same commands by name, with their sizes in the unit, the smallest first."""

    unit: str
    sizes: Mapping[str, float]


def size_groups(cases: Mapping[str, Case], reply_parts: Mapping[str, float]) -> list[SizeGroup]:
    """Return the groups of cases of at least two sizes; `reply_parts` is of how many parts each reply is made."""
    alike: dict[tuple[object, ...], dict[str, Sizes]] = {}
    for name in sorted(cases):
        sizes = stated_sizes(cases[name])
        if reply_parts.get(name, 0.0) > 0:
            sizes["parts of the reply"] = reply_parts[name]
        # What is known of some cases only may be what their cost grows by.
        alike.setdefault((*_what_it_sends(cases[name]), frozenset(sizes)), {})[name] = sizes
    groups = (_group(by_case) for by_case in alike.values() if len(by_case) > 1)
    return [group for group in groups if group is not None]


def _what_it_sends(case: Case) -> tuple[object, ...]:
    """Return what cases of a group have in common: the commands without their data, the topology, the settings."""
    commands = tuple((command.verb, command.ratio, _request_of(command)) for command in case.client.sent)
    return commands, case.topology.name, tuple(sorted(case.config.items()))


def _request_of(command: ClientCommand) -> frozenset[str]:
    """Return the words by which a command does something else: whole scripts, options, ranges and counts."""
    words = command.line.split()[1:]
    if command.name in SCRIPTED:
        return frozenset(words)
    options = frozenset(map(str.upper, words)) & OPTIONS
    return options if command.name in WRITES else options | {word for word in words if WHOLE_NUMBER.fullmatch(word)}


def _group(by_case: Mapping[str, Sizes]) -> SizeGroup | None:
    """Return the cases with their sizes, by the unit that grows most; none where they have about one size."""
    known = [unit for unit in UNITS if unit in next(iter(by_case.values()))]
    if not known:
        return None
    ordered = sorted(by_case, key=lambda name: (sum(math.log(by_case[name][unit]) for unit in known), name))
    smallest = by_case[ordered[0]]
    growth = {name: max(by_case[name][unit] / smallest[unit] for unit in known) for name in ordered}
    unit = _unit(by_case, growth, known)
    first = 1.0 if unit is None else smallest[unit]
    sizes = {name: first * times for name, times in sorted(growth.items(), key=lambda item: (item[1], item[0]))}
    if max(growth.values()) < SMALLEST_RANGE:
        return None
    return SizeGroup(unit or "times the data of the smallest case", _spread(sizes))


def _unit(by_case: Mapping[str, Sizes], growth: Mapping[str, float], known: Sequence[SizeUnit]) -> SizeUnit | None:
    """Return the unit in which all cases grow as much as they do in any; none where it is not the same for all."""
    first = next(iter(growth))
    for unit in known:
        grown = {name: sizes[unit] / by_case[first][unit] for name, sizes in by_case.items()}
        if all(grown[name] >= (1 - ALIKE) * growth[name] for name in growth):
            return unit
    return None


def _spread(sizes: Mapping[str, float]) -> dict[str, float]:
    """Return the cases, or as many as are looked at in a second, spread over all sizes."""
    names: Sequence[str] = list(sizes)
    if len(names) > MOST_CASES:
        step = (len(names) - 1) / (MOST_CASES - 1)
        names = [names[round(place * step)] for place in range(MOST_CASES)]
    return {name: sizes[name] for name in names}


def with_opportunities_of_group(work: CountedWork, opportunities: Sequence[CaseOpportunity]) -> CountedWork:
    """Return what is known of a case with what detectors report of its group.

    An opportunity takes the place of that of the same detector, function and file.
    """
    replaced = {(of.detector, of.function, of.file) for of in opportunities}
    others = [of for of in work.opportunities if (of.detector, of.function, of.file) not in replaced]
    return work.model_copy(update={"opportunities": (*others, *opportunities)})
