"""The conditions under which the slices of a timed trial may be used."""

import functools
import operator
import statistics
from collections import Counter
from collections.abc import Sequence

from zerolap.engines.counted_checks import executed_check, reply_checks
from zerolap.engines.slices import Slice, SliceWork
from zerolap.records import Case, Check

SHORTEST_SLICE_SECONDS = 0.001
CLIENT_BUSY_LIMIT = 0.98
SERVER_BUSY_ENOUGH = 0.9
RATE_LIMIT = 0.9


def slice_checks(case: Case, slices: Sequence[Slice], work: SliceWork) -> list[Check]:
    """Return the checks of the slices of one side: replies, calls, lengths, and whether the client kept up."""
    if work.per_second is None:
        client = statistics.median(one.client_busy for one in slices)
        kept_up = client_check(client, statistics.median(one.server_busy for one in slices))
    else:
        # A server that falls behind the fixed rate is sent its requests in other portions.
        ops_per_sec = statistics.median(one.result.ops_per_sec for one in slices)
        kept_up = Check.at_least("rate", ops_per_sec / work.per_second, RATE_LIMIT)
    return [
        *request_checks(case, slices, work.requests * len(slices)),
        Check.at_least("slice_seconds", min(one.seconds for one in slices), SHORTEST_SLICE_SECONDS),
        *_counters_checks(slices),
        kept_up,
    ]


def request_checks(case: Case, slices: Sequence[Slice], requests: int) -> list[Check]:
    """Return the checks of the replies to so many requests, and of whether the server executed these."""
    keys = [one.keys for one in slices if one.keys is not None]
    look_ups = functools.reduce(operator.add, keys) if keys and len(keys) == len(slices) else None
    return [
        *reply_checks(case, [one.result for one in slices], look_ups),
        executed_check(case, requests, sum(one.executed for one in slices)),
    ]


def _counters_checks(slices: Sequence[Slice]) -> list[Check]:
    """Return why events were not counted in some slices, most frequent first; nothing is refused for it."""
    refusals = Counter(refusal for one in slices for refusal in one.counts.refusals)
    if not refusals:
        return []
    value = "; ".join(f"{refusal} (in {number} of {len(slices)} slices)" for refusal, number in refusals.most_common())
    return [Check(check="counters", ok=True, value=value, limit="in all slices, or not used")]


def client_check(client: float, server: float) -> Check:
    """Whether the client had time left, or the server had none: else the client's own speed was measured.

    Both are the busy parts of a processor, 0 to 1.
    """
    return Check(
        check="client_saturation",
        ok=client <= CLIENT_BUSY_LIMIT or server >= SERVER_BUSY_ENOUGH,
        value=client,
        limit=f"<= {CLIENT_BUSY_LIMIT:g}, or a server busy >= {SERVER_BUSY_ENOUGH:g}",
    )
