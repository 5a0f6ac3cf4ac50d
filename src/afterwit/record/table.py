"""A file of rows as text columns inside DuckDB, whatever its format."""

import codecs
import csv
import gzip
import tempfile
from pathlib import Path
from typing import IO, Any, cast

from afterwit.errors import InputError, MissingExtra

_CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_JSON = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
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


def columns_of(engine: Any, path: Path) -> tuple[str, ...]:
    """Raises InputError for a file that cannot be read as what its name says."""
    import duckdb

    if not (_is(path, _CSV) or _is(path, _JSON) or path.suffix == ".parquet"):
        raise InputError(f"{path} has no known format: name it .parquet, .csv or .jsonl (the last two may end in .gz)")
    try:
        if path.stat().st_size == 0:
            raise InputError(f"{path} is empty")
        if _is(path, _CSV):
            names = _header(path)[0]
        elif _is(path, _JSON):
            names = [name for (name,) in engine.execute(_KEYS, [str(path)]).fetchall()]
        else:
            names = [row[0] for row in engine.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()]
    except (duckdb.Error, OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise _unreadable(path, error) from None
    if not names:
        raise InputError(f"{path} holds no rows that could be read")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{path} has two columns named {twice!r}")
    return tuple(names)


_KEYS = f"""
    WITH head AS (SELECT json FROM read_ndjson_objects(?, ignore_errors=true) WHERE json_type(json) = 'OBJECT'
                  LIMIT {_LOOKED_AT})
    SELECT DISTINCT key FROM (SELECT unnest(json_keys(json)) AS key FROM head)
    WHERE key <> 'context' OR NOT EXISTS (SELECT 1 FROM head WHERE json_type(json, '/context') = 'OBJECT')
    UNION SELECT DISTINCT 'context.' || unnest(json_keys(json, '/context')) FROM head
          WHERE json_type(json, '/context') = 'OBJECT'
    ORDER BY key"""


def load(engine: Any, path: Path, columns: tuple[str, ...]) -> int:
    """Makes the table ``source``: ``#row`` (1 is the first data row), ``#bad`` (why the line is no row at all) and
    every column as text, in order; the row count. Raises InputError."""
    import duckdb

    if _is(path, _JSON):
        bad = "CASE WHEN json IS NULL OR json_type(json) <> 'OBJECT' THEN 'is no JSON object' END"
        names, reader = [_from_json(column) for column in columns], "read_ndjson_objects($path, ignore_errors=true)"
    else:
        bad, names = "NULL::VARCHAR", [f"CAST({quoted(c)} AS VARCHAR) AS {quoted(c)}" for c in columns]
        reader = _csv_reader(path) if _is(path, _CSV) else "read_parquet($path)"
    try:
        engine.execute(
            f'CREATE OR REPLACE TABLE source AS SELECT row_number() OVER () AS "#row", {bad} AS "#bad", '
            f"{', '.join(names)} FROM {reader}",
            {"path": str(path)},
        )
        if _is(path, _CSV):
            _take_up_ragged(engine, path)
    except duckdb.Error as error:
        raise _unreadable(path, error) from None
    if (
        _is(path, _JSON)
        and engine.execute('SELECT any_value("#row") FROM source WHERE "#bad" IS NOT NULL').fetchone()[0]
    ):
        _require_utf8(path)
    return int(engine.execute("SELECT count(*) FROM source").fetchone()[0])


def quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _header(path: Path) -> tuple[list[str], str]:
    """Column names and the delimiter: of comma, semicolon and tab the one that the first line holds most."""
    with _opened(path) as file:
        line = file.readline().decode("utf-8-sig")
    delimiter = "\t" if ".tsv" in path.suffixes else max(",;\t", key=line.count)
    return next(csv.reader([line], delimiter=delimiter), []), delimiter


def _csv_reader(path: Path) -> str:
    names, delimiter = _header(path)
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    return (
        f"read_csv($path, auto_detect=false, header=true, columns={{{columns}}}, delim={literal(delimiter)}, "
        "quote='\"', escape='\"', store_rejects=true, parallel=false)"
    )


def _take_up_ragged(engine: Any, path: Path) -> None:
    """Lines that the reader left out go back to their places, with the reason."""
    found = engine.execute(
        "SELECT line - 1, any_value(error_type), any_value(error_message) FROM reject_errors GROUP BY line ORDER BY 1"
    ).fetchall()
    engine.execute("DROP TABLE reject_errors; DROP TABLE reject_scans")
    if not found:
        return
    if any(kind == _BAD_ENCODING for _, kind, _ in found):
        raise InputError(f"{path} is not UTF-8: save it as UTF-8")
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
    return f"json ->> {literal(pointer)} AS {quoted(column)}"


def _require_utf8(path: Path) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with _opened(path) as file:
            while block := file.read(1 << 20):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise _unreadable(path, error) from None


def _opened(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _unreadable(path: Path, error: Exception) -> InputError:
    if isinstance(error, UnicodeDecodeError) or "unicode" in str(error).lower():
        return InputError(f"{path} is not UTF-8: save it as UTF-8")
    first = (str(error).strip().splitlines() or ["it ends too early"])[0][:200]
    kind = next((name for name, ends in (("CSV", _CSV), ("JSON Lines", _JSON)) if _is(path, ends)), "Parquet")
    return InputError(f"{path} cannot be read as {kind}: {first}")


def _is(path: Path, endings: tuple[str, ...]) -> bool:
    return path.name.lower().endswith(endings)
