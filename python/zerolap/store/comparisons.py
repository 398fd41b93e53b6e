"""Comparisons to rows and back."""

import json
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from zerolap.records import CaseResult, Comparison, Finding, Summary, Verdict
from zerolap.store.listing import require
from zerolap.store.shared import as_json, insert_document, keep_build, keep_platform, replace_case, update_document
from zerolap.store.tables import case_result, comparison, finding, trial, verdict


def begin(connection: Connection, new: Comparison) -> None:
    """Write a new comparison with the cases it has; raises `AlreadyRecorded` where its id is taken."""
    _keep_parts(connection, new)
    insert_document(connection, _columns(new))
    _write_cases(connection, new)


def finish(connection: Connection, done: Comparison) -> None:
    """Write how a comparison ended, and its cases, over what was recorded on the way; raises `UsageError`."""
    _keep_parts(connection, done)
    update_document(connection, _columns(done))
    _write_cases(connection, done)


def record_case(connection: Connection, identity: str, result: CaseResult) -> None:
    """Write the result of one case over what was recorded of it, and count the comparison's summary anew."""
    require(connection, identity)
    _write_case(connection, identity, result, position=None)
    _count_summary(connection, identity)


def read(connection: Connection, row: Row[Any]) -> Comparison:
    """Return the comparison of a row with all its cases."""
    return Comparison.model_validate(
        {
            "schema": row.schema,
            "id": row.id,
            "created": row.created,
            "command_line": row.command_line,
            "state": row.state,
            **{name: json.loads(row._mapping[name]) for name in _JSON_COLUMNS},
            "cases": _read_cases(connection, row.id),
        }
    )


_JSON_COLUMNS = ("base", "head", "platform", "settings", "summary", "notes", "skipped")


def _keep_parts(connection: Connection, what: Comparison) -> None:
    keep_build(connection, what.base)
    keep_build(connection, what.head)
    keep_platform(connection, what.platform)


def _columns(what: Comparison) -> dict[str, Any]:
    return {
        "id": what.id,
        "kind": "compare",
        "schema": what.schema_,
        "created": what.created,
        "command_line": what.command_line,
        "state": what.state,
        "base_build": what.base.build,
        "head_build": what.head.build,
        "platform_fingerprint": what.platform.fingerprint,
        "base": what.base.model_dump_json(),
        "head": what.head.model_dump_json(),
        "platform": what.platform.model_dump_json(),
        "settings": what.settings.model_dump_json(),
        "notes": as_json(what.notes),
        "summary": what.summary.model_dump_json(),
        "skipped": as_json([one.model_dump() for one in what.skipped]),
    }


def _write_cases(connection: Connection, what: Comparison) -> None:
    for position, result in enumerate(what.cases):
        _write_case(connection, what.id, result, position)


def _write_case(connection: Connection, identity: str, result: CaseResult, position: int | None) -> None:
    columns = result.model_dump(include={"case", "group", "topology", "verdict", "confirmed", "failure"})
    columns["commands"] = as_json(result.commands)
    columns["valid"] = result.validity.valid
    columns["validity"] = result.validity.model_dump_json()
    number = replace_case(connection, identity, columns, position)
    verdicts = [
        {"case_result_id": number, "position": place, **one.model_dump()} for place, one in enumerate(result.verdicts)
    ]
    findings = [
        {
            "case_result_id": number,
            "position": place,
            "rank": one.rank,
            "kind": one.kind,
            "function": one.function,
            "document": one.model_dump_json(),
        }
        for place, one in enumerate(result.findings)
    ]
    if verdicts:
        connection.execute(insert(verdict), verdicts)
    if findings:
        connection.execute(insert(finding), findings)


def _count_summary(connection: Connection, identity: str) -> None:
    """Make the summary of an unfinished comparison say what is recorded of it."""
    counted = connection.execute(
        select(case_result.c.verdict, func.count())
        .where(case_result.c.comparison_id == identity)
        .group_by(case_result.c.verdict)
    )
    counts = {name: 0 for name in Summary.model_fields if name != "machine_seconds"}
    counts.update((row[0], row[1]) for row in counted)
    seconds = connection.execute(select(func.sum(trial.c.seconds)).where(trial.c.comparison_id == identity)).scalar()
    stored = connection.execute(select(comparison.c.summary).where(comparison.c.id == identity)).scalar_one()
    machine_seconds = max(seconds or 0.0, Summary.model_validate_json(stored).machine_seconds)
    summary = Summary.model_validate({**counts, "machine_seconds": machine_seconds})
    connection.execute(update(comparison).where(comparison.c.id == identity).values(summary=summary.model_dump_json()))


def _read_cases(connection: Connection, identity: str) -> list[CaseResult]:
    verdicts: dict[int, list[Verdict]] = {}
    for row in _children(connection, verdict, identity):
        fields = {name: row._mapping[name] for name in Verdict.model_fields}
        verdicts.setdefault(row.case_result_id, []).append(Verdict.model_validate(fields))
    findings: dict[int, list[Finding]] = {}
    for row in _children(connection, finding, identity):
        findings.setdefault(row.case_result_id, []).append(Finding.model_validate_json(row.document))
    rows = connection.execute(
        select(case_result)
        .where(case_result.c.comparison_id == identity)
        .order_by(case_result.c.position, case_result.c.id)
    )
    return [
        CaseResult.model_validate(
            {
                **{
                    name: row._mapping[name]
                    for name in ("case", "group", "topology", "verdict", "confirmed", "failure")
                },
                "commands": json.loads(row.commands),
                "validity": json.loads(row.validity),
                "verdicts": verdicts.get(row.id, []),
                "findings": findings.get(row.id, []),
            }
        )
        for row in rows
    ]


def _children(connection: Connection, table: Any, identity: str) -> Any:
    return connection.execute(
        select(table)
        .join(case_result)
        .where(case_result.c.comparison_id == identity)
        .order_by(table.c.case_result_id, table.c.position)
    )
