"""The schema as it was first kept: later migrations begin here."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "acknowledgement",
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("head", sa.String(), nullable=False),
        sa.Column("case", sa.String(), nullable=False),
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("subject", "head", "case", name=op.f("pk_acknowledgement")),
    )
    op.create_table(
        "agent",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("lab", sa.String(), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("seen", sa.Float(), nullable=False),
        sa.Column("draining", sa.Boolean(), nullable=False),
        sa.Column("refusal", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_agent")),
    )
    op.create_index(op.f("ix_agent_platform"), "agent", ["platform"], unique=False)
    op.create_table(
        "api_token",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("last_used", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_api_token")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_token_digest")),
    )
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
        "conductor",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_conductor_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conductor")),
    )
    op.create_table(
        "delivery",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("received", sa.Float(), nullable=False),
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery")),
        sa.UniqueConstraint("digest", name=op.f("uq_delivery_digest")),
    )
    op.create_index(op.f("ix_delivery_received"), "delivery", ["received"], unique=False)
    op.create_table(
        "fleet_platform",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("builder", sa.String(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_fleet_platform")),
    )
    op.create_table(
        "join_token",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("lab", sa.String(), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("replaces", sa.Boolean(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_join_token")),
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
        "post",
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=True),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("posted", sa.Float(), nullable=True),
        sa.Column("not_before", sa.Float(), nullable=False),
        sa.Column("updates", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.CheckConstraint("kind IN ('comment', 'check', 'status', 'issue')", name=op.f("ck_post_kind")),
        sa.PrimaryKeyConstraint("subject", "kind", "key", name=op.f("pk_post")),
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
        "watched_ref",
        sa.Column("remote", sa.String(), nullable=False),
        sa.Column("ref", sa.String(), nullable=False),
        sa.Column("commit", sa.String(), nullable=False),
        sa.Column("updated", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("remote", "ref", name=op.f("pk_watched_ref")),
    )
    op.create_table(
        "artifact",
        sa.Column("build", sa.String(), nullable=False),
        sa.Column("builder", sa.String(), nullable=False),
        sa.Column("blob", sa.String(), nullable=True),
        sa.Column("abilities", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["build"], ["build.build"], name=op.f("fk_artifact_build"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("build", "builder", name=op.f("pk_artifact")),
    )
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
        sa.Column("id", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("created", sa.String(), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("priority", sa.String(), nullable=False),
        sa.Column("topic", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("cancelled", sa.Boolean(), nullable=False),
        sa.Column("submitted", sa.Float(), nullable=False),
        sa.Column("ended", sa.Float(), nullable=True),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(), nullable=True),
        sa.Column("platform_fingerprint", sa.String(), nullable=True),
        sa.Column("variants", sa.Text(), nullable=True),
        sa.Column("resolved", sa.Text(), nullable=True),
        sa.CheckConstraint("kind IN ('compare', 'run')", name=op.f("ck_request_kind")),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'done', 'interrupted', 'failed', 'cancelled', 'superseded')",
            name=op.f("ck_request_state"),
        ),
        sa.ForeignKeyConstraint(
            ["platform_fingerprint"], ["platform.fingerprint"], name=op.f("fk_request_platform_fingerprint")
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_request")),
        sa.UniqueConstraint("id", name=op.f("uq_request_id")),
    )
    op.create_index(op.f("ix_request_digest"), "request", ["digest"], unique=False)
    op.create_index(op.f("ix_request_state"), "request", ["state"], unique=False)
    op.create_index(op.f("ix_request_topic"), "request", ["topic"], unique=False)
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
        "trigger",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("delivery_id", sa.String(), nullable=True),
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=True),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("requests", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "state IN ('waiting', 'working', 'done', 'refused', 'failed')", name=op.f("ck_trigger_state")
        ),
        sa.ForeignKeyConstraint(
            ["delivery_id"], ["delivery.id"], name=op.f("fk_trigger_delivery_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_trigger")),
        sa.UniqueConstraint("delivery_id", name=op.f("uq_trigger_delivery_id")),
        sa.UniqueConstraint("id", name=op.f("uq_trigger_id")),
    )
    op.create_index(op.f("ix_trigger_actor_created"), "trigger", ["actor", "created"], unique=False)
    op.create_index(op.f("ix_trigger_kind_created"), "trigger", ["kind", "created"], unique=False)
    op.create_index(op.f("ix_trigger_state"), "trigger", ["state"], unique=False)
    op.create_index(op.f("ix_trigger_subject"), "trigger", ["subject"], unique=False)
    op.create_table(
        "document",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("base_build", sa.String(), nullable=True),
        sa.Column("head_build", sa.String(), nullable=False),
        sa.Column("platform_fingerprint", sa.String(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.CheckConstraint("kind IN ('compare', 'run')", name=op.f("ck_document_kind")),
        sa.ForeignKeyConstraint(["id"], ["request.id"], name=op.f("fk_document_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["platform_fingerprint"], ["platform.fingerprint"], name=op.f("fk_document_platform_fingerprint")
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_document")),
        sa.UniqueConstraint("id", name=op.f("uq_document_id")),
    )
    op.create_index(op.f("ix_document_base_build"), "document", ["base_build"], unique=False)
    op.create_index(op.f("ix_document_head_build"), "document", ["head_build"], unique=False)
    op.create_table(
        "job",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("request_id", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("case", sa.String(), nullable=True),
        sa.Column("engine", sa.String(), nullable=True),
        sa.Column("per_second", sa.Integer(), nullable=True),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("log", sa.String(), nullable=True),
        sa.Column("finished", sa.Text(), nullable=True),
        sa.CheckConstraint("kind IN ('build', 'trials', 'load')", name=op.f("ck_job_kind")),
        sa.ForeignKeyConstraint(["request_id"], ["request.id"], name=op.f("fk_job_request_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_job")),
        sa.UniqueConstraint("id", name=op.f("uq_job_id")),
    )
    op.create_index(op.f("ix_job_request_id"), "job", ["request_id"], unique=False)
    op.create_table(
        "attempt",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("request_id", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("agent", sa.String(), nullable=True),
        sa.Column("delivery", sa.Integer(), nullable=False),
        sa.Column("publications", sa.Integer(), nullable=False),
        sa.Column("starts", sa.Integer(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("claimed", sa.Float(), nullable=True),
        sa.Column("ended", sa.Float(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "state IN ('ready', 'claimed', 'done', 'failed', 'given up', 'cancelled')", name=op.f("ck_attempt_state")
        ),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_attempt_job_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["request_id"], ["request.id"], name=op.f("fk_attempt_request_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_attempt")),
        sa.UniqueConstraint("id", name=op.f("uq_attempt_id")),
    )
    op.create_index(op.f("ix_attempt_job_id"), "attempt", ["job_id"], unique=False)
    op.create_index(op.f("ix_attempt_request_id"), "attempt", ["request_id"], unique=False)
    op.create_index(op.f("ix_attempt_state"), "attempt", ["state"], unique=False)
    op.create_table(
        "case_result",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
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
            ["document_id"], ["document.id"], name=op.f("fk_case_result_document_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_case_result")),
        sa.UniqueConstraint("document_id", "case", name=op.f("uq_case_result_document_id_case")),
    )
    op.create_table(
        "start_spread",
        sa.Column("document_id", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("case", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("platform_fingerprint", sa.String(), nullable=False),
        sa.Column("circumstances", sa.String(), nullable=False),
        sa.Column("variance", sa.Float(), nullable=False),
        sa.Column("degrees", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name=op.f("fk_start_spread_document_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["platform_fingerprint"], ["platform.fingerprint"], name=op.f("fk_start_spread_platform_fingerprint")
        ),
        sa.PrimaryKeyConstraint("document_id", "case", "metric", name=op.f("pk_start_spread")),
    )
    op.create_index(
        "ix_start_spread_platform_fingerprint_metric", "start_spread", ["platform_fingerprint", "metric"], unique=False
    )
    op.create_table(
        "trial",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("request_id", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("side", sa.String(), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("valid", sa.Boolean(), nullable=False),
        sa.Column("validity", sa.Text(), nullable=False),
        sa.Column("amounts", sa.Text(), nullable=False),
        sa.Column("graph", sa.String(), nullable=True),
        sa.Column("timeline", sa.String(), nullable=True),
        sa.Column("stacks", sa.String(), nullable=True),
        sa.Column("executed", sa.String(), nullable=True),
        sa.Column("placement", sa.String(), nullable=True),
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
