"""Writes what a store of revision 0009 holds to a new store: python scripts/convert_store.py OLD NEW.

OLD and NEW are locations as of `--store`. The old store is only read. Blobs are not copied: give NEW the same place for
them, or copy the directory `blobs`. Jobs of the first versions, which recorded no documents, are left out with their
trials.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, MetaData, create_engine, insert, select

from zerolap.store import Store
from zerolap.store.store import POSTGRESQL_PREFIXES, _sqlite_path
from zerolap.store.tables import metadata

CONVERTED_REVISION = "0009"
SAME = (
    "revision",
    "revision_parent",
    "build",
    "revision_build",
    "platform",
    "platform_facts",
    "series",
    "fleet_platform",
    "agent",
    "artifact",
    "delivery",
    "acknowledgement",
    "api_token",
    "watched_ref",
)
"""Tables with the same columns, in an order in which rows find what they refer to."""

UNKNOWN_SETTINGS = {"engines": [], "min_effect": {}, "q": 0.01, "budget_seconds": None, "seed": 1}

Row = Mapping[str, Any]


def main(old: str, new: str) -> None:
    """Convert, and print how many requests there are, and how many jobs were left out."""
    engine = create_engine(_url(old))
    with engine.connect() as source, Store.open(new) as store, store._database.writing() as target:
        tables = MetaData()
        tables.reflect(source)
        revision = source.execute(select(tables.tables["alembic_version"])).scalar_one()
        if revision != CONVERTED_REVISION:
            raise SystemExit(f"error: the store has revision {revision}; only {CONVERTED_REVISION} is converted")
        Conversion(source, tables, target).run()
    engine.dispose()


class Conversion:
    """One conversion, from a connection with reflected tables to a connection in a transaction."""

    def __init__(self, source: Connection, tables: MetaData, target: Connection) -> None:
        self._source = source
        self._tables = tables
        self._target = target

    def run(self) -> None:
        """Copy all tables."""
        for name in SAME:
            self._write(name, map(dict, self._rows(name)))
        requests = list(self._requests())
        self._write("request", requests)
        known = {request["id"] for request in requests}
        attempts = list(self._rows("attempt"))
        jobs = [*self._jobs(), *self._jobs_of_attempts(attempts)]
        by_id = {job["id"]: job for job in jobs if job["request_id"] in known}
        self._write("job", by_id.values())
        self._write("attempt", (_attempt(row) for row in attempts if row["job_id"] in by_id))
        trials = [dict(row) for row in self._rows("trial") if row["job_id"] in by_id]
        self._write("trial", trials)
        kept = {trial["id"] for trial in trials}
        self._write("metric", (dict(row) for row in self._rows("metric") if row["trial_id"] in kept))
        self._documents()
        triggers = (_renamed(row, submissions="requests") for row in self._rows("trigger"))
        self._write("trigger", (trigger | {"tries": 0} for trigger in triggers))
        self._write("post", (dict(row) | {"updates": 0, "failures": 0} for row in self._rows("post")))
        left_out = sum(row["document"] is None for row in self._rows("job"))
        print(f"{len(requests)} requests; {left_out} jobs without documents were left out")

    def _rows(self, name: str) -> Iterator[Row]:
        table = self._tables.tables[name]
        order = [table.c.number] if "number" in table.c else list(table.primary_key)
        yield from self._source.execute(select(table).order_by(*order)).mappings()

    def _write(self, name: str, rows: Any) -> None:
        table = metadata.tables[name]
        defaults = {
            column.name: column.default.arg  # type: ignore[attr-defined]
            for column in table.c
            if column.default is not None
        }
        for row in rows:
            known = {key: value for key, value in row.items() if key in table.c}
            self._target.execute(insert(table).values(**{**defaults, **known}))

    def _requests(self) -> Iterator[dict[str, Any]]:
        submissions = {row["id"]: row for row in self._rows("submission")}
        begun = {row["id"]: row for row in self._rows("request")}
        documents = {row["id"]: row for row in self._rows("comparison")}
        identities = [*submissions, *(one for one in begun if one not in submissions)]
        identities += [one for one in documents if one not in submissions and one not in begun]
        for number, identity in enumerate(identities, 1):
            yield _request(number, begun.get(identity), submissions.get(identity), documents.get(identity))

    def _jobs(self) -> Iterator[dict[str, Any]]:
        for row in self._rows("job"):
            if row["document"] is not None:
                yield dict(row)

    def _jobs_of_attempts(self, attempts: list[Row]) -> Iterator[dict[str, Any]]:
        """Yield the jobs that only attempts had: builds, and load."""
        recorded = {row["id"] for row in self._rows("job")}
        number = max((row["number"] for row in self._rows("job")), default=0)
        for row in attempts:
            if row["job_id"] not in recorded:
                recorded.add(row["job_id"])
                number += 1
                yield {
                    "number": number,
                    "id": row["job_id"],
                    "request_id": row["submission_id"],
                    "kind": json.loads(row["document"])["kind"],
                    "document": row["document"],
                }

    def _documents(self) -> None:
        self._write("document", (dict(row) for row in self._rows("comparison")))
        self._write("case_result", (_renamed(row, comparison_id="document_id") for row in self._rows("case_result")))
        self._write("verdict", map(dict, self._rows("verdict")))
        self._write("finding", map(dict, self._rows("finding")))
        renamed = {"comparison_id": "document_id", "topology": "circumstances"}
        self._write("start_spread", (_renamed(row, **renamed) for row in self._rows("start_spread")))


def _request(number: int, begun: Row | None, submission: Row | None, document: Row | None) -> dict[str, Any]:
    """Return the row of a request, from what there was of it."""
    row = begun or submission or document
    assert row is not None
    asked = json.loads(submission["document"]) if submission is not None else _asked(begun, document)
    asked |= {"schema": "zerolap.request/1", "platform": "" if submission is None else submission["platform"]}
    state = row["state"] if submission is None else submission["state"]
    columns = {
        "number": number,
        "id": row["id"],
        "kind": asked["kind"],
        "created": asked["created"],
        "platform": asked["platform"],
        "priority": asked.get("priority", "pull"),
        "topic": asked.get("topic", ""),
        "state": state,
        "reason": "" if submission is None else submission["reason"],
        "cancelled": False,
        "submitted": 0.0 if submission is None else submission["submitted"],
        "ended": None if submission is None else submission["ended"],
        "document": json.dumps(asked),
    }
    return columns | _resolved(begun)


def _asked(begun: Row | None, document: Row | None) -> dict[str, Any]:
    """Return what was asked for, of what is recorded of a request to this machine."""
    if begun is not None and begun["document"] is not None:
        old = json.loads(begun["document"])
        names = ("id", "kind", "created", "command_line", "cases", "settings", "all_stacks", "notes", "trigger")
        servers = {side: _without(server, "spec") for side, server in old["servers"].items()}
        return {**{name: old[name] for name in names if name in old}, "servers": servers}
    row = document or begun
    assert row is not None
    shown = {} if document is None else json.loads(document["document"])
    return {
        "id": row["id"],
        "kind": row["kind"],
        "created": row["created"],
        "command_line": shown.get("command_line", ""),
        "servers": {},
        "cases": [],
        "settings": shown.get(
            "settings", {"engines": [], "min_effect": {}, "q": 0.01, "budget_seconds": None, "seed": 1}
        ),
    }


def _resolved(begun: Row | None) -> dict[str, Any]:
    if begun is None or begun["document"] is None:
        return {}
    old = json.loads(begun["document"])
    resolved = {name: old[name] for name in ("platform", "servers", "cases", "skipped", "notes") if name in old}
    return {
        "digest": begun["digest"],
        "platform_fingerprint": begun["platform_fingerprint"],
        "variants": json.dumps({side: server["spec"].get("variant", "") for side, server in old["servers"].items()}),
        "resolved": json.dumps(resolved),
    }


def _attempt(row: Row) -> dict[str, Any]:
    return {**_renamed(row, submission_id="request_id"), "starts": 0}


def _renamed(row: Row, **names: str) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in row.items()}


def _without(document: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != name}


def _url(location: str) -> str:
    if location.startswith(POSTGRESQL_PREFIXES):
        return "postgresql+psycopg://" + location.partition("://")[2].partition("?")[0]
    return f"sqlite:///{_sqlite_path(location)}"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
