"""Pages: who has signed in is recorded, and platforms and triggers are looked up by what they are filtered by."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Nobody has signed in yet."""
    op.create_table(
        "session",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("login", sa.String(), nullable=False),
        sa.Column("token", sa.String(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_session")),
    )
    op.create_index(op.f("ix_session_expires"), "session", ["expires"])
    op.create_index(op.f("ix_document_platform_fingerprint"), "document", ["platform_fingerprint"])
    op.create_index(op.f("ix_trigger_repository"), "trigger", ["repository"])
