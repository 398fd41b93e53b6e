"""What is kept of ended requests and of judged histories, and which blobs nothing refers to any more."""

import contextlib
import json
import re
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from pydantic import BaseModel
from sqlalchemy import Connection, delete, select, update

from zerolap.records import BuildSpec, Side, UnreadableRecord, read_stored
from zerolap.store.blobs import StoredBlob
from zerolap.store.database import RecordsWithBlobs
from zerolap.store.recorded_requests import OPEN_STATES
from zerolap.store.tables import artifact, document, job, kept_history, kept_work, request, trial, trigger
from zerolap.store.triggers import read_request_ids

ROWS_AT_ONCE: Final = 100
"""Requests that one transaction removes: others write meanwhile."""
GRACE_SECONDS: Final = 86_400.0
"""How long a blob is kept that nothing refers to: a reference to it may be recorded later."""


BUILD_SECONDS: Final = 30 * 86_400.0
TRIAL_BLOBS: Final = (
    *(trial.c.graph, trial.c.graph_alone, trial.c.graph_tick, trial.c.call_counts),
    *(trial.c.timeline, trial.c.stacks, trial.c.executed, trial.c.traced, trial.c.record),
    trial.c.allocations,
)
"""The columns of a trial that hold digests of blobs."""
DIGEST: Final = re.compile(r"\b[0-9a-f]{64}\b")


@dataclass(frozen=True)
class Retention:
    """How long results are kept; None is without a limit.

    A request is kept while it is open, younger than `seconds`, or one of the newest `per_branch` of its topic on its
    platform. Of the others, and beyond `blob_bytes` of compressed blobs also of those, the oldest are removed. A build
    that was not used for `build_seconds` is removed: it can be built again.

    A history that was judged is kept as a request is: while it was judged last within `seconds`, or is one of the
    newest `per_branch` of its repository and range on its platform.
    """

    seconds: float | None = None
    per_branch: int | None = None
    blob_bytes: int | None = None
    build_seconds: float = BUILD_SECONDS


class _Server(BaseModel):
    spec: BuildSpec
    count_spec: BuildSpec | None = None

    @property
    def builds(self) -> set[str]:
        return {spec.digest for spec in (self.spec, self.count_spec) if spec is not None}


class _Servers(BaseModel):
    """What is read of what a request means."""

    servers: dict[Side, _Server]


@dataclass(frozen=True)
class Removal:
    """What was removed, or would be: the ids of requests, histories, blobs with their compressed size."""

    requests: list[str] = field(default_factory=list)
    histories: int = 0
    blobs: int = 0
    blob_bytes: int = 0


def outlived(connection: Connection, retention: Retention, now: float) -> list[str]:
    """Return the ids of the requests that age and number do not keep, the oldest first."""
    if retention.seconds is None and retention.per_branch is None:
        return []
    columns = (request.c.id, request.c.topic, request.c.platform, request.c.state, request.c.submitted)
    later: dict[tuple[str, str], int] = {}
    removable = []
    for row in connection.execute(select(*columns).order_by(request.c.number.desc())):
        rank = later[row.topic, row.platform] = later.get((row.topic, row.platform), 0) + 1
        is_new = retention.per_branch is not None and rank <= retention.per_branch
        is_young = retention.seconds is not None and now - row.submitted < retention.seconds
        if row.state not in OPEN_STATES and not is_new and not is_young:
            removable.append(row.id)
    return removable[::-1]


@dataclass(frozen=True)
class OutlivedHistory:
    """A published history that age and number do not keep; `created` is when it was judged last."""

    number: int
    created: str


def outlived_histories(connection: Connection, retention: Retention, now: float) -> list[OutlivedHistory]:
    """Return the published histories that age and number do not keep."""
    if retention.seconds is None and retention.per_branch is None:
        return []
    oldest = _oldest_kept(retention, now)
    columns = [kept_history.c[name] for name in ("number", "repository", "range", "platform", "created")]
    later: dict[tuple[str, str, str], int] = {}
    removable = []
    newest_first = (kept_history.c.created.desc(), kept_history.c.number.desc())
    for row in connection.execute(select(*columns).order_by(*newest_first)):
        key = (row.repository, row.range, row.platform)
        rank = later[key] = later.get(key, 0) + 1
        is_new = retention.per_branch is not None and rank <= retention.per_branch
        is_young = oldest is not None and row.created > oldest
        if not is_new and not is_young:
            removable.append(OutlivedHistory(row.number, row.created))
    return removable


