"""The bank as it is read: the fold kept beside the edits, and the edits themselves for any other moment."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, Select, and_, bindparam, select

from afterwit.errors import NotFound, UnknownScope
from afterwit.model import Bank, Card, Edit, Round, fold
from afterwit.store.codec import decode, from_json, loads
from afterwit.store.ledger import require_scope
from afterwit.store.tables import banks, cards, edit_cards, edits, micros, rounds, scopes, vectors

Vectors = tuple[tuple[str, ...], NDArray[np.float32]]


# Built once: every recall asks it, and building a statement costs more than running it.
VERSION = (
    select(scopes.c.name, banks.c.version)
    .select_from(scopes.outerjoin(banks, and_(banks.c.scope == scopes.c.name, banks.c.name == bindparam("bank"))))
    .where(scopes.c.name == bindparam("scope"))
)


def bank_version(connection: Connection, scope: str, name: str) -> int:
    """0 for a bank that nothing was committed to."""
    return version_in(connection.execute(VERSION, {"scope": scope, "bank": name}).first(), scope)


def version_in(row: Sequence[Any] | None, scope: str) -> int:
    """What `VERSION` found."""
    if row is None:
        raise UnknownScope(f"there is no scope {scope!r} in this store: make it with 'afterwit init'")
    return row[1] or 0


def live_bank(connection: Connection, scope: str, name: str, version: int) -> Bank:
    query = select(cards.c.payload).where(cards.c.scope == scope, cards.c.bank == name, cards.c.live)
    found = tuple(from_json(Card, payload) for payload in connection.scalars(query.order_by(cards.c.id)))
    return Bank(scope=scope, name=name, version=version, cards=found)


def live_vectors(connection: Connection, scope: str, name: str) -> Vectors:
    """In the order of the bank's cards."""
    require_scope(connection, scope)
    dimensions = connection.scalar(select(scopes.c.dimensions).where(scopes.c.name == scope))
    of_card = and_(vectors.c.scope == cards.c.scope, vectors.c.card_id == cards.c.id)
    rows = connection.execute(
        select(cards.c.id, vectors.c.data)
        .select_from(cards.join(vectors, of_card))
        .where(cards.c.scope == scope, cards.c.bank == name, cards.c.live)
        .order_by(cards.c.id)
    ).all()
    matrix = np.frombuffer(b"".join(row.data for row in rows), dtype="<f4").reshape(len(rows), dimensions or 0)
    return tuple(row.id for row in rows), matrix.astype(np.float32, copy=False)


def past_bank(
    connection: Connection, scope: str, name: str, *, as_of: datetime | None = None, version: int | None = None
) -> Bank:
    """The fold of the rounds whose own moment is at or before ``as_of``, or of those up to a bank version.

    A round's moment is its ``as_of``, also where it was planned on older data or approved later: time travel asks
    what the memory had learned from the world by then.
    """
    require_scope(connection, scope)
    query = _applied(scope).where(rounds.c.bank == name)
    if as_of is not None:
        query = query.where(rounds.c.as_of <= micros(as_of))
    if version is not None:
        query = query.where(rounds.c.version <= version)
    rows = connection.execute(query).all()
    found = fold(from_json(Edit, row.payload) for row in rows)
    alive = tuple(card for _, card in sorted(found.items()) if card.live)
    return Bank(scope=scope, name=name, version=rows[-1].version if rows else 0, cards=alive)


def edit_payloads(
    connection: Connection, scope: str, bank: str | None, card_id: str | None, applied: bool
) -> Sequence[str]:
    """In order of application, bank by bank; those of rounds never applied come last, by arrival."""
    require_scope(connection, scope)
    query = _applied(scope) if applied else _all(scope).order_by(rounds.c.bank, rounds.c.version.is_(None))
    if not applied:
        query = query.order_by(rounds.c.version, rounds.c.number, edits.c.position)
    if bank is not None:
        query = query.where(rounds.c.bank == bank)
    if card_id is not None:
        of_edit = and_(edit_cards.c.scope == edits.c.scope, edit_cards.c.edit_id == edits.c.id)
        query = query.join(edit_cards, of_edit).where(edit_cards.c.card_id == card_id)
    return [row.payload for row in connection.execute(query)]


def read_rounds(
    connection: Connection, scope: str, bank: str | None, limit: int | None, before: str | None = None
) -> tuple[Round, ...]:
    require_scope(connection, scope)
    query = select(rounds).where(rounds.c.scope == scope).order_by(rounds.c.number.desc()).limit(limit)
    if bank is not None:
        query = query.where(rounds.c.bank == bank)
    if before is not None:
        last = connection.scalar(select(rounds.c.number).where(rounds.c.scope == scope, rounds.c.id == before))
        if last is None:
            raise _no_round(scope, before)
        query = query.where(rounds.c.number < last)
    return tuple(_round(connection, row) for row in connection.execute(query).all())


def read_round(connection: Connection, scope: str, round_id: str) -> Round:
    require_scope(connection, scope)
    row = connection.execute(select(rounds).where(rounds.c.scope == scope, rounds.c.id == round_id)).first()
    if row is None:
        raise _no_round(scope, round_id)
    return _round(connection, row)


def _no_round(scope: str, round_id: str) -> NotFound:
    return NotFound(f"there is no round {round_id} in scope {scope!r}: 'afterwit log' lists them")


def _round(connection: Connection, row: Row[Any]) -> Round:
    of_round = (edits.c.scope == row.scope) & (edits.c.round_id == row.id)
    written = connection.scalars(select(edits.c.payload).where(of_round).order_by(edits.c.position))
    found = tuple(from_json(Edit, payload) for payload in written)
    return replace(decode(Round, loads(row.payload)), status=row.status, edits=found)


def _all(scope: str) -> Select[tuple[str, int | None]]:
    of_round = and_(rounds.c.scope == edits.c.scope, rounds.c.id == edits.c.round_id)
    return (
        select(edits.c.payload, rounds.c.version)
        .select_from(edits.join(rounds, of_round))
        .where(edits.c.scope == scope)
    )


def _applied(scope: str) -> Select[tuple[str, int | None]]:
    in_order = (rounds.c.bank, rounds.c.version, edits.c.position)
    return _all(scope).where(rounds.c.status == "applied").order_by(*in_order)
