"""Room: which cards that no evidence speaks of keep their place, and which yield it.

The rule, from the first to go to the last: those that use has shown to harm, then those never used, then those least
used; of equals the oldest; pinned ones never. Evidence cannot speak of them, so what is known is whether they
were worth using. A share of the capacity is theirs whatever the evidence; beyond it they keep what evidence leaves.
"""

from collections.abc import Iterable, Sequence

from afterwit.evolve.draft import RoundDraft
from afterwit.evolve.operators.retire import evict
from afterwit.evolve.rules import EvolveRules
from afterwit.model import Card
from afterwit.ports import Capacity


def seated(cards: Sequence[Card], room: Capacity) -> tuple[Card, ...]:
    """Those that fit, the most useful first."""
    found, left, tokens = [], room.cards, room.tokens
    for card in sorted(cards, key=worth, reverse=True):
        if left >= 1 and card.tokens <= tokens:
            found.append(card)
            left, tokens = left - 1, tokens - card.tokens
    return tuple(found)


def guaranteed(cards: Sequence[Card], rules: EvolveRules, room: Capacity) -> tuple[Card, ...]:
    """Those that keep their place whatever the evidence: what was learned earlier, and of the cards by hand their share
    of the capacity (at least one card where the share is above 0), pinned ones whatever the share, the most useful
    first. room: what they may take at most."""
    by_hand = sorted((card for card in cards if card.provenance.trust != "evidence"), key=worth, reverse=True)
    share = max(1, int(rules.hand_share * rules.capacity.cards)) if rules.hand_share > 0 else 0
    learned = [card for card in cards if card.provenance.trust == "evidence"]
    pinned = sum(card.pinned for card in by_hand)
    return seated([*learned, *by_hand[: max(share, pinned)]], room)


def no_room(seats: Sequence[Card], left: Capacity) -> str:
    """Why a decision that passes admission may not come; what would have to go, and which command decides."""
    if left.cards > 0 or not seats:
        return "adds nothing beside the cards kept"
    first = min(seats, key=worth)
    if first.pinned:
        return f"would be admitted, but all {len(seats)} cards that hold the room are pinned: 'afterwit unpin' decides"
    return (
        f"would be admitted, but {len(seats)} cards without evidence hold the room; “{first.guidance}” "
        f"({told(first)}) would go first: 'afterwit settings' with --hand-share or --capacity decides"
    )


def beside(cards: Iterable[Card], capacity: Capacity) -> Capacity:
    """What of the capacity these cards leave."""
    taken = tuple(cards)
    return Capacity(cards=capacity.cards - len(taken), tokens=capacity.tokens - sum(card.tokens for card in taken))


def evict_unseated(draft: RoundDraft, cards: Sequence[Card], kept: Sequence[Card], capacity: Capacity) -> None:
    """Each eviction says why this card and no other."""
    staying = {card.id for card in kept}
    for card in sorted(cards, key=worth):
        if card.id in draft.live and card.id not in staying:
            reason = (
                f"{told(card)}, yields its place: the least useful of what has no evidence (capacity {capacity.cards})"
            )
            draft.apply(evict(draft.edit_id("evict"), card, reason=reason, round_id=draft.round_id))


def worth(card: Card) -> tuple[bool, float, int, float, str]:
    return card.pinned, card.value, card.uses, card.created_at.timestamp(), card.content_hash


def told(card: Card) -> str:
    use = f"used {card.uses} times" if card.uses else "never used"
    return f"{use}, written {card.created_at:%Y-%m-%d}"
