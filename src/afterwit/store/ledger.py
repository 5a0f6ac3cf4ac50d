"""What the agent did and showed: scopes, episodes, recalls, deliveries."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Select, bindparam, insert, select, tuple_, update

from afterwit.errors import Conflict, EmbedderMismatch, NotFound, UnknownScope
from afterwit.model import Delivery, Episode, Recalled
from afterwit.store.codec import dumps, encoder, from_json, to_json
from afterwit.store.database import Database
from afterwit.store.tables import (
    chunks,
    context_fields,
    deliveries,
    episodes,
    micros,
    put,
    recalls,
    scopes,
)
from afterwit.store.tombstones import forgotten

_recalled = encoder(tuple[Recalled, ...])
_RECALL = insert(recalls).values({name: bindparam(name) for name in ("scope", "episode_id", "at", "payload")})


def open_scope(connection: Connection, scope: str, embedder: str, dimensions: int) -> None:
    put(connection, scopes, [{"name": scope, "embedder": embedder, "dimensions": dimensions}])
    kept = connection.execute(select(scopes).where(scopes.c.name == scope)).one()
    if (kept.embedder, kept.dimensions) != (embedder, dimensions):
        raise EmbedderMismatch(
            f"scope {scope!r} was embedded by {kept.embedder} ({kept.dimensions} dimensions), not by {embedder} "
            f"({dimensions}): open it with the former, or re-embed its cards"
        )


def require_scope(connection: Connection, scope: str) -> None:
    if connection.execute(_named(scope)).first() is None:
        raise _unknown(scope)


Against = Literal["erasing", "rounds", "everything"]
# FOR KEY SHARE, FOR NO KEY UPDATE, FOR UPDATE: whether shared, and whether a foreign key's own lock goes with it
_LOCKS: Mapping[Against, tuple[bool, bool]] = {
    "erasing": (True, True),
    "rounds": (False, True),
    "everything": (False, False),
}


def lock_scope(connection: Connection, scope: str, against: Against) -> None:
    """Keeps what would not go together with this write from the scope until the transaction ends: erasing from any
    write, another round from a round, everything from erasing. A row lock in PostgreSQL; SQLite's writers are alone.

    Raises UnknownScope.
    """
    shared, key_shared = _LOCKS[against]
    if connection.execute(_named(scope).with_for_update(read=shared, key_share=key_shared)).first() is None:
        raise _unknown(scope)


def fields(connection: Connection, scope: str) -> frozenset[str]:
    require_scope(connection, scope)
    return frozenset(connection.scalars(select(context_fields.c.name).where(context_fields.c.scope == scope)))


def save_episode(connection: Connection, episode: Episode) -> None:
    lock_scope(connection, episode.scope, "erasing")
    row = episode_row(episode)
    here = (episodes.c.scope == episode.scope) & (episodes.c.id == episode.id)
    kept = select(episodes.c.payload).where(here).with_for_update()
    known = connection.scalar(kept)
    if known is None:
        if forgotten(connection, episode.scope, "episode", [episode.id]):
            raise Conflict(f"episode {episode.id} was forgotten: record the work under a new id")
        put(connection, episodes, [row])
        known = connection.scalar(kept)  # another writer may have been first
    if known != row["payload"]:
        if not _is_open(from_json(Episode, str(known))):
            raise Conflict(f"episode {episode.id} is closed and differs from this one: record it under a new id")
        connection.execute(update(episodes).where(here).values(row))
    _note_fields(connection, episode.scope, episode.context)


def episode_payloads(
    connection: Connection, scope: str, ids: Sequence[str] | None, since: datetime | None, until: datetime | None
) -> list[str]:
    require_scope(connection, scope)
    query = select(episodes.c.started_at, episodes.c.id, episodes.c.payload).where(episodes.c.scope == scope)
    if since is not None:
        query = query.where(episodes.c.started_at >= micros(since))
    if until is not None:
        query = query.where(episodes.c.started_at <= micros(until))
    if ids is None:
        found = list(connection.execute(query.order_by(episodes.c.started_at, episodes.c.id)))
    else:
        found = [row for chunk in chunks(ids) for row in connection.execute(query.where(episodes.c.id.in_(chunk)))]
        found.sort(key=lambda row: (row.started_at, row.id))
    return [row.payload for row in found]


def latest_payloads(connection: Connection, scope: str, limit: int, before: str | None) -> Sequence[str]:
    require_scope(connection, scope)
    place = tuple_(episodes.c.started_at, episodes.c.id)
    query = select(episodes.c.payload).where(episodes.c.scope == scope)
    if before is not None:
        seen = select(episodes.c.started_at, episodes.c.id).where(episodes.c.scope == scope, episodes.c.id == before)
        last = connection.execute(seen).first()
        if last is None:
            raise NotFound(f"there is no episode {before} in scope {scope!r}")
        query = query.where(place < tuple_(*last))
    return connection.scalars(query.order_by(episodes.c.started_at.desc(), episodes.c.id.desc()).limit(limit)).all()


def save_deliveries(connection: Connection, batch: Iterable[Delivery]) -> int:
    """All or none of them. A delivery that was forgotten stays so: reading an old log again skips it."""
    by_scope: dict[str, dict[str, dict[str, Any]]] = {}
    named: dict[str, set[str]] = {}
    for delivery in batch:
        row = delivery_row(delivery)
        named.setdefault(delivery.scope, set()).update(delivery.context)
        if by_scope.setdefault(delivery.scope, {}).setdefault(delivery.id, row) != row:
            raise _differs(delivery.id)
    new = 0
    for scope, rows in sorted(by_scope.items()):  # in one order, so that no two writers wait for each other
        lock_scope(connection, scope, "erasing")
        for chunk in chunks(sorted(rows)):
            known = _same(connection, scope, rows, chunk)
            gone = forgotten(connection, scope, "delivery", chunk)
            fresh = [rows[id_] for id_ in chunk if id_ not in known and id_ not in gone]
            if fresh:
                written = put(connection, deliveries, fresh)
                if written < len(fresh):  # another writer was first
                    _same(connection, scope, rows, chunk)
                new += written
        _note_fields(connection, scope, named[scope])
    return new


def _same(
    connection: Connection, scope: str, rows: Mapping[str, Mapping[str, Any]], chunk: Sequence[str]
) -> frozenset[str]:
    """Ids of deliveries that are known. Raises Conflict for one that is known with other content."""
    of_chunk = (deliveries.c.scope == scope, deliveries.c.id.in_(chunk))
    known = connection.execute(select(deliveries.c.id, deliveries.c.payload).where(*of_chunk)).all()
    for id_, payload in known:
        if payload != rows[id_]["payload"]:
            raise _differs(id_)
    return frozenset(id_ for id_, _ in known)


def delivery_payloads(connection: Connection, scope: str, until: datetime | None) -> Sequence[str]:
    require_scope(connection, scope)
    query = select(deliveries.c.payload).where(deliveries.c.scope == scope)
    if until is not None:
        query = query.where(deliveries.c.created_at <= micros(until))
    return connection.scalars(query.order_by(deliveries.c.created_at, deliveries.c.id)).all()


def record_recall(database: Database, scope: str, episode_id: str, recalled: Sequence[Recalled], at: datetime) -> None:
    row = {"scope": scope, "episode_id": episode_id, "at": micros(at), "payload": dumps(_recalled(recalled))}
    try:
        database.one(_RECALL, row)
    except Conflict:  # the foreign key: looking first would cost every recall a query
        raise _unknown(scope) from None


def episode_row(episode: Episode) -> dict[str, Any]:
    return {
        "scope": episode.scope,
        "id": episode.id,
        "payload": to_json(episode),
        "started_at": micros(episode.started_at),
    }


def delivery_row(delivery: Delivery) -> dict[str, Any]:
    return {
        "scope": delivery.scope,
        "id": delivery.id,
        "payload": to_json(delivery),
        "created_at": micros(delivery.created_at),
        "episode_id": delivery.episode_id,
    }


def _named(scope: str) -> Select[tuple[str]]:
    return select(scopes.c.name).where(scopes.c.name == scope)


def _unknown(scope: str) -> UnknownScope:
    return UnknownScope(f"there is no scope {scope!r} in this store: make it with 'afterwit init'")


def _is_open(episode: Episode) -> bool:
    """An episode is closed by its output, its verdict or a delivery, whichever comes first."""
    return episode.output is None and episode.success is None and not episode.delivery_ids


def _differs(delivery_id: str) -> Conflict:
    return Conflict(f"delivery {delivery_id} is known with other content: give the new one an id of its own")


def _note_fields(connection: Connection, scope: str, names: Iterable[str]) -> None:
    put(connection, context_fields, [{"scope": scope, "name": name} for name in sorted(set(names))])
