"""Runs the migrations on the connection, and in the transaction, that the store hands over."""

from alembic import context

from zerolap.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
