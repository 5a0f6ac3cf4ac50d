"""The few dials of evolution, each with the design's value."""

from dataclasses import dataclass, field

from afterwit.model import OperatorName
from afterwit.ports import Capacity


@dataclass(frozen=True, kw_only=True)
class EvolveRules:
    """capacity: B. admission: P(sign) that lets a decision become a provisional card. card_tokens: the most a card
    may hold. cases: source items kept a card. without: operators that may not act, to see what each is worth.
    hand_share: share of B that cards by hand keep whatever the evidence."""

    capacity: Capacity = field(default_factory=Capacity)
    admission: float = 0.8
    card_tokens: int = 60
    cases: int = 5
    without: frozenset[OperatorName] = frozenset()
    hand_share: float = 0.25
