"""Calls as a count build makes them, beside the call graph of a counted trial."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Add them to trials; those of earlier versions have none."""
    op.add_column("trial", sa.Column("call_counts", sa.String(), nullable=True))
