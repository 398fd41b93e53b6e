"""Comparisons and runs as documents: written whole, replacing the recorded version, at any time during the work."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import Connection, Row, Table, delete, insert, select

from zerolap.records import (
    CaseResult,
    Comparison,
    DocumentState,
    Record,
    RequestState,
    RunCase,
    RunReport,
    Spread,
    StartRatio,
    Summary,
    UnreadableRecord,
    UsageError,
    document_state,
    read_stored,
)
from zerolap.store.database import insert_new, insert_of
from zerolap.store.recorded_requests import find, keep_platform, state
from zerolap.store.tables import case_result, document, finding, request, start_ratio, start_spread, verdict

Kind: TypeAlias = Literal["compare", "run"]

UNFINISHED_NOTES: Final = {
    "running": "the run did not finish: it was interrupted, or is still going on; this is what was recorded",
    "interrupted": "the run was interrupted; this is what was recorded until then",
    "failed": "the run failed; this is what was recorded until then",
}
NEWEST_SPREADS: Final = 200
"""Limit on the spreads of a metric that are read: a platform changes over time."""
LONGEST_NAME: Final = 500
"""Characters of a function's name in the table of findings: an index of PostgreSQL holds no more than 2,700 bytes."""


@dataclass(frozen=True)
class StoredRow:
    """A comparison or run in short; `base` and `summary` are None for a run, `platform` is the name of the machine.

    `unreadable` is why its document cannot be read; what would be in the document is empty then.
    """

    id: str
    kind: Kind
    created: str
    state: DocumentState
    base: str | None
    head: str
    command_line: str
    summary: Summary | None
    unreadable: str = ""
    platform: str = ""
    head_commit: str | None = None


def keep_comparison(connection: Connection, comparison: Comparison) -> None:
    """Write the document of a comparison that was requested, replacing the recorded one."""
    keep_platform(connection, comparison.platform)
    keep_document(
        connection,
        {
            "id": comparison.id,
            "kind": "compare",
            "base_build": comparison.base.build,
            "head_build": comparison.head.build,
            "platform_fingerprint": comparison.platform.fingerprint,
            "document": as_json(comparison.model_copy(update={"cases": []})),
        },
    )
    _replace_cases(connection, comparison.id, comparison.cases)


def keep_run(connection: Connection, report: RunReport) -> None:
    """Write the document of a run that was requested, replacing the recorded one."""
    keep_platform(connection, report.platform)
    keep_document(
        connection,
        {
            "id": report.id,
            "kind": "run",
            "head_build": report.server.build,
            "platform_fingerprint": report.platform.fingerprint,
            "document": as_json(report.model_copy(update={"cases": []})),
        },
    )
    _replace_cases(connection, report.id, report.cases)


def read_comparison(connection: Connection, wanted: str) -> Comparison:
    """Return the comparison that `wanted` names, with its recorded cases; raises `UsageError`."""
    comparison = read_comparison_alone(connection, wanted)
    name = f"a case of the comparison {comparison.id}"
    cases = [read_stored(CaseResult, text, name) for text in _cases_of(connection, comparison.id)]
    return comparison.model_copy(update={"cases": cases})


def read_comparison_alone(connection: Connection, wanted: str) -> Comparison:
    """Return the comparison that `wanted` names, without its cases; raises `UsageError`."""
    row = find(connection, document, wanted, "comparison", kind="compare")
    reached = document_state(state(connection, row.id))
    return read_stored(Comparison, row.document, f"the comparison {row.id}").model_copy(update={"state": reached})


def read_run(connection: Connection, wanted: str) -> RunReport:
    """Return the run that `wanted` names; an unfinished one has a note. Raises `UsageError`."""
    report = read_run_alone(connection, wanted)
    name = f"a case of the run {report.id}"
    cases = [read_stored(RunCase, text, name) for text in _cases_of(connection, report.id)]
    return report.model_copy(update={"cases": cases})


def read_run_alone(connection: Connection, wanted: str) -> RunReport:
    """Return the run that `wanted` names as `read_run` does, without its cases."""
    row = find(connection, document, wanted, "run", kind="run")
    report = read_stored(RunReport, row.document, f"the run {row.id}")
    reached = document_state(state(connection, row.id))
    notes = [*report.notes, UNFINISHED_NOTES[reached]] if reached in UNFINISHED_NOTES else report.notes
    return report.model_copy(update={"notes": notes})


