"""Tokens for the files of an attempt, which end with it."""

import hashlib
import hmac
from dataclasses import dataclass

from zerolap.records import ArchiveSource, BuildJob, TrialsJob
from zerolap.store import Attempt


@dataclass(frozen=True)
class Grant:
    """What the holder of a token may do: fetch what its job needs, and send what its events refer to."""

    attempt: Attempt

    @property
    def archives(self) -> frozenset[str]:
        """The digests of the blobs that may be fetched: the source of a build."""
        job = self.attempt.job
        is_archive = isinstance(job, BuildJob) and isinstance(job.source, ArchiveSource)
        return frozenset({job.source.archive}) if is_archive else frozenset()  # type: ignore[union-attr]

    @property
    def builds(self) -> frozenset[str]:
        """The digests of the builds that may be fetched."""
        job = self.attempt.job
        return job.builds if isinstance(job, TrialsJob) else frozenset()


@dataclass(frozen=True)
class Tokens:
    """Makes and reads tokens with a secret, so that none has to be stored."""

    secret: bytes

    def token_for(self, attempt: str) -> str:
        """Return the token of an attempt."""
        return f"{attempt}.{self._signature(attempt)}"

    def attempt_of(self, token: str) -> str | None:
        """Return the attempt that a token is for; none if it was not made with this secret."""
        attempt, _, signature = token.rpartition(".")
        return attempt if hmac.compare_digest(signature.encode(), self._signature(attempt).encode()) else None

    def _signature(self, attempt: str) -> str:
        return hmac.new(self.secret, attempt.encode(), hashlib.sha256).hexdigest()
