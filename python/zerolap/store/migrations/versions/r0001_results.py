"""Comparisons, runs, builds, platforms, trials, cases, verdicts and findings."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables of the first version."""
    op.create_table(
        "build",
        sa.Column("build", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("commit", sa.String(), nullable=True),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("build_id", sa.String(), nullable=False),
        sa.Column("flags", sa.Text(), nullable=False),
        sa.Column("compiler", sa.Text(), nullable=False),
        sa.Column("stripped", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("build", name=op.f("pk_build")),
    )
    op.create_table(
        "platform",
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("cpu", sa.String(), nullable=False),
        sa.Column("cores", sa.Integer(), nullable=False),
        sa.Column("kernel", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("fingerprint", name=op.f("pk_platform")),
    )
    op.create_table(
        "comparison",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("schema", sa.String(), nullable=False),
        sa.Column("created", sa.String(), nullable=False),
        sa.Column("command_line", sa.Text(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("base_build", sa.String(), nullable=True),
        sa.Column("head_build", sa.String(), nullable=False),
        sa.Column("platform_fingerprint", sa.String(), nullable=False),
        sa.Column("base", sa.Text(), nullable=True),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.CheckConstraint("kind IN ('compare', 'run')", name=op.f("ck_comparison_kind")),
        sa.CheckConstraint("state IN ('running', 'done', 'interrupted', 'failed')", name=op.f("ck_comparison_state")),
        sa.ForeignKeyConstraint(["base_build"], ["build.build"], name=op.f("fk_comparison_base_build")),
        sa.ForeignKeyConstraint(["head_build"], ["build.build"], name=op.f("fk_comparison_head_build")),
        sa.ForeignKeyConstraint(
            ["platform_fingerprint"], ["platform.fingerprint"], name=op.f("fk_comparison_platform_fingerprint")
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_comparison")),
        sa.UniqueConstraint("id", name=op.f("uq_comparison_id")),
    )
    op.create_index(op.f("ix_comparison_base_build"), "comparison", ["base_build"], unique=False)
    op.create_index(op.f("ix_comparison_head_build"), "comparison", ["head_build"], unique=False)
    op.create_table(
        "case_result",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("comparison_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("case", sa.String(), nullable=False),
        sa.Column("commands", sa.Text(), nullable=False),
        sa.Column("group", sa.String(), nullable=False),
        sa.Column("topology", sa.String(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=True),
        sa.Column("confirmed", sa.Boolean(), nullable=True),
        sa.Column("valid", sa.Boolean(), nullable=False),
        sa.Column("validity", sa.Text(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("document", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["comparison_id"], ["comparison.id"], name=op.f("fk_case_result_comparison_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_case_result")),
        sa.UniqueConstraint("comparison_id", "case", name=op.f("uq_case_result_comparison_id_case")),
    )
    op.create_table(
        "trial",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("comparison_id", sa.String(), nullable=False),
        sa.Column("case", sa.String(), nullable=False),
        sa.Column("side", sa.String(), nullable=False),
        sa.Column("engine", sa.String(), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("seed", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("log", sa.String(), nullable=True),
        sa.Column("valid", sa.Boolean(), nullable=True),
        sa.Column("validity", sa.Text(), nullable=True),
        sa.Column("profile", sa.String(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.CheckConstraint("state IN ('done', 'failed')", name=op.f("ck_trial_state")),
        sa.ForeignKeyConstraint(
            ["comparison_id"], ["comparison.id"], name=op.f("fk_trial_comparison_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trial")),
        sa.UniqueConstraint(
            "comparison_id",
            "case",
            "side",
            "engine",
            "block",
            name=op.f("uq_trial_comparison_id_case_side_engine_block"),
        ),
    )
    op.create_index(op.f("ix_trial_case_engine"), "trial", ["case", "engine"], unique=False)
    op.create_table(
        "finding",
        sa.Column("case_result_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("function", sa.String(), nullable=True),
        sa.Column("document", sa.Text(), nullable=False),
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
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name=op.f("fk_metric_trial_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("trial_id", "name", name=op.f("pk_metric")),
    )
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
