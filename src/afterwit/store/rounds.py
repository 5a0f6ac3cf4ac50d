"""How a round reaches the bank: checked and applied in one transaction, or not at all."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from afterwit.errors import CapacityExceeded, Conflict, EmbedderMismatch
from afterwit.model import Card, Edit, Round, fold
from afterwit.ports import Capacity
from afterwit.recall.filing import said_key
from afterwit.store import filing
from afterwit.store.bank import bank_version
from afterwit.store.codec import dumps, encoder, from_json, to_json
from afterwit.store.tables import banks, cards, chunks, edit_cards, edits, micros, put, rounds, scopes, vectors
from afterwit.store.tombstones import forgotten

Embeddings = Mapping[str, NDArray[np.float32]]

# Operators that retire what they replace: their edit must carry the replacement too.
_REPLACING = {"merge", "split", "revise", "update"}
_round = encoder(Round)


def insert_round(connection: Connection, round_: Round, *, version: int | None = None) -> None:
    """The round and its edits as rows; nothing reaches the bank yet."""
    payload = dumps({**_round(replace(round_, edits=())), "edits": []})
    last = connection.scalar(select(func.max(rounds.c.number)).where(rounds.c.scope == round_.scope))
    connection.execute(
        insert(rounds).values(
            scope=round_.scope,
            id=round_.id,
            bank=round_.bank,
            number=(last or 0) + 1,
            as_of=micros(round_.as_of),
            status=round_.status,
            version=version,
            payload=payload,
        )
    )
    _write_edits(connection, round_)


def decide_round(connection: Connection, round_: Round, *, version: int | None) -> None:
    """Marks a proposed round, and rewrites its edits as they were applied."""
    here = (rounds.c.scope == round_.scope) & (rounds.c.id == round_.id)
    connection.execute(update(rounds).where(here).values(status=round_.status, version=version))
    if version is not None:
        of_edit = (edits.c.scope == round_.scope) & (edits.c.id == bindparam("edit"))
        rewritten = [{"edit": edit.id, "text": to_json(edit)} for edit in round_.edits]
        if rewritten:
            connection.execute(update(edits).where(of_edit).values(payload=bindparam("text")), rewritten)
        _name_cards(connection, round_)


def _write_edits(connection: Connection, round_: Round) -> None:
    rows = [
        {
            "scope": round_.scope,
            "id": edit.id,
            "round_id": round_.id,
            "position": position,
            "payload": to_json(edit),
        }
        for position, edit in enumerate(round_.edits)
    ]
    if rows:
        try:
            connection.execute(insert(edits), rows)
        except IntegrityError:
            raise Conflict(f"an edit of round {round_.id} has an id that is taken: give each edit a new one") from None
    _name_cards(connection, round_)


def _name_cards(connection: Connection, round_: Round) -> None:
    put(
        connection,
        edit_cards,
        [
            {"scope": round_.scope, "card_id": card_id, "edit_id": edit.id}
            for edit in round_.edits
            for card_id in sorted({card.id for card in edit.writes} | set(edit.parents))
        ],
    )


def apply_round(connection: Connection, round_: Round, capacity: Capacity, given: Embeddings) -> tuple[Round, int]:
    """Writes a round's edits into the bank; the round as applied and the bank's new version.

    A round made only of additions by hand, which read nothing, applies to whatever version the bank has by now:
    two people adding at once is no conflict. Every other round must find the bank as it was when it was planned.
    """
    version = bank_version(connection, round_.scope, round_.bank)
    by_hand = all(edit.operator == "add" and not edit.parents for edit in round_.edits)
    if version != round_.base_version and not (by_hand and round_.edits):
        raise Conflict(
            f"bank {round_.bank!r} is at version {version}, but round {round_.id} was planned on version "
            f"{round_.base_version}: plan it again"
        )
    applied = replace(round_, status="applied", edits=_united(connection, round_))
    _check(connection, applied)
    before = _size(connection, applied)
    after = _write_cards(connection, applied, given, before)
    _check_bank(applied, capacity, before, after)
    row = {"scope": round_.scope, "name": round_.bank, "version": version + 1}
    size = {
        "capacity_cards": max(capacity.cards, after.cards),
        "capacity_tokens": max(capacity.tokens, after.tokens),
        "live_cards": after.cards,
        "live_tokens": after.tokens,
    }
    put(connection, banks, [{**row, **size}], replace=True)
    return applied, version + 1


def card_row(card: Card) -> dict[str, Any]:
    return {
        "scope": card.scope,
        "id": card.id,
        "bank": card.bank,
        "version": card.version,
        "live": card.live,
        "content_hash": card.content_hash,
        "tokens": card.tokens,
        "payload": to_json(card),
    }


def _united(connection: Connection, round_: Round) -> tuple[Edit, ...]:
    """The edits, where an added card that says what a live one says becomes that one's further provenance."""
    final = fold(round_.edits)
    keys = {c.id: said_key(c) for e in round_.edits if e.operator in ("add", "admit") for c in e.writes if c.live}
    holders: dict[str, Card] = {}
    for key, same in filing.found(connection, round_.scope, round_.bank, keys.values()).items():
        for card in same:
            if card.id not in final:  # else this very round changes or retires it
                holders.setdefault(key, card)
    found = []
    for edit in round_.edits:
        writes, notes = [], []
        for card in edit.writes:
            holder = holders.setdefault(keys[card.id], card) if card.id in keys and card.live else card
            if holder.id == card.id:
                writes.append(card)
                continue
            united = _with_provenance(holder, card)
            notes.append(f"the same as card {holder.id}")
            if united != holder:
                writes.append(united)
                holders[keys[card.id]] = united
        reason = "; ".join(filter(None, (edit.reason, *notes)))
        found.append(replace(edit, writes=tuple(writes), reason=reason))
    return tuple(found)


