"""How much the starts of one and the same build differ."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the bank of spreads."""
    op.create_table(
        "start_spread",
        sa.Column("comparison_id", sa.String(), nullable=False),
        sa.Column("case", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("platform_fingerprint", sa.String(), nullable=False),
        sa.Column("variance", sa.Float(), nullable=False),
        sa.Column("degrees", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["comparison_id"],
            ["comparison.id"],
            name=op.f("fk_start_spread_comparison_id_comparison"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["platform_fingerprint"],
            ["platform.fingerprint"],
            name=op.f("fk_start_spread_platform_fingerprint_platform"),
        ),
        sa.PrimaryKeyConstraint("comparison_id", "case", "metric", name=op.f("pk_start_spread")),
    )
    op.create_index(
        op.f("ix_start_spread_platform_fingerprint_metric"), "start_spread", ["platform_fingerprint", "metric"]
    )
