"""Requests as they were asked for, what they mean on their platform, and their states."""

import contextlib
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter
from sqlalchemy import Connection, Row, Table, delete, or_, select, update

from zerolap.records import (
    Platform,
    Priority,
    Request,
    RequestKind,
    RequestState,
    Resolved,
    Revision,
    Side,
    UnreadableRecord,
    UsageError,
    read_stored,
    revision_of,
)
from zerolap.store.database import Records, begins_with, insert_new
from zerolap.store.tables import document, platform, platform_facts, request, revision, revision_parent

LATEST: Final = "latest"
NAMED_IN_ERRORS: Final = 5
OPEN_STATES: Final = ("waiting", "running")
INTERRUPTED_STATES: Final = (*OPEN_STATES, "interrupted", "cancelled")
"""The states of interrupted requests to this machine; the request of a killed process stays open."""
_FACTS: Final = TypeAdapter(dict[str, str])


@dataclass(frozen=True)
class RecordedRequest:
    """A request with its state; `reason` states why it failed, was superseded, or waits."""

    request: Request
    state: RequestState
    reason: str
    submitted: float
    ended: float | None


@dataclass(frozen=True)
class NamedSource:
    """The source of a side by its name; `commit` is none for what is no revision."""

    name: str
    commit: str | None


@dataclass(frozen=True)
class RequestInShort:
    """A request with its state, without its cases: it is read a hundred times as fast.

    `unreadable` is why its document cannot be read; `trigger`, `command_line` and `sides` are empty then.
    """

    id: str
    platform: str
    priority: Priority
    topic: str
    trigger: str
    command_line: str
    sides: Mapping[Side, NamedSource]
    state: RequestState
    reason: str
    submitted: float
    ended: float | None
    kind: RequestKind = "compare"
    unreadable: str = ""

    @property
    def head_commit(self) -> str | None:
        """The commit of the head, which is the last side; None for what is no revision."""
        return next((source.commit for source in reversed(tuple(self.sides.values()))), None)


class _Source(BaseModel):
    name: str
    revision: Revision | None = None


class _Server(BaseModel):
    source: _Source


class _RequestSummary(BaseModel):
    """What is read of a request in short: its cases, which are nearly all of it, are left out."""

    trigger: str
    command_line: str
    servers: dict[Side, _Server]


_FIELDS: Final = TypeAdapter(dict[str, Any])
_WITH_FACTS: Final = select(platform, platform_facts.c.kernel, platform_facts.c.facts).join(
    platform_facts, platform_facts.c.fingerprint == platform.c.fingerprint
)


def submit(connection: Connection, new: Request) -> None:
    """Write a request in the state `waiting`; an existing one is not changed.

    Older ones of its topic on its platform that have not ended are superseded.
    """
    _keep(connection, new, "waiting")
    if new.topic:
        older = (
            request.c.topic == new.topic,
            request.c.platform == new.platform,
            request.c.id != new.id,
            request.c.state.in_(OPEN_STATES),
        )
        superseded = {"state": "superseded", "reason": f"superseded by {new.id}", "ended": time.time()}
        connection.execute(update(request).where(*older).values(**superseded))


def _keep(connection: Connection, new: Request, state: RequestState) -> None:
    columns = {name: getattr(new, name) for name in ("id", "kind", "created", "platform", "priority", "topic")}
    connection.execute(
        insert_new(connection, request).values(
            **columns,
            state=state,
            reason="",
            cancelled=False,
            submitted=time.time(),
            document=new.model_dump_json(by_alias=True),
        )
    )


def state(connection: Connection, identity: str) -> RequestState:
    """Return the state of a request; raises `UsageError`."""
    recorded: RequestState = _column(connection, identity, request.c.state)
    return recorded


def require(connection: Connection, identity: str) -> None:
    """Raise `UsageError` unless the store holds a request with exactly that id."""
    _column(connection, identity, request.c.id)


