"""What makes a row of a delivery log usable, as one query: parsed columns and, where it is not, the reason."""

from collections.abc import Iterator

from afterwit.errors import InputError
from afterwit.record.mapping import ColumnMapping
from afterwit.record.table import literal, quoted

_ZONE = r"\d\d:\d\d.*(Z|UTC|[+-]\d\d(:?\d\d)?)\s*$"
_DATE = r"^\s*\d{4}-\d\d?-\d\d?([ T]|\s*$)"
_SENSIBLE = "BETWEEN TIMESTAMPTZ '1970-01-01 00:00:00+00' AND TIMESTAMPTZ '2200-01-01 00:00:00+00'"
_LARGEST = "9e15"  # whole numbers up to here are exact as doubles


def parsed(mapping: ColumnMapping) -> str:
    """SELECT over ``source`` that gives row, reason (null where usable) and typed columns; parameter: $zone."""
    tests = ['WHEN "#bad" IS NOT NULL THEN "#bad"', *(_missing(column) for column in _required(mapping))]
    tests += _moment_tests(mapping)
    tests += _count_tests(mapping)
    columns = ['"#row" AS row', f"{_delivery(mapping)} AS delivery_id"]
    for name, column in _moments(mapping).items():
        columns.append(f"{_moment(column) if column else 'NULL::TIMESTAMPTZ'} AS {quoted(name)}")
    if mapping.event and mapping.kind:
        columns += [f"trim({quoted(mapping.event)}) AS event_id", f"lower(trim({quoted(mapping.kind)})) AS kind"]
        count = f"coalesce({_whole(mapping.count)}, 1)" if mapping.count else "1::BIGINT"
        columns += [f"{count} AS count", f"{quoted(mapping.user) if mapping.user else 'NULL::VARCHAR'} AS user_id"]
    columns += [f"{_whole(column)} AS {quoted('count ' + kind)}" for column, kind in mapping.counts.items()]
    columns += [quoted(c) for c in _kept(mapping)]
    return f"SELECT CASE {' '.join(tests)} END AS reason, {', '.join(columns)} FROM source"


def naive(mapping: ColumnMapping) -> str | None:
    """SELECT of the first row whose time names no zone; None where no column holds times."""
    times = [c for c in _moments(mapping).values() if c]
    if not times:
        return None
    found = [
        f"""SELECT "#row" AS row, {quoted(c)} AS text FROM source WHERE regexp_matches({quoted(c)}, '{_DATE}')
            AND TRY_CAST({quoted(c)} AS TIMESTAMP) IS NOT NULL AND NOT regexp_matches({quoted(c)}, '{_ZONE}')"""
        for c in times
    ]
    return f"SELECT row, text FROM ({' UNION ALL '.join(found)}) ORDER BY row LIMIT 1"


def require(mapping: ColumnMapping, columns: tuple[str, ...], source: str) -> None:
    """Raises InputError for a column that the file lacks."""
    for column in mapping.columns:
        if column not in columns:
            raise InputError(f"{source} has no column {column!r}: it has {', '.join(sorted(columns))}")


def _moments(mapping: ColumnMapping) -> dict[str, str | None]:
    return {
        "created": mapping.created_at,
        "at": mapping.at,
        "observed": mapping.observed_at,
        "available": mapping.available_at,
    }


def _required(mapping: ColumnMapping) -> tuple[str, ...]:
    """Several columns of a hashed delivery id may be empty, as long as not all are: the hash takes them so."""
    single = mapping.delivery if len(mapping.delivery) == 1 else ()
    named = (mapping.event, mapping.kind, mapping.at, mapping.observed_at)
    created = mapping.created_at if mapping.shape != "events" else None
    return (*single, *(c for c in (*named, created) if c))


def _moment_tests(mapping: ColumnMapping) -> Iterator[str]:
    for column in filter(None, _moments(mapping).values()):
        yield _refuse(column, f"{quoted(column)} IS NOT NULL AND {_moment(column)} IS NULL", "is no time")
    if mapping.observed_at and mapping.created_at:
        early = f"{_moment(mapping.observed_at)} < {_moment(mapping.created_at)}"
        yield _refuse(mapping.observed_at, early, "lies before the delivery")


def _count_tests(mapping: ColumnMapping) -> Iterator[str]:
    optional = [mapping.count] if mapping.count else []
    for column in (*mapping.counts, *optional):
        number = f"TRY_CAST({quoted(column)} AS DOUBLE)"
        if column in optional:
            broken = f"{quoted(column)} IS NOT NULL AND {_whole(column)} IS NULL"
        else:
            yield _missing(column)
            broken = f"{_whole(column)} IS NULL"
        yield _refuse(column, broken, "is no whole number")
        yield _refuse(column, f"{number} < 0", "is negative")
    by_kind = {kind: _whole(column) for column, kind in mapping.counts.items()}
    if "click" in by_kind:
        yield f"WHEN {by_kind['click']} > {by_kind['impression']} THEN 'more clicks than impressions'"
    if mapping.propensity:
        number = f"TRY_CAST({quoted(mapping.propensity)} AS DOUBLE)"
        wrong = f"{quoted(mapping.propensity)} IS NOT NULL AND NOT coalesce({number} > 0 AND {number} <= 1, false)"
        yield _refuse(mapping.propensity, wrong, "is no probability above 0")


def _kept(mapping: ColumnMapping) -> tuple[str, ...]:
    named = (
        mapping.text,
        mapping.experiment,
        mapping.placement,
        mapping.audience,
        mapping.policy,
        mapping.propensity,
    )
    return tuple(dict.fromkeys((*(c for c in named if c), *mapping.context)))


def _delivery(mapping: ColumnMapping) -> str:
    if len(mapping.delivery) == 1:
        return f"trim({quoted(mapping.delivery[0])})"
    # Rows that agree in every named column are told apart by their counts, then by their order in the file, so that
    # the same rows in another order keep their ids.
    parts = ", ".join(f"coalesce({quoted(c)}, '')" for c in mapping.delivery)
    order = ", ".join((*(f"TRY_CAST({quoted(c)} AS DOUBLE) DESC" for c in mapping.counts), '"#row"'))
    return f"md5(concat_ws(chr(31), {parts}, row_number() OVER (PARTITION BY {parts} ORDER BY {order})))"


def _moment(column: str) -> str:
    c = quoted(column)
    moment = (
        f"CASE WHEN NOT regexp_matches({c}, '{_DATE}') THEN NULL "
        f"WHEN regexp_matches({c}, '{_ZONE}') THEN TRY_CAST({c} AS TIMESTAMPTZ) "
        f"ELSE timezone($zone, TRY_CAST({c} AS TIMESTAMP)) END"
    )
    return f"(CASE WHEN ({moment}) {_SENSIBLE} THEN ({moment}) END)"


def _whole(column: str) -> str:
    number = f"TRY_CAST({quoted(column)} AS DOUBLE)"
    return (
        f"(CASE WHEN abs({number}) < {_LARGEST} AND {number} = floor({number}) THEN TRY_CAST({number} AS BIGINT) END)"
    )


def _missing(column: str) -> str:
    return f"WHEN {quoted(column)} IS NULL OR trim({quoted(column)}) = '' THEN {literal(column + ' is missing')}"


def _refuse(column: str, condition: str, why: str) -> str:
    return f"WHEN {condition} THEN {literal(f'{column} {why}: ')} || {quoted(column)}"
