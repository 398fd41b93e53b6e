"""What is wrong with a case, from what it was seen to do: by measurement, not by its name."""

from collections.abc import Iterator

from zerolap.records import CaseFacts, CommandFacts, Fault

LARGEST_NOTHING_SHARE = 0.1
"""Of replies that find nothing: more is no longer the command's work that is measured."""
LARGEST_NEW_SHARE = 0.5
"""Of writes to keys that the data set does not hold."""
DRAINED_STEP = 0.4
"""By how much the share of nothing rises over a burst that empties the data."""
SATURATED_SHARE = 0.9
"""Of a processor: a client's thread that has used as much has no time to spare."""
WAITING_SHARE = 0.8
"""Of a processor: a server's main thread that has used less waits for requests, noise apart."""


def faults_of(facts: CaseFacts) -> list[Fault]:
    """Return all that is wrong with a case, errors first."""
    if not any(command.requests for command in facts.commands):
        return [Fault(kind="no requests", text="no request was made")]
    found = [fault for command in facts.commands for fault in _of_command(command, facts)]
    saturated = _saturated(facts)
    return [*found, saturated] if saturated is not None else found


def _of_command(command: CommandFacts, facts: CaseFacts) -> Iterator[Fault]:
    name = command.command
    if command.errors:
        errors = sum(command.errors.values())
        first = max(command.errors, key=lambda text: command.errors[text])
        share = errors / command.requests
        text = f"{errors} of {command.requests} requests got an error: {first}"
        yield Fault(kind="errors", command=name, text=text, value=share, limit="= 0")
    if _drains(command, facts):
        share = max(command.nothing_share, command.nothing_share_after)
        text = f"after {_sent_at_full_size(command, facts):,.0f} requests {share:.0%} of the replies find nothing"
        yield Fault(kind="drained", command=name, text=text, value=share, limit=f"< {DRAINED_STEP}")
    elif _ended_early(command) or _churns(command, facts):
        # Scaled up again the data lasts, or others write it anew.
        pass
    elif command.nothing_share > LARGEST_NOTHING_SHARE:
        text = f"{command.nothing_share:.0%} of the replies find nothing, such as that to `{command.example}`"
        limit = f"<= {LARGEST_NOTHING_SHARE}"
        yield Fault(kind="misses", command=name, text=text, value=command.nothing_share, limit=limit)
    elif not command.writes and command.place_missing_share > LARGEST_NOTHING_SHARE:
        text = f"{command.place_missing_share:.0%} of the requests name a key that is not there"
        limit = f"<= {LARGEST_NOTHING_SHARE}"
        yield Fault(kind="misses", command=name, text=text, value=command.place_missing_share, limit=limit)
    elif _misses_dataset(command, facts):
        text = f"{command.missing_share:.0%} of the requests write to keys that the data set does not hold"
        limit = f"<= {LARGEST_NEW_SHARE}"
        yield Fault(kind="new keys", command=name, text=text, value=command.missing_share, limit=limit)
    if _expires(command, facts):
        text = f"keys live {command.life_seconds:.0f} s from the load on, and nothing writes them again"
        yield Fault(kind="expires", command=name, text=text, value=command.life_seconds, limit=f">= {facts.seconds} s")


def _drains(command: CommandFacts, facts: CaseFacts) -> bool:
    """Whether the data came to an end within what the case itself would send."""
    if command.nothing_share_first > LARGEST_NOTHING_SHARE:
        return False
    at_once = command.nothing_share > LARGEST_NOTHING_SHARE
    if not at_once and command.nothing_share_after - command.nothing_share < DRAINED_STEP:
        return False
    planned = facts.requests or (facts.seconds or 0.0) * facts.ops_per_sec
    return not planned or _sent_at_full_size(command, facts) < planned


def _ended_early(command: CommandFacts) -> bool:
    """Whether a command found its data at first, and not much later."""
    return command.nothing_share_first <= LARGEST_NOTHING_SHARE < command.nothing_share


def _sent_at_full_size(command: CommandFacts, facts: CaseFacts) -> float:
    """Return after how many requests it found nothing, had its data not been scaled."""
    at_once = command.nothing_share > LARGEST_NOTHING_SHARE
    return (facts.sampled_requests if at_once else facts.burst_requests) / facts.factor


def _misses_dataset(command: CommandFacts, facts: CaseFacts) -> bool:
    """Whether a command writes to keys that were not loaded, where some were."""
    return command.writes and facts.has_dataset and not facts.evicts and command.missing_share > LARGEST_NEW_SHARE


def _churns(command: CommandFacts, facts: CaseFacts) -> bool:
    """Whether a command writes keys, and others take them away again: then some are always missing."""
    writing = [one for one in facts.commands if one.writes]
    makes = any(_misses_dataset(one, facts) and one.nothing_share == 0 for one in writing)
    takes = any(one.nothing_share > LARGEST_NOTHING_SHARE for one in writing)
    return command.writes and makes and takes


def _expires(command: CommandFacts, facts: CaseFacts) -> bool:
    if command.life_seconds is None or any(one.writes for one in facts.commands):
        return False
    return facts.seconds is not None and command.life_seconds < facts.seconds


def _saturated(facts: CaseFacts) -> Fault | None:
    if facts.client_share < SATURATED_SHARE or facts.server_share >= WAITING_SHARE:
        return None
    text = f"the client is busy {facts.client_share:.0%} of the time, the server {facts.server_share:.0%}"
    return Fault(kind="client saturated", text=text, value=facts.client_share, limit=f"< {SATURATED_SHARE}")
