"""Traced trials: what the kernel did for a server's threads, beside stacks and call graphs."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Add it to trials; those of earlier versions have none."""
    op.add_column("trial", sa.Column("traced", sa.String(), nullable=True))