_IN_SHORT = (
    select(document, request.c.state).join(request, request.c.id == document.c.id).where(document.c.kind != "snapshot")
)


def newest(connection: Connection, limit: int) -> list[StoredRow]:
    """Return the newest comparisons and runs in short, the newest first."""
    return [_short(row) for row in connection.execute(_IN_SHORT.order_by(document.c.number.desc()).limit(limit))]


def done_comparisons(connection: Connection, limit: int) -> list[str]:
    """Return the ids of the newest comparisons that are done, the newest first."""
    statement = select(document.c.id).join(request, request.c.id == document.c.id)
    is_meant = (document.c.kind == "compare", request.c.state == "done")
    return list(
        connection.execute(statement.where(*is_meant).order_by(document.c.number.desc()).limit(limit)).scalars()
    )


def in_short(connection: Connection, identities: Iterable[str]) -> dict[str, StoredRow]:
    """Return comparisons and runs in short, by id."""
    return {row.id: _short(row) for row in connection.execute(_IN_SHORT.where(document.c.id.in_(list(identities))))}


def latest(connection: Connection) -> StoredRow:
    """Return the newest comparison or run in short; raises `UsageError` if there is none."""
    rows = newest(connection, 1)
    if not rows:
        raise UsageError("the store is empty", hint="measure something with zerolap compare or zerolap run")
    return rows[0]


def keep_spreads(
    connection: Connection, identity: str, spreads: Mapping[tuple[str, str], Spread], circumstances: str
) -> None:
    """Write how much starts differed in a comparison, by case and metric; raises `UsageError` for an unknown id."""
    row = find(connection, document, identity, "comparison")
    rows = [
        {
            "document_id": row.id,
            "case": case,
            "metric": name,
            "platform_fingerprint": row.platform_fingerprint,
            "circumstances": circumstances,
            **spread.model_dump(),
        }
        for (case, name), spread in spreads.items()
    ]
    if rows:
        connection.execute(insert_new(connection, start_spread), rows)


def keep_start_ratios(connection: Connection, identity: str, ratios: Sequence[StartRatio]) -> None:
    """Write what each start of a comparison says; raises `UsageError` for an unknown id."""
    row = find(connection, document, identity, "comparison")
    rows = [{"document_id": row.id, **ratio.model_dump()} for ratio in ratios]
    if rows:
        connection.execute(insert_new(connection, start_ratio), rows)


def read_start_ratios(connection: Connection, identity: str) -> Sequence[StartRatio]:
    """Return what each start of a comparison says, by anchor, case, metric and block; raises `UsageError`."""
    row = find(connection, document, identity, "comparison")
    statement = select(start_ratio).where(start_ratio.c.document_id == row.id)
    columns = (start_ratio.c.anchor, start_ratio.c.case, start_ratio.c.metric, start_ratio.c.block)
    return [
        StartRatio.model_validate({name: getattr(row, name) for name in StartRatio.model_fields})
        for row in connection.execute(statement.order_by(*columns))
    ]


def read_spreads(connection: Connection, platform: str, name: str, circumstances: str | None) -> Sequence[Spread]:
    """Return the spreads of a metric on a platform, the newest first; by default under all circumstances."""
    statement = (
        select(start_spread.c.variance, start_spread.c.degrees)
        .join(document)
        .where(start_spread.c.platform_fingerprint == platform, start_spread.c.metric == name)
        .order_by(document.c.number.desc(), start_spread.c.case)
        .limit(NEWEST_SPREADS)
    )
    if circumstances is not None:
        statement = statement.where(start_spread.c.circumstances == circumstances)
    return [Spread(variance=row.variance, degrees=row.degrees) for row in connection.execute(statement)]


def read_circumstances(connection: Connection, platform: str) -> Sequence[str]:
    """Return the circumstances of the spreads of a platform."""
    statement = select(start_spread.c.circumstances).where(start_spread.c.platform_fingerprint == platform).distinct()
    return [row.circumstances for row in connection.execute(statement)]


def as_json(record: Record) -> str:
    """Return a record as JSON that is read back equal: pydantic's own writes infinite bounds of an interval as null."""
    return json.dumps(record.model_dump(mode="json", by_alias=True))


