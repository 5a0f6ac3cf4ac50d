"""A file of rows as text columns inside DuckDB, whatever its format."""

import codecs
import csv
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from afterwit.errors import InputError, MissingExtra
from afterwit.record.sheet import sheet_copy, sheet_head
from afterwit.record.style import Style, copied, encoding_of, format_of, layout, opened

_LOOKED_AT = 50_000  # rows of a JSON Lines file whose keys make its columns
_BAD_ENCODING = "INVALID ENCODING"
_RAGGED = {"MISSING COLUMNS": "fewer values than the header has", "TOO MANY COLUMNS": "more values than the header has"}


def connect() -> Any:
    """An engine of its own, which may spill to the temporary folder. Raises MissingExtra."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("duckdb", "events") from None
    engine = duckdb.connect()
    engine.execute("SET TimeZone = 'UTC'")
    engine.execute("SET temp_directory = ?", [tempfile.gettempdir()])
    return engine


def expand(paths: list[str | Path]) -> list[Path]:
    """Files that paths and globs name, sorted and once each. Raises InputError for one that names nothing."""
    found: list[Path] = []
    for given in paths:
        path = Path(given)
        if path.is_file():
            found.append(path)
            continue
        folder = Path(path.anchor) if path.is_absolute() else Path()
        pattern = str(path.relative_to(path.anchor)) if path.is_absolute() else str(path)
        matching = sorted(folder.glob(pattern)) if any(c in str(path) for c in "*?[") else []
        if not matching:
            raise InputError(f"there is no file {given}")
        found.extend(matching)
    return list(dict.fromkeys(found))


def columns_of(engine: Any, path: Path, style: Style = Style()) -> tuple[str, ...]:
    """Raises InputError for a file that cannot be read as what its name says."""
    import duckdb

    kind = format_of(path)
    names: Sequence[str]
    try:
        if path.stat().st_size == 0:
            raise InputError(f"{path} is empty")
        if kind == "CSV":
            names = layout(path, style).names
        elif kind == "JSON Lines":
            with _scratch() as scratch:
                names = [n for (n,) in engine.execute(_KEYS, [_json_place(path, style, scratch)]).fetchall()]
        elif kind == "Excel":
            names, _ = sheet_head(path, style)
        else:
            names = [row[0] for row in engine.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()]
    except (duckdb.Error, OSError, EOFError, UnicodeError, csv.Error) as error:
        raise _unreadable(path, error) from None
    if not names:
        raise InputError(f"{path} holds no rows that could be read")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{path} has two columns named {twice!r}: rename one")
    return tuple(names)


_JSON_LINES = "read_ndjson_objects($1, ignore_errors=true)"

_KEYS = f"""
    WITH head AS (SELECT json FROM {_JSON_LINES} WHERE json_type(json) = 'OBJECT'
                  LIMIT {_LOOKED_AT})
    SELECT DISTINCT key FROM (SELECT unnest(json_keys(json)) AS key FROM head)
    WHERE key <> 'context' OR NOT EXISTS (SELECT 1 FROM head WHERE json_type(json, '/context') = 'OBJECT')
    UNION SELECT DISTINCT 'context.' || unnest(json_keys(json, '/context')) FROM head
          WHERE json_type(json, '/context') = 'OBJECT'
    ORDER BY key"""


def load(engine: Any, path: Path, columns: tuple[str, ...], style: Style = Style(), *, head: int | None = None) -> int:
    """Makes the table ``source``: ``#row`` (1 is the first data row), ``#bad`` (why the line is no row at all) and
    every column as text under the name that ``cell`` gives, in order; the row count. head: no more rows than these.

    Raises InputError.
    """
    import duckdb

    kind, limit = format_of(path), f" LIMIT {head}" if head else ""
    bad = "NULL::VARCHAR"
    names = [cell(column) for column in columns]
    try:
        with _scratch() as scratch:
            place = str(path)
            if kind == "JSON Lines":
                bad = "CASE WHEN json IS NULL OR json_type(json) <> 'OBJECT' THEN 'is no JSON object' END"
                names, reader, place = [_from_json(c) for c in columns], _JSON_LINES, _json_place(path, style, scratch)
            elif kind == "CSV":
                found = layout(path, style)
                reader = _csv_reader(found.names, found.delimiter)
                if not found.plain:
                    place = str(copied(path, found.encoding, Path(scratch) / "copy.csv", skip=found.skip))
            elif kind == "Excel":
                header, skip = sheet_head(path, style)
                reader = _csv_reader(header, ",")
                place = str(sheet_copy(path, header, skip, Path(scratch) / "copy.csv"))
            else:
                names = [f"CAST({quoted(c)} AS VARCHAR) AS {cell(c)}" for c in columns]
                reader = "read_parquet($1)"
            engine.execute(
                f'CREATE OR REPLACE TABLE source AS SELECT row_number() OVER () AS "#row", {bad} AS "#bad", '
                f"{', '.join(names)} FROM {reader}{limit}",
                [place],
            )
            if kind in ("CSV", "Excel"):
                _take_up_ragged(engine, path)
    except (duckdb.Error, OSError, EOFError, UnicodeError, csv.Error) as error:
        raise _unreadable(path, error) from None
    if (
        kind == "JSON Lines"
        and engine.execute('SELECT any_value("#row") FROM source WHERE "#bad" IS NOT NULL').fetchone()[0]
    ):
        _require_utf8(path)
    return int(engine.execute("SELECT count(*) FROM source").fetchall()[0][0])


def cell(column: str) -> str:
    """The name of a column of the file inside the engine, which would take ``ID`` and ``id`` for one, quoted."""
    return quoted(in_engine(column))


def in_engine(column: str) -> str:
    return f"in {column.encode().hex()}"


def quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def named(columns: tuple[str, ...], most: int = 12) -> str:
    """Some column names for a message of one line."""
    rest = f" and {len(columns) - most} more" if len(columns) > most else ""
    return ", ".join(sorted(columns)[:most]) + rest


def _csv_reader(names: Sequence[str], delimiter: str) -> str:
    columns = ", ".join(f"{literal(in_engine(name))}: 'VARCHAR'" for name in names)
    return (
        f"read_csv($1, auto_detect=false, header=true, columns={{{columns}}}, delim={literal(delimiter)}, "
        "quote='\"', escape='\"', store_rejects=true, parallel=false)"
    )


def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="afterwit-")


def _json_place(path: Path, style: Style, scratch: str) -> str:
    """The file, or a copy as UTF-8 where it is written otherwise."""
    encoding = encoding_of(path, style)
    return str(path) if encoding == "utf-8" else str(copied(path, encoding, Path(scratch) / "copy.jsonl"))


def _take_up_ragged(engine: Any, path: Path) -> None:
    """Lines that the reader left out go back to their places, with the reason."""
    found = engine.execute(
        "SELECT line - 1, any_value(error_type), any_value(error_message) FROM reject_errors GROUP BY line ORDER BY 1"
    ).fetchall()
    engine.execute("DROP TABLE reject_errors; DROP TABLE reject_scans")
    if not found:
        return
    if any(kind == _BAD_ENCODING for _, kind, _ in found):
        raise _no_utf8(path)
    lines = [(row, row - j, j, _RAGGED.get(kind, message)) for j, (row, kind, message) in enumerate(found, 1)]
    engine.execute("CREATE OR REPLACE TEMP TABLE ragged (line BIGINT, before BIGINT, place BIGINT, reason VARCHAR)")
    engine.executemany("INSERT INTO ragged VALUES (?, ?, ?, ?)", lines)
    # The k-th row that was read comes after every ragged line that fewer than k such rows precede.
    engine.execute(
        """CREATE OR REPLACE TABLE source AS
           SELECT * EXCLUDE (before, place) REPLACE ("#row" + coalesce(place, 0) AS "#row") FROM source
           ASOF LEFT JOIN (SELECT before, max(place) AS place FROM ragged GROUP BY before) ON "#row" > before"""
    )
    engine.execute('INSERT INTO source BY NAME SELECT line AS "#row", reason AS "#bad" FROM ragged')


def _from_json(column: str) -> str:
    parts = ["context", column.removeprefix("context.")] if column.startswith("context.") else [column]
    pointer = "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)
    return f"json ->> {literal(pointer)} AS {cell(column)}"


def _require_utf8(path: Path) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with opened(path) as file:
            while block := file.read(1 << 20):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise _unreadable(path, error) from None


def _no_utf8(path: Path) -> InputError:
    return InputError(
        f"{path} is not UTF-8: say encoding = \"latin-1\" or what it is in the mapping ('afterwit mapping {path}' "
        "proposes one), or save it as UTF-8"
    )


def _unreadable(path: Path, error: Exception) -> InputError:
    if isinstance(error, UnicodeError) or "unicode" in str(error).lower():
        return _no_utf8(path)
    first = (str(error).strip().splitlines() or ["it ends too early"])[0][:200]
    return InputError(f"{path} cannot be read as {format_of(path)}: {first}")
