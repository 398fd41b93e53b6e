"""Finding comparisons and runs by their ids, and listing them."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, Row, func, select

from zerolap.records import Build, Summary, UsageError
from zerolap.store.tables import comparison

Kind: TypeAlias = Literal["compare", "run"]

NAMES: dict[str, str] = {"compare": "comparison", "run": "run"}
LATEST = "latest"
NAMED_IN_ERRORS = 5


@dataclass(frozen=True)
class StoredRow:
    """A comparison or run in short; `base` and `summary` are None for a run."""

    id: str
    kind: Kind
    created: str
    state: str
    base: str | None
    head: str
    command_line: str
    summary: Summary | None


def newest(connection: Connection, limit: int) -> list[StoredRow]:
    """Return the newest `limit` comparisons and runs, the newest first."""
    statement = select(comparison).order_by(comparison.c.number.desc()).limit(limit)
    return [_short(row) for row in connection.execute(statement)]


def find(connection: Connection, kind: Kind, wanted: str) -> Row[Any]:
    """Return the row that `wanted` names: an id, the unique beginning of one, or `latest`.

    Raises `UsageError`, which names the newest few, where there is none or more than one.
    """
    ofkind = select(comparison).where(comparison.c.kind == kind).order_by(comparison.c.number.desc())
    if wanted == LATEST:
        row = connection.execute(ofkind.limit(1)).first()
        if row is None:
            raise UsageError(f"the store holds no {NAMES[kind]} yet", hint=_other_kind(connection))
        return row
    exact = connection.execute(ofkind.where(comparison.c.id == wanted)).first()
    if exact is not None:
        return exact
    beginning = func.substr(comparison.c.id, 1, len(wanted)) == wanted
    rows = connection.execute(ofkind.where(beginning).limit(NAMED_IN_ERRORS + 1)).all() if wanted else []
    if len(rows) == 1:
        return rows[0]
    raise _not_one(connection, kind, wanted, [row.id for row in rows])


def latest(connection: Connection) -> StoredRow:
    """Return the newest comparison or run; raises `UsageError` where there is none."""
    rows = newest(connection, 1)
    if not rows:
        raise UsageError("the store is empty", hint="measure something with zerolap compare or zerolap run")
    return rows[0]


def require(connection: Connection, identity: str) -> None:
    """Raise `UsageError` unless the store holds a comparison or run with exactly that id."""
    found = connection.execute(select(comparison.c.id).where(comparison.c.id == identity)).first()
    if found is None:
        raise UsageError(f"the store holds no comparison or run {identity!r}")


def _not_one(connection: Connection, kind: Kind, wanted: str, matching: list[str]) -> UsageError:
    if matching:
        named = ", ".join(matching[:NAMED_IN_ERRORS])
        return UsageError(f"{wanted!r} begins more than one id", hint=f"name one of {named}")
    rows = connection.execute(
        select(comparison.c.id)
        .where(comparison.c.kind == kind)
        .order_by(comparison.c.number.desc())
        .limit(NAMED_IN_ERRORS)
    )
    names = [row.id for row in rows]
    hint = f"the newest are {', '.join(names)}" if names else _other_kind(connection)
    return UsageError(f"the store holds no {NAMES[kind]} {wanted!r}", hint=hint)


def _other_kind(connection: Connection) -> str:
    rows = newest(connection, NAMED_IN_ERRORS)
    if not rows:
        return "the store is empty: measure something with zerolap compare or zerolap run"
    return "the store holds " + ", ".join(f"the {NAMES[row.kind]} {row.id}" for row in rows)


def _short(row: Row[Any]) -> StoredRow:
    comparing = row.kind == "compare"
    return StoredRow(
        id=row.id,
        kind=row.kind,
        created=row.created,
        state=row.state,
        base=_name_in(row.base) if comparing else None,
        head=_name_in(row.head),
        command_line=row.command_line,
        summary=Summary.model_validate_json(row.summary) if comparing else None,
    )


def _name_in(build_document: str) -> str:
    return Build.model_validate_json(build_document).name
