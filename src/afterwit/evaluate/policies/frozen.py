"""The initial memory, for ever."""

from afterwit.evaluate.policies.protocol import Known, Setting
from afterwit.model import Card


class Frozen:
    name = "frozen"
    bounded = True

    def __init__(self, setting: Setting) -> None:
        self._cards: tuple[Card, ...] = ()

    def start(self, cards: tuple[Card, ...], known: Known) -> None:
        self._cards = cards

    def update(self, known: Known) -> None:
        pass

    def cards(self) -> tuple[Card, ...]:
        return self._cards
