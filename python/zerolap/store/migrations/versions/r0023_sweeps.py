"""Sweeps of snapshots that have ended."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Those that ended before were not kept."""
    op.create_table(
        "sweep",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("created", sa.String(), nullable=False),
        sa.Column("platform_fingerprint", sa.String(), nullable=False),
        sa.Column("blob", sa.String(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["platform_fingerprint"],
            ["platform.fingerprint"],
            name=op.f("fk_sweep_platform_fingerprint"),
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_sweep")),
        sa.UniqueConstraint("id", name=op.f("uq_sweep_id")),
    )
    op.create_index(op.f("ix_sweep_platform_fingerprint"), "sweep", ["platform_fingerprint"])
