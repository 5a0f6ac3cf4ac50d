"""Opens the ledger that a path or URL names."""

from pathlib import Path

from afterwit.errors import InputError
from afterwit.store.database import Database
from afterwit.store.sql import SqlStore

IN_MEMORY = ":memory:"


def open_store(url: str | Path) -> SqlStore:
    """url: a path of an SQLite file, made where there is none, ``sqlite:///path``, or ``:memory:``.

    Raises StoreError where it cannot be opened, was written by a newer release, or is no ledger.
    """
    text = str(url).removeprefix("sqlite:///")
    if "://" in text:
        raise InputError(f"no store is known for {text}: give a path of an SQLite file")
    database = Database(None if text in ("", IN_MEMORY) else Path(text))
    try:
        return SqlStore(database)
    except BaseException:
        database.close()
        raise
