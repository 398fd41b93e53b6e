"""What was asked of a build, and the allocator that came of it."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the columns; of builds before there were any, neither is known."""
    op.add_column("build", sa.Column("variant", sa.String(), nullable=False, server_default=""))
    op.add_column("build", sa.Column("allocator", sa.String(), nullable=False, server_default=""))
