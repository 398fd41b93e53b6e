"""Whether the requests of a trial find what they ask for, in every trial of every case that looks something up.

Which reply is a miss is the load generator's rule for each command. Where a reply may be a value or lack its key, the
server's own count of keys that were not there decides.
"""

import functools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence

from zerolap import _core
from zerolap.load import CommandResult, LookUpCounts
from zerolap.records import LARGEST_NOTHING_SHARE, Case, Check
from zerolap.server import KeyLookUps

FEWEST_ANSWERS = 100
"""Replies of a slice; the share of misses among fewer may be chance."""
BEYOND_CHANCE = 5.0
"""Standard errors of a slice's share of misses: a trial has hundreds of slices, of which the worst one is looked at."""
LOOKS_NOTHING_UP = "unknown, as no command looks anything up"
DECLARED = 'a case that misses on purpose declares it by expect, such as {hit_rate: "<= 0.1"}'


def look_up_checks(case: Case, slices: Sequence[Sequence[CommandResult]], keys: KeyLookUps | None) -> list[Check]:
    """Return the check of what requests found: against the case's bound, or, where it has none, that few miss.

    `slices` are the results by command of each slice, `keys` what the server counts in all of them.
    """
    of_slices = [_by_name(commands) for commands in slices]
    names = dict.fromkeys(name for counts in of_slices for name in counts)
    totals = {name: _sum(counts[name] for counts in of_slices if name in counts) for name in names}
    bound = case.expect.hit_rate
    if bound is not None:
        if not any(counts.answers for counts in totals.values()):
            return [Check(check="hit_rate", ok=False, value=LOOKS_NOTHING_UP, limit=bound)]
        rate = 1 - _missing_share(list(totals.values()), keys)
        return [Check(check="hit_rate", ok=case.expect.hit_rate_holds(rate), value=rate, limit=bound)]
    checks = [_of_absent_keys(totals, keys)]
    for name, total in totals.items():
        if case.state == "drains" or _is_contended(case, name, slices[0]):
            checks.append(_check_of_all(name, total))
        else:
            checks.append(_check_of_most(name, total, [counts[name] for counts in of_slices if name in counts]))
    known = [check for check in checks if check is not None]
    # One check stands for all: the one that fails, or that of the most misses.
    return sorted(known, key=lambda check: (check.ok, -float(check.value or 0)))[:1]


def _by_name(commands: Sequence[CommandResult]) -> dict[str, LookUpCounts]:
    counts: dict[str, LookUpCounts] = {}
    for command in commands:
        if command.look_ups is not None:
            known = counts.get(command.command)
            counts[command.command] = command.look_ups if known is None else known + command.look_ups
    return counts


def _sum(counts: Iterator[LookUpCounts]) -> LookUpCounts:
    return functools.reduce(operator.add, counts)


def _missing_share(counts: Sequence[LookUpCounts], keys: KeyLookUps | None) -> float:
    """Return the share of look-ups that did not find what they asked for, members and nil replies of scripts too."""
    total = _sum(iter(counts))
    missed = (total.nothing + total.no_member + total.unclear) / total.answers
    if not total.empty_value or keys is None:
        return missed
    return max(missed, min(missed + total.empty_value / total.answers, keys.missing_share))


def _is_contended(case: Case, name: str, commands: Sequence[CommandResult]) -> bool:
    """Whether others write what a command takes: whether something is there is then a matter of who comes first."""
    role = next(command.look_ups.role for command in commands if command.command == name and command.look_ups)
    if role not in ("takes", "moves"):
        return False
    writers = [
        command for command in commands if command.look_ups is None or command.look_ups.role in ("moves", "runs")
    ]
    others = [command for command in writers if command.command != name]
    return bool(others) or len(writers) > 1 or any(client.sent for client in case.companions)


def _check_of_all(name: str, total: LookUpCounts) -> Check | None:
    """Return the check of a command that may find nothing at times, though not always."""
    if not total.answers:
        return None
    return _check(name, total.nothing / total.answers, total.nothing < total.answers, "< 1")


def _check_of_most(name: str, total: LookUpCounts, slices: Sequence[LookUpCounts]) -> Check | None:
    """Return the check of all replies, and of slices that miss too much by more than chance: keys may have expired."""
    if not total.answers:
        return None
    certain = [counts for counts in slices if _misses_too_much(counts)]
    share = max(counts.nothing / counts.answers for counts in [total, *certain])
    return _check(name, share, share <= LARGEST_NOTHING_SHARE, f"<= {LARGEST_NOTHING_SHARE}")


def _misses_too_much(counts: LookUpCounts) -> bool:
    """Whether more of a slice's replies find nothing than chance gives where as many miss as may."""
    if counts.answers < FEWEST_ANSWERS:
        return False
    error = math.sqrt(LARGEST_NOTHING_SHARE * (1 - LARGEST_NOTHING_SHARE) / counts.answers)
    return counts.nothing / counts.answers > LARGEST_NOTHING_SHARE + BEYOND_CHANCE * error


def _of_absent_keys(totals: Mapping[str, LookUpCounts], keys: KeyLookUps | None) -> Check | None:
    """Return the check of replies that commands which only read also give where their key is not there."""
    reading = {name: counts for name, counts in totals.items() if counts.role == "reads"}
    doubtful = {name: counts.no_member + counts.empty_value for name, counts in reading.items()}
    if keys is None or not any(doubtful.values()):
        return None
    total = _sum(iter(reading.values()))
    share = min((total.nothing + sum(doubtful.values())) / total.answers, keys.missing_share)
    name = max(doubtful, key=lambda name: doubtful[name])
    return _check(name, share, share <= LARGEST_NOTHING_SHARE, f"<= {LARGEST_NOTHING_SHARE}")


def absent_keys_check(case: Case, keys: KeyLookUps) -> Check | None:
    """Return the check of a trial whose replies only another program has seen: the server's count alone.

    None where the case's commands do more than read, or look up no key.
    """
    roles = {command.verb: _core.look_up_role(command.line) for command in case.client.sent}
    names = [name for name, role in roles.items() if role is not None]
    if not names or not {roles[name] for name in names} <= {"reads"} or not keys.hits + keys.misses:
        return None
    share = keys.missing_share
    return _check(", ".join(names), share, share <= LARGEST_NOTHING_SHARE, f"<= {LARGEST_NOTHING_SHARE}")


def _check(name: str, share: float, is_ok: bool, limit: str) -> Check:
    text = limit if is_ok else f"{limit} of the replies to {name} ({DECLARED})"
    return Check(check="misses", ok=is_ok, value=share, limit=text)
