"""Invalid trials: the values of a series are read without the trials that they are of."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Index the trials that are not valid."""
    op.create_index(
        "ix_trial_invalid", "trial", ["id"], sqlite_where=sa.text("valid = 0"), postgresql_where=sa.text("NOT valid")
    )
