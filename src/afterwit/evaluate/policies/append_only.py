"""Write once: a card for each decision when it first passes admission, never changed, never removed."""

from collections.abc import Container

from afterwit.evaluate.policies.protocol import Known, Setting, card_of, passing
from afterwit.model import Card


class AppendOnly:
    """A card keeps the shrunken marginal effect of the day it was written. B does not bind it."""

    name = "append_only"
    bounded = False

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._cards: tuple[Card, ...] = ()

    def start(self, cards: tuple[Card, ...], known: Known) -> None:
        self._cards = cards

    def update(self, known: Known) -> None:
        held = {card.stance.decision for card in self._cards if card.stance}
        self._cards += tuple(fresh(known, held, self._setting))

    def cards(self) -> tuple[Card, ...]:
        return self._cards


def fresh(known: Known, held: Container[str], setting: Setting) -> list[Card]:
    """Cards for the decisions that pass admission and are not held, the surest first."""
    names = known.evidence.names
    rows = [int(i) for i in passing(known, setting.rules) if names[i] not in held]
    if not rows:
        return []
    shown = known.design.matrix.tocsc()
    cards = (card_of(known, i, float(known.evidence.posterior_mean[i]), setting, shown) for i in rows)
    return [card for card in cards if card.tokens <= setting.rules.card_tokens]
