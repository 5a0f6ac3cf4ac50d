"""SQLite and PostgreSQL where they differ: connections, transactions, locks, erasing. All else is written once."""

import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event, text

from afterwit.errors import AfterwitError, InputError, MissingExtra, StoreError
from afterwit.store.tables import metadata

BUSY_SECONDS = 30.0


class Dialect(Protocol):
    """name: what messages call the database. engine: its pool; reader, writer: the same pool with the options of a
    transaction that reads one snapshot, or writes."""

    name: str
    engine: Engine
    reader: Engine
    writer: Engine

    def first(self, connection: Any, statement: str, values: Mapping[str, object], order: tuple[str, ...]) -> Any:
        """Runs one statement on the driver's connection as a transaction by itself; its first row or None."""

    def prepare(self) -> None:
        """Before the tables are made or migrated, outside any transaction."""

    def claim(self, connection: Connection) -> None:
        """No other process makes or migrates the tables while this transaction lasts."""

    def settle(self, connection: Connection) -> None:
        """After the tables were made or migrated, in the same transaction."""

    def scrub(self) -> None:
        """Deleted rows leave the database's files. Raises StoreError where a reader keeps them alive."""

    def integrity(self) -> tuple[str, ...]:
        """What is wrong with the database itself."""

    def failure(self, error: BaseException) -> AfterwitError:
        """A driver's error as one line with advice."""


class Sqlite:
    """path: of the file, or None for a database that lives in memory.

    Write transactions begin IMMEDIATE: they queue for the write lock at once instead of failing half-way when a
    reader turns writer. WAL lets readers go on meanwhile. ``synchronous=NORMAL`` is enough for what is promised: in
    WAL mode a commit is in the operating system's hands when it is acknowledged, so a killed process loses
    nothing; a power cut may lose the newest commits but never half of one. FULL would pay an fsync for every
    recall. ``secure_delete`` overwrites what is deleted, which `forget` relies on.
    """

    def __init__(self, path: Path | None) -> None:
        self.name = str(path) if path else "the in-memory store"
        # An in-memory database is its one connection, which the pool then lends to one thread at a time.
        size = {"pool_size": 5, "max_overflow": 20} if path else {"pool_size": 1, "max_overflow": 0}
        self.engine: Engine = create_engine(
            URL.create("sqlite", database=str(path) if path else ":memory:"),
            poolclass=QueuePool,
            connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
            **size,
        )
        event.listen(self.engine, "connect", _configure)
        event.listen(self.engine, "begin", _begin)
        self.reader = self.engine
        self.writer: Engine = self.engine.execution_options(begin="BEGIN IMMEDIATE")

    def first(self, connection: Any, statement: str, values: Mapping[str, object], order: tuple[str, ...]) -> Any:
        cursor = connection.cursor()
        cursor.execute(statement, [values[name] for name in order])
        row = cursor.fetchone()
        cursor.close()
        return row

    def prepare(self) -> None:
        """WAL stays on in the file; switching to it needs the file alone and does not wait by itself."""
        until = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._outside("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def claim(self, connection: Connection) -> None:
        """Every write transaction is alone already."""

    def settle(self, connection: Connection) -> None:
        """Nothing to do: text compares by bytes."""

    def scrub(self) -> None:
        """Rewrites the file without its free pages and empties the write-ahead log."""
        self._outside("VACUUM")
        busy = self._outside("PRAGMA wal_checkpoint(TRUNCATE)")
        if busy and busy[0]:
            raise _still_read(self.name, "another process still reads the old log")

    def integrity(self) -> tuple[str, ...]:
        found = self._outside("PRAGMA integrity_check")
        broken = self._outside("PRAGMA foreign_key_check")
        problems = [] if found == ("ok",) else [f"the file is damaged: {found[0] if found else 'unreadable'}"]
        return (*problems, *([f"a row of {broken[0]} has lost what it refers to"] if broken else []))

    def failure(self, error: BaseException) -> AfterwitError:
        return StoreError(_told(self.name, str(error), _SQLITE_ADVICE))

    def _outside(self, statement: str) -> tuple[object, ...] | None:
        """Runs a statement that SQLite allows in no transaction; its first row."""
        connection = self.engine.raw_connection()
        try:
            row = self.first(connection, statement, {}, ())
            return tuple(row) if row else None
        finally:
            connection.close()


class Postgres:
    """url: as libpq knows it, ``postgresql://user:password@host:port/database``.

    Reads are REPEATABLE READ, one snapshot like SQLite's; writes READ COMMITTED behind a lock on the scope's row,
    which `afterwit.store.ledger.lock_scope` takes. Raises MissingExtra without psycopg.
    """

    def __init__(self, url: URL) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingExtra("psycopg", "postgres") from None
        self._errors = psycopg.errors
        self.name = url.render_as_string(hide_password=True)
        options = str(url.query.get("options", ""))
        self.engine: Engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            pool_size=5,
            max_overflow=20,
            pool_pre_ping=True,
            connect_args={"options": f"{options} -c lock_timeout={BUSY_SECONDS:.0f}s".strip()},
        )
        self.writer = self.engine
        self.reader: Engine = self.engine.execution_options(isolation_level="REPEATABLE READ")

    def first(self, connection: Any, statement: str, values: Mapping[str, object], order: tuple[str, ...]) -> Any:
        connection.driver_connection.autocommit = True
        try:
            cursor = connection.driver_connection.execute(statement, values)
            return cursor.fetchone() if cursor.description else None
        finally:
            connection.driver_connection.autocommit = False

    def prepare(self) -> None:
        """Nothing to do."""

    def claim(self, connection: Connection) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('afterwit'))"))

    def settle(self, connection: Connection) -> None:
        """Text compares by bytes, as in SQLite, so that both order and export alike. And no column but the scope is
        sampled for statistics, since samples of what users wrote would outlive their being forgotten."""
        rows = connection.execute(text(_UNSETTLED), {"tables": list(metadata.tables)}).all()
        changes: dict[str, list[str]] = {}
        for table, column in rows:
            quoted = f'"{column}"'
            changes.setdefault(table, []).append(f'ALTER COLUMN {quoted} TYPE text COLLATE "C"')
            if column != "scope" and table != "scopes":
                changes[table].append(f"ALTER COLUMN {quoted} SET STATISTICS 0")
        for table, parts in changes.items():
            connection.execute(text(f'ALTER TABLE "{table}" {", ".join(parts)}'))

    def scrub(self) -> None:
        """Rewrites every table that holds text without its dead rows.

        Beyond its reach: the write-ahead log until PostgreSQL has recycled it, replicas' logs, base backups and dumps.
        """
        with self.engine.connect() as found:
            connection = found.execution_options(isolation_level="AUTOCOMMIT")
            after = connection.scalar(text("SELECT pg_snapshot_xmax(pg_current_snapshot())::xid::text"))
            until = time.monotonic() + BUSY_SECONDS
            while connection.scalar(text(_OLDER), {"after": after}):
                if time.monotonic() > until:
                    raise _still_read(self.name, "another session still reads an old snapshot")
                time.sleep(0.05)
            for table in metadata.sorted_tables:
                if table.name != "scopes":
                    connection.execute(text(f'VACUUM (FULL, ANALYZE) "{table.name}"'))

    def integrity(self) -> tuple[str, ...]:
        """PostgreSQL checks its pages itself (``data_checksums``, ``pg_amcheck``)."""
        return ()

    def failure(self, error: BaseException) -> AfterwitError:
        reason = str(error).strip().split("\n")[0]
        if isinstance(error, self._errors.DataError | self._errors.ProgramLimitExceeded):
            return InputError(f"{self.name}: {reason}; nothing was changed, mend the value")
        return StoreError(_told(self.name, reason, _POSTGRES_ADVICE))


