"""Finds the faults of a case by measurement, not by the names of its commands."""

from collections.abc import Iterator

from zerolap.judge.endurance import (
    DRAINED_STEP,
    drains,
    expires,
    runs_out_of_memory,
    sent_at_full_size,
    used_up,
)
from zerolap.records import LARGEST_NOTHING_SHARE, SCRIPTS, CaseFacts, CommandFacts, Fault

LARGEST_NEW_SHARE = 0.5
"""The largest share of writes to keys that the data set does not hold."""
LARGEST_HIDDEN_SHARE = 0.01
"""The largest share of requests with errors that the server counts and that no reply shows."""
SATURATED_SHARE = 0.9
"""Share of the time that a client's thread runs or waits for a processor; with more it has no time to spare."""
WAITING_SHARE = 0.85
"""Share of the time that a server's main thread is busy; with less it waits for requests, noise apart."""


def faults_of(facts: CaseFacts) -> list[Fault]:
    """Return all that is wrong with a case, errors first."""
    if not any(command.requests for command in facts.commands):
        return [Fault(kind="no requests", text="no request was made")]
    found = [fault for command in facts.commands for fault in _of_command(command, facts)]
    if any(check.check == "hit_rate" and not check.limit.startswith(">") for check in facts.checks):
        # The case declares that it misses: its own bound replaces that of the lab.
        found = [fault for fault in found if fault.kind != "misses"]
    found += [
        Fault(
            kind="expectation",
            text=f"{check.check.replace('_', ' ')} is {_shown(check.value)}; expected {check.limit}",
            value=check.value if isinstance(check.value, float) else None,
            limit=check.limit,
        )
        for check in facts.checks
        if not check.ok
    ]
    of_all = [_hidden(facts), _saturated(facts)]
    if not any(fault.kind == "drained" for fault in found):
        of_all.append(used_up(facts))
    if not any(fault.kind == "errors" for fault in found):
        of_all.append(runs_out_of_memory(facts))
    return [*found, *(fault for fault in of_all if fault is not None)]


def _of_command(command: CommandFacts, facts: CaseFacts) -> Iterator[Fault]:
    name = command.command
    if command.errors:
        errors = sum(command.errors.values())
        first = max(command.errors, key=lambda text: command.errors[text])
        share = errors / command.requests
        text = f"{errors} of {command.requests} requests got an error: {first}"
        yield Fault(kind="errors", command=name, text=text, value=share, limit="= 0")
    elif command.burst_errors:
        text = f"{command.burst_errors:,} requests at full speed got an error: {command.first_burst_error}"
        yield Fault(kind="errors", command=name, text=text, value=float(command.burst_errors), limit="= 0")
    ending = expires(command, facts)
    if ending is not None:
        yield ending
    elif drains(command, facts):
        share = max(command.nothing_share, command.nothing_share_after)
        text = f"within {sent_at_full_size(command, facts):,.0f} requests {share:.0%} of the replies find nothing"
        yield Fault(kind="drained", command=name, text=text, value=share, limit=f"< {DRAINED_STEP}")
    elif command.nothing_share_first <= LARGEST_NOTHING_SHARE < command.nothing_share or _churns(command, facts):
        # It found its data at first, and not much later: scaled up again the data lasts, or others write it anew.
        pass
    elif command.nothing_share > LARGEST_NOTHING_SHARE:
        text = f"{command.nothing_share:.0%} of the replies find nothing, such as that to `{command.example}`"
        limit = f"<= {LARGEST_NOTHING_SHARE}"
        yield Fault(kind="misses", command=name, text=text, value=command.nothing_share, limit=limit)
    elif _reads(command, facts) and command.place_missing_share > LARGEST_NOTHING_SHARE:
        share = command.place_missing_share
        text = f"{share:.0%} of the requests name a key that is not there, such as `{command.example}`"
        limit = f"<= {LARGEST_NOTHING_SHARE}"
        yield Fault(kind="misses", command=name, text=text, value=command.place_missing_share, limit=limit)
    elif _misses_dataset(command, facts):
        text = f"{command.missing_share:.0%} of the requests write to keys that the data set does not hold"
        limit = f"<= {LARGEST_NEW_SHARE}"
        yield Fault(kind="new keys", command=name, text=text, value=command.missing_share, limit=limit)


def _reads(command: CommandFacts, facts: CaseFacts) -> bool:
    """Whether a command reads its keys; a script does not where new ones appear: it may be the one that makes them."""
    if command.command in SCRIPTS:
        return facts.held.left.keys <= facts.held.loaded.keys
    return not command.writes


def _misses_dataset(command: CommandFacts, facts: CaseFacts) -> bool:
    """Whether a command writes to keys that were not loaded, where some were."""
    if command.command in SCRIPTS:
        return False
    return command.writes and facts.has_dataset and not facts.evicts and command.missing_share > LARGEST_NEW_SHARE


def _churns(command: CommandFacts, facts: CaseFacts) -> bool:
    """Whether a command writes keys, and others take them away again: then some are always missing."""
    writing = [one for one in facts.commands if one.writes]
    makes = any(_misses_dataset(one, facts) and one.nothing_share == 0 for one in writing)
    takes = any(one.nothing_share > LARGEST_NOTHING_SHARE for one in writing)
    return command.writes and makes and takes


def _hidden(facts: CaseFacts) -> Fault | None:
    """Return the fault of a case whose scripts catch errors, which no reply reports."""
    share = facts.hidden_errors / max(1, facts.burst_requests)
    if share <= LARGEST_HIDDEN_SHARE:
        return None
    text = (
        f"the server counts {facts.hidden_errors:,} errors in {facts.burst_requests:,} requests that no reply reports"
    )
    return Fault(kind="errors", text=text, value=share, limit=f"<= {LARGEST_HIDDEN_SHARE}")


def _shown(value: float | str | None) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _saturated(facts: CaseFacts) -> Fault | None:
    if facts.client_share < SATURATED_SHARE or facts.server_share >= WAITING_SHARE:
        return None
    text = f"the client is busy {facts.client_share:.0%} of the time, the server {facts.server_share:.0%}"
    return Fault(kind="client saturated", text=text, value=facts.client_share, limit=f"< {SATURATED_SHARE}")
