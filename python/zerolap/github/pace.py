"""Time limits and pauses of requests to GitHub, and their clock."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Clock:
    """The time: `now` in seconds since 1970, `monotonic` in seconds since any moment."""

    now: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True)
class Patience:
    """How long a request may take, and for how long it is repeated while GitHub fails or limits the lab.

    Where GitHub gives no time, the first pause is at most `first_wait_seconds`, and each further pause twice as long,
    up to `longest_wait_seconds`. A random part of up to a half is subtracted, so that clients do not retry together.
    """

    request_seconds: float = 30.0
    total_seconds: float = 300.0
    first_wait_seconds: float = 1.0
    longest_wait_seconds: float = 60.0
    chance: random.Random = field(default_factory=random.Random)

    def wait_seconds(self, tries: int) -> float:
        """Return how long to wait after a number of tries, of which the first is 0."""
        longest = min(self.longest_wait_seconds, self.first_wait_seconds * 2.0 ** min(tries, 30))
        return longest * self.chance.uniform(0.5, 1.0)
