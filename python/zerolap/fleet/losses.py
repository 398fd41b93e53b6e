"""What the bus has lost of the attempts that were published, as its counts show it."""

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence, Set

import structlog

from zerolap.store import Attempt

log = structlog.get_logger("zerolap.conductor")


class Losses:
    """Compares what was published with what the bus has; `review_seconds` is how often that is done.

    An attempt that an agent holds is not lost: the agent goes on with it, as the conductor answers, also where the bus
    has forgotten it.
    """

    def __init__(self, review_seconds: float) -> None:
        self._review_seconds = review_seconds
        self._queues: str | None = None
        self._unknown_to_bus: set[str] = set()

    def among(
        self, published: Sequence[Attempt], held: Set[str], kept: Mapping[str, int], queues: str
    ) -> list[Attempt]:
        """Return the attempts that are to be published again.

        `held` are the ids of those that agents hold. The bus has `kept` jobs by platform, in `queues`.
        """
        # Also after a start of the conductor: it is not known what the bus has lost until then.
        may_be_empty = queues != self._queues
        if may_be_empty:
            counts = Counter(attempt.platform for attempt in published)
            fewer = {platform for platform, count in counts.items() if kept.get(platform, 0) < count}
            self._unknown_to_bus = {one.id for one in published if one.id in held and one.platform in fewer}
        else:
            self._unknown_to_bus &= held
        before = math.inf if may_be_empty else time.time() - self._review_seconds
        counts = Counter(attempt.platform for attempt in published if attempt.id not in self._unknown_to_bus)
        lost = []
        for platform, count in counts.items():
            of_platform = [one for one in published if one.platform == platform and one.id not in held]
            missed = [one for one in of_platform if one.created < before]
            if missed and kept.get(platform, 0) < count:
                log.warning("published again", platform=platform, attempts=len(missed), kept=kept.get(platform, 0))
                lost += missed
        return lost

    def made_good(self, queues: str) -> None:
        """Note that what was lost has been published again in these queues."""
        self._queues = queues
