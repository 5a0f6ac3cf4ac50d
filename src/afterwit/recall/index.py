"""A bank laid out for recall: built once per bank version, read many times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from afterwit.errors import Conflict
from afterwit.model import Bank, Card, Condition
from afterwit.recall.conflicts import contradicted, disagreements

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FOREVER = np.iinfo(np.int64).max


@dataclass(frozen=True, kw_only=True, eq=False)
class BankIndex:
    """Live cards in order of content hash, so that stable sorting breaks ties by it.

    cards: (n,). keys: unit vectors of the distinct keys, (m, dimensions). key_of: card row → key row, (n,): cards of
    one key are exactly as near, which rounding in the product would not grant to equal rows. values: v̂, (n,).
    valid_from, valid_until: microseconds since 1970, (n,). conditions: condition → rows. decisions: decision key →
    rows whose stance names it. newer: row → rows that contradict it and are newer.
    """

    version: int
    cards: tuple[Card, ...]
    keys: NDArray[np.float32]
    key_of: NDArray[np.int64]
    values: NDArray[np.float64]
    valid_from: NDArray[np.int64]
    valid_until: NDArray[np.int64]
    conditions: Mapping[Condition, NDArray[np.int64]]
    decisions: Mapping[str, tuple[int, ...]]
    newer: Mapping[int, tuple[int, ...]]

    @staticmethod
    def build(bank: Bank, ids: Sequence[str], matrix: NDArray[np.float32], *, shrink: float = 3.0) -> "BankIndex":
        """ids, matrix: which card each vector belongs to. shrink: λ of v̂ = v·n/(n + λ), which content cards go
        without, their value being a posterior already (design section 6). Raises Conflict for a card of another
        scope or bank, or a live one without a vector."""
        row_of = {card_id: row for row, card_id in enumerate(ids)}
        for card in bank.cards:
            if (card.scope, card.bank) != (bank.scope, bank.name):
                raise Conflict(f"card {card.id} belongs to {card.scope}/{card.bank}, not to {bank.scope}/{bank.name}")
            if card.live and card.id not in row_of:
                raise Conflict(f"card {card.id} has no vector: re-embed the bank")
        cards = tuple(sorted((c for c in bank.cards if c.live), key=lambda card: card.content_hash))
        keys: dict[str, int] = {}
        for card in cards:
            keys.setdefault(card.key, row_of[card.id])
        key_rows = {key: row for row, key in enumerate(keys)}
        conditions: dict[Condition, list[int]] = {}
        decisions: dict[str, list[int]] = {}
        for row, card in enumerate(cards):
            conditions.setdefault(card.when, []).append(row)
            if card.stance is not None:
                decisions.setdefault(card.stance.decision, []).append(row)
        place = {card.id: row for row, card in enumerate(cards)}
        values = [
            card.value if card.bank == "content" else card.value * card.uses / (card.uses + shrink) for card in cards
        ]
        return BankIndex(
            version=bank.version,
            cards=cards,
            keys=matrix[list(keys.values())] if keys else matrix[:0],
            key_of=np.array([key_rows[card.key] for card in cards], dtype=np.int64),
            values=np.clip(np.array(values, dtype=float), -1, 1),
            valid_from=np.array([microseconds(c.valid_from) for c in cards], dtype=np.int64),
            valid_until=np.array(
                [_FOREVER if c.valid_until is None else microseconds(c.valid_until) for c in cards], dtype=np.int64
            ),
            conditions={condition: np.array(rows) for condition, rows in conditions.items()},
            decisions={key: tuple(rows) for key, rows in decisions.items()},
            newer={
                place[older]: tuple(place[id_] for id_ in newer)
                for older, newer in contradicted(disagreements(cards)).items()
            },
        )


def microseconds(moment: datetime) -> int:
    """Since 1970, exactly: by way of a float, neighbouring microseconds would meet."""
    return (moment - _EPOCH) // timedelta(microseconds=1)
