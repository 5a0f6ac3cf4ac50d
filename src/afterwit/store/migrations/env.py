"""Run by Alembic; the connection and its transaction belong to `afterwit.store.migrate`."""

from alembic import context

from afterwit.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
