"""What additions to a full bank replace: cards by hand that nobody pinned, by the rule of `afterwit.evolve.room`."""

from collections.abc import Container, Iterable
from dataclasses import replace

from afterwit.errors import CapacityExceeded
from afterwit.evolve.operators.retire import evict
from afterwit.evolve.room import told, worth
from afterwit.model import Bank, Card, Round, fold, new_id
from afterwit.ports import Capacity


def with_room(round_: Round, bank: Bank, capacity: Capacity, *, asked: Container[str]) -> Round:
    """The round, with an eviction for each card that has to go. asked: ids of cards that say what was to be added, and
    stay. Raises CapacityExceeded where not enough may go."""
    written = fold(round_.edits)
    after = {card.id: card for card in (*bank.cards, *written.values())}
    staying = {id_: card for id_, card in after.items() if card.live}
    cards = len(staying) - max(capacity.cards, len(bank.cards))
    tokens = _tokens(staying.values()) - max(capacity.tokens, _tokens(bank.cards))
    going: list[Card] = []
    for card in sorted(bank.cards, key=worth):
        if cards <= 0 and tokens <= 0:
            break
        if card.id not in written and card.id not in asked and card.provenance.trust != "evidence" and not card.pinned:
            going.append(card)
            cards, tokens = cards - 1, tokens - card.tokens
    if cards > 0 or tokens > 0:
        raise CapacityExceeded(
            f"bank {bank.name!r} has no room and nothing more to replace: {len(bank.cards) - len(going)} cards "
            "are pinned, learned or this very addition's; unpin or retire some, or raise the capacity"
        )
    gone = [
        evict(new_id(), card, reason=f"replaced in a full bank: {told(card)}", round_id=round_.id) for card in going
    ]
    return replace(round_, edits=(*gone, *round_.edits))


def _tokens(cards: Iterable[Card]) -> int:
    return sum(card.tokens for card in cards)
