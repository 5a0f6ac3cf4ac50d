"""No memory: every candidate scores the same."""

from afterwit.evaluate.policies.protocol import Known, Setting
from afterwit.model import Card


class Nothing:
    name = "none"
    bounded = True

    def __init__(self, setting: Setting) -> None:
        pass

    def start(self, cards: tuple[Card, ...], known: Known) -> None:
        pass

    def update(self, known: Known) -> None:
        pass

    def cards(self) -> tuple[Card, ...]:
        return ()
