"""Cases that a comparison or a run did not measure, and why."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column; nothing was skipped before there was one."""
    op.add_column("comparison", sa.Column("skipped", sa.Text(), nullable=False, server_default="[]"))
