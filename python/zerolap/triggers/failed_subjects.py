"""Subjects whose report failed with an unexpected error: each waits before the next attempt, and delays no other."""

import contextlib
import time
from collections.abc import Iterator
from typing import Final

import structlog

from zerolap.records import EnvironmentMissing
from zerolap.store import NotConductor

PAUSE_SECONDS: Final = 600.0

log = structlog.get_logger("zerolap.reporting")


class FailedSubjects:
    """The subjects whose report has failed; each is contained until it may be tried again."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def __contains__(self, subject: str) -> bool:
        return time.monotonic() < self._until.get(subject, 0.0)

    @contextlib.contextmanager
    def on_failure(self, subject: str) -> Iterator[None]:
        """Add a subject if the block fails; raises `EnvironmentMissing` and `NotConductor`, which concern all."""
        try:
            yield
        except (EnvironmentMissing, NotConductor):
            raise
        except Exception:
            # The edge of a subject: what it is about may be hostile.
            log.exception("reported later", subject=subject)
            self._until[subject] = time.monotonic() + PAUSE_SECONDS