def _with_provenance(holder: Card, card: Card) -> Card:
    def union(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*ours, *theirs)))

    old, new = holder.provenance, card.provenance
    parents = tuple(p for p in union(old.parents, new.parents) if p not in (holder.id, card.id))
    provenance = replace(old, parents=parents, evidence=union(old.evidence, new.evidence))
    cases = union(holder.cases, card.cases)
    if (provenance, cases) == (old, holder.cases):
        return holder
    return holder.changed(provenance=provenance, cases=cases)


def _check(connection: Connection, round_: Round) -> None:
    """Raises Conflict for an edit that would leave the ledger unsound."""
    for edit in round_.edits:
        for card in edit.writes:
            if (card.scope, card.bank) != (round_.scope, round_.bank):
                raise Conflict(f"card {card.id} of {card.scope}/{card.bank} is no part of {round_.scope}/{round_.bank}")
        gone = [card.id for card in edit.writes if not card.live]
        if edit.operator in _REPLACING and gone and len(gone) == len(edit.writes):
            raise Conflict(f"edit {edit.id} ({edit.operator}) retires card {gone[0]} but writes no replacement")
    touched = sorted({card.id for edit in round_.edits for card in edit.writes})
    for card_id in forgotten(connection, round_.scope, "card", touched):
        raise Conflict(f"card {card_id} was forgotten and cannot be written again")
    newest: dict[str, tuple[str, int]] = {}
    for chunk in chunks(touched):
        here = (cards.c.scope == round_.scope, cards.c.id.in_(chunk))
        for row in connection.execute(select(cards.c.id, cards.c.bank, cards.c.version).where(*here)):
            newest[row.id] = (row.bank, row.version)
    for edit in round_.edits:
        for card in edit.writes:
            bank, version = newest.get(card.id, (card.bank, 0))
            if bank != card.bank:
                raise Conflict(f"card {card.id} lives in bank {bank!r}, not in {card.bank!r}")
            if card.version <= version:
                raise Conflict(f"card {card.id} is at version {version} already: edit {edit.id} is out of date")
            newest[card.id] = (card.bank, card.version)


