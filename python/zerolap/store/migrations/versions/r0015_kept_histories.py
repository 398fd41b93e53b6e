"""Pages: histories are kept as they were judged, and the values of a series are read from an index alone."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """No history is kept yet."""
    op.drop_index("ix_metric_series_id", "metric")
    op.create_index(op.f("ix_metric_series_id_trial_id_value"), "metric", ["series_id", "trial_id", "value"])
    op.create_table(
        "kept_history",
        sa.Column("number", sa.Integer(), nullable=False),
        *_texts("repository", "range", "variant", "config", "platform", "platform_name", "created"),
        *_long_texts("platform_events", "notes"),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_kept_history")),
        sa.UniqueConstraint(
            *("repository", "range", "variant", "config", "platform"),
            name=op.f("uq_kept_history_repository_range_variant_config_platform"),
        ),
    )
    _create_commits()
    _create_series()
    _create_changes()


def _create_commits() -> None:
    op.create_table(
        "kept_commit",
        sa.Column("history", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False, autoincrement=False),
        _commit(),
        *_texts("time"),
        *_long_texts("subject", "tags"),
        sa.Column("node", sa.Integer(), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("measured", "changed")),
        *_long_texts("groups"),
        _of_parent("kept_commit", "history", "kept_history"),
        sa.PrimaryKeyConstraint("history", "position", name=op.f("pk_kept_commit")),
    )
    op.create_index(op.f("ix_kept_commit_commit"), "kept_commit", ["commit"])


def _create_series() -> None:
    op.create_table(
        "kept_series",
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("number", "history")),
        *_texts("case", "group", "commands", "metric", "engine", "topology"),
        sa.Column("better", sa.String(), nullable=True),
        sa.Column("is_imported", sa.Boolean(), nullable=False),
        *_texts("source", "labels"),
        sa.Column("point_count", sa.Integer(), nullable=False),
        *_numbers("change", "low", "high"),
        sa.Column("ledger", sa.Text(), nullable=True),
        *_long_texts("versions", "points"),
        _of_parent("kept_series", "history", "kept_history"),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_kept_series")),
        sa.UniqueConstraint(
            *("history", "case", "metric", "engine", "topology", "source", "labels"),
            name=op.f("uq_kept_series_identity"),
        ),
    )
    columns = ["case", "metric", "history", "group", "commands"]
    op.create_index(op.f("ix_kept_series_names"), "kept_series", columns)


def _create_changes() -> None:
    op.create_table(
        "kept_change",
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("number", "series", "history")),
        *_texts("id", "kind"),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("after", "position")),
        _commit(),
        *_numbers("change", "low", "high"),
        sa.Column("p", sa.Float(), nullable=True),
        *(sa.Column(name, sa.Boolean(), nullable=False) for name in ("confirmed", "is_worse", "is_open")),
        sa.Column("comparison", sa.String(), nullable=True),
        sa.Column("accepted", sa.Text(), nullable=True),
        *_long_texts("reasons"),
        _of_parent("kept_change", "series", "kept_series"),
        _of_parent("kept_change", "history", "kept_history"),
        sa.CheckConstraint("kind IN ('step', 'drift')", name=op.f("ck_kept_change_kind")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_kept_change")),
    )
    for columns in (["series"], ["history", "position"], ["is_open", "change"], ["commit"]):
        op.create_index(op.f(f"ix_kept_change_{'_'.join(columns)}"), "kept_change", columns)


def _texts(*names: str) -> list["sa.Column[str]"]:
    return [sa.Column(name, sa.String(), nullable=False) for name in names]


def _long_texts(*names: str) -> list["sa.Column[str]"]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _numbers(*names: str) -> list["sa.Column[float]"]:
    return [sa.Column(name, sa.Float(), nullable=False) for name in names]


def _commit() -> "sa.Column[str]":
    """Return the id of a commit, which is compared byte by byte in both databases."""
    kind = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    return sa.Column("commit", kind, nullable=False)


def _of_parent(table: str, column: str, parent: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}")
    return sa.ForeignKeyConstraint([column], [f"{parent}.number"], name=name, ondelete="CASCADE")
