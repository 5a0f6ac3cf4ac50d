"""Evict and expire: a card leaves the bank; the ledger keeps it."""

from typing import Literal

from afterwit.model import Card, Edit, Provenance


def retired(
    card: Card,
    *,
    operator: Literal["evict", "expire", "merge", "split", "revise"],
    round_id: str,
    evidence: tuple[str, ...] = (),
    by: tuple[str, ...] = (),
) -> Card:
    """by: the cards that replace it, where some do."""
    provenance = Provenance(
        operator=operator,
        parents=by or (card.id,),
        evidence=evidence,
        round_id=round_id,
        trust=card.provenance.trust,
    )
    return card.changed(status="retired", provenance=provenance)


def evict(edit_id: str, card: Card, *, reason: str, round_id: str, evidence: tuple[str, ...] = ()) -> Edit:
    gone = retired(card, operator="evict", round_id=round_id, evidence=evidence)
    return Edit(id=edit_id, operator="evict", writes=(gone,), parents=(card.id,), evidence=evidence, reason=reason)


def expire(edit_id: str, card: Card, *, reason: str, round_id: str) -> Edit:
    gone = retired(card, operator="expire", round_id=round_id)
    return Edit(id=edit_id, operator="expire", writes=(gone,), parents=(card.id,), reason=reason)
