"""The steps that bring a database to the schema of `zerolap.store.tables`."""
