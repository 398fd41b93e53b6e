"""History: starts say something about a third server, the anchor, and steps that are explained stay so."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
KEY = "pk_start_ratio"


def upgrade() -> None:
    """Starts that are recorded have no anchor, and no step is explained."""
    with op.batch_alter_table("start_ratio") as batch:
        batch.add_column(sa.Column("anchor", sa.String(), nullable=False, server_default=""))
        batch.drop_constraint(KEY, type_="primary")
        batch.create_primary_key(KEY, ["document_id", "case", "metric", "block", "anchor"])
    key = ("base_build", "head_build", "base_graph", "head_graph", "metric")
    op.create_table(
        "explained_step",
        *(sa.Column(name, sa.String(), nullable=False) for name in (*key, "explained_by")),
        sa.Column("reasons", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint(*key, name=op.f("pk_explained_step")),
    )
