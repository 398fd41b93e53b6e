"""Call graphs of requests that come alone, and of a tick of the timers, beside those of requests in pipelines."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Add both to trials; those of earlier versions have none."""
    op.add_column("trial", sa.Column("graph_alone", sa.String(), nullable=True))
    op.add_column("trial", sa.Column("graph_tick", sa.String(), nullable=True))
