"""The double of `Store`: nothing on disk, gone when closed."""

from afterwit.store.database import Database
from afterwit.store.dialects import Sqlite
from afterwit.store.sql import SqlStore


class InMemoryStore(SqlStore):
    """The very same code on a database in memory, so that a double can never behave otherwise than the store."""

    def __init__(self) -> None:
        super().__init__(Database(Sqlite(None)))
