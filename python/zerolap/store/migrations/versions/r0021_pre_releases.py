"""Kept histories: commits are named by the tags of pre-releases too."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Add the tag; commits that are kept have none until their history is judged again."""
    op.add_column("kept_commit", sa.Column("pre_release", sa.Text(), nullable=False, server_default=""))
