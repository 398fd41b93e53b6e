"""Runs to rows and back; a run's cases are kept as JSON, its trials as those of a comparison."""

import json
from typing import Any

from sqlalchemy import Connection, Row, select

from zerolap.records import RunCase, RunReport
from zerolap.store.listing import require
from zerolap.store.shared import as_json, insert_document, keep_build, keep_platform, replace_case, update_document
from zerolap.store.tables import case_result

UNFINISHED_NOTES = {
    "running": "the run did not finish: it was interrupted, or is still going on; this is what was recorded",
    "interrupted": "the run was interrupted; this is what was recorded until then",
    "failed": "the run failed; this is what was recorded until then",
}


def begin(connection: Connection, new: RunReport) -> None:
    """Write a new run with the cases it has; raises `AlreadyRecorded` where its id is taken."""
    _keep_parts(connection, new)
    insert_document(connection, _columns(new, "running"))
    _write_cases(connection, new)


def finish(connection: Connection, done: RunReport, state: str) -> None:
    """Write how a run ended, and its cases, over what was recorded on the way; raises `UsageError`."""
    _keep_parts(connection, done)
    update_document(connection, _columns(done, state))
    _write_cases(connection, done)


def record_case(connection: Connection, identity: str, result: RunCase) -> None:
    """Write one case of a run over what was recorded of it; raises `UsageError` for an unknown run."""
    require(connection, identity)
    _write_case(connection, identity, result, position=None)


def read(connection: Connection, row: Row[Any]) -> RunReport:
    """Return the run of a row with all its cases; an unfinished one has a note that says so."""
    documents = connection.execute(
        select(case_result.c.document)
        .where(case_result.c.comparison_id == row.id)
        .order_by(case_result.c.position, case_result.c.id)
    ).scalars()
    notes = json.loads(row.notes)
    if row.state in UNFINISHED_NOTES:
        notes.append(UNFINISHED_NOTES[row.state])
    return RunReport.model_validate(
        {
            "schema": row.schema,
            "id": row.id,
            "created": row.created,
            "command_line": row.command_line,
            "server": json.loads(row.head),
            "platform": json.loads(row.platform),
            "settings": json.loads(row.settings),
            "machine_seconds": json.loads(row.summary)["machine_seconds"],
            "notes": notes,
            "skipped": json.loads(row.skipped),
            "cases": [RunCase.model_validate_json(document) for document in documents],
        }
    )


def _keep_parts(connection: Connection, what: RunReport) -> None:
    keep_build(connection, what.server)
    keep_platform(connection, what.platform)


def _columns(what: RunReport, state: str) -> dict[str, Any]:
    return {
        "id": what.id,
        "kind": "run",
        "schema": what.schema_,
        "created": what.created,
        "command_line": what.command_line,
        "state": state,
        "head_build": what.server.build,
        "platform_fingerprint": what.platform.fingerprint,
        "head": what.server.model_dump_json(),
        "platform": what.platform.model_dump_json(),
        "settings": what.settings.model_dump_json(),
        "notes": as_json(what.notes),
        "summary": as_json({"machine_seconds": what.machine_seconds}),
        "skipped": as_json([one.model_dump() for one in what.skipped]),
    }


def _write_cases(connection: Connection, what: RunReport) -> None:
    for position, result in enumerate(what.cases):
        _write_case(connection, what.id, result, position)


def _write_case(connection: Connection, identity: str, result: RunCase, position: int | None) -> None:
    columns = result.model_dump(include={"case", "group", "topology", "failure"})
    columns["commands"] = as_json(result.commands)
    columns["valid"] = result.validity.valid
    columns["validity"] = result.validity.model_dump_json()
    columns["document"] = result.model_dump_json()
    replace_case(connection, identity, columns, position)
