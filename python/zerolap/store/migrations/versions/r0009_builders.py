"""Artifacts by the builder that made them; who made earlier ones is not known, so they are built again."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Create the table anew."""
    op.drop_table("artifact")
    op.create_table(
        "artifact",
        sa.Column("build", sa.String(), nullable=False),
        sa.Column("builder", sa.String(), nullable=False),
        sa.Column("blob", sa.String()),
        sa.Column("abilities", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["build"], ["build.build"], name=op.f("fk_artifact_build_build"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("build", "builder", name=op.f("pk_artifact")),
    )
