"""The executed instructions of counted trials, by the digest of their blob."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the column; of trials before there was one, nothing is known."""
    op.add_column("trial", sa.Column("executed", sa.String()))
