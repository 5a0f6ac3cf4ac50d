"""What makes a row of a delivery log usable, as one query: parsed columns and, where it is not, the reason."""

import re
from collections.abc import Iterator

from afterwit.errors import InputError
from afterwit.record.mapping import ColumnMapping
from afterwit.record.moments import names
from afterwit.record.table import cell, literal, named, quoted

_LARGEST = "9e15"  # whole numbers up to here are exact as doubles
_SPACES = " \u00a0\u202f"
_GROUPED = rf"^\s*[+-]?\d{{1,3}}([.,'_{_SPACES}]\d{{3}})+\s*$"


def parsed(mapping: ColumnMapping) -> str:
    """SELECT over ``timed`` that gives row, reason (null where usable) and typed columns."""
    tests = ['WHEN "#bad" IS NOT NULL THEN "#bad"', *(_missing(column) for column in _required(mapping))]
    tests += _moment_tests(mapping)
    tests += _count_tests(mapping)
    columns = ['"#row" AS row', f"{_delivery(mapping)} AS delivery_id"]
    for name, column in _moments(mapping).items():
        columns.append(f"{names(column).moment if column else 'NULL::TIMESTAMPTZ'} AS {quoted(name)}")
    if mapping.at:
        columns.append(f"{cell(mapping.user) if mapping.user else 'NULL::VARCHAR'} AS user_id")
    if mapping.kind:
        count = f"coalesce({_whole(mapping, mapping.count)}, 1)" if mapping.count else "1::BIGINT"
        event = f"trim({cell(mapping.event)})" if mapping.event else "NULL::VARCHAR"
        columns += [f"{event} AS event_id", f"{_kind(mapping, mapping.kind)} AS kind", f"{count} AS count"]
    columns += [f"{_whole(mapping, column)} AS {quoted('count ' + kind)}" for column, kind in mapping.counts.items()]
    if mapping.each:
        columns.append(f"1::BIGINT AS {quoted('count ' + mapping.each)}")
    columns += [cell(c) for c in _kept(mapping)]
    return f"SELECT CASE {' '.join(tests)} END AS reason, {', '.join(columns)} FROM timed"


def require(mapping: ColumnMapping, columns: tuple[str, ...], source: str) -> None:
    """Raises InputError for a column that the file lacks."""
    for column in mapping.columns:
        if column not in columns:
            raise InputError(
                f"{source} has no column {column!r}: it has {named(columns)}; see 'afterwit mapping {source}'"
            )


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
    found = (mapping.event, mapping.kind, mapping.at, mapping.observed_at)
    created = mapping.created_at if mapping.shape in ("aggregates", "deliveries") else None
    return (*single, *(c for c in (*found, created) if c))


def _moment_tests(mapping: ColumnMapping) -> Iterator[str]:
    for column in mapping.times:
        n, c = names(column), cell(column)
        yield (f"WHEN trim({c}) <> '' AND {n.moment} IS NULL THEN {literal(column + ' ')} || {n.fault} || ': ' || {c}")
    if mapping.observed_at and mapping.created_at:
        early = f"{names(mapping.observed_at).moment} < {names(mapping.created_at).moment}"
        yield _refuse(mapping.observed_at, early, "lies before the delivery")


def _count_tests(mapping: ColumnMapping) -> Iterator[str]:
    optional = [mapping.count] if mapping.count else []
    for column in (*mapping.counts, *optional):
        whole = _whole(mapping, column)
        if column not in optional:
            yield _missing(column)
        broken = f"trim({cell(column)}) <> '' AND {whole} IS NULL"
        if mapping.thousands is None:
            grouped = f"regexp_matches({cell(column)}, {literal(_GROUPED)})"
            yield _refuse(
                column, f"{broken} AND {grouped}", "may have thousands separators, which the mapping must name"
            )
        yield _refuse(column, broken, "is no whole number")
        yield _refuse(column, f"{whole} < 0", "is negative")
    by_kind = {kind: _whole(mapping, column) for column, kind in mapping.counts.items()}
    if mapping.shape == "aggregates" and "click" in by_kind:
        yield f"WHEN {by_kind['click']} > {by_kind['impression']} THEN 'more clicks than impressions'"
    if mapping.propensity:
        number = f"TRY_CAST({cell(mapping.propensity)} AS DOUBLE)"
        wrong = f"{cell(mapping.propensity)} IS NOT NULL AND NOT coalesce({number} > 0 AND {number} <= 1, false)"
        yield _refuse(mapping.propensity, wrong, "is no probability above 0")


def _kept(mapping: ColumnMapping) -> tuple[str, ...]:
    found = (
        mapping.text,
        mapping.experiment,
        mapping.placement,
        mapping.audience,
        mapping.policy,
        mapping.propensity,
    )
    return tuple(dict.fromkeys((*(c for c in found if c), *mapping.context)))


def _delivery(mapping: ColumnMapping) -> str:
    if len(mapping.delivery) == 1:
        return f"trim({cell(mapping.delivery[0])})"
    # Rows that agree in every named column are told apart by their counts, then by their order in the file, so that
    # the same rows in another order keep their ids. Events of one delivery agree in them all, and are not told apart.
    parts = ", ".join(f"coalesce({cell(c)}, '')" for c in mapping.delivery)
    if mapping.at:
        return f"md5(concat_ws(chr(31), {parts}))"
    order = ", ".join((*(f"TRY_CAST({cell(c)} AS DOUBLE) DESC" for c in mapping.counts), '"#row"'))
    return f"md5(concat_ws(chr(31), {parts}, row_number() OVER (PARTITION BY {parts} ORDER BY {order})))"


def _kind(mapping: ColumnMapping, column: str) -> str:
    kind = f"lower(trim({cell(column)}))"
    cases = [f"WHEN {literal(value.strip().lower())} THEN {literal(name)}" for value, name in mapping.kinds.items()]
    return f"CASE {kind} {' '.join(cases)} ELSE {kind} END" if cases else kind


def _whole(mapping: ColumnMapping, column: str) -> str:
    """A whole number, true and false as 1 and 0; 1.000 may be a thousand, so that the mapping must tell."""
    c, mark = cell(column), mapping.thousands
    text = f"CASE lower(trim({c})) WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE {c} END"
    if mark:
        marks = f"[{_SPACES}]" if mark == " " else re.escape(mark)
        grouped = rf"^\s*[+-]?\d{{1,3}}({marks}\d{{3}})+(\.0*)?\s*$"
        plain = r"^\s*[+-]?\d+" + (r"(\.0*)?" if mark != "." else "") + r"\s*$"
        text = (
            f"CASE WHEN regexp_matches({c}, {literal(grouped)}) THEN regexp_replace({c}, {literal(marks)}, '', 'g') "
            f"WHEN regexp_matches({c}, {literal(plain)}) THEN {c} END"
        )
    else:
        text = f"CASE WHEN NOT regexp_matches({c}, {literal(_GROUPED)}) THEN {text} END"
    number = f"TRY_CAST({text} AS DOUBLE)"
    return (
        f"(CASE WHEN abs({number}) < {_LARGEST} AND {number} = floor({number}) THEN TRY_CAST({number} AS BIGINT) END)"
    )


def _missing(column: str) -> str:
    return f"WHEN {cell(column)} IS NULL OR trim({cell(column)}) = '' THEN {literal(column + ' is missing')}"


def _refuse(column: str, condition: str, why: str) -> str:
    return f"WHEN {condition} THEN {literal(f'{column} {why}: ')} || {cell(column)}"
