"""Requests with their platforms and revisions, and their states."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, Table, func, select, update

from zerolap.records import Platform, Request, RequestState, Revision, UsageError, digest_of, revision_of
from zerolap.store.database import insert_new
from zerolap.store.tables import comparison, platform, platform_facts, request, revision, revision_parent

LATEST: Final = "latest"
NAMED_IN_ERRORS: Final = 5


def begin(connection: Connection, new: Request) -> None:
    """Write a request with its platform and revisions; an existing request is not changed."""
    keep_platform(connection, new.platform)
    revisions = [found for server in new.servers.values() if (found := revision_of(server.source)) is not None]
    # In a fixed order, so that two sessions that record the same rows do not deadlock.
    for of_server in sorted(revisions, key=lambda one: one.commit):
        keep_revision(connection, of_server)
    servers = {side: {"variant": server.spec.variant} for side, server in new.servers.items()}
    connection.execute(
        insert_new(connection, request).values(
            id=new.id,
            kind=new.kind,
            digest=new.digest,
            created=new.created,
            state="running",
            cancelled=False,
            priority=new.priority,
            platform_fingerprint=new.platform.fingerprint,
            servers=json.dumps(servers),
            document=new.model_dump_json(by_alias=True),
        )
    )


def read(connection: Connection, wanted: str) -> Request:
    """Return the request with that id, the unique beginning of one, or `latest`; raises `UsageError`."""
    row = find(connection, request, wanted, "request")
    if row.document is None:
        raise UsageError(
            f"{row.id} was recorded by an earlier version of zerolap, which did not record requests",
            hint="its results can be read; to measure more, start a new one",
        )
    return Request.model_validate_json(row.document)


def unfinished(connection: Connection, digest: str) -> list[str]:
    """Return the ids of unfinished requests with that digest, the newest first."""
    statement = select(request.c.id).where(request.c.digest == digest, request.c.state != "done")
    return list(connection.execute(statement.order_by(request.c.number.desc())).scalars())


def state(connection: Connection, identity: str) -> RequestState:
    """Return the state of a request; raises `UsageError`."""
    recorded: RequestState = _column(connection, identity, request.c.state)
    return recorded


def is_cancelled(connection: Connection, identity: str) -> bool:
    """Return whether the request is to be cancelled; raises `UsageError`."""
    return bool(_column(connection, identity, request.c.cancelled))


def set_columns(connection: Connection, identity: str, values: Mapping[str, Any]) -> None:
    """Write columns of a request; raises `UsageError`."""
    if connection.execute(update(request).where(request.c.id == identity).values(**values)).rowcount == 0:
        raise _unknown(identity)


def require(connection: Connection, identity: str) -> None:
    """Raise `UsageError` unless the store holds a request, comparison or run with exactly that id."""
    for table in (request, comparison):
        if connection.execute(select(table.c.id).where(table.c.id == identity)).first() is not None:
            return
    raise _unknown(identity)


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
    beginning = func.substr(table.c.id, 1, len(wanted)) == wanted
    matching = connection.execute(rows.where(beginning).limit(NAMED_IN_ERRORS + 1)).all() if wanted else []
    if len(matching) == 1:
        return matching[0]
    if matching:
        named = ", ".join(row.id for row in matching[:NAMED_IN_ERRORS])
        raise UsageError(f"more than one id begins with {wanted!r}", hint=f"name one of {named}")
    names = [row.id for row in connection.execute(rows.limit(NAMED_IN_ERRORS))]
    hint = f"the newest are {', '.join(names)}" if names else _what_there_is(connection)
    raise UsageError(f"the store holds no {noun} {wanted!r}", hint=hint)


def keep_platform(connection: Connection, new_platform: Platform) -> None:
    """Write a platform and its present facts; equal facts are written once."""
    connection.execute(
        insert_new(connection, platform).values(
            fingerprint=new_platform.fingerprint, name=new_platform.name, cpu=new_platform.cpu, cores=new_platform.cores
        )
    )
    facts = json.dumps(new_platform.facts, sort_keys=True)
    connection.execute(
        insert_new(connection, platform_facts).values(
            fingerprint=new_platform.fingerprint,
            digest=digest_of(new_platform.kernel, facts),
            kernel=new_platform.kernel,
            facts=facts,
            first_seen=datetime.now(UTC).isoformat(timespec="seconds"),
        )
    )


def keep_revision(connection: Connection, new_revision: Revision) -> None:
    """Write a commit and its parents."""
    key = {"repository": new_revision.repository, "commit": new_revision.commit}
    connection.execute(
        insert_new(connection, revision).values(**key, time=new_revision.time, subject=new_revision.subject)
    )
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
        select(comparison.c.id, comparison.c.kind).order_by(comparison.c.number.desc()).limit(NAMED_IN_ERRORS)
    ).all()
    if not rows:
        return "the store is empty: measure something with zerolap compare or zerolap run"
    return "the store holds " + ", ".join(
        f"the {'comparison' if row.kind == 'compare' else 'run'} {row.id}" for row in rows
    )
