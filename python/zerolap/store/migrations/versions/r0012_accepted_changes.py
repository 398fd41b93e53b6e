"""History: which builds are one program, which changes are accepted, and series that others have measured."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Add what is empty in the rows that exist."""
    op.add_column("build", sa.Column("image", sa.String(), nullable=False, server_default=""))
    op.create_index(op.f("ix_build_image"), "build", ["image"], unique=False)
    op.create_table(
        "accepted_change",
        sa.Column("number", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("repository", "commit", "case", "metric")),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_accepted_change")),
        sa.UniqueConstraint(
            "repository", "commit", "case", "metric", name=op.f("uq_accepted_change_repository_commit_case_metric")
        ),
    )
    op.create_table(
        "imported_series",
        sa.Column("number", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("source", "case", "metric")),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_imported_series")),
        sa.UniqueConstraint(
            "source", "case", "metric", "labels", name=op.f("uq_imported_series_source_case_metric_labels")
        ),
    )
    op.create_table(
        "imported_point",
        sa.Column("series", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("time", "version")),
        sa.Column("value", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["series"], ["imported_series.number"], name=op.f("fk_imported_point_series"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("series", "time", "version", name=op.f("pk_imported_point")),
    )
