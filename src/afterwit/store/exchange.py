"""A scope as JSON Lines: the same ledger always gives the same bytes, and the lines give the same ledger.

The first line is a header with the format's number and the count of lines that follow, so that a cut file is
noticed. The bank's cards are not written: they are the fold of the edits.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Select, Table, insert, select
from sqlalchemy.exc import IntegrityError

from afterwit.errors import AfterwitError, Conflict, InputError
from afterwit.model import Delivery, Episode, Profile, Recalled, Round, SettingsChange, fold
from afterwit.store import settings as _settings
from afterwit.store.bank import read_rounds
from afterwit.store.codec import decode, decoder, dumps, encoder, loads
from afterwit.store.filing import rows_of
from afterwit.store.ledger import delivery_row, episode_row, open_scope, require_scope
from afterwit.store.profiles import profile_row
from afterwit.store.rounds import card_row, insert_round, recount
from afterwit.store.tables import (
    banks,
    cards,
    context_fields,
    deliveries,
    episodes,
    filings,
    folded,
    profiles,
    put,
    recalls,
    rounds,
    scopes,
    tombstone_keys,
    tombstones,
    vectors,
)
from afterwit.store.tombstones import bury

FORMAT = 2
_READ = (1, FORMAT)  # 1: without settings, tombstones by the ids themselves

_write_round, _write_change = encoder(Round), encoder(SettingsChange)
_read_recalled = decoder(tuple[Recalled, ...])

# kind of line → table and columns, where a line is the row itself; sorted by those columns
_PLAIN: dict[str, tuple[Table, tuple[str, ...]]] = {
    "field": (context_fields, ("name",)),
    "bank": (banks, ("name", "version", "capacity_cards", "capacity_tokens")),
    "folded": (folded, ("user", "interaction")),
    "key": (tombstone_keys, ("key",)),
    "tombstone": (tombstones, ("kind", "id", "at")),
}


def export(connection: Connection, scope: str) -> list[str]:
    require_scope(connection, scope)
    lines: list[str] = []

    def add(kind: str, row: dict[str, Any]) -> None:
        lines.append(dumps({"line": kind, **row}))

    for kind, (table, names) in _PLAIN.items():
        columns = [table.c[name] for name in names]
        for row in connection.execute(select(*columns).where(table.c.scope == scope).order_by(*columns)):
            add(kind, dict(row._mapping))
    for change in reversed(_settings.changes(connection, scope)):
        add("settings", {"value": _write_change(change)})
    for kind, table, moment in (("episode", episodes, "started_at"), ("delivery", deliveries, "created_at")):
        for row in _of(connection, scope, select(table.c.payload), table, (moment, "id")):
            add(kind, {"value": loads(row.payload)})
    for row in _of(connection, scope, select(recalls), recalls, ("number",)):
        add("recall", {"episode_id": row.episode_id, "at": row.at, "value": loads(row.payload)})
    versions = {row.id: row.version for row in connection.execute(select(rounds).where(rounds.c.scope == scope))}
    for round_ in reversed(read_rounds(connection, scope, None, None)):
        add("round", {"version": versions[round_.id], "value": _write_round(round_)})
    for row in _of(connection, scope, select(profiles.c.payload), profiles, ("user", "version")):
        add("profile", {"value": loads(row.payload)})
    for row in _of(connection, scope, select(vectors), vectors, ("card_id",)):
        add("vector", {"card_id": row.card_id, "data": b64encode(row.data).decode()})
    kept = connection.execute(select(scopes).where(scopes.c.name == scope)).one()
    header = {"afterwit": FORMAT, "embedder": kept.embedder, "dimensions": kept.dimensions}
    return [dumps({**header, "scope": scope, "lines": len(lines)}), *lines]


def import_lines(connection: Connection, lines: Iterable[str]) -> int:
    """The count of lines. Raises InputError with the number of the line at fault, Conflict for a scope that is
    there already."""
    numbered = enumerate(lines, start=1)
    try:
        header = loads(next(numbered)[1])
    except StopIteration:
        raise InputError("an export has a header in line 1, but there are no lines") from None
    except InputError as error:
        raise InputError(f"line 1: {error}") from None
    scope, expected = _open(connection, header)
    applied: list[tuple[Round, int]] = []
    embedded: list[dict[str, Any]] = []
    number = 1
    for number, line in numbered:
        try:
            data = loads(line)
            if header["afterwit"] == 1 and isinstance(data, dict) and data.get("line") == "tombstone":
                _fields("tombstone", data, "line", "kind", "id", "at")
                bury(connection, scope, [(data["kind"], data["id"])])
                continue
            _import_line(connection, scope, header["dimensions"], data, applied, embedded)
        except (AfterwitError, IntegrityError) as error:
            reason = "it repeats an earlier line" if isinstance(error, IntegrityError) else error
            raise InputError(f"line {number}: {reason}") from None
    if number - 1 != expected:
        raise InputError(f"line {number} is the last, but the header speaks of {expected + 1}: the export was cut")
    _import_bank(connection, scope, applied, embedded)
    return number


def _open(connection: Connection, header: Any) -> tuple[str, int]:
    wanted = {"afterwit": int, "embedder": str, "dimensions": int, "scope": str, "lines": int}
    if not isinstance(header, dict) or {k: type(v) for k, v in header.items()} != wanted:
        raise InputError("line 1: not the header of an export: give a file that 'afterwit export' wrote")
    if header["afterwit"] not in _READ:
        raise InputError(f"line 1: format {header['afterwit']} is not known here: pip install --upgrade afterwit")
    scope = header["scope"]
    if connection.execute(select(scopes.c.name).where(scopes.c.name == scope)).first() is not None:
        raise Conflict(f"scope {scope!r} is in this store already: import it into another store")
    open_scope(connection, scope, header["embedder"], header["dimensions"])
    return scope, header["lines"]


def _import_line(
    connection: Connection,
    scope: str,
    dimensions: int,
    data: Any,
    applied: list[tuple[Round, int]],
    embedded: list[dict[str, Any]],
) -> None:
    kind = data.pop("line", None) if isinstance(data, dict) else None
    if kind in _PLAIN:
        table, names = _PLAIN[kind]
        _fields(kind, data, *names)
        if any(type(data[name]) is not table.c[name].type.python_type for name in names):
            raise InputError(f"{kind}: a field is of the wrong type")
        connection.execute(insert(table).values(scope=scope, **data))
    elif kind == "settings":
        _fields(kind, data, "value")
        _settings.write(connection, scope, decode(SettingsChange, data["value"]))
    elif kind == "episode":
        _fields(kind, data, "value")
        connection.execute(insert(episodes).values(episode_row(_own(scope, decode(Episode, data["value"])))))
    elif kind == "delivery":
        _fields(kind, data, "value")
        connection.execute(insert(deliveries).values(delivery_row(_own(scope, decode(Delivery, data["value"])))))
    elif kind == "recall":
        _fields(kind, data, "episode_id", "at", "value")
        _read_recalled(data["value"])
        payload = dumps(data.pop("value"))
        connection.execute(insert(recalls).values(scope=scope, payload=payload, **data))
    elif kind == "round":
        _fields(kind, data, "version", "value")
        round_ = _own(scope, decode(Round, data["value"]))
        insert_round(connection, round_, version=data["version"])
        if round_.status == "applied":
            applied.append((round_, data["version"]))
    elif kind == "profile":
        _fields(kind, data, "value")
        profile = decode(Profile, data["value"])
        if profile.scope != scope:
            raise InputError(
                f"the profile of {profile.user!r} is of scope {profile.scope!r}, the header says {scope!r}"
            )
        connection.execute(insert(profiles).values(profile_row(profile)))
    elif kind == "vector":
        _fields(kind, data, "card_id", "data")
        vector = _bytes(data["data"])
        if len(vector) != 4 * dimensions:
            raise InputError(f"vector: {len(vector)} bytes are not {dimensions} dimensions")
        embedded.append({"scope": scope, "card_id": data["card_id"], "data": vector})
    else:
        raise InputError("not a line of an export")


def _import_bank(
    connection: Connection, scope: str, applied: list[tuple[Round, int]], embedded: list[dict[str, Any]]
) -> None:
    for round_, _ in applied:
        for card in (card for edit in round_.edits for card in edit.writes):
            _own(scope, card)
    in_order = sorted(applied, key=lambda pair: (pair[0].bank, pair[1]))
    found = fold(edit for round_, _ in in_order for edit in round_.edits)
    live = {card.id for card in found.values() if card.live}
    if live != {row["card_id"] for row in embedded}:
        raise InputError("the vectors of the export are not those of its live cards: export it again")
    put(connection, cards, [card_row(card) for card in found.values()])
    put(connection, vectors, embedded)
    put(connection, filings, rows_of(found.values()))
    recount(connection, scope)


def _of(connection: Connection, scope: str, query: Select[Any], table: Table, order: tuple[str, ...]) -> Iterable[Any]:
    return connection.execute(query.where(table.c.scope == scope).order_by(*(table.c[name] for name in order)))


def _own(scope: str, value: Any) -> Any:
    """Raises InputError for a value of another scope."""
    if value.scope != scope:
        raise InputError(f"{value.id} is of scope {value.scope!r}, the header says {scope!r}")
    return value


def _fields(kind: str, data: dict[str, Any], *names: str) -> None:
    for name in sorted(data.keys() ^ set(names)):
        raise InputError(f"{kind}: {'unknown' if name in data else 'missing'} field {name!r}")


def _bytes(data: Any) -> bytes:
    try:
        return b64decode(data, validate=True)
    except (TypeError, ValueError):
        raise InputError("vector: not base64") from None
