"""Comparisons and runs as documents: written whole, replacing the recorded version, at any time during the work."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, TypeVar

from sqlalchemy import Connection, delete, insert, select

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
from zerolap.store.database import Records, insert_new, upsert
from zerolap.store.recorded_requests import find, keep_platform, state
from zerolap.store.tables import case_result, document, finding, request, start_ratio, start_spread, verdict

Kind: TypeAlias = Literal["compare", "run"]
_Case = TypeVar("_Case", CaseResult, RunCase)

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


_IN_SHORT = (
    select(document, request.c.state).join(request, request.c.id == document.c.id).where(document.c.kind != "snapshot")
)


def as_json(record: Record) -> str:
    """Return a record as JSON that is read back equal: pydantic's own writes infinite bounds of an interval as null."""
    return json.dumps(record.model_dump(mode="json", by_alias=True))


@dataclass(frozen=True)
class _CaseRow:
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
    for table, parts in ((verdict, result.verdicts), (finding, result.findings)):
        columns = [column.name for column in table.c if column.name not in ("case_result_id", "position")]
        rows = [
            {"case_result_id": number, "position": position, **{name: getattr(part, name) for name in columns}}
            for position, part in enumerate(parts)
        ]
        for row in rows:
            if row.get("function"):
                row["function"] = row["function"][:LONGEST_NAME]
        if rows:
            connection.execute(insert(table), rows)


def short_row(identity: str, kind: Kind, reached: RequestState, text: str) -> StoredRow:
    """Return a comparison or run in short, from its document without cases and the state of its request."""
    common: dict[str, Any] = {"id": identity, "kind": kind, "state": document_state(reached)}
    report: Comparison | RunReport
    try:
        if kind == "run":
            report = read_stored(RunReport, text, f"the run {identity}")
        else:
            report = read_stored(Comparison, text, f"the comparison {identity}")
    except UnreadableRecord as fault:
        return StoredRow(
            **common, created="", base=None, head="", command_line="", summary=None, unreadable=fault.message
        )
    head = report.server if isinstance(report, RunReport) else report.head
    return StoredRow(
        **common,
        created=report.created,
        base=None if isinstance(report, RunReport) else report.base.name,
        head=head.name,
        command_line=report.command_line,
        summary=None if isinstance(report, RunReport) else report.summary,
        platform=report.platform.name,
        head_commit=head.commit,
    )


