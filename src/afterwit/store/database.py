"""One database: its short transactions, and its failures in one line."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from sqlalchemy import Connection, Executable
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ClauseElement

from afterwit.errors import Conflict, InputError
from afterwit.store.dialects import Dialect


class Database:
    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.name = dialect.name
        self.engine = dialect.engine
        self._prepared: dict[Executable, tuple[str, tuple[str, ...]]] = {}

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One snapshot."""
        with self._errors(), self.dialect.reader.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction: all of it or nothing."""
        with self._errors(), self.dialect.writer.begin() as connection:
            yield connection

    def one(self, statement: Executable, values: Mapping[str, object]) -> tuple[Any, ...] | None:
        """Runs a single statement, which is a transaction by itself, and gives its first row.

        By the driver alone: what SQLAlchemy does around a statement costs more than the statement, and recall runs
        two of these each time. Raises Conflict where a constraint forbids it.
        """
        prepared = self._prepared.get(statement) or self._prepare(statement)
        with self._errors():
            connection = self.engine.raw_connection()
            try:
                return cast(tuple[Any, ...] | None, self.dialect.first(connection, prepared[0], values, prepared[1]))
            except self.engine.dialect.loaded_dbapi.IntegrityError as error:
                raise Conflict(f"{self.name}: {error}") from None
            finally:
                connection.close()

    def _prepare(self, statement: Executable) -> tuple[str, tuple[str, ...]]:
        compiled = cast(ClauseElement, statement).compile(self.engine)
        order = cast(SQLCompiler, compiled).positiontup or ()
        self._prepared[statement] = prepared = (str(compiled), tuple(order))
        return prepared

    def prepare(self) -> None:
        with self._errors():
            self.dialect.prepare()

    def scrub(self) -> None:
        """Deleted rows leave the database's files."""
        with self._errors():
            self.dialect.scrub()

    def integrity(self) -> tuple[str, ...]:
        with self._errors():
            return self.dialect.integrity()

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        driver = self.engine.dialect.loaded_dbapi
        try:
            yield
        except DBAPIError as error:
            raise self.dialect.failure(error.orig or error) from error
        except driver.Error as error:
            raise self.dialect.failure(error) from error
        except UnicodeEncodeError:
            raise InputError("an id holds half a surrogate pair, which is no character: mend its encoding") from None
