"""Webhook deliveries, triggers, acknowledgements, tokens of the API, watched remotes and posts."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "delivery",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("received", sa.Float(), nullable=False),
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery")),
        sa.UniqueConstraint("digest", name=op.f("uq_delivery_digest")),
    )
    op.create_index(op.f("ix_delivery_received"), "delivery", ["received"])
    op.create_table(
        "trigger",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("delivery_id", sa.String()),
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("actor", sa.String()),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("submissions", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "state IN ('waiting', 'working', 'done', 'refused', 'failed')", name=op.f("ck_trigger_state")
        ),
        sa.ForeignKeyConstraint(
            ["delivery_id"], ["delivery.id"], name=op.f("fk_trigger_delivery_id_delivery"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_trigger")),
        sa.UniqueConstraint("id", name=op.f("uq_trigger_id")),
        sa.UniqueConstraint("delivery_id", name=op.f("uq_trigger_delivery_id")),
    )
    op.create_index(op.f("ix_trigger_state"), "trigger", ["state"])
    op.create_index(op.f("ix_trigger_subject"), "trigger", ["subject"])
    op.create_index(op.f("ix_trigger_actor_created"), "trigger", ["actor", "created"])
    op.create_table(
        "acknowledgement",
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("head", sa.String(), nullable=False),
        sa.Column("case", sa.String(), nullable=False),
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("subject", "head", "case", name=op.f("pk_acknowledgement")),
    )
    op.create_table(
        "api_token",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("last_used", sa.Float()),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_api_token")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_token_digest")),
    )
    op.create_table(
        "watched_ref",
        sa.Column("remote", sa.String(), nullable=False),
        sa.Column("ref", sa.String(), nullable=False),
        sa.Column("commit", sa.String(), nullable=False),
        sa.Column("updated", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("remote", "ref", name=op.f("pk_watched_ref")),
    )
    op.create_table(
        "post",
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("external_id", sa.String()),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("posted", sa.Float()),
        sa.Column("not_before", sa.Float(), nullable=False),
        sa.CheckConstraint("kind IN ('comment', 'check', 'status', 'issue')", name=op.f("ck_post_kind")),
        sa.PrimaryKeyConstraint("subject", "kind", "key", name=op.f("pk_post")),
    )
