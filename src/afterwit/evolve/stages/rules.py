"""The dials of stage memory, each with the design's value."""

from dataclasses import dataclass, field

from afterwit.ports import Capacity


@dataclass(frozen=True, kw_only=True)
class StageRules:
    """confidence: c from which on a lesson is written. merge: cosine of keys from which on it joins a card.
    prune_uses, prune_value: a card goes when n ≥ the one and v < the other. proven: n from which on a card of
    positive value is active. card_tokens: the most a card may hold. capacity: B of each bank. quota: share of B that
    provisional cards may count on."""

    confidence: float = 0.5
    merge: float = 0.88
    prune_uses: int = 3
    prune_value: float = -0.1
    proven: int = 3
    card_tokens: int = 120
    capacity: Capacity = field(default_factory=lambda: Capacity(cards=200, tokens=200 * 120))
    quota: float = 0.2
    shrink: float = 3.0
