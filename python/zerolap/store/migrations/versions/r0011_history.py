"""What history needs: of a trial its time, the state of its machine, and what it executed."""

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
