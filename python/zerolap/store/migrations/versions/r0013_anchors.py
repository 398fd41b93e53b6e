"""Starts say something about a third server too, the anchor of a history."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
KEY = "pk_start_ratio"


def upgrade() -> None:
    """Starts that are recorded have no anchor."""
    with op.batch_alter_table("start_ratio") as batch:
        batch.add_column(sa.Column("anchor", sa.String(), nullable=False, server_default=""))
        batch.drop_constraint(KEY, type_="primary")
        batch.create_primary_key(KEY, ["document_id", "case", "metric", "block", "anchor"])
