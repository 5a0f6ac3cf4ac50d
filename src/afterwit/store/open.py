"""Opens the ledger that a path or URL names."""

from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from afterwit.errors import InputError
from afterwit.store.database import Database
from afterwit.store.dialects import Dialect, Postgres, Sqlite
from afterwit.store.sql import SqlStore

IN_MEMORY = ":memory:"


def open_store(url: str | Path) -> SqlStore:
    """url: a path of an SQLite file, made where there is none, ``sqlite:///path``, ``:memory:``, or
    ``postgresql://user:password@host/database``.

    Raises StoreError where it cannot be opened, was written by a newer release, or is no ledger.
    """
    database = Database(_dialect(str(url)))
    try:
        return SqlStore(database)
    except BaseException:
        database.close()
        raise


def _dialect(url: str) -> Dialect:
    path = url.removeprefix("sqlite:///")
    if path.startswith(("postgresql://", "postgres://")):
        try:
            return Postgres(make_url(path))
        except (ArgumentError, ValueError):
            raise InputError("the URL of the store does not read as postgresql://user:password@host/database") from None
    if "://" in path:
        known = "a path of an SQLite file or postgresql://…"
        raise InputError(f"no store is known for {path.split('://')[0]}://…: give {known}")
    return Sqlite(None if path in ("", IN_MEMORY) else Path(path))
