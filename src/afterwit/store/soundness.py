"""Whether a ledger is sound: the bank table against the fold of the edits, versions, vectors, capacity."""

from collections.abc import Iterator

from sqlalchemy import Connection, select

from afterwit.model import Card, Edit, fold
from afterwit.store.bank import edit_payloads
from afterwit.store.codec import from_json
from afterwit.store.filing import rows_of
from afterwit.store.tables import banks, cards, filings, rounds, vectors


def problems(connection: Connection, scope: str) -> Iterator[str]:
    """One line each; none for a sound ledger."""
    payloads = edit_payloads(connection, scope, None, None, True)
    folded = fold(from_json(Edit, payload) for payload in payloads)
    rows = connection.execute(select(cards).where(cards.c.scope == scope)).all()
    table = {row.id: from_json(Card, row.payload) for row in rows}
    for id_ in sorted(folded.keys() | table.keys()):
        if folded.get(id_) != table.get(id_):
            yield f"card {id_} in the bank is not what its edits say"
    for row in rows:
        card = table[row.id]
        kept = (row.live, row.version, row.content_hash, row.tokens)
        if kept != (card.live, card.version, card.content_hash, card.tokens):
            yield f"card {row.id} is filed under values that are not its own"
    kept_under = {
        (r.bank, r.key, r.card_id) for r in connection.execute(select(filings).where(filings.c.scope == scope))
    }
    belong = {(row["bank"], row["key"], row["card_id"]) for row in rows_of(table.values())}
    for id_ in sorted({card_id for _, _, card_id in kept_under ^ belong}):
        yield f"card {id_} is not filed under what it says"
    embedded = set(connection.scalars(select(vectors.c.card_id).where(vectors.c.scope == scope)))
    live = {id_ for id_, card in table.items() if card.live}
    for id_ in sorted(embedded ^ live):
        yield f"card {id_} {'is retired but keeps its' if id_ in embedded else 'is live but has no'} vector"
    for bank in connection.execute(select(banks).where(banks.c.scope == scope)):
        here = [card for card in table.values() if card.live and card.bank == bank.name]
        if (len(here), sum(card.tokens for card in here)) != (bank.live_cards, bank.live_tokens):
            yield f"bank {bank.name!r} counts {bank.live_cards} cards, but {len(here)} are live"
        if len(here) > bank.capacity_cards or sum(card.tokens for card in here) > bank.capacity_tokens:
            yield f"bank {bank.name!r} holds {len(here)} cards, more than its capacity allows"
        newest = connection.scalars(
            select(rounds.c.version).where(rounds.c.scope == scope, rounds.c.bank == bank.name)
        ).all()
        if max((v for v in newest if v is not None), default=0) > bank.version:
            yield f"bank {bank.name!r} is at version {bank.version}, behind its rounds"
