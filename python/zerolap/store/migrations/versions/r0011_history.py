"""What history needs: when and in which state of the machine a trial was, and all that a series depends on."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add what is empty in the rows that exist."""
    # Columns are added one by one: a table that others refer to with ON DELETE CASCADE must not be made anew.
    op.add_column("trial", sa.Column("executed_code", sa.String(), nullable=True))
    op.add_column("trial", sa.Column("began", sa.String(), nullable=False, server_default=""))
    op.add_column("trial", sa.Column("facts", sa.String(), nullable=False, server_default=""))
    op.create_index(op.f("ix_trial_executed_code"), "trial", ["executed_code"], unique=False)
    for name in ("instrument", "load_host"):
        op.add_column("trial", sa.Column(name, sa.String(), nullable=False, server_default=""))
    op.add_column("series", sa.Column("placed", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("series", sa.Column("resident", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("series", sa.Column("compiler", sa.Text(), nullable=False, server_default=""))
    for name in ("load_host", "libc", "valgrind", "windows"):
        op.add_column("series", sa.Column(name, sa.String(), nullable=False, server_default=""))
    op.create_table(
        "start_ratio",
        sa.Column("document_id", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("case", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("block", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("engine", sa.String(), nullable=False),
        sa.Column("log_ratio", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name=op.f("fk_start_ratio_document_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("document_id", "case", "metric", "block", name=op.f("pk_start_ratio")),
    )
