"""Write once, and at capacity let chance decide which card makes room."""

import numpy as np

from afterwit.evaluate.policies.append_only import fresh
from afterwit.evaluate.policies.protocol import Known, Setting
from afterwit.model import Card


class RandomReplacement:
    name = "random_replacement"
    bounded = True

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._cards: list[Card] = []
        self._seen: set[str] = set()
        self._chance = np.random.default_rng(setting.seed)

    def start(self, cards: tuple[Card, ...], known: Known) -> None:
        self._cards = list(cards)
        self._seen = {card.stance.decision for card in cards if card.stance}

    def update(self, known: Known) -> None:
        """A decision is written once: what chance has thrown out does not come back, or the newest would always win."""
        for card in fresh(known, self._seen, self._setting):
            if card.stance is not None:
                self._seen.add(card.stance.decision)
            if len(self._cards) < self._setting.rules.capacity.cards:
                self._cards.append(card)
            else:
                self._cards[int(self._chance.integers(len(self._cards)))] = card

    def cards(self) -> tuple[Card, ...]:
        return tuple(self._cards)
