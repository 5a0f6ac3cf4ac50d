"""One SQLite database: its connections, its short transactions, and its failures in one line."""

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from sqlalchemy import URL, Connection, Engine, Executable, QueuePool, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ClauseElement

from afterwit.errors import Conflict, InputError, StoreError

BUSY_SECONDS = 30.0


class Database:
    """path: of the file, or None for one that lives in memory.

    Write transactions begin IMMEDIATE: they queue for the write lock at once instead of failing half-way when a
    reader turns writer. WAL lets readers go on meanwhile. ``synchronous=NORMAL`` is enough for what is promised: in
    WAL mode a commit is in the operating system's hands when it is acknowledged, so a killed process loses
    nothing; a power cut may lose the newest commits but never half of one. FULL would pay an fsync for every
    recall. ``secure_delete`` overwrites what is deleted, which `forget` relies on.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
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
        self._prepared: dict[Executable, tuple[str, tuple[str, ...]]] = {}
        self._writer = self.engine.execution_options(begin="BEGIN IMMEDIATE")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One snapshot."""
        with self._errors(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction: all of it or nothing."""
        with self._errors(), self._writer.begin() as connection:
            yield connection

    def one(self, statement: Executable, values: Mapping[str, object]) -> tuple[Any, ...] | None:
        """Runs a single statement, which is a transaction by itself, and gives its first row.

        By the driver alone: what SQLAlchemy does around a statement costs more than the statement, and recall runs
        two of these each time. Raises Conflict where a constraint forbids it.
        """
        text, order = self._prepared.get(statement) or self._prepare(statement)
        with self._errors():
            connection = self.engine.raw_connection()
            try:
                cursor = connection.cursor()
                cursor.execute(text, [values[name] for name in order])
                row = cursor.fetchone()
                cursor.close()
                return row
            except self.engine.dialect.loaded_dbapi.IntegrityError as error:
                raise Conflict(f"{self.name}: {error}") from None
            finally:
                connection.close()

    def _prepare(self, statement: Executable) -> tuple[str, tuple[str, ...]]:
        compiled = cast(ClauseElement, statement).compile(self.engine)
        order = cast(SQLCompiler, compiled).positiontup or ()
        self._prepared[statement] = prepared = (str(compiled), tuple(order))
        return prepared

    def use_wal(self) -> None:
        """WAL stays on in the file; switching to it needs the file alone and does not wait by itself."""
        with self._errors():
            until = time.monotonic() + BUSY_SECONDS
            while True:
                try:
                    self._outside("PRAGMA journal_mode=WAL")
                    return
                except sqlite3.OperationalError as error:
                    if "locked" not in str(error) or time.monotonic() > until:
                        raise
                    time.sleep(0.01)

    def scrub(self) -> None:
        """Rewrites the file without its free pages and empties the write-ahead log.

        Raises StoreError where another process reads an old snapshot, which keeps the log alive.
        """
        with self._errors():
            self._outside("VACUUM")
            busy = self._outside("PRAGMA wal_checkpoint(TRUNCATE)")
        if busy and busy[0]:
            raise StoreError(
                f"forgotten in every table, but another process still reads the old log of {self.name}: "
                "close it and forget again"
            )

    def integrity(self) -> tuple[str, ...]:
        with self._errors():
            found = self._outside("PRAGMA integrity_check")
            broken = self._outside("PRAGMA foreign_key_check")
        problems = [] if found == ("ok",) else [f"the file is damaged: {found[0] if found else 'unreadable'}"]
        return (*problems, *([f"a row of {broken[0]} has lost what it refers to"] if broken else []))

    def close(self) -> None:
        self.engine.dispose()

    def _outside(self, statement: str) -> tuple[object, ...] | None:
        """Runs a statement that SQLite allows in no transaction; its first row."""
        connection = self.engine.raw_connection()
        try:
            cursor = connection.cursor()
            cursor.execute(statement)
            row = cursor.fetchone()
            cursor.close()
            return tuple(row) if row else None
        finally:
            connection.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise StoreError(self._told(str(error.orig))) from error
        except sqlite3.Error as error:
            raise StoreError(self._told(str(error))) from error
        except UnicodeEncodeError:
            raise InputError("an id holds half a surrogate pair, which is no character: mend its encoding") from None

    def _told(self, reason: str) -> str:
        for sign, advice in _ADVICE.items():
            if sign in reason:
                return f"{self.name}: {reason}; {advice}"
        return f"{self.name}: {reason}; the last commit still stands"


_ADVICE = {
    "locked": f"another process held it for {BUSY_SECONDS:.0f} s, try again",
    "readonly": "check who may write to the file and its folder",
    "unable to open": "check that its folder exists and may be written",
    "is full": "nothing was changed, make room and try again",
    "not a database": "give the path of an Afterwit store",
    "malformed": "restore it from a copy or an export",
}


def _configure(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by `_begin` alone
    for pragma in ("foreign_keys=ON", "secure_delete=ON", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))
