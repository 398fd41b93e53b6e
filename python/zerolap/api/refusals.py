"""What is refused, counted: a line of the log a minute, whatever comes in."""

import asyncio
import threading
from collections import Counter
from typing import Final

import structlog

LOGGED_SECONDS: Final = 60.0

log = structlog.get_logger("zerolap.api")


class Refusals:
    """Counts refusals by cause; may be used from any thread. `total` has all since the start."""

    def __init__(self) -> None:
        self.total: Counter[str] = Counter()
        self._logged: Counter[str] = Counter()
        self._lock = threading.Lock()

    def count(self, cause: str) -> None:
        """Count a refusal."""
        with self._lock:
            self.total[cause] += 1

    async def log_always(self) -> None:
        """Log once a minute how many refusals there were, if there were any, until cancelled."""
        while True:
            await asyncio.sleep(LOGGED_SECONDS)
            self.log_new()

    def log_new(self) -> None:
        """Log the refusals since the last time, by cause."""
        with self._lock:
            new = self.total - self._logged
            self._logged = Counter(self.total)
        if new:
            log.warning("refused in the last minute", **new)
