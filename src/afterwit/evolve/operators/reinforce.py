"""Reinforce: a card's numbers become what all evidence says now."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from afterwit.evolve.evidenced import Standing
from afterwit.model import Card, Edit


def refreshed(
    card: Card,
    standing: Standing | None,
    *,
    objective: str,
    effect: float | None,
    prior_sd: float,
    used: tuple[int, float] = (0, 0.0),
    round_id: str,
) -> Card:
    """The card with fitness, joint effect and recall value v̂ = clip(sign · mean / prior sd, −1, 1).

    standing: None where its decision was not examined: those numbers stay. effect: its joint effect among the cards
    kept; None leaves it. used: credited reuses and their weight since the last round. The same card where nothing
    changed.
    """
    new = replace(card, uses=card.uses + used[0], weight=card.weight + used[1])
    evidence = card.provenance.evidence
    if standing is not None:
        sign = card.stance.sign if card.stance else 1
        value = max(-1.0, min(1.0, sign * standing.fitness.mean / prior_sd)) if prior_sd > 0 else 0.0
        fitness = {**card.fitness, objective: standing.fitness}
        new = replace(new, fitness=fitness, value=value, effect=card.effect if effect is None else effect)
        evidence = (standing.row.id,)
    if new == card:
        return card
    provenance = replace(card.provenance, operator="reinforce", evidence=evidence, round_id=round_id)
    return replace(new, version=card.version + 1, provenance=provenance)


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
