"""What a bank costs: its tokens, all cards together."""

from collections.abc import Sequence

from afterwit.model import Card


def tokens(cards: Sequence[Card]) -> int:
    return sum(card.tokens for card in cards)
