"""The executed instructions of counted trials, by the digest of their blob, and the placement of timed trials."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the columns; nothing is known of them for the trials that are there."""
    op.add_column("trial", sa.Column("executed", sa.String()))
    op.add_column("trial", sa.Column("placement", sa.String()))
