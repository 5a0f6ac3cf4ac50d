"""What makes a row of a delivery log usable, as one query: parsed columns and, where it is not, the reason."""

from afterwit.errors import InputError
from afterwit.record.mapping import ColumnMapping
from afterwit.record.table import quoted

_ZONE = r"\d\d:\d\d.*(Z|[+-]\d\d(:?\d\d)?)\s*$"


def parsed(mapping: ColumnMapping) -> str:
    """SELECT over ``source`` that gives row, reason (null where usable) and typed columns; parameter: $zone."""
    moments = {"created": mapping.created_at, "at": mapping.at, "observed": mapping.observed_at}
    checks = [_missing(column) for column in mapping.delivery[:1]]
    columns = ['"#row" AS row', f"{_delivery(mapping)} AS delivery_id"]
    for name, column in moments.items():
        columns.append(f'{_moment(column) if column else "NULL::TIMESTAMPTZ"} AS "{name}"')
        if column and (name != "created" or mapping.shape != "events"):
            checks += [
                _missing(column),
                f"WHEN {_moment(column)} IS NULL THEN {_quote(column)} || ' is no time: ' || {quoted(column)}",
            ]
    if mapping.shape == "events":
        checks += [_missing(c) for c in (mapping.event, mapping.kind) if c]
        columns += [f"{quoted(str(mapping.event))} AS event_id", f"lower({quoted(str(mapping.kind))}) AS kind"]
    single = {"count": mapping.count, "user_id": mapping.user}
    for name, column in single.items():
        columns.append(f"{quoted(column) if column else 'NULL'} AS {name}")
    for column, kind in {**mapping.counts, **({mapping.count: "count"} if mapping.count else {})}.items():
        number = f"TRY_CAST({quoted(column)} AS DOUBLE)"
        given = f"{quoted(column)} IS NOT NULL AND " if column == mapping.count else ""
        checks += [
            f"WHEN {given}({number} IS NULL OR {number} <> floor({number})) THEN {_quote(column)} || ' is no whole number: ' || coalesce({quoted(column)}, 'missing')",
            f"WHEN {number} < 0 THEN {_quote(column)} || ' is negative: ' || {quoted(column)}",
        ]
        if kind != "count":
            columns.append(f"TRY_CAST({quoted(column)} AS DOUBLE)::BIGINT AS {quoted('count ' + kind)}")
    by_kind = {kind: f"TRY_CAST({quoted(column)} AS DOUBLE)" for column, kind in mapping.counts.items()}
    if "click" in by_kind:
        checks.append(f"WHEN {by_kind['click']} > {by_kind['impression']} THEN 'more clicks than impressions'")
    if mapping.propensity:
        number = f"TRY_CAST({quoted(mapping.propensity)} AS DOUBLE)"
        checks.append(
            f"WHEN {quoted(mapping.propensity)} IS NOT NULL AND NOT coalesce({number} > 0 AND {number} <= 1, false) "
            f"THEN {_quote(mapping.propensity)} || ' is no probability: ' || {quoted(mapping.propensity)}"
        )
    columns += [quoted(c) for c in _kept(mapping)]
    return f"SELECT CASE {' '.join(checks)} END AS reason, {', '.join(columns)} FROM source"


def naive(mapping: ColumnMapping) -> str | None:
    """SELECT of the first row whose time names no zone; None where no column holds times."""
    times = [c for c in (mapping.created_at, mapping.at, mapping.observed_at) if c]
    tests = " OR ".join(
        f"({quoted(c)} IS NOT NULL AND TRY_CAST({quoted(c)} AS TIMESTAMP) IS NOT NULL AND NOT regexp_matches({quoted(c)}, '{_ZONE}'))"
        for c in times
    )
    return f'SELECT "#row", {quoted(times[0])} FROM source WHERE {tests} LIMIT 1' if times else None


def require(mapping: ColumnMapping, columns: tuple[str, ...], source: str) -> None:
    """Raises InputError for a column that the file lacks."""
    for column in mapping.columns:
        if column not in columns:
            raise InputError(f"{source} has no column {column!r}: it has {', '.join(sorted(columns))}")


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
        return quoted(mapping.delivery[0])
    # Rows that agree in every named column are told apart by their order, which re-reading keeps.
    parts = ", ".join(f"coalesce({quoted(c)}, '')" for c in mapping.delivery)
    return f'md5(concat_ws(chr(31), {parts}, row_number() OVER (PARTITION BY {parts} ORDER BY "#row")))'


def _moment(column: str) -> str:
    c = quoted(column)
    return (
        f"CASE WHEN regexp_matches({c}, '{_ZONE}') THEN TRY_CAST({c} AS TIMESTAMPTZ) "
        f"ELSE timezone($zone, TRY_CAST({c} AS TIMESTAMP)) END"
    )


def _missing(column: str) -> str:
    return f"WHEN {quoted(column)} IS NULL OR trim({quoted(column)}) = '' THEN {_quote(column)} || ' is missing'"


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