class DocumentRecords(Records):
    """The documents of comparisons and runs, and what the starts of comparisons say."""

    def record_comparison(self, comparison: Comparison) -> None:
        """Record the document of a comparison, finished or not, replacing the recorded one."""
        self._record(comparison, {"kind": "compare", "base_build": comparison.base.build}, comparison.head.build)

    def record_run(self, report: RunReport) -> None:
        """Record the document of a run, finished or not, replacing the recorded one."""
        self._record(report, {"kind": "run"}, report.server.build)

    def _record(self, report: Comparison | RunReport, columns: Mapping[str, str], head_build: str) -> None:
        row = {
            **columns,
            "id": report.id,
            "head_build": head_build,
            "platform_fingerprint": report.platform.fingerprint,
            "document": as_json(report.model_copy(update={"cases": []})),
        }
        with self._database.write_transaction() as connection:
            keep_platform(connection, report.platform)
            upsert(connection, document, ["id"], [row])
            _replace_cases(connection, report.id, report.cases)

    def comparison(self, identity: str) -> Comparison:
        """Return the comparison with that id, the unique beginning of an id, or `latest`; raises `UsageError`.

        A killed comparison has the state `running`, and the cases recorded until then.
        """
        with self._database.read_transaction() as connection:
            comparison = _comparison(connection, identity)
            cases = _cases(connection, comparison.id, CaseResult, f"a case of the comparison {comparison.id}")
        return comparison.model_copy(update={"cases": cases})

    def comparison_without_cases(self, identity: str) -> Comparison:
        """Return the comparison with that id without its cases, to be read one by one; raises `UsageError`."""
        with self._database.read_transaction() as connection:
            return _comparison(connection, identity)

    def run(self, identity: str) -> RunReport:
        """Return the run with that id, the unique beginning of one, or `latest`; raises `UsageError`.

        The notes of an unfinished run report that it is incomplete.
        """
        with self._database.read_transaction() as connection:
            report = _run(connection, identity)
            cases = _cases(connection, report.id, RunCase, f"a case of the run {report.id}")
        return report.model_copy(update={"cases": cases})

    def run_without_cases(self, identity: str) -> RunReport:
        """Return the run with that id without its cases, as `comparison_without_cases` does."""
        with self._database.read_transaction() as connection:
            return _run(connection, identity)

    def comparisons(self, limit: int = 20) -> list[StoredRow]:
        """Return the newest comparisons and runs in short, the newest first."""
        newest = _IN_SHORT.order_by(document.c.number.desc()).limit(limit)
        return [short_row(row.id, row.kind, row.state, row.document) for row in self._database.rows(newest)]

    def done_comparisons(self, limit: int) -> list[str]:
        """Return the ids of the newest comparisons that are done, the newest first."""
        is_meant = (document.c.kind == "compare", request.c.state == "done")
        statement = _IN_SHORT.with_only_columns(document.c.id).where(*is_meant).order_by(document.c.number.desc())
        return self._database.values(statement.limit(limit))

    def in_short(self, identities: Iterable[str]) -> dict[str, StoredRow]:
        """Return those of the comparisons and runs that are recorded, by id, in short."""
        rows = self._database.rows_with(_IN_SHORT, document.c.id, identities)
        return {row.id: short_row(row.id, row.kind, row.state, row.document) for row in rows}

    def latest(self) -> StoredRow:
        """Return the newest comparison or run in short; raises `UsageError` if there is none."""
        rows = self.comparisons(1)
        if not rows:
            raise UsageError("the store is empty", hint="measure something with zerolap compare or zerolap run")
        return rows[0]

    def record_spreads(self, identity: str, spreads: Mapping[tuple[str, str], Spread], circumstances: str = "") -> None:
        """Record how much starts differed in a comparison, by case and metric.

        `circumstances` are what comparable starts have in common, such as the topology. Raises `UsageError`.
        """
        with self._database.write_transaction() as connection:
            row = find(connection, document, identity, "comparison")
            common = {"platform_fingerprint": row.platform_fingerprint, "circumstances": circumstances}
            rows = [
                {"document_id": row.id, "case": case, "metric": name, **common, **spread.model_dump()}
                for (case, name), spread in spreads.items()
            ]
            if rows:
                connection.execute(insert_new(connection, start_spread), rows)

    def record_start_ratios(self, identity: str, ratios: Sequence[StartRatio]) -> None:
        """Record what each start of a recorded comparison says; a start that is recorded is not changed.

        Raises `UsageError`.
        """
        with self._database.write_transaction() as connection:
            row = find(connection, document, identity, "comparison")
            rows = [{"document_id": row.id, **ratio.model_dump()} for ratio in ratios]
            if rows:
                connection.execute(insert_new(connection, start_ratio), rows)

    def start_ratios(self, identity: str) -> Sequence[StartRatio]:
        """Return what each start of a comparison says, by anchor, case, metric and block; raises `UsageError`."""
        columns = [start_ratio.c[name] for name in StartRatio.model_fields]
        ordered = (start_ratio.c.anchor, start_ratio.c.case, start_ratio.c.metric, start_ratio.c.block)
        with self._database.read_transaction() as connection:
            row = find(connection, document, identity, "comparison")
            statement = select(*columns).where(start_ratio.c.document_id == row.id).order_by(*ordered)
            return [StartRatio(**start._mapping) for start in connection.execute(statement)]

    def spreads(self, platform: str, metric: str, circumstances: str | None = None) -> Sequence[Spread]:
        """Return how much starts differed on the platform with that fingerprint, the newest first.

        Without `circumstances` those of all circumstances are returned.
        """
        statement = (
            select(start_spread.c.variance, start_spread.c.degrees)
            .join(document)
            .where(start_spread.c.platform_fingerprint == platform, start_spread.c.metric == metric)
            .order_by(document.c.number.desc(), start_spread.c.case)
            .limit(NEWEST_SPREADS)
        )
        if circumstances is not None:
            statement = statement.where(start_spread.c.circumstances == circumstances)
        return [Spread(**row._mapping) for row in self._database.rows(statement)]

    def circumstances(self, platform: str) -> Sequence[str]:
        """Return the circumstances for which the platform has spreads."""
        of_platform = start_spread.c.platform_fingerprint == platform
        return self._database.values(select(start_spread.c.circumstances).where(of_platform).distinct())


def _comparison(connection: Connection, wanted: str) -> Comparison:
    row = find(connection, document, wanted, "comparison", kind="compare")
    reached = document_state(state(connection, row.id))
    return read_stored(Comparison, row.document, f"the comparison {row.id}").model_copy(update={"state": reached})


def _run(connection: Connection, wanted: str) -> RunReport:
    row = find(connection, document, wanted, "run", kind="run")
    report = read_stored(RunReport, row.document, f"the run {row.id}")
    reached = document_state(state(connection, row.id))
    notes = [*report.notes, UNFINISHED_NOTES[reached]] if reached in UNFINISHED_NOTES else report.notes
    return report.model_copy(update={"notes": notes})


def _cases(connection: Connection, identity: str, kind: type[_Case], name: str) -> list[_Case]:
    statement = select(case_result.c.document).where(case_result.c.document_id == identity)
    documents = connection.execute(statement.order_by(case_result.c.position)).scalars()
    return [read_stored(kind, text, name) for text in documents]
