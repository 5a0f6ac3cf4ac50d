"""Merge: cards that are one hypothesis become one card with the provenance of all.

Content cards hold one decision each, so what merges there are duplicates: decisions with |r| ≥ 0.9 within strata,
or the same decision and condition twice.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from afterwit.credit.responsibility.value import united
from afterwit.evolve.operators.retire import retired
from afterwit.model import Card, Edit, Provenance, Refusal


def merge(
    edit_id: str, kept: Card, others: Sequence[Card], *, signs: Sequence[int], reason: str, round_id: str
) -> Edit | Refusal:
    """signs: per other, −1 where showing its decision means not showing the kept one's.

    Refused where contexts are incompatible or the stances disagree: then the evidence is not shared.
    """
    for other, sign in zip(others, signs, strict=True):
        if not kept.when.overlaps(other.when):
            return Refusal(
                subject=kept.id,
                verdict="refused",
                reason=f"merge refused: {kept.when} and {other.when} never both hold",
            )
        if _sign(kept) * sign != _sign(other):
            return Refusal(subject=kept.id, verdict="refused", reason="merge refused: the stances disagree")
    parents = (kept.id, *(card.id for card in others))
    evidence = tuple(dict.fromkeys(e for card in (kept, *others) for e in card.provenance.evidence))
    whole = replace(
        reduce(united, others, kept),
        version=kept.version + 1,
        cases=tuple(dict.fromkeys(case for card in (kept, *others) for case in card.cases)),
        provenance=Provenance(
            operator="merge", parents=parents, evidence=evidence, round_id=round_id, trust=kept.provenance.trust
        ),
    )
    gone = tuple(retired(card, operator="merge", round_id=round_id, by=(kept.id,)) for card in others)
    return Edit(id=edit_id, operator="merge", writes=(whole, *gone), parents=parents, evidence=evidence, reason=reason)


def _sign(card: Card) -> int:
    """0 for a card without a stance, which agrees with its like alone."""
    return card.stance.sign if card.stance else 0