def _write_cards(connection: Connection, round_: Round, given: Embeddings, before: Capacity) -> Capacity:
    """The size of the bank afterwards, worked out from what changes alone: an addition costs what it adds."""
    final = fold(round_.edits)
    known: dict[str, Card] = {}
    for chunk in chunks(sorted(final)):
        here = (cards.c.scope == round_.scope, cards.c.id.in_(chunk))
        for payload in connection.scalars(select(cards.c.payload).where(*here)):
            old = from_json(Card, payload)
            known[old.id] = old
        if known:  # before any of them takes another's place
            connection.execute(update(cards).where(*here).values(live=False))
    try:
        put(connection, cards, [card_row(card) for card in final.values()], replace=True)
    except IntegrityError:
        raise Conflict(
            f"after round {round_.id} two live cards of bank {round_.bank!r} would say the same: "
            "merge them or retire one"
        ) from None
    filing.file(connection, round_.scope, tuple(final.values()))
    stale = [old.id for old in known.values() if not final[old.id].live or final[old.id].key != old.key]
    for chunk in chunks(stale):
        connection.execute(delete(vectors).where(vectors.c.scope == round_.scope, vectors.c.card_id.in_(chunk)))
    _embed(connection, round_.scope, final.values(), given)
    alive = [card for card in final.values() if card.live]
    were = [card for card in known.values() if card.live]
    return Capacity(
        cards=before.cards + len(alive) - len(were),
        tokens=before.tokens + sum(card.tokens for card in alive) - sum(card.tokens for card in were),
    )


def _embed(connection: Connection, scope: str, written: Iterable[Card], given: Embeddings) -> None:
    """Raises Conflict for a live card that has no vector, neither now nor from before."""
    dimensions = connection.scalar(select(scopes.c.dimensions).where(scopes.c.name == scope))
    rows, bare = [], []
    for card in (card for card in written if card.live):
        if card.id not in given:
            bare.append(card.id)
            continue
        vector = np.asarray(given[card.id], dtype="<f4").ravel()
        if vector.shape != (dimensions,):
            raise EmbedderMismatch(f"the vector of card {card.id} has {vector.size} dimensions, not {dimensions}")
        rows.append({"scope": scope, "card_id": card.id, "data": vector.tobytes()})
    put(connection, vectors, rows, replace=True)
    for chunk in chunks(bare):
        there = select(vectors.c.card_id).where(vectors.c.scope == scope, vectors.c.card_id.in_(chunk))
        for card_id in sorted(set(chunk) - set(connection.scalars(there))):
            raise Conflict(f"card {card_id} came without an embedding of its key")


def _size(connection: Connection, round_: Round) -> Capacity:
    """Of the live bank as its last commit left it."""
    here = (banks.c.scope == round_.scope) & (banks.c.name == round_.bank)
    row = connection.execute(select(banks.c.live_cards, banks.c.live_tokens).where(here)).first()
    return Capacity(cards=row.live_cards, tokens=row.live_tokens) if row else Capacity(cards=0, tokens=0)


def recount(connection: Connection, scope: str) -> None:
    """What banks hold, counted anew, where cards came or went other than by a round."""
    live = (cards.c.scope == banks.c.scope, cards.c.bank == banks.c.name, cards.c.live)
    count = select(func.count()).where(*live).scalar_subquery()
    tokens = select(func.coalesce(func.sum(cards.c.tokens), 0)).where(*live).scalar_subquery()
    connection.execute(update(banks).where(banks.c.scope == scope).values(live_cards=count, live_tokens=tokens))


def _check_bank(round_: Round, capacity: Capacity, before: Capacity, after: Capacity) -> None:
    """Law 5, inside the transaction. Where the capacity was lowered below what the bank held, it may shrink or stay,
    and never grow."""
    if after.cards > max(capacity.cards, before.cards) or after.tokens > max(capacity.tokens, before.tokens):
        raise CapacityExceeded(
            f"bank {round_.bank!r} would hold {after.cards} cards and {after.tokens} tokens, its capacity is "
            f"{capacity.cards} and {capacity.tokens}: retire some or raise the capacity"
        )
