"""Live cards by the keys that they are filed under."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, and_, delete, select

from afterwit.model import Card
from afterwit.recall.filing import filed
from afterwit.store.codec import from_json
from afterwit.store.tables import cards, chunks, filings, put


def file(connection: Connection, scope: str, written: Sequence[Card]) -> None:
    """Each card where it now belongs; a retired one nowhere."""
    for chunk in chunks([card.id for card in written]):
        connection.execute(delete(filings).where(filings.c.scope == scope, filings.c.card_id.in_(chunk)))
    put(connection, filings, rows_of(written))


def rows_of(written: Iterable[Card]) -> list[dict[str, Any]]:
    return [
        {"scope": card.scope, "bank": card.bank, "key": key, "card_id": card.id}
        for card in written
        if card.live
        for key in sorted(filed(card))
    ]


def found(connection: Connection, scope: str, bank: str, keys: Iterable[str]) -> Mapping[str, tuple[Card, ...]]:
    """Key → live cards filed under it, by id; keys without any are left out."""
    of_card = and_(cards.c.scope == filings.c.scope, cards.c.id == filings.c.card_id)
    query = (
        select(filings.c.key, cards.c.payload)
        .select_from(filings.join(cards, of_card))
        .where(filings.c.scope == scope, filings.c.bank == bank)
        .order_by(filings.c.key, filings.c.card_id)  # as they are indexed: by the cards, all would be walked through
    )
    held: dict[str, list[Card]] = {}
    for chunk in chunks(sorted(set(keys))):
        for key, payload in connection.execute(query.where(filings.c.key.in_(chunk))):
            held.setdefault(key, []).append(from_json(Card, payload))
    return {key: tuple(here) for key, here in held.items()}