# Text columns that do not compare by bytes yet.
_UNSETTLED = """
    SELECT c.relname, a.attname FROM pg_attribute a
      JOIN pg_class c ON c.oid = a.attrelid JOIN pg_collation o ON o.oid = a.attcollation
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname = ANY(:tables)
       AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = 'text'::regtype AND o.collname <> 'C'
     ORDER BY c.relname = 'scopes' DESC, c.relname, a.attnum"""

# Sessions whose snapshot is older than a transaction: they still see what it deleted, so VACUUM must keep it.
_OLDER = """
    SELECT count(*) FROM pg_stat_activity
     WHERE pid <> pg_backend_pid() AND datname = current_database() AND backend_type = 'client backend'
       AND backend_xmin IS NOT NULL AND age(backend_xmin) > age(CAST(:after AS xid))"""

_SQLITE_ADVICE = {
    "locked": f"another process held it for {BUSY_SECONDS:.0f} s, try again",
    "readonly": "check who may write to the file and its folder",
    "unable to open": "check that its folder exists and may be written",
    "is full": "nothing was changed, make room and try again",
    "not a database": "give the path of an Afterwit store",
    "malformed": "restore it from a copy or an export",
}

_POSTGRES_ADVICE = {
    "connection is bad": "check that the server runs",
    "connection failed": "check that the server runs and what the URL says of host, user and password",
    "lock timeout": f"another session held it for {BUSY_SECONDS:.0f} s, try again",
    "deadlock": "nothing was changed, try again",
    "permission denied": "the database's owner must grant it",
    "terminating connection": "nothing was changed, try again",
    "consuming input failed": "the connection broke, try again",
}


def _told(name: str, reason: str, advice: Mapping[str, str]) -> str:
    for sign, what in advice.items():
        if sign in reason:
            return f"{name}: {reason}; {what}"
    return f"{name}: {reason}; the last commit still stands"


def _still_read(name: str, who: str) -> StoreError:
    return StoreError(f"forgotten in every table of {name}, but {who}: close it and forget again")


def _configure(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by `_begin` alone
    for pragma in ("foreign_keys=ON", "secure_delete=ON", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))
