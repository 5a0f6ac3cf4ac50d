"""Reinforce: a card's numbers become what all evidence says now."""

from collections.abc import Mapping, Sequence

from afterwit.evolve.evidenced import Standing
from afterwit.model import Card, Edit, Provenance


def refreshed(
    card: Card, standing: Standing, *, objective: str, effect: float | None, prior_sd: float, round_id: str
) -> Card:
    """The card with fitness, joint effect and recall value v̂ = clip(sign · mean / prior sd, −1, 1).

    effect: its joint effect among the cards kept; None leaves it. The same card where nothing changed.
    """
    sign = card.stance.sign if card.stance else 1
    value = max(-1.0, min(1.0, sign * standing.fitness.mean / prior_sd)) if prior_sd > 0 else 0.0
    effect = card.effect if effect is None else effect
    fitness = {**card.fitness, objective: standing.fitness}
    if (dict(card.fitness), card.effect, card.value) == (fitness, effect, value):
        return card
    provenance = Provenance(
        operator="reinforce",
        parents=card.provenance.parents,
        evidence=(standing.row.id,),
        round_id=round_id,
        trust=card.provenance.trust,
    )
    return card.changed(fitness=fitness, effect=effect, value=value, provenance=provenance)


def reinforce(edit_id: str, before: Mapping[str, Card], after: Sequence[Card], reason: str) -> Edit | None:
    """One edit for every card whose numbers moved; None where none did."""
    moved = tuple(card for card in after if before.get(card.id) != card)
    if not moved:
        return None
    evidence = tuple(dict.fromkeys(e for card in moved for e in card.provenance.evidence))
    return Edit(
        id=edit_id,
        operator="reinforce",
        writes=moved,
        parents=tuple(c.id for c in moved),
        evidence=evidence,
        reason=reason,
    )
