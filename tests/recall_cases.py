"""Cards and banks for tests of recall and choosing."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from afterwit.model import Bank, Card, Condition, Posterior, Provenance, Stance
from afterwit.ports import HashEmbedder
from afterwit.recall.index import BankIndex

NOW = datetime(2026, 3, 1, tzinfo=UTC)
EMBED = HashEmbedder()


def card(
    id: str,
    *,
    key: str = "a push for the film membership",
    guidance: str | None = None,
    when: str | None = None,
    prefer: str | None = None,
    avoid: str | None = None,
    bank: str = "content",
    scope: str = "acme/push",
    **fields: object,
) -> Card:
    decision = prefer or avoid
    return Card(
        id=id,
        scope=scope,
        bank=bank,
        key=key,
        guidance=guidance or f"guidance of {id}",
        when=Condition.of(when),
        stance=Stance(decision=decision, prefer=prefer is not None) if decision else None,
        provenance=Provenance(operator="add", trust="user"),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        **{"valid_from": datetime(2026, 1, 1, tzinfo=UTC), **fields},  # type: ignore[arg-type]
    )


def measured(id: str, effect: float, **fields: object) -> Card:
    """A card whose joint effect and posterior are the same."""
    fitness = {"click": Posterior(mean=effect, sd=0.02, strata=40)}
    return card(id, effect=effect, fitness=fitness, **fields)  # type: ignore[arg-type]


def bank_of(cards: Sequence[Card], *, name: str = "content", version: int = 1) -> Bank:
    return Bank(scope="acme/push", name=name, version=version, cards=tuple(cards))


def index_of(cards: Sequence[Card], *, name: str = "content") -> BankIndex:
    vectors = EMBED([c.key for c in cards]) if cards else np.zeros((0, EMBED.dimensions), dtype=np.float32)
    return BankIndex.build(bank_of(cards, name=name), [c.id for c in cards], vectors)
