"""How the value of a card follows its credited uses (design section 8; CHIME)."""

from afterwit.errors import UsageError
from afterwit.model import Card, Credit


def rewarded(card: Card, *, reward: float, confidence: float) -> Card:
    """The card after one credited use: W ← W + c; v ← v + c·(r − v)/W; n ← n + 1.

    v, W, n: value, summed confidence and uses. reward: r in [−1, 1]. confidence: c in [0, 1]; it weights the
    feedback and does not shrink its target, so that v is the c-weighted mean of the rewards. c = 0 is no use
    (law 1): the same card comes back. Raises UsageError outside those ranges.
    """
    if not -1 <= reward <= 1 or not 0 <= confidence <= 1:
        raise UsageError(f"reward {reward} must lie in [-1, 1] and confidence {confidence} in [0, 1]")
    if confidence == 0:
        return card
    weight = card.weight + confidence
    value = card.value + confidence * (reward - card.value) / weight
    return card.changed(value=value, weight=weight, uses=card.uses + 1)


def credited(card: Card, credit: Credit, *, reward: float) -> Card:
    """The card after an episode's reward, weighted by its responsibility; as it was where it has none.

    Raises UsageError where the credit is another card's.
    """
    if credit.card_id != card.id:
        raise UsageError(f"credit {credit.id} belongs to card {credit.card_id}, not to {card.id}")
    return rewarded(card, reward=reward, confidence=credit.weight)


def united(card: Card, other: Card) -> Card:
    """The card with the other's uses added: n and W add, v is the W-weighted mean (0 where neither has weight)."""
    weight = card.weight + other.weight
    value = (card.weight * card.value + other.weight * other.value) / weight if weight else 0.0
    return card.changed(value=value, weight=weight, uses=card.uses + other.uses)
