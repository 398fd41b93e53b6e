"""Stacks: trials that have any are found without reading the others."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Index the trials that have stacks."""
    has_stacks = sa.text("stacks IS NOT NULL")
    op.create_index("ix_trial_sampled", "trial", ["request_id"], sqlite_where=has_stacks, postgresql_where=has_stacks)
