"""Submissions to a conductor, the attempts at their jobs, artifacts of builds, platforms and agents."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "fleet_platform",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("builder", sa.String(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_fleet_platform")),
    )
    op.create_table(
        "agent",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("lab", sa.String(), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("seen", sa.Float(), nullable=False),
        sa.Column("draining", sa.Boolean(), nullable=False),
        sa.Column("refusal", sa.Text()),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_agent")),
    )
    op.create_index(op.f("ix_agent_platform"), "agent", ["platform"])
    op.create_table(
        "artifact",
        sa.Column("build", sa.String(), nullable=False),
        sa.Column("blob", sa.String()),
        sa.Column("abilities", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["build"], ["build.build"], name=op.f("fk_artifact_build_build"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("build", name=op.f("pk_artifact")),
    )
    op.create_table(
        "submission",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("priority", sa.String(), nullable=False),
        sa.Column("topic", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("submitted", sa.Float(), nullable=False),
        sa.Column("ended", sa.Float()),
        sa.Column("document", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'done', 'failed', 'cancelled', 'superseded')",
            name=op.f("ck_submission_state"),
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_submission")),
        sa.UniqueConstraint("id", name=op.f("uq_submission_id")),
    )
    op.create_index(op.f("ix_submission_state"), "submission", ["state"])
    op.create_index(op.f("ix_submission_topic"), "submission", ["topic"])
    op.create_table(
        "attempt",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("submission_id", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("agent", sa.String()),
        sa.Column("delivery", sa.Integer(), nullable=False),
        sa.Column("publications", sa.Integer(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("claimed", sa.Float()),
        sa.Column("ended", sa.Float()),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "state IN ('ready', 'claimed', 'done', 'failed', 'given up', 'cancelled')", name=op.f("ck_attempt_state")
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name=op.f("fk_attempt_submission_id_submission"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_attempt")),
        sa.UniqueConstraint("id", name=op.f("uq_attempt_id")),
    )
    op.create_index(op.f("ix_attempt_submission_id"), "attempt", ["submission_id"])
    op.create_index(op.f("ix_attempt_job_id"), "attempt", ["job_id"])
    op.create_index(op.f("ix_attempt_state"), "attempt", ["state"])
