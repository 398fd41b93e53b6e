"""Requests, jobs, revisions and series; documents are kept whole; trials belong to jobs.

Every table is made anew, and what the old ones held is moved into them. Only SQLite stores hold something here:
PostgreSQL stores begin with this revision.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

# Children before their parents.
OLD_TABLES = (
    "start_spread",
    "verdict",
    "finding",
    "metric",
    "trial",
    "case_result",
    "comparison",
    "platform",
    "build",
)
FIRST_PACED_BLOCK = 500
"""Timed trials from this block on were sent requests at an equal rate, which was not recorded."""
BLOB_COLUMNS = {"counted": "graph", "timed": "timeline", "sampled": "stacks"}
"""What the digest in `profile` was of, by engine."""


def upgrade() -> None:
    """Create the tables of this revision, and move the rows."""
    for name in OLD_TABLES:
        op.execute(f"CREATE TABLE old_{name} AS SELECT * FROM {name}")
    for name in OLD_TABLES:
        op.drop_table(name)
    _create_tables()
    _move_builds()
    _move_documents()
    _move_trials()
    for name in OLD_TABLES:
        op.drop_table(f"old_{name}")


def _move_builds() -> None:
    for row in _rows("SELECT * FROM old_build"):
        columns = ("build", "version", "build_id", "flags", "compiler", "stripped", "variant", "allocator")
        unknown = {"architecture": "", "libc": "", "source_root": "", "arguments": "[]", "path": None}
        _insert("build", {**{name: row[name] for name in columns}, **unknown})
    for commit, build in sorted(_commits()):
        key = {"repository": "", "commit": commit}
        if not _rows('SELECT 1 FROM revision WHERE "commit" = :commit', commit=commit):
            _insert("revision", {**key, "time": "", "subject": ""})
        _insert("revision_build", {**key, "build": build})
    op.execute("INSERT INTO platform SELECT fingerprint, name, cpu, cores FROM old_platform")
    first_seen = "(SELECT min(created) FROM old_comparison WHERE platform_fingerprint = fingerprint)"
    for row in _rows(f"SELECT fingerprint, kernel, coalesce({first_seen}, '') AS first_seen FROM old_platform"):
        _insert("platform_facts", {**row, "digest": _digest_of(row["kernel"], "{}"), "facts": "{}"})


def _commits() -> set[tuple[str, str]]:
    """Return commits with their builds, from documents: the table of builds had the last commit alone."""
    documents = _rows("SELECT head FROM old_comparison UNION ALL SELECT base FROM old_comparison")
    sides = [json.loads(row["head"]) for row in documents if row["head"] is not None]
    return {(side["commit"], side["build"]) for side in sides if side["commit"] is not None}


def _move_documents() -> None:
    for row in _rows("SELECT * FROM old_comparison ORDER BY number"):
        shared = {name: row[name] for name in ("number", "id", "kind", "created", "state", "platform_fingerprint")}
        _insert("request", {**shared, "digest": "", "cancelled": False, "priority": 0})
        document = json.dumps(_comparison_of(row) if row["kind"] == "compare" else _run_of(row))
        builds = {name: row[name] for name in ("base_build", "head_build")}
        _insert("comparison", {**shared, **builds, "document": document})
    for row in _rows("SELECT * FROM old_case_result ORDER BY id"):
        names = ("id", "comparison_id", "position", "case", "group", "topology", "verdict", "confirmed", "valid")
        case = row["document"] or json.dumps(_case_of(row))
        _insert("case_result", {**{name: row[name] for name in names}, "digest": "", "document": case})
    op.execute("INSERT INTO verdict SELECT * FROM old_verdict")
    op.execute("INSERT INTO finding SELECT case_result_id, position, rank, kind, function FROM old_finding")
    columns = 'comparison_id, "case", metric, platform_fingerprint'
    op.execute(
        f"INSERT INTO start_spread ({columns}, topology, variance, degrees)"
        f" SELECT {columns}, '', variance, degrees FROM old_start_spread"
    )


def _comparison_of(row: dict[str, Any]) -> dict[str, Any]:
    parts = ("base", "head", "platform", "settings", "summary", "notes", "skipped")
    plain = {name: row[name] for name in ("schema", "id", "created", "command_line", "state")}
    return {**plain, **{name: json.loads(row[name]) for name in parts}, "cases": []}


def _run_of(row: dict[str, Any]) -> dict[str, Any]:
    plain = {name: row[name] for name in ("schema", "id", "created", "command_line")}
    parts = {name: json.loads(row[name]) for name in ("platform", "settings", "notes", "skipped")}
    seconds = json.loads(row["summary"])["machine_seconds"]
    return {**plain, **parts, "server": json.loads(row["head"]), "machine_seconds": seconds, "cases": []}


def _case_of(row: dict[str, Any]) -> dict[str, Any]:
    children = "FROM old_{} WHERE case_result_id = :number ORDER BY position"
    verdicts = _rows(f"SELECT * {children.format('verdict')}", number=row["id"])
    findings = _rows(f"SELECT document {children.format('finding')}", number=row["id"])
    left_out = ("case_result_id", "position")
    return {
        **{name: row[name] for name in ("case", "group", "topology", "verdict", "failure")},
        "confirmed": bool(row["confirmed"]),
        "commands": json.loads(row["commands"]),
        "validity": json.loads(row["validity"]),
        "verdicts": [{name: value for name, value in row.items() if name not in left_out} for row in verdicts],
        "findings": [json.loads(finding["document"]) for finding in findings],
    }


def _move_trials() -> None:
    kinds = {row["id"]: row["kind"] for row in _rows("SELECT id, kind FROM old_comparison")}
    jobs: set[str] = set()
    for row in _rows("SELECT * FROM old_trial ORDER BY id"):
        # The server of a run was its base in trials, and its head everywhere else.
        side = "head" if kinds[row["comparison_id"]] == "run" else row["side"]
        is_paced = row["engine"] == "timed" and row["block"] >= FIRST_PACED_BLOCK
        key = [row["comparison_id"], row["case"], row["engine"], "paced" if is_paced else ""]
        if row["state"] == "failed":
            key += [side, str(row["block"])]
        job = "j-" + _digest_of("before jobs", *key)
        if job not in jobs:
            jobs.add(job)
            _insert("job", _job_of(row, job, side, 0 if is_paced else None))
        if row["state"] == "done":
            _insert("trial", _trial_of(row, job, side))
    op.execute(
        "INSERT INTO metric (trial_id, name, value)"
        " SELECT trial_id, name, value FROM old_metric WHERE trial_id IN (SELECT id FROM trial)"
    )


def _job_of(row: dict[str, Any], identity: str, side: str, per_second: int | None) -> dict[str, Any]:
    failure = None
    if row["state"] == "failed":
        event = {"schema": "zerolap.event/1", "event": "failed", "job": identity, "reason": row["failure"] or ""}
        failure = json.dumps({**event, "side": side, "block": row["block"]})
    return {
        "id": identity,
        "request_id": row["comparison_id"],
        "kind": "trials",
        "case": row["case"],
        "engine": row["engine"],
        "per_second": per_second,
        "failure": failure,
        "log": row["log"],
    }


def _trial_of(row: dict[str, Any], job: str, side: str) -> dict[str, Any]:
    blob = BLOB_COLUMNS.get(row["engine"])
    return {
        **{name: row[name] for name in ("id", "block", "valid", "validity", "seconds")},
        "job_id": job,
        "request_id": row["comparison_id"],
        "side": side,
        "amounts": "{}",
        **({} if blob is None else {blob: row["profile"]}),
        "method": 1,
        "zerolap": "",
        "recorded_by": "",
    }


def _rows(statement: str, **values: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in op.get_bind().execute(sa.text(statement), values).mappings()]


def _insert(table: str, values: dict[str, Any]) -> None:
    columns: Iterable[sa.ColumnClause[Any]] = [sa.column(name) for name in values]
    op.get_bind().execute(sa.table(table, *columns).insert().values(**values))


def _digest_of(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _create_tables() -> None:
    op.create_table(
        "build",
        sa.Column("build", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("build_id", sa.String(), nullable=False),
        sa.Column("flags", sa.Text(), nullable=False),
        sa.Column("compiler", sa.Text(), nullable=False),
        sa.Column("stripped", sa.Boolean(), nullable=False),
        sa.Column("variant", sa.String(), nullable=False),
        sa.Column("allocator", sa.String(), nullable=False),
        sa.Column("architecture", sa.String(), nullable=False),
        sa.Column("libc", sa.String(), nullable=False),
        sa.Column("source_root", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("build", name=op.f("pk_build")),
    )
    op.create_table(
        "platform",
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("cpu", sa.String(), nullable=False),
        sa.Column("cores", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("fingerprint", name=op.f("pk_platform")),
    )
    op.create_table(
        "revision",
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("commit", sa.String(), nullable=False),
        sa.Column("time", sa.String(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("repository", "commit", name=op.f("pk_revision")),
    )
    op.create_table(
        "series",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("case", sa.String(), nullable=False),
        sa.Column("case_digest", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("engine", sa.String(), nullable=False),
        sa.Column("topology", sa.String(), nullable=False),
        sa.Column("config", sa.Text(), nullable=False),
        sa.Column("variant", sa.String(), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("method", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_series")),
    )
    op.create_index(op.f("ix_series_case_metric"), "series", ["case", "metric"], unique=False)
    op.create_table(
        "comparison",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("created", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("base_build", sa.String(), nullable=True),
        sa.Column("head_build", sa.String(), nullable=False),
        sa.Column("platform_fingerprint", sa.String(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.CheckConstraint("kind IN ('compare', 'run')", name=op.f("ck_comparison_kind")),
        sa.CheckConstraint("state IN ('running', 'done', 'interrupted', 'failed')", name=op.f("ck_comparison_state")),
        sa.ForeignKeyConstraint(
            ["platform_fingerprint"], ["platform.fingerprint"], name=op.f("fk_comparison_platform_fingerprint")
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_comparison")),
        sa.UniqueConstraint("id", name=op.f("uq_comparison_id")),
    )
    op.create_index(op.f("ix_comparison_base_build"), "comparison", ["base_build"], unique=False)
    op.create_index(op.f("ix_comparison_head_build"), "comparison", ["head_build"], unique=False)
    op.create_table(
        "platform_facts",
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("kernel", sa.String(), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("first_seen", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["fingerprint"], ["platform.fingerprint"], name=op.f("fk_platform_facts_fingerprint"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("fingerprint", "digest", name=op.f("pk_platform_facts")),
    )
    op.create_table(
        "request",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("created", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("cancelled", sa.Boolean(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("platform_fingerprint", sa.String(), nullable=False),
        sa.Column("servers", sa.Text(), nullable=True),
        sa.Column("document", sa.Text(), nullable=True),
        sa.CheckConstraint("kind IN ('compare', 'run')", name=op.f("ck_request_kind")),
        sa.CheckConstraint("state IN ('running', 'done', 'interrupted', 'failed')", name=op.f("ck_request_state")),
        sa.ForeignKeyConstraint(
            ["platform_fingerprint"], ["platform.fingerprint"], name=op.f("fk_request_platform_fingerprint")
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_request")),
        sa.UniqueConstraint("id", name=op.f("uq_request_id")),
    )
    op.create_index(op.f("ix_request_digest"), "request", ["digest"], unique=False)
    op.create_table(
        "revision_build",
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("commit", sa.String(), nullable=False),
        sa.Column("build", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["build"], ["build.build"], name=op.f("fk_revision_build_build"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["repository", "commit"],
            ["revision.repository", "revision.commit"],
            name=op.f("fk_revision_build_repository_commit"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("repository", "commit", "build", name=op.f("pk_revision_build")),
    )
    op.create_index(op.f("ix_revision_build_build"), "revision_build", ["build"], unique=False)
    op.create_table(
        "revision_parent",
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("commit", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("parent", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["repository", "commit"],
            ["revision.repository", "revision.commit"],
            name=op.f("fk_revision_parent_repository_commit"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("repository", "commit", "position", name=op.f("pk_revision_parent")),
    )
    op.create_index(
        op.f("ix_revision_parent_repository_parent"), "revision_parent", ["repository", "parent"], unique=False
    )
    op.create_table(
        "case_result",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("comparison_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("case", sa.String(), nullable=False),
        sa.Column("group", sa.String(), nullable=False),
        sa.Column("topology", sa.String(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=True),
        sa.Column("deciding", sa.String(), nullable=True),
        sa.Column("confirmed", sa.Boolean(), nullable=True),
        sa.Column("valid", sa.Boolean(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["comparison_id"], ["comparison.id"], name=op.f("fk_case_result_comparison_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_case_result")),
        sa.UniqueConstraint("comparison_id", "case", name=op.f("uq_case_result_comparison_id_case")),
    )
    op.create_table(
        "job",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("case", sa.String(), nullable=True),
        sa.Column("engine", sa.String(), nullable=True),
        sa.Column("per_second", sa.Integer(), nullable=True),
        sa.Column("document", sa.Text(), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("log", sa.String(), nullable=True),
        sa.Column("finished", sa.Text(), nullable=True),
        sa.CheckConstraint("kind IN ('build', 'trials')", name=op.f("ck_job_kind")),
        sa.ForeignKeyConstraint(["request_id"], ["request.id"], name=op.f("fk_job_request_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_job")),
        sa.UniqueConstraint("id", name=op.f("uq_job_id")),
    )
    op.create_index(op.f("ix_job_request_id"), "job", ["request_id"], unique=False)
    op.create_table(
        "start_spread",
        sa.Column("comparison_id", sa.String(), nullable=False),
        sa.Column("case", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("platform_fingerprint", sa.String(), nullable=False),
        sa.Column("topology", sa.String(), nullable=False),
        sa.Column("variance", sa.Float(), nullable=False),
        sa.Column("degrees", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["comparison_id"], ["comparison.id"], name=op.f("fk_start_spread_comparison_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["platform_fingerprint"], ["platform.fingerprint"], name=op.f("fk_start_spread_platform_fingerprint")
        ),
        sa.PrimaryKeyConstraint("comparison_id", "case", "metric", name=op.f("pk_start_spread")),
    )
    op.create_index(
        "ix_start_spread_platform_fingerprint_metric", "start_spread", ["platform_fingerprint", "metric"], unique=False
    )
    op.create_table(
        "finding",
        sa.Column("case_result_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("function", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["case_result_id"], ["case_result.id"], name=op.f("fk_finding_case_result_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("case_result_id", "position", name=op.f("pk_finding")),
    )
    op.create_index(op.f("ix_finding_function"), "finding", ["function"], unique=False)
    op.create_table(
        "trial",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("side", sa.String(), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("valid", sa.Boolean(), nullable=False),
        sa.Column("validity", sa.Text(), nullable=False),
        sa.Column("amounts", sa.Text(), nullable=False),
        sa.Column("graph", sa.String(), nullable=True),
        sa.Column("timeline", sa.String(), nullable=True),
        sa.Column("stacks", sa.String(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("method", sa.Integer(), nullable=False),
        sa.Column("zerolap", sa.String(), nullable=False),
        sa.Column("recorded_by", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_trial_job_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["request_id"], ["request.id"], name=op.f("fk_trial_request_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trial")),
        sa.UniqueConstraint("job_id", "side", "block", name=op.f("uq_trial_job_id_side_block")),
    )
    op.create_index(op.f("ix_trial_request_id"), "trial", ["request_id"], unique=False)
    op.create_table(
        "verdict",
        sa.Column("case_result_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("engine", sa.String(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("base", sa.Float(), nullable=False),
        sa.Column("head", sa.Float(), nullable=False),
        sa.Column("change", sa.Float(), nullable=False),
        sa.Column("low", sa.Float(), nullable=False),
        sa.Column("high", sa.Float(), nullable=False),
        sa.Column("q", sa.Float(), nullable=True),
        sa.Column("samples", sa.Integer(), nullable=False),
        sa.Column("pairs", sa.Integer(), nullable=False),
        sa.Column("min_effect", sa.Float(), nullable=False),
        sa.Column("detectable", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["case_result_id"], ["case_result.id"], name=op.f("fk_verdict_case_result_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("case_result_id", "position", name=op.f("pk_verdict")),
    )
    op.create_index(op.f("ix_verdict_metric_verdict"), "verdict", ["metric", "verdict"], unique=False)
    op.create_table(
        "metric",
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("series_id", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name=op.f("fk_metric_series_id")),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name=op.f("fk_metric_trial_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("trial_id", "name", name=op.f("pk_metric")),
    )
    op.create_index(op.f("ix_metric_series_id"), "metric", ["series_id"], unique=False)
