"""Whether a case's data and memory last as long as the case: a short observation, scaled to the full size and time."""

import math

from zerolap.records import LARGEST_NOTHING_SHARE, CaseFacts, CommandFacts, Fault, HeldOverTime

DRAINED_STEP = 0.4
"""By how much the share of nothing rises over a burst that empties the data."""
SMALLEST_USED_SHARE = 0.1
"""Share of the data; a smaller loss in a short time may be chance."""
HALF_USED_SHARE = 0.5
STEADY_SHARE = 0.3
"""The largest share of the pace of the burst at which data that goes away afterwards is taken to be of a steady size.
"""
LARGEST_ZERO_SHARE, SMALLEST_ZERO_STEP = 0.9, 0.2
"""The share of replies that are 0, and its growth, from which a command has nothing left to take."""
SMALLEST_DATA_BYTES = 64 * 1024
SMALLEST_KEYS = 100


def drains(command: CommandFacts, facts: CaseFacts) -> bool:
    """Whether the data came to an end within what the case itself would send."""
    if command.nothing_share_first > LARGEST_NOTHING_SHARE:
        return False
    at_once = command.nothing_share > LARGEST_NOTHING_SHARE
    if not at_once and command.nothing_share_after - command.nothing_share < DRAINED_STEP:
        return False
    if _is_fed(facts):
        return False
    planned = facts.planned_requests
    return not planned or sent_at_full_size(command, facts) <= planned


def _is_fed(facts: CaseFacts) -> bool:
    """Whether others write as much as is taken: how much is found is then a matter of who comes first."""
    loaded, left = facts.held.loaded.elements, facts.held.left.elements
    if loaded is None or left is None:
        # Also grows by what a consumer group remembers of entries that were taken.
        loaded, left = facts.held.loaded.data_bytes, facts.held.left.data_bytes
    writers = sum(command.writes for command in facts.commands)
    return writers > 1 and loaded is not None and left is not None and left > loaded


def sent_at_full_size(command: CommandFacts, facts: CaseFacts) -> float:
    """Return within how many requests it came to find nothing, had its data not been scaled.

    Those that came too late do not count: what they would have taken was gone.
    """
    at_once = command.nothing_share > LARGEST_NOTHING_SHARE
    if at_once:
        return facts.sampled_requests * (1 - command.nothing_share) / facts.factor
    served = facts.burst_requests if facts.burst_found is None else facts.sampled_requests + facts.burst_found
    return served / facts.factor


def used_up(facts: CaseFacts) -> Fault | None:
    """Return the fault of a case that takes its data away, at a pace at which nothing is left before its end."""
    if not facts.planned_requests or facts.held.left.expiring_keys:
        return None
    share, of_what = _used_share(facts.held)
    # Several commands that write may make and take: what they settle at comes only after a while.
    writers = sum(command.writes for command in facts.commands)
    if share < (SMALLEST_USED_SHARE if writers == 1 else HALF_USED_SHARE) or not (
        _goes_on(facts) or _takes_nothing_more(facts, share)
    ):
        return None
    lasting = facts.sent_requests / share / facts.factor
    if lasting >= facts.planned_requests:
        return None
    left = max(0.0, 1 - share)
    seconds = "" if facts.seconds is None else f", {facts.seconds * lasting / facts.planned_requests:.0f} s"
    text = (
        f"{left:.0%} of the {of_what} is left after {facts.sent_requests:,} requests: "
        f"it lasts for {lasting:,.0f}{seconds}"
    )
    limit = f">= {facts.planned_requests:,.0f}"
    writing = [command for command in facts.commands if command.writes]
    busiest = max(writing, key=lambda command: command.requests).command if writing else None
    return Fault(kind="drained", command=busiest, text=text, value=lasting, limit=limit)


