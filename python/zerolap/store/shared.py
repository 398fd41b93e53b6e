"""What the documents of a comparison and of a run have in common: builds, the platform, JSON in columns."""

import json
from typing import Any

from sqlalchemy import Connection, Table, delete, func, insert, select, update

from zerolap.records import Build, Platform
from zerolap.store.faults import AlreadyRecorded
from zerolap.store.listing import require
from zerolap.store.tables import build, case_result, comparison, platform


def as_json(value: Any) -> str:
    """Return plain values as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def keep_build(connection: Connection, what: Build) -> None:
    """Write what is known of a build, over what was known before; settings are no part of the artifact."""
    _keep(connection, build, "build", what.model_dump(exclude={"config"}))


def keep_platform(connection: Connection, what: Platform) -> None:
    """Write what is known of a platform, over what was known before."""
    _keep(connection, platform, "fingerprint", what.model_dump())


def insert_document(connection: Connection, columns: dict[str, Any]) -> None:
    """Write the row of a new comparison or run; raises `AlreadyRecorded` where its id is taken."""
    identity = columns["id"]
    if connection.execute(select(comparison.c.id).filter_by(id=identity)).first() is not None:
        raise AlreadyRecorded(f"{identity} is recorded already")
    connection.execute(insert(comparison).values(**columns))


def update_document(connection: Connection, columns: dict[str, Any]) -> None:
    """Write over the row of a comparison or run; raises `UsageError` where there is none."""
    require(connection, columns["id"])
    connection.execute(update(comparison).where(comparison.c.id == columns["id"]).values(**columns))


def replace_case(connection: Connection, identity: str, columns: dict[str, Any], position: int | None) -> int:
    """Write a case's row, and remove what was written of that case before; return the new row's number.

    Without a `position` the case keeps its place, and a new one comes last.
    """
    own = (case_result.c.comparison_id == identity) & (case_result.c.case == columns["case"])
    if position is None:
        position = connection.execute(select(case_result.c.position).where(own)).scalar()
    if position is None:
        places = select(func.max(case_result.c.position)).where(case_result.c.comparison_id == identity)
        last = connection.execute(places).scalar()
        position = 0 if last is None else last + 1
    connection.execute(delete(case_result).where(own))
    values = {"comparison_id": identity, "position": position, **columns}
    number: int = connection.execute(insert(case_result).values(**values).returning(case_result.c.id)).scalar_one()
    return number


def _keep(connection: Connection, table: Table, key: str, values: dict[str, Any]) -> None:
    changed = connection.execute(update(table).where(table.c[key] == values[key]).values(**values))
    if changed.rowcount == 0:
        connection.execute(insert(table).values(**values))
