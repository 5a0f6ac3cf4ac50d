"""Delivery events as Parquet segments beside the ledger: one file an append, never changed but by `forget`.

    <folder>/<hash of the scope>/000001.parquet, 000002.parquet, …, lock

A segment appears whole or not at all: it is written under a temporary name, synced, and renamed. Writers of a scope
queue on its lock file; readers need none. POSIX file locks, so no network drives that lack them.
"""

import fcntl
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from afterwit.errors import Conflict, InputError, MissingExtra, StoreError
from afterwit.model import content_hash

_TEMPORARY = ".partial"

# What makes two events of one id the same event. When it became available is left out: the first time counts.
_CONTENT = ("delivery_id", "kind", "at", "count", "user_id", "aggregate", "final")


class Segments:
    """An `EventLog` on a folder. Raises MissingExtra without pyarrow, DuckDB and ibis."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._of_thread = threading.local()  # an engine serves one thread at a time, and refuses a second

    def append(self, scope: str, events: Any) -> tuple[int, int]:
        """events: a pyarrow Table of the port's columns; (new, already known), counting rows.

        Of rows that repeat an id within ``events`` one is new. Cost grows linearly with the log and the events.
        Raises InputError for other columns, Conflict naming the id for a known id with other content.
        """
        table = _typed(events)
        with self._locked(scope) as folder:
            rows = _new_rows(table, self._paths(folder))
            if len(rows):
                paths = self._paths(folder)
                number = int(paths[-1].stem) + 1 if paths else 1
                _write(folder / f"{number:06d}.parquet", table.take(rows))
        return len(rows), table.num_rows - len(rows)

    def table(self, scope: str) -> Any:
        """A lazy ibis table over all segments of now; a typed empty one where there are none."""
        ibis = _modules()[2]
        schema = ibis.Schema.from_pyarrow(_schema())
        backend = getattr(self._of_thread, "backend", None)
        if backend is None:
            backend = self._of_thread.backend = ibis.duckdb.connect()
            backend.create_table("nothing", schema=schema, temp=True)
        paths = self._paths(self._place(scope))
        if not paths:
            return backend.table("nothing")
        with _failures(self.folder):
            return backend.read_parquet([str(path) for path in paths]).cast(schema)

    def forget(self, scope: str, delivery_ids: Sequence[str] | None = None) -> int:
        """Rewrites each segment that holds such an event, whole; emptied segments go. The count removed."""
        pyarrow, compute = _modules()[0], _modules()[3]
        removed = 0
        with self._locked(scope) as folder:
            for path in self._paths(folder):
                table = _read(path)
                if delivery_ids is None:
                    kept = table.slice(0, 0)
                else:
                    unwanted = pyarrow.array(list(delivery_ids), pyarrow.string())
                    kept = table.filter(compute.invert(compute.is_in(table["delivery_id"], unwanted)))
                removed += table.num_rows - kept.num_rows
                if kept.num_rows == 0:
                    path.unlink()
                elif kept.num_rows < table.num_rows:
                    _write(path, kept)
            _sync(folder)
        return removed

    def _place(self, scope: str) -> Path:
        return self.folder / content_hash(scope)[:32]

    def _paths(self, folder: Path) -> list[Path]:
        """Segments in order, each with a readable footer. Raises StoreError naming a broken one."""
        parquet = _modules()[1]
        with _failures(self.folder):
            paths = sorted(folder.glob("*.parquet"))
        for path in paths:
            with _failures(path):
                parquet.read_metadata(path)
        return paths

    @contextmanager
    def _locked(self, scope: str) -> Iterator[Path]:
        """The scope's folder, held by this process alone; what a crash left half-written is cleared away."""
        folder = self._place(scope)
        with _failures(self.folder):
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / "lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                for rest in folder.glob(f"*{_TEMPORARY}"):
                    rest.unlink()
                yield folder


def _modules() -> tuple[Any, Any, Any, Any, Any]:
    try:
        import duckdb
        import ibis
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("ibis and duckdb", "events") from None
    return pyarrow, pyarrow.parquet, ibis, pyarrow.compute, duckdb


