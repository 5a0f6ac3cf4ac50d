"""A file of rows as text columns inside DuckDB, whatever its format."""

from pathlib import Path
from typing import Any

from afterwit.errors import InputError, MissingExtra

_CSV = (".csv", ".csv.gz", ".tsv")
_JSON = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".json")


def connect() -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("duckdb", "events") from None
    engine = duckdb.connect()
    engine.execute("SET TimeZone = 'UTC'")
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

    try:
        if _is(path, _JSON):
            query = "SELECT DISTINCT unnest(json_keys(json)) FROM (SELECT json FROM read_ndjson_objects(?) LIMIT 1000)"
            names = [name for (name,) in engine.execute(query, [str(path)]).fetchall()]
        else:
            names = [
                row[0] for row in engine.execute(f"DESCRIBE SELECT * FROM {_reader(path)}", [str(path)]).fetchall()
            ]
    except duckdb.Error as error:
        raise unreadable(path, error) from None
    if not names:
        raise InputError(f"{path} holds no rows")
    return tuple(names)


def load(engine: Any, path: Path, columns: tuple[str, ...]) -> int:
    """Makes the table ``source``: ``row`` (1 is the first data row) and every column as text, in order; the row count.

    A malformed line becomes a row of nulls, which the checks set aside. Raises InputError.
    """
    import duckdb

    names = ", ".join(_text(path, column) for column in columns)
    try:
        engine.execute(
            f'CREATE OR REPLACE TABLE source AS SELECT row_number() OVER () AS "#row", {names} FROM {_reader(path)}',
            [str(path)],
        )
    except duckdb.Error as error:
        raise unreadable(path, error) from None
    return int(engine.execute("SELECT count(*) FROM source").fetchone()[0])


def quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def unreadable(path: Path, error: Exception) -> InputError:
    first = str(error).strip().splitlines()[0][:200]
    return InputError(f"{path} cannot be read as {path.suffix.lstrip('.') or 'a table'}: {first}")


def _reader(path: Path) -> str:
    if _is(path, _CSV):
        return "read_csv(?, header=true, all_varchar=true, null_padding=true, ignore_errors=false, parallel=false)"
    if _is(path, _JSON):
        return "read_ndjson_objects(?, ignore_errors=true)"
    if path.suffix == ".parquet":
        return "read_parquet(?)"
    raise InputError(f"{path} has no known format: name it .parquet, .csv or .jsonl (the last two may end in .gz)")


def _text(path: Path, column: str) -> str:
    if _is(path, _JSON):
        pointer = "/" + column.replace("~", "~0").replace("/", "~1")
        return f"json ->> '{pointer.replace(chr(39), chr(39) * 2)}' AS {quoted(column)}"
    return f"CAST({quoted(column)} AS VARCHAR) AS {quoted(column)}"


def _is(path: Path, endings: tuple[str, ...]) -> bool:
    return path.name.lower().endswith(endings)
