"""What was forgotten: that it was, never what it was called, since an id may hold an address.

A tombstone keeps ``HMAC-SHA-256(key, kind, id)`` under a random key of the scope, so that an id that comes again, as
when a log is read once more, is recognised, while nobody reads it off the file. Who holds the file holds the key: ids
that can be guessed one by one can be tried one by one.
"""

import hmac
import secrets
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, select

from afterwit.ports import system_clock
from afterwit.store.tables import chunks, micros, put, tombstone_keys, tombstones

_FEW = 500


def forgotten(connection: Connection, scope: str, kind: str, ids: Iterable[str]) -> frozenset[str]:
    """Those of the ids that have a tombstone; the ids are not looked at where there is none of the kind."""
    of_kind = select(tombstones.c.id).where(tombstones.c.scope == scope, tombstones.c.kind == kind)
    key = _key(connection, scope)
    if key is None or connection.execute(of_kind.limit(1)).first() is None:
        return frozenset()
    marks = {_mark(key, kind, id_): id_ for id_ in ids}
    few = len(marks) <= _FEW
    asked = [of_kind.where(tombstones.c.id.in_(part)) for part in chunks(list(marks))] if few else [of_kind]
    return frozenset(marks[mark] for query in asked for mark in connection.scalars(query) if mark in marks)


def bury(connection: Connection, scope: str, names: Sequence[tuple[str, str]]) -> dict[str, str]:
    """A tombstone for each kind and id; id → what stands in its place where the history names it."""
    key = _key(connection, scope)
    if key is None:
        key = secrets.token_bytes(32)
        put(connection, tombstone_keys, [{"scope": scope, "key": key.hex()}])
    at = micros(system_clock())
    marks = {(kind, id_): _mark(key, kind, id_) for kind, id_ in names}
    rows = [{"scope": scope, "kind": kind, "id": mark, "at": at} for (kind, _), mark in marks.items()]
    put(connection, tombstones, rows)
    return {id_: f"forgotten:{mark[:16]}" for (_, id_), mark in marks.items()}


def _key(connection: Connection, scope: str) -> bytes | None:
    found = connection.scalar(select(tombstone_keys.c.key).where(tombstone_keys.c.scope == scope))
    return None if found is None else bytes.fromhex(found)


def _mark(key: bytes, kind: str, id_: str) -> str:
    return hmac.digest(key, f"{kind}\0{id_}".encode("utf-8", "surrogatepass"), "sha256").hex()
