"""The schema as it was first kept: later migrations begin here."""

from alembic import op

from zerolap.store.tables import metadata

revision = "0010"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    metadata.create_all(op.get_bind())