def _oldest_kept(retention: Retention, now: float) -> str | None:
    """Return the moment before which age keeps nothing, as `now` of the records writes it, in the order of time."""
    if retention.seconds is None:
        return None
    return datetime.fromtimestamp(now - retention.seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def remove_history(connection: Connection, outlived: OutlivedHistory) -> None:
    """Remove a published history with all that belongs to it, unless it was judged again meanwhile."""
    is_meant = (kept_history.c.number == outlived.number, kept_history.c.created == outlived.created)
    connection.execute(delete(kept_history).where(*is_meant))


def remove(connection: Connection, identities: Collection[str]) -> None:
    """Remove requests with their jobs, trials and documents, and the triggers that have led to no others.

    A trigger whose requests cannot be read stays.
    """
    connection.execute(delete(request).where(request.c.id.in_(list(identities))))
    for row in connection.execute(select(trigger.c.id, trigger.c.requests)).all():
        try:
            led_to = read_request_ids(row.requests, row.id)
        except UnreadableRecord:
            continue
        left = [identity for identity in led_to if identity not in identities]
        if led_to and not left:
            connection.execute(delete(trigger).where(trigger.c.id == row.id))
        elif len(left) < len(led_to):
            connection.execute(update(trigger).where(trigger.c.id == row.id).values(requests=json.dumps(left)))


def remove_unused_work(connection: Connection) -> None:
    """Remove what is kept of call graphs to which no trial refers."""
    # A join: no index finds the trials of a graph, and not every database makes one for `not in`.
    with_trials = kept_work.outerjoin(trial, trial.c.graph == kept_work.c.graph)
    unused = select(kept_work.c.graph).select_from(with_trials).where(trial.c.id.is_(None))
    connection.execute(delete(kept_work).where(kept_work.c.graph.in_(unused)))


def blobs_of(connection: Connection, identity: str) -> set[str]:
    """Return the digests of the blobs that a request refers to."""
    measured = select(*TRIAL_BLOBS)
    digests = {digest for row in connection.execute(measured.where(trial.c.request_id == identity)) for digest in row}
    digests |= set(connection.execute(select(job.c.log).where(job.c.request_id == identity)).scalars())
    digests |= set(connection.execute(select(document.c.blob).where(document.c.id == identity)).scalars())
    asked = connection.execute(select(request.c.document).where(request.c.id == identity)).scalar()
    digests |= set(_archives(asked))
    return {digest for digest in digests if digest is not None}


def referenced_blobs(connection: Connection) -> set[str]:
    """Return the digests of all blobs that a row refers to."""
    digests: set[str | None] = set()
    for column in (*TRIAL_BLOBS, job.c.log, artifact.c.blob, document.c.blob):
        digests |= set(connection.execute(select(column).where(column.is_not(None)).distinct()).scalars())
    for asked in connection.execute(select(request.c.document)).scalars():
        digests |= set(_archives(asked))
    return {digest for digest in digests if digest is not None}


def _open_builds(connection: Connection) -> set[str]:
    statement = select(request.c.resolved).where(request.c.state.in_(OPEN_STATES), request.c.resolved.is_not(None))
    digests: set[str] = set()
    for text in connection.execute(statement).scalars():
        # The request of a row that cannot be read fails, and its builds are needed no more.
        with contextlib.suppress(UnreadableRecord):
            servers = read_stored(_Servers, text, "a request").servers.values()
            digests = digests.union(*(server.builds for server in servers))
    return digests


def _archives(asked: str | None) -> Iterator[str]:
    """Yield the digests of the packed sources of a request."""
    try:
        servers = json.loads(asked or "{}").get("servers", {})
        for server in servers.values():
            archive = server.get("source", {}).get("archive")
            if isinstance(archive, str):
                yield archive
    except (ValueError, AttributeError, RecursionError):
        # What is left of a damaged document may still name its sources.
        yield from re.findall(DIGEST, asked or "")


class RetentionRecords(RecordsWithBlobs):
    """Removes what is not kept."""

    def prune(self, retention: Retention, *, dry_run: bool = False) -> Removal:
        """Remove results and histories that are not kept, and blobs to which nothing refers.

        With `dry_run` it only returns them. What a kept result refers to stays. Raises `EnvironmentMissing`.
        """
        now = time.time()
        blobs = {blob.digest: blob for blob in self.blobs.stored()}
        with self._database.read_transaction() as connection:
            all_ids = list(connection.execute(select(request.c.id)).scalars())
            gone = outlived(connection, retention, now)
            gone += _beyond_bytes(connection, retention, blobs, set(all_ids).difference(gone))
            histories = outlived_histories(connection, retention, now)
            removed = set(gone)
            kept = {blob for each in all_ids if each not in removed for blob in blobs_of(connection, each)}
            needed, artifacts = _open_builds(connection), []
            for packed in connection.execute(select(artifact).where(artifact.c.blob.is_not(None))):
                used = blobs[packed.blob].stored if packed.blob in blobs else now
                if packed.build in needed or used > now - retention.build_seconds:
                    kept.add(packed.blob)
                else:
                    artifacts.append((packed.build, packed.builder))
        old = now - GRACE_SECONDS
        superfluous = [blob for digest, blob in blobs.items() if digest not in kept and blob.stored < old]
        blob_bytes = sum(blob.size_bytes for blob in superfluous)
        if not dry_run:
            self._remove(gone, histories, artifacts)
            # Rows that were recorded meanwhile may refer to old blobs.
            with self._database.read_transaction() as connection:
                still_referenced = referenced_blobs(connection)
            for blob in superfluous:
                if blob.digest not in still_referenced:
                    self.blobs.remove(blob.digest)
        return Removal(gone, len(histories), len(superfluous), blob_bytes)

    def _remove(
        self,
        requests: Sequence[str],
        histories: Iterable[OutlivedHistory],
        artifacts: Iterable[tuple[str, str]],
    ) -> None:
        for first in range(0, len(requests), ROWS_AT_ONCE):
            with self._database.write_transaction() as connection:
                remove(connection, requests[first : first + ROWS_AT_ONCE])
        for history in histories:
            with self._database.write_transaction() as connection:
                remove_history(connection, history)
        with self._database.write_transaction() as connection:
            for build, builder in artifacts:
                connection.execute(delete(artifact).where(artifact.c.build == build, artifact.c.builder == builder))
            remove_unused_work(connection)

    def open_builds(self) -> set[str]:
        """Return the digests of the builds of requests that have not ended."""
        with self._database.read_transaction() as connection:
            return _open_builds(connection)


def _beyond_bytes(
    connection: Connection, retention: Retention, blobs: Mapping[str, StoredBlob], kept: Collection[str]
) -> list[str]:
    """Return the oldest ended of the kept requests without which blobs that are referred to have few enough bytes."""
    if retention.blob_bytes is None:
        return []
    by_request = {identity: blobs_of(connection, identity) for identity in kept}
    users = Counter(digest for digests in by_request.values() for digest in digests)
    left = sum(blobs[digest].size_bytes for digest in users if digest in blobs)
    beyond: list[str] = []
    ended = select(request.c.id).where(request.c.state.not_in(OPEN_STATES)).order_by(request.c.number)
    for identity in connection.execute(ended).scalars().all():
        if left <= retention.blob_bytes:
            break
        if identity in by_request:
            beyond.append(identity)
            users.subtract(by_request[identity])
            unused = (digest for digest in by_request[identity] if not users[digest] and digest in blobs)
            left -= sum(blobs[digest].size_bytes for digest in unused)
    return beyond
