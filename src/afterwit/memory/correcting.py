"""Corrections: cards by hand that cannot both be right, and what a person says of them."""

from afterwit.errors import InputError
from afterwit.evolve import by_hand
from afterwit.memory.by_hand import ByHand, When
from afterwit.model import Card
from afterwit.recall.conflicts import Disagreement, disagreements


class Correcting(ByHand):
    """Pairs to settle; ``delete`` the one that is wrong, ``narrow`` both, or ``settle`` them as both right."""

    def conflicts(self, *, bank: str = "content") -> tuple[Disagreement, ...]:
        """Live pairs by hand of one task and overlapping condition that say different things, newest first; found by
        their words alone (`afterwit.recall.conflicts`)."""
        return disagreements(self._bank(bank).cards)

    def settle(self, card_id: str, other_id: str) -> None:
        """Both are right: they are no pair any more, until one is reworded. Raises NotFound, Conflict for a retired
        card, InputError for cards of two banks."""
        one, other = self._live(card_id), self._live(other_id)
        if one.id == other.id or one.bank != other.bank:
            raise InputError(f"cards {one.id} and {other.id} are no two cards of one bank")
        self._by_hand(one, by_hand.settle(one, other))

    def narrow(self, card_id: str, when: When) -> Card:
        """The card where this holds, too, and nowhere else. Raises NotFound, Conflict for a retired card,
        ConditionError, InputError for a condition that could never hold."""
        card = self._live(card_id)
        self._by_hand(card, by_hand.narrow(card, self._condition(when)))
        return self.get(card_id)
