"""The files that agents send for jobs: kept apart until a report that counts refers to them, and limited by agent.

So nothing is left in the store of an attempt that ended without a result, and no agent fills its disk.
"""

import asyncio
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO, Final

from zerolap.allowance import Allowance
from zerolap.store import Attempt, Blobs, open_blobs

MOST_BLOB_BYTES: Final = 1 << 29
"""The largest file, also when it is unpacked."""
MOST_BYTES_PER_ATTEMPT: Final = 1 << 31
MOST_BYTES_PER_AGENT: Final = 1 << 32
"""How many bytes an agent may send at once, and in each further hour."""
HOUR_SECONDS: Final = 3600.0


class Uploads:
    """Files of attempts that have not ended, below a directory of its own; `blobs` are those of the store.

    `has_room` and `discard` belong to the event loop, all else may be called from any thread.
    """

    def __init__(self, directory: Path, blobs: Blobs) -> None:
        self._directory = directory
        self._blobs = blobs
        self._sent_bytes: dict[str, int] = {}
        self._allowances: dict[str, Allowance] = {}

    def recall(self, attempts: Collection[str]) -> None:
        """Keep the files that an earlier conductor has received for these attempts, and remove all others."""
        kept = list(self._directory.iterdir()) if self._directory.is_dir() else []
        for directory in kept:
            if directory.name in attempts:
                self._sent_bytes.setdefault(directory.name, 0)
            else:
                shutil.rmtree(directory, ignore_errors=True)

    def has_room(self, attempt: Attempt, size_bytes: int) -> bool:
        """Count bytes that an agent sends for an attempt; returns whether it may send as many."""
        sent = self._sent_bytes.get(attempt.id, 0) + size_bytes
        self._sent_bytes[attempt.id] = sent
        # Who has not claimed its attempt, or did so before the conductor was started, shares with its platform.
        agent = attempt.agent or f"of {attempt.platform}"
        unused = Allowance(MOST_BYTES_PER_AGENT, MOST_BYTES_PER_AGENT / HOUR_SECONDS)
        return sent <= MOST_BYTES_PER_ATTEMPT and self._allowances.setdefault(agent, unused).take(size_bytes)

    def receive(self, attempt: str, digest: str, packed: BinaryIO) -> bool:
        """Keep a file, compressed with zlib, as long as the attempt lasts; returns false if it is another.

        Raises `EnvironmentMissing` if it cannot be written, `ValueError` for an invalid digest.
        """
        return open_blobs(None, self._directory / attempt).put_packed(digest, packed, MOST_BLOB_BYTES)

    def store(self, attempt: str, digest: str) -> bool:
        """Put a file of an attempt into the store; returns whether the store has it then.

        Raises `EnvironmentMissing` if it cannot be written, `ValueError` for an invalid digest.
        """
        if self._blobs.has(digest):
            return True
        try:
            packed = (self._directory / attempt / digest[:2] / digest[2:]).open("rb")
        except FileNotFoundError:
            return False
        with packed:
            return self._blobs.put_packed(digest, packed, MOST_BLOB_BYTES)

    def discard(self, attempt: str) -> None:
        """Remove, soon, what was received for an attempt that has ended."""
        if self._sent_bytes.pop(attempt, None) is not None:
            directory = self._directory / attempt
            asyncio.get_running_loop().run_in_executor(None, lambda: shutil.rmtree(directory, ignore_errors=True))
