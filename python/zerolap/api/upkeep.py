"""Keeps what a lab stores within its bounds: results and blobs, builds, mirrors."""

import asyncio
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from zerolap.build import Builds
from zerolap.lab import BUILDERS
from zerolap.records import EnvironmentMissing
from zerolap.sandbox import remove, walk
from zerolap.store import Removal, Retention, Store
from zerolap.triggers import Mirror, mirrors_of

UPKEEP_SECONDS: Final = 3600.0
"""How often `zerolap serve` looks after its store."""

log = structlog.get_logger("zerolap.upkeep")

USAGE_KEPT_SECONDS: Final = 900.0


@dataclass(frozen=True)
class Upkeep:
    """What was removed, or would be."""

    removed: Removal
    builds: int
    build_bytes: int


@dataclass(frozen=True)
class Usage:
    """The bytes that a store takes: compressed blobs, builds on this machine, clones of repositories, the database."""

    blobs: int
    builds: int
    mirrors: int
    database: int


def look_after(store: Store, retention: Retention, *, dry_run: bool = False) -> Upkeep:
    """Remove what is not kept; with `dry_run` only return what that is. Raises `EnvironmentMissing`."""
    removed = store.prune(retention, dry_run=dry_run)
    unused = _unused_builds(store, retention)
    upkeep = Upkeep(removed, len(unused), sum(map(_size_bytes, unused)))
    if not dry_run:
        for directory in unused:
            remove(directory)
        for directory in mirrors_of(store).glob("*.git"):
            _tidy(Mirror("", directory))
    return upkeep


def usage(store: Store) -> Usage:
    """Return what a store takes; raises `EnvironmentMissing`."""
    return Usage(
        blobs=sum(blob.size_bytes for blob in store.blobs.stored()),
        builds=sum(map(_size_bytes, _build_directories(store))),
        mirrors=_size_bytes(mirrors_of(store)),
        database=store.database_bytes(),
    )


class KnownUsage:
    """What a store takes as it was a while ago: to count it takes seconds, and a listing of the blobs in S3."""

    def __init__(self, store: Store, kept_seconds: float = USAGE_KEPT_SECONDS) -> None:
        self._store = store
        self._kept_seconds = kept_seconds
        self._usage: Usage | None = None
        self._counting: asyncio.Task[None] | None = None
        self._counted = -math.inf

    def latest(self) -> Usage | None:
        """Return what was counted last, none before that, and begin to count anew if that was long ago."""
        is_counting = self._counting is not None and not self._counting.done()
        if not is_counting and time.monotonic() - self._counted >= self._kept_seconds:
            self._counting = asyncio.create_task(self._count())
        return self._usage

    async def _count(self) -> None:
        try:
            self._usage = await asyncio.to_thread(usage, self._store)
        except (EnvironmentMissing, OSError) as fault:
            self._usage = None
            log.warning("what the store takes cannot be counted", reason=str(fault))
        self._counted = time.monotonic()


def _unused_builds(store: Store, retention: Retention) -> list[Path]:
    before, needed = time.time() - retention.build_seconds, store.open_builds()
    return [unused for directory in _build_directories(store) for unused in Builds(directory).unused(before, needed)]


def _build_directories(store: Store) -> Iterator[Path]:
    """Yield the directory of this machine's builds, and those of the builders of a fleet."""
    here = store.builds_directory
    yield here
    yield from here.with_name(BUILDERS).glob("*")


def _tidy(mirror: Mirror) -> None:
    try:
        mirror.tidy()
    except EnvironmentMissing as fault:
        log.error("a mirror cannot be tidied up", mirror=mirror.directory.name, fault=fault.message)


def _size_bytes(directory: Path) -> int:
    """Return the size of all files below a directory, in which a build may be under way."""
    try:
        return sum(entry.status.st_size for entry in walk(directory) if not entry.is_directory)
    except FileNotFoundError:
        # Removed meanwhile, or not yet made.
        return 0