def keep_document(connection: Connection, columns: dict[str, Any]) -> None:
    """Write the row of a document, replacing the one of its id."""
    statement = insert_of(connection, document).values(**columns)
    connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=columns))


@dataclass(frozen=True)
class _CaseRow:
    """A case of a document with its position."""

    position: int
    result: CaseResult | RunCase
    document: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(f"{self.position} {self.document}".encode()).hexdigest()


def _replace_cases(connection: Connection, identity: str, cases: Sequence[CaseResult | RunCase]) -> None:
    """Write the changed cases of a document, and remove those that it no longer contains."""
    rows = [_CaseRow(position, result, as_json(result)) for position, result in enumerate(cases)]
    recorded = set(
        connection.execute(select(case_result.c.digest).where(case_result.c.document_id == identity)).scalars()
    )
    wanted = {row.digest for row in rows}
    outdated = case_result.c.digest.in_(recorded - wanted)
    connection.execute(delete(case_result).where(case_result.c.document_id == identity, outdated))
    for row in rows:
        if row.digest not in recorded:
            _insert_case(connection, identity, row)


def _insert_case(connection: Connection, identity: str, row: _CaseRow) -> None:
    result = row.result
    columns: dict[str, Any] = {
        "document_id": identity,
        "position": row.position,
        "case": result.case,
        "group": result.group,
        "topology": result.topology,
        "valid": result.validity.valid,
        "digest": row.digest,
        "document": row.document,
    }
    if isinstance(result, CaseResult):
        columns.update(verdict=result.verdict, deciding=result.deciding, confirmed=result.confirmed)
    statement = insert(case_result).values(**columns).returning(case_result.c.id)
    number: int = connection.execute(statement).scalar_one()
    if isinstance(result, CaseResult):
        _insert_parts(connection, number, result)


def _insert_parts(connection: Connection, number: int, result: CaseResult) -> None:
    """Write the parts that queries over many cases use: verdicts and findings."""
    verdicts = [
        {"case_result_id": number, "position": position, **_columns_of(verdict, case_verdict)}
        for position, case_verdict in enumerate(result.verdicts)
    ]
    findings = [
        {
            "case_result_id": number,
            "position": position,
            "rank": case_finding.rank,
            "kind": case_finding.kind,
            "function": case_finding.function and case_finding.function[:LONGEST_NAME],
        }
        for position, case_finding in enumerate(result.findings)
    ]
    if verdicts:
        connection.execute(insert(verdict), verdicts)
    if findings:
        connection.execute(insert(finding), findings)


def _columns_of(table: Table, record: Record) -> dict[str, Any]:
    """Return the fields of a record for which the table has a column."""
    return {name: value for name, value in record.model_dump().items() if name in table.c}


def _cases_of(connection: Connection, identity: str) -> Iterable[str]:
    statement = select(case_result.c.document).where(case_result.c.document_id == identity)
    return connection.execute(statement.order_by(case_result.c.position)).scalars()


def _short(row: Row[Any]) -> StoredRow:
    return short_row(row.id, row.kind, row.state, row.document)


def short_row(identity: str, kind: Kind, reached: RequestState, text: str) -> StoredRow:
    """Return a comparison or run in short, from its document without cases and the state of its request."""
    common: dict[str, Any] = {"id": identity, "kind": kind, "state": document_state(reached)}
    try:
        return _read_short(text, common)
    except UnreadableRecord as fault:
        return StoredRow(
            **common, created="", base=None, head="", command_line="", summary=None, unreadable=fault.message
        )


def _read_short(text: str, common: dict[str, Any]) -> StoredRow:
    if common["kind"] == "run":
        report = read_stored(RunReport, text, f"the run {common['id']}")
        return StoredRow(
            **common,
            created=report.created,
            base=None,
            head=report.server.name,
            command_line=report.command_line,
            summary=None,
            platform=report.platform.name,
            head_commit=report.server.commit,
        )
    comparison = read_stored(Comparison, text, f"the comparison {common['id']}")
    return StoredRow(
        **common,
        created=comparison.created,
        base=comparison.base.name,
        head=comparison.head.name,
        command_line=comparison.command_line,
        summary=comparison.summary,
        platform=comparison.platform.name,
        head_commit=comparison.head.commit,
    )
