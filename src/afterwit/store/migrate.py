"""Brings a database to the schema of this release, by numbered migrations.

A new database gets today's tables and the newest number at once, which a test proves equal to running every
migration; Alembic is imported only where there is something to migrate.
"""

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from afterwit.errors import StoreError
from afterwit.store.database import Database
from afterwit.store.tables import metadata

HEAD = "0006"
_CREATE = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)


def migrate(database: Database) -> None:
    """Raises StoreError for a database of a newer release, or of something else."""
    with database.reading() as connection:
        found = version(connection)
    if found == HEAD:
        return
    database.prepare()
    with database.writing() as connection:
        database.dialect.claim(connection)
        found = version(connection)  # again, now that no other process can be creating it
        if found is None:
            if inspect(connection).get_table_names():
                raise StoreError(f"{database.name} is a database of something else: give another one")
            metadata.create_all(connection, checkfirst=False)
            connection.execute(text(_CREATE))
            connection.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})
        elif found > HEAD:
            raise StoreError(f"{database.name} was written by a newer release: pip install --upgrade afterwit")
        elif found < HEAD:
            upgrade(connection)
        database.dialect.settle(connection)


def version(connection: Connection) -> str | None:
    """The number of the last migration; None where there is no ledger."""
    if not {"alembic_version", "scopes"} <= set(inspect(connection).get_table_names()):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def upgrade(connection: Connection) -> None:
    """Runs the migrations that this database lacks, in the transaction of the connection."""
    from alembic import command  # heavy, and rarely needed
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