def _used_share(held: HeldOverTime) -> tuple[float, str]:
    """Return how much of what was loaded is gone, and of what: keys, their elements, or the bytes of many keys.

    The memory of a hash table is kept when its elements go, so bytes show less than what is gone.
    """
    shares = [(0.0, "data")]
    loaded, left = held.loaded, held.left
    if loaded.keys >= SMALLEST_KEYS:
        shares.append(((loaded.keys - left.keys) / loaded.keys, "data"))
    if loaded.elements is not None and loaded.elements >= SMALLEST_KEYS and left.elements is not None:
        shares.append(((loaded.elements - left.elements) / loaded.elements, "data"))
    elif held.empty.data_bytes is not None and loaded.data_bytes is not None and left.data_bytes is not None:
        data_bytes = loaded.data_bytes - held.empty.data_bytes
        if data_bytes >= SMALLEST_DATA_BYTES:
            shares.append(((loaded.data_bytes - left.data_bytes) / data_bytes, "memory of the data"))
    return max(shares)


def _goes_on(facts: CaseFacts) -> bool:
    """Whether what is there becomes less after the burst as it did in the burst."""
    held = facts.held
    sent_after = facts.sent_requests - facts.burst_requests - facts.sampled_requests
    if not sent_after or not facts.burst_requests or held.left.keys == 0:
        return False
    for name in ("keys", "elements", "data_bytes"):
        before, after, left = (getattr(one, name) for one in (held.before_burst, held.after_burst, held.left))
        if None in (before, after, left):
            continue
        pace, later = (before - after) / facts.burst_requests, (after - left) / sent_after
        if pace > 0 and later >= STEADY_SHARE * pace:
            return True
    return False


def _takes_nothing_more(facts: CaseFacts, share: float) -> bool:
    """Whether replies that were a number have become 0 while the data went away: there is nothing left to take."""
    ends = any(
        command.writes
        and command.zero_share_after >= LARGEST_ZERO_SHARE
        and command.zero_share_after - command.zero_share_first >= SMALLEST_ZERO_STEP
        for command in facts.commands
    )
    return ends and share >= HALF_USED_SHARE


def expires(command: CommandFacts, facts: CaseFacts) -> Fault | None:
    """Return the fault of a command whose keys end before the case does, and are not written anew as fast.

    Keys drawn at random, w times each on average until the end, are still missing to a share of (1 - e^-w) / w of the
    time: the mean of e^-wt over that time.
    """
    life = command.life_seconds
    if life is None or command.writes or facts.seconds is None or life >= facts.seconds:
        return None
    requests = sum(one.requests for one in facts.commands)
    writes = sum(one.requests for one in facts.commands if one.writes) / max(1, requests) * facts.planned_requests
    each = writes / max(1.0, facts.held.loaded.keys / facts.factor)
    missing = (1 - math.exp(-each)) / each if each > 0 else 1.0
    share = missing * (1 - life / facts.seconds)
    if share <= LARGEST_NOTHING_SHARE:
        return None
    again = "nothing writes them again" if not writes else f"they are missing in {share:.0%} of the time"
    text = f"keys have {life:.1f} s left to live, and {again}"
    return Fault(kind="expires", command=command.command, text=text, value=life, limit=f">= {facts.seconds} s")


def runs_out_of_memory(facts: CaseFacts) -> Fault | None:
    """Return the fault of a case whose data, at full size and to its end, do not fit into the server's limit."""
    limit, held = facts.memory_limit_bytes, facts.held
    empty, loaded, left = (one.all_bytes for one in (held.empty, held.loaded, held.left))
    if limit is None or empty is None or loaded is None or left is None:
        return None
    needed = empty + (loaded - empty) / facts.factor + _growth_bytes(facts, left - loaded)
    if needed <= limit:
        return None
    text = f"about {needed / 1e6:,.0f} MB are needed, {limit / 1e6:,.0f} MB are allowed and nothing is evicted"
    return Fault(kind="out of memory", text=text, value=needed, limit=f"<= {limit}")


def _growth_bytes(facts: CaseFacts, grown_bytes: int) -> float:
    """Return what requests add until the end: no more new keys than there are to draw from."""
    held = facts.held
    if grown_bytes <= SMALLEST_DATA_BYTES or not facts.planned_requests:
        return 0.0
    growth = grown_bytes / facts.sent_requests * facts.planned_requests
    new_keys = held.left.keys - held.loaded.keys
    if new_keys > 0 and facts.key_range is not None:
        room = max(0.0, facts.key_range - held.loaded.keys / facts.factor)
        growth = min(growth, grown_bytes / new_keys * room)
    return growth