def find(connection: Connection, table: Table, wanted: str, noun: str, **fixed: str) -> Row[Any]:
    """Return the row that `wanted` names: an id, the unique beginning of one, or `latest`.

    `table` has the columns `id` and `number`; `fixed` are required values of its other columns. Raises `UsageError` if
    no row or more than one matches, with the newest ids as a hint.
    """
    rows = select(table).filter_by(**fixed).order_by(table.c.number.desc())
    if wanted == LATEST:
        newest = connection.execute(rows.limit(1)).first()
        if newest is None:
            raise UsageError(f"the store holds no {noun} yet", hint=_what_there_is(connection))
        return newest
    exact = connection.execute(rows.where(table.c.id == wanted)).first()
    if exact is not None:
        return exact
    ids = select(table.c.id).filter_by(**fixed).order_by(table.c.number.desc())
    beginning = ids.where(begins_with(table.c.id, wanted)).limit(NAMED_IN_ERRORS + 1)
    matching = list(connection.execute(beginning).scalars()) if wanted else []
    if len(matching) == 1:
        return connection.execute(rows.where(table.c.id == matching[0])).one()
    if matching:
        named = ", ".join(matching[:NAMED_IN_ERRORS])
        raise UsageError(f"more than one id begins with {wanted!r}", hint=f"name one of {named}")
    names = list(connection.execute(ids.limit(NAMED_IN_ERRORS)).scalars())
    hint = f"the newest are {', '.join(names)}" if names else _what_there_is(connection)
    raise UsageError(f"the store holds no {noun} {wanted!r}", hint=hint)


def keep_platform(connection: Connection, new_platform: Platform) -> None:
    """Write a platform and its present facts; equal facts are written once."""
    connection.execute(
        insert_new(connection, platform).values(
            fingerprint=new_platform.fingerprint, name=new_platform.name, cpu=new_platform.cpu, cores=new_platform.cores
        )
    )
    connection.execute(
        insert_new(connection, platform_facts).values(
            fingerprint=new_platform.fingerprint,
            digest=new_platform.facts_digest,
            kernel=new_platform.kernel,
            facts=new_platform.facts_json,
            first_seen=datetime.now(UTC).isoformat(timespec="seconds"),
        )
    )


def read_facts(connection: Connection, fingerprint: str, digest: str) -> Platform | None:
    """Return a platform with the facts of that digest, or its newest; none for an unknown platform."""
    of_digest_first = ((platform_facts.c.digest == digest).desc(), platform_facts.c.first_seen.desc())
    statement = _WITH_FACTS.where(platform.c.fingerprint == fingerprint).order_by(*of_digest_first)
    row = connection.execute(statement.limit(1)).first()
    return None if row is None else _platform(row)


def _platform(row: Row[Any]) -> Platform:
    return Platform(**{**row._mapping, "facts": read_stored(_FACTS, row.facts, f"the facts of {row.name}")})


def keep_revision(connection: Connection, new_revision: Revision) -> None:
    """Write a commit and its parents."""
    key = {"repository": new_revision.repository, "commit": new_revision.commit}
    described = {name: getattr(new_revision, name) for name in ("time", "subject", "author")}
    connection.execute(insert_new(connection, revision).values(**key, **described))
    parents = [{**key, "position": position, "parent": parent} for position, parent in enumerate(new_revision.parents)]
    if parents:
        connection.execute(insert_new(connection, revision_parent), parents)


def _column(connection: Connection, identity: str, column: Any) -> Any:
    row = connection.execute(select(column).where(request.c.id == identity)).first()
    if row is None:
        raise _unknown(identity)
    return row[0]


def _unknown(identity: str) -> UsageError:
    return UsageError(
        f"the store holds no comparison or run {identity!r}", hint="zerolap explain latest shows the newest"
    )


