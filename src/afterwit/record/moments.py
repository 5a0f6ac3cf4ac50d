"""Times as logs have them: the form of a column decided once for the whole of it, local times by their zone.

The forms: dates as ISO 8601 writes them; Unix time in seconds, milliseconds, microseconds or nanoseconds, told apart by
size (10⁸ to 10¹¹ are seconds of 1973 to 5138, and so on by thousands); or the format that the mapping gives. The form
that most values have is the column's, of equals the one that comes first; values of another form are refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afterwit.errors import InputError
from afterwit.record.table import cell, literal, quoted

UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 0.001}  # microseconds in one
_NAMES = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_BANDS = (("s", 8), ("ms", 11), ("us", 14), ("ns", 17))  # powers of ten where each begins
_ZONE = r"\d\d:\d\d.*(Z|UTC|[+-]\d\d(:?\d\d)?)\s*$"
_DATE = r"^\s*\d{4}-\d\d?-\d\d?([ T]|\s*$)"
_BARE = r"^\s*\d{4}-\d\d?-\d\d?\s*$"
_NUMBER = r"^\s*[+-]?\d+(\.\d*)?([eE][+]?\d+)?\s*$"
_SLASHED = r"^\s*\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b"
_FIRST, _LAST = "TIMESTAMP '1970-01-01'", "TIMESTAMP '2200-01-01'"
_EXAMPLE = "'%d/%m/%Y %H:%M'"


@dataclass(frozen=True, kw_only=True)
class Form:
    """Of one column. kind: ``iso``, ``given`` or a unit. format: as ``strptime`` takes it, where given. dates: of the
    values how many name a day alone."""

    column: str
    kind: str
    format: str | None
    filled: int
    dates: int

    @property
    def told(self) -> str:
        """What a reader should know of how the column was read, empty where nothing."""
        return f"{self.column} is read as Unix time in {_NAMES[self.kind]}" if self.kind in UNITS else ""


def forms(engine: Any, columns: Sequence[str], given: str | None, path: Path) -> dict[str, Form]:
    """Column → its form, decided over all rows of ``source``.

    given: a format of ``strptime``, or a unit such as ``ms``. Raises InputError for a format that is none and for a
    column whose dates no form reads.
    """
    if given and given not in UNITS:
        _check(engine, given)
    return {column: _form(engine, column, given, path) for column in columns}


def _check(engine: Any, given: str) -> None:
    import duckdb

    try:
        engine.execute(f"SELECT try_strptime('x', {literal(given)})")
        sound = "%" in given
    except duckdb.Error:
        sound = False
    if not sound:
        raise InputError(
            f"{given!r} is no time format: write it as {_EXAMPLE}, or s, ms, us or ns for Unix time in that unit"
        )


def _form(engine: Any, column: str, given: str | None, path: Path) -> Form:
    if given in UNITS:
        return Form(column=column, kind=str(given), format=None, filled=0, dates=0)
    found = engine.execute(
        f"""SELECT {_class(column, given)} AS class, count(*) AS n, min("#row") AS row,
                   arg_min({cell(column)}, "#row") AS text,
                   count(*) FILTER (regexp_matches({cell(column)}, '{_BARE}')) AS dates
            FROM source WHERE trim({cell(column)}) <> '' GROUP BY class"""
    ).fetchall()
    counts = {kind: (n, -row) for kind, n, row, _, _ in found}
    readable = {kind: size for kind, size in counts.items() if kind in ("iso", "given", *UNITS)}
    best = max(readable, key=lambda kind: readable[kind], default="iso")
    slashed = next((row for row in found if row[0] == "slashed"), None)
    if slashed and slashed[1] > readable.get(best, (0, 0))[0]:
        raise InputError(
            f"{path}, row {slashed[2]}: the time {slashed[3]!r} of {column} may be day-first or month-first: pass "
            f"--time-format, such as {_EXAMPLE} for day-first, or say time_format in the mapping"
        )
    if found and not readable and not slashed:
        _, _, row, text, _ = min(found, key=lambda f: f[2])
        if sum(n for _, n, _, _, _ in found) > 1:
            raise InputError(
                f"{path}, row {row}: no value of {column} is a time, such as {text!r}: pass --time-format, such as "
                f"{_EXAMPLE}, or name another column in the mapping"
            )
    return Form(
        column=column,
        kind=best,
        format=given if best == "given" else None,
        filled=sum(n for _, n, _, _, _ in found),
        dates=sum(dates for kind, _, _, _, dates in found if kind == "iso") if best == "iso" else 0,
    )


def _class(column: str, given: str | None) -> str:
    """SQL: which form a value has, NULL where it is empty."""
    c = cell(column)
    size = f"abs(TRY_CAST({c} AS DOUBLE))"
    tests = [f"WHEN trim({c}) = '' THEN NULL"]
    if given in UNITS:
        tests.append(f"WHEN regexp_matches({c}, '{_NUMBER}') THEN '{given}'")
    elif given:
        tests.append(f"WHEN try_strptime(trim({c}), {literal(given)}) IS NOT NULL THEN 'given'")
    tests.append(f"WHEN regexp_matches({c}, '{_DATE}') THEN 'iso'")
    tests += [
        f"WHEN regexp_matches({c}, '{_NUMBER}') AND {size} >= 1e{least} AND {size} < 1e{least + 3} THEN '{unit}'"
        for unit, least in _BANDS
    ]
    tests += [f"WHEN regexp_matches({c}, '{_SLASHED}') THEN 'slashed'", "ELSE 'other'"]
    return f"CASE {' '.join(tests)} END"


@dataclass(frozen=True, kw_only=True)
class Names:
    """Of what `timed` adds for a column: the moment, why there is none, the value without zone, whether its zone has
    the local time twice."""

    moment: str
    fault: str
    local: str
    twice: str


def names(column: str) -> Names:
    code = column.encode().hex()
    return Names(**{part: quoted(f"{part} {code}") for part in ("moment", "fault", "local", "twice")})


def local(engine: Any, found: dict[str, Form]) -> tuple[int, str] | None:
    """Row and text of the first time that names no zone."""
    naive = [
        f'SELECT "#row" AS row, {cell(form.column)} AS text FROM source WHERE {_local(form)} IS NOT NULL'
        for form in found.values()
        if form.kind not in UNITS
    ]
    if not naive:
        return None
    rows = engine.execute(f"SELECT row, text FROM ({' UNION ALL '.join(naive)}) ORDER BY row LIMIT 1").fetchall()
    return (int(rows[0][0]), str(rows[0][1])) if rows else None


def timed(found: dict[str, Form], given: str | None) -> str:
    """SELECT of ``source`` with, for each column of times, what `Names` lists; parameter: $zone.

    A local time is looked for at the offsets that its zone has a day before and a day after: of two moments that fit,
    as in an autumn hour, the first; none fits a time that clocks jumped over. A day is its first moment there is.
    """
    text = "SELECT * FROM source"
    for form in found.values():
        c, n = cell(form.column), names(form.column)
        text = f"SELECT *, {_class(form.column, given)} AS class, {_local(form)} AS {n.local} FROM ({text})"
        before, after = (
            f"{n.local} - (timezone($zone, timezone('UTC', {x})) - ({x}))"
            for x in (f"{n.local} - INTERVAL 1 DAY", f"{n.local} + INTERVAL 1 DAY")
        )
        text = f"SELECT *, timezone('UTC', {before}) AS early, timezone('UTC', {after}) AS late FROM ({text})"
        text = f"""SELECT *, timezone($zone, early) = {n.local} AS first_fits,
                   timezone($zone, late) = {n.local} AS second_fits FROM ({text})"""
        day = f"regexp_matches({c}, '{_BARE}')" if form.kind == "iso" else "false"
        moment = f"""CASE WHEN {n.local} IS NOT NULL THEN
                          CASE WHEN first_fits AND second_fits THEN least(early, late)
                               WHEN first_fits OR {day} THEN early WHEN second_fits THEN late END
                     ELSE {_absolute(form)} END"""
        text = f"""SELECT * EXCLUDE (class, early, late, first_fits, second_fits), {_fault(form)} AS {n.fault},
                   {moment} AS {n.moment},
                   coalesce(first_fits AND second_fits AND early <> late AND NOT {day}, false) AS {n.twice}
                   FROM ({text})"""
    return text


def notes(engine: Any, found: dict[str, Form], zone: str, path: Path) -> list[str]:
    """What a reader should know of how times were read; asks the tables ``timed`` and ``parsed``."""
    said = [form.told for form in found.values() if form.told]
    for form in found.values():
        if form.dates:
            part = "" if form.dates == form.filled else f" in {form.dates} of {form.filled} rows"
            said.append(f"{form.column} holds dates without time{part}: midnight in {zone}")
        n = names(form.column)
        ((twice, row, text),) = engine.execute(
            f"""SELECT count(*), min(row), arg_min({cell(form.column)}, row) FROM timed JOIN parsed ON "#row" = row
                WHERE {n.twice} AND reason IS NULL"""
        ).fetchall()
        if twice:
            said.append(
                f"{path}: {twice} times of {form.column} fall in an hour that {zone} has twice, such as {text} in row "
                f"{row}: the first of the two is taken"
            )
    return said


def _local(form: Form) -> str:
    """SQL: the time as written where it names no zone, else NULL."""
    c = cell(form.column)
    if form.kind == "given":
        value = "NULL::TIMESTAMP" if _zoned(form) else f"try_strptime(trim({c}), {literal(form.format or '')})"
    elif form.kind == "iso":
        value = (
            f"CASE WHEN regexp_matches({c}, '{_DATE}') AND NOT regexp_matches({c}, '{_ZONE}') "
            f"THEN TRY_CAST({c} AS TIMESTAMP) END"
        )
    else:
        value = "NULL::TIMESTAMP"
    return f"(CASE WHEN ({value}) BETWEEN {_FIRST} AND {_LAST} THEN ({value}) END)"


def _absolute(form: Form) -> str:
    """SQL: the moment that a value is by itself, else NULL."""
    c = cell(form.column)
    if form.kind in UNITS:
        micros = f"round(TRY_CAST({c} AS DECIMAL(38, 9)) * {UNITS[form.kind]})"
        far = f"abs(TRY_CAST({c} AS DOUBLE)) * {UNITS[form.kind]} < 8e15"
        value = f"CASE WHEN class = '{form.kind}' AND {far} THEN timezone('UTC', make_timestamp({micros}::BIGINT)) END"
    elif form.kind == "given":
        value = f"try_strptime(trim({c}), {literal(form.format or '')})" if _zoned(form) else "NULL::TIMESTAMPTZ"
    else:
        value = f"CASE WHEN class = 'iso' AND regexp_matches({c}, '{_ZONE}') THEN TRY_CAST({c} AS TIMESTAMPTZ) END"
    bounds = (f"timezone('UTC', {bound})" for bound in (_FIRST, _LAST))
    return f"(CASE WHEN ({value}) BETWEEN {' AND '.join(bounds)} THEN ({value}) END)"


def _zoned(form: Form) -> bool:
    return any(mark in (form.format or "") for mark in ("%z", "%Z"))


def _fault(form: Form) -> str:
    """SQL: why a value that is no moment is none."""
    own = f"Unix {_NAMES[form.kind]}" if form.kind in UNITS else "dates"
    n = names(form.column)
    tests = [f"WHEN {n.local} IS NOT NULL THEN 'never was in ' || $zone"]
    tests += [
        f"WHEN class = '{unit}' AND class <> '{form.kind}' THEN 'is in Unix {name} where most of the column is {own}'"
        for unit, name in _NAMES.items()
    ]
    if form.kind != "iso":
        tests.append(f"WHEN class = 'iso' THEN 'is a date where most of the column is {own}'")
    tests.append("WHEN class = 'slashed' THEN 'is day-first or month-first, which --time-format must say'")
    return f"CASE {' '.join(tests)} ELSE 'is no time' END"
