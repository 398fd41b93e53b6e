"""Opportunities: what is found in a call graph is kept."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Of the recorded call graphs nothing is kept until it is asked for."""
    op.create_table(
        "kept_work",
        sa.Column("graph", sa.String(), nullable=False),
        sa.Column("found_by", sa.String(), nullable=False),
        sa.Column("has_build", sa.Boolean(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("graph", name=op.f("pk_kept_work")),
    )
