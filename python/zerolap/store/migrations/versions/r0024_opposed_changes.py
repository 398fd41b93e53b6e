"""Kept histories: steps of less work that are no gain, as other counts of the case lose by them."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    """Add the mark; changes that are kept have none until their history is judged again."""
    op.add_column("kept_change", sa.Column("is_opposed", sa.Boolean(), nullable=False, server_default=sa.false()))