def _what_there_is(connection: Connection) -> str:
    rows = connection.execute(
        select(document.c.id, document.c.kind).order_by(document.c.number.desc()).limit(NAMED_IN_ERRORS)
    ).all()
    if not rows:
        return "the store is empty: measure something with zerolap compare or zerolap run"
    nouns = {"compare": "comparison", "run": "run", "snapshot": "sweep"}
    return "the store holds " + ", ".join(f"the {nouns[row.kind]} {row.id}" for row in rows)


def request_in_short(row: Row[Any]) -> RequestInShort:
    """Return a row of the table of requests in short."""
    same = ("id", "kind", "platform", "priority", "topic", "state", "reason", "submitted", "ended")
    columns = {name: getattr(row, name) for name in same}
    try:
        asked = read_stored(_RequestSummary, row.document, f"the request {row.id}")
    except UnreadableRecord as fault:
        return RequestInShort(**columns, trigger="", command_line="", sides={}, unreadable=fault.message)
    sources = {side: server.source for side, server in asked.servers.items()}
    return RequestInShort(
        **columns,
        trigger=asked.trigger,
        command_line=asked.command_line,
        sides={
            side: NamedSource(source.name, None if source.revision is None else source.revision.commit)
            for side, source in sources.items()
        },
    )


class RequestRecords(Records):
    """The requests and the platforms of a store."""

    def submit(self, asked: Iterable[Request]) -> None:
        """Record requests in the state `waiting`, all or none; existing ones are not changed.

        Older ones of their topics on their platforms that have not ended are superseded.
        """
        with self._database.write_transaction() as connection:
            for new in asked:
                submit(connection, new)

    def begin(self, resolved: Resolved) -> None:
        """Record what a request means on its platform, and the request if there is none; it is `running` from now on.

        What was recorded of it before is not changed.
        """
        revisions = [
            of_server for server in resolved.servers.values() if (of_server := revision_of(server.source)) is not None
        ]
        meant = {
            "digest": resolved.digest,
            "platform_fingerprint": resolved.platform.fingerprint,
            "variants": json.dumps({side: server.spec.variant for side, server in resolved.servers.items()}),
            "resolved": resolved.model_dump_json(by_alias=True),
        }
        of_request = update(request).where(request.c.id == resolved.id)
        with self._database.write_transaction() as connection:
            keep_platform(connection, resolved.platform)
            # In a fixed order, so that two sessions that record the same rows do not deadlock.
            for of_server in sorted(revisions, key=lambda commit: commit.commit):
                keep_revision(connection, of_server)
            _keep(connection, resolved.request, "running")
            connection.execute(of_request.where(request.c.resolved.is_(None)).values(**meant))
            connection.execute(of_request.where(request.c.state == "waiting").values(state="running", reason=""))

    def discard(self, identity: str) -> None:
        """Remove a request that an unfinished one stands for, with its jobs; raises `UsageError`."""
        with self._database.write_transaction() as connection:
            if connection.execute(delete(request).where(request.c.id == identity)).rowcount == 0:
                raise _unknown(identity)

    def request(self, identity: str) -> RecordedRequest:
        """Return the request with that id, the unique beginning of an id, or `latest`; raises `UsageError`."""
        with self._database.read_transaction() as connection:
            row = find(connection, request, identity, "request")
        asked = read_stored(Request, row.document, f"the request {row.id}")
        return RecordedRequest(asked, row.state, row.reason, row.submitted, row.ended)

    def outcome(self, asked: Request) -> RecordedRequest:
        """Return the state of a request that is known already; raises `UsageError`."""
        columns = select(request.c.state, request.c.reason, request.c.submitted, request.c.ended)
        row = self._database.first(columns.where(request.c.id == asked.id))
        if row is None:
            raise _unknown(asked.id)
        return RecordedRequest(asked, *row)

    def resolved(self, identity: str) -> Resolved | None:
        """Return what the request of that name means on its platform; none while its servers are not built.

        Raises `UsageError`.
        """
        with self._database.read_transaction() as connection:
            row = find(connection, request, identity, "request")
        if row.resolved is None:
            return None
        # Written as two documents: what was asked for does not change.
        name = f"the request {row.id}"
        asked, meant = (read_stored(_FIELDS, text, name) for text in (row.document, row.resolved))
        return read_stored(Resolved, {**meant, "request": asked}, name)

    def unfinished(self, digest: str) -> list[str]:
        """Return the ids of the requests with that `Resolved.digest` that are not done, the newest first."""
        statement = select(request.c.id).where(request.c.digest == digest, request.c.state != "done")
        return self._database.values(statement.order_by(request.c.number.desc()))

    def undocumented(self, limit: int) -> list[RequestInShort]:
        """Return the newest requests to this machine without a document, in short, the newest first.

        They are those that have none yet, and checks, which have none but their trials.
        """
        lacks = or_(request.c.state != "done", request.c.kind == "check")
        is_meant = (request.c.platform == "", lacks, document.c.id.is_(None))
        joined = select(request).join(document, document.c.id == request.c.id, isouter=True).where(*is_meant)
        newest = self._database.rows(joined.order_by(request.c.number.desc()).limit(limit))
        return [request_in_short(row) for row in newest]

    def latest_interrupted(self) -> str | None:
        """Return the id of the newest request to this machine that was interrupted or killed, or is worked on."""
        is_meant = (request.c.platform == "", request.c.state.in_(INTERRUPTED_STATES))
        statement = select(request.c.id).where(*is_meant).order_by(request.c.number.desc()).limit(1)
        latest: str | None = self._database.value(statement)
        return latest

    def state(self, identity: str) -> RequestState:
        """Return the state of a request; a killed one is still `running`. Raises `UsageError`."""
        with self._database.read_transaction() as connection:
            return state(connection, identity)

    def kinds(self, identities: Iterable[str]) -> dict[str, RequestKind]:
        """Return what those of the requests are that are recorded, by id."""
        rows = self._database.rows_with(select(request.c.id, request.c.kind), request.c.id, identities)
        return {row.id: row.kind for row in rows}

    def cancel(self, identity: str) -> None:
        """Ask the process that works on a request to stop; raises `UsageError`."""
        self._set(identity, {"cancelled": True})

    def is_cancelled(self, identity: str) -> bool:
        """Whether a cancellation was requested since the request last ended; raises `UsageError`."""
        with self._database.read_transaction() as connection:
            return bool(_column(connection, identity, request.c.cancelled))

    def end(self, identity: str, state: RequestState) -> None:
        """Set the state of a request at its end, or `running` when it continues, and clear its cancellation.

        Raises `UsageError`.
        """
        ended = None if state in OPEN_STATES else time.time()
        self._set(identity, {"state": state, "reason": "", "cancelled": False, "ended": ended})

    def _set(self, identity: str, values: Mapping[str, Any]) -> None:
        with self._database.write_transaction() as connection:
            if connection.execute(update(request).where(request.c.id == identity).values(**values)).rowcount == 0:
                raise _unknown(identity)

    def record_platform(self, platform: Platform) -> None:
        """Record a machine and the state that it is in, to which its trials refer by `Platform.facts_digest`."""
        with self._database.write_transaction(is_change=False) as connection:
            keep_platform(connection, platform)

    def platforms(self) -> list[Platform]:
        """Return the machines that are recorded, each with its newest facts, the newest first."""
        statement = _WITH_FACTS.order_by(platform_facts.c.first_seen.desc(), platform.c.fingerprint)
        newest: dict[str, Platform] = {}
        for row in self._database.rows(statement):
            if row.fingerprint not in newest:
                # A damaged row of facts leaves those before it.
                with contextlib.suppress(UnreadableRecord):
                    newest[row.fingerprint] = _platform(row)
        return list(newest.values())
