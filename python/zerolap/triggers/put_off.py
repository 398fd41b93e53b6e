"""Subjects that cannot be reported for a reason that nobody has foreseen: none of them holds up the others."""

import contextlib
import time
from collections.abc import Iterator
from typing import Final

import structlog

from zerolap.records import EnvironmentMissing

PUT_OFF_SECONDS: Final = 600.0

log = structlog.get_logger("zerolap.reporting")


class PutOff:
    """The subjects that have failed; each is in here until it may be tried again."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def __contains__(self, subject: str) -> bool:
        return time.monotonic() < self._until.get(subject, 0.0)

    @contextlib.contextmanager
    def on_failure(self, subject: str) -> Iterator[None]:
        """Put a subject off if what is done in the context fails; raises `EnvironmentMissing`, which concerns all."""
        try:
            yield
        except EnvironmentMissing:
            raise
        except Exception:
            # The edge of a subject: what it is about may be hostile.
            log.exception("reported later", subject=subject)
            self._until[subject] = time.monotonic() + PUT_OFF_SECONDS