def _schema() -> Any:
    pyarrow = _modules()[0]
    moment = pyarrow.timestamp("us", tz="UTC")
    return pyarrow.schema(
        [
            pyarrow.field("event_id", pyarrow.string(), nullable=False),
            pyarrow.field("delivery_id", pyarrow.string(), nullable=False),
            pyarrow.field("kind", pyarrow.string(), nullable=False),
            pyarrow.field("at", moment, nullable=False),
            pyarrow.field("available_at", moment, nullable=False),
            pyarrow.field("count", pyarrow.int64(), nullable=False),
            pyarrow.field("user_id", pyarrow.string()),
            pyarrow.field("aggregate", pyarrow.bool_(), nullable=False),
            pyarrow.field("final", pyarrow.bool_(), nullable=False),
        ]
    )


def _typed(events: Any) -> Any:
    pyarrow, schema = _modules()[0], _schema()
    missing = [name for name in schema.names if name not in events.column_names]
    if missing:
        raise InputError(f"the events lack the column {missing[0]!r}: they need {', '.join(schema.names)}")
    for name in schema.names:
        if events[name].null_count and not schema.field(name).nullable:
            raise InputError(f"the events hold a row without {name!r}: set it aside")
    try:
        return events.select(schema.names).cast(schema).combine_chunks()
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, ValueError) as error:
        raise InputError(f"the events do not have the port's types: {error}") from None


def _new_rows(table: Any, paths: Sequence[Path]) -> Any:
    """Row numbers of `table`, in order, that the segments do not hold; all work inside the engine."""
    pyarrow, duckdb = _modules()[0], _modules()[4]
    numbered = table.append_column("row", pyarrow.array(np.arange(table.num_rows)))
    content = "hash(" + ", ".join(f'"{name}"' for name in _CONTENT) + ")"  # 64 bits: no chance collisions
    with _failures(paths[0].parent if paths else Path()), duckdb.connect() as engine:
        engine.register("incoming", numbered)
        known = "SELECT event_id, 0::UBIGINT AS content FROM incoming WHERE false"
        if paths:
            engine.execute("SET VARIABLE segments = ?", [[str(path) for path in paths]])
            known = (
                f"SELECT event_id, {content} AS content FROM read_parquet(getvariable('segments')) "
                "SEMI JOIN incoming USING (event_id)"
            )
        engine.execute(f"CREATE TABLE known AS {known}")
        clash = engine.execute(
            f"""SELECT event_id FROM (
                  SELECT event_id, content FROM known UNION ALL SELECT event_id, {content} FROM incoming
                ) GROUP BY event_id HAVING min(content) <> max(content) ORDER BY event_id LIMIT 1"""
        ).fetchone()
        if clash:
            raise Conflict(f"event {clash[0]} is known with other content: give the new one an id of its own")
        # Of repeats within the events, the one that was available first.
        found = engine.execute(
            """SELECT arg_min(row, (available_at, row)) AS first FROM incoming ANTI JOIN known USING (event_id)
               GROUP BY event_id ORDER BY first"""
        )
        return found.fetchnumpy()["first"]


def _read(path: Path) -> Any:
    with _failures(path):
        return _modules()[1].ParquetFile(path).read()


def _write(path: Path, table: Any) -> None:
    """Whole or not at all, and on the disk when this returns."""
    temporary = path.with_name(path.name + _TEMPORARY)
    try:
        with _failures(path), temporary.open("wb") as file:
            _modules()[1].write_table(table, file, compression="zstd")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _failures(place: Path) -> Iterator[None]:
    """Disk, Parquet and engine errors as one line that names the file or folder."""
    pyarrow, duckdb = _modules()[0], _modules()[4]
    try:
        yield
    except (OSError, pyarrow.ArrowException, duckdb.Error) as error:
        reason = " ".join(str(error).split())[:200]
        raise StoreError(f"{place}: {reason}; nothing was changed, mend or remove the file and try again") from error
