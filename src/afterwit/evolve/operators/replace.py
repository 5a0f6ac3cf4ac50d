"""Revise, split and flip: a card is replaced by narrower or opposite ones, in one edit.

The replacement is validated first; where it does not stand, the parent stays and the refusal says why.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from afterwit.evolve.operators.retire import retired
from afterwit.model import Card, Clause, Edit, Provenance, Refusal, Trial, content_hash, count_tokens


def replace_card(
    edit_id: str,
    parent: Card,
    children: Sequence[Card],
    *,
    operator: Literal["revise", "split"],
    reason: str,
    evidence: tuple[str, ...],
    round_id: str,
    card_tokens: int,
) -> Edit | Refusal:
    for child in children:
        problem = invalid(child, parent, card_tokens)
        if problem:
            return Refusal(
                subject=parent.id, verdict="refused", reason=f"{operator} refused, the card stays: {problem}"
            )
    made = tuple(replace(child, provenance=replace(child.provenance, operator=operator)) for child in children)
    gone = retired(parent, operator=operator, round_id=round_id, evidence=evidence, by=tuple(c.id for c in children))
    return Edit(
        id=edit_id,
        operator=operator,
        writes=(*made, gone),
        parents=(parent.id,),
        evidence=evidence,
        reason=reason,
    )


def narrowed_to(card: Card, clause: Clause, *, parents: tuple[str, ...], round_id: str, at: datetime) -> Card:
    """The same claim in fewer contexts, as a card of its own: what was to be tested is declared anew."""
    when = card.when.narrowed(clause)
    trial = Trial(admitted_at=at, needed=card.trial.needed, effect=card.trial.effect) if card.trial else None
    provenance = Provenance(
        operator="revise",
        parents=parents,
        evidence=card.provenance.evidence,
        round_id=round_id,
        trust=card.provenance.trust,
    )
    return replace(
        card,
        id=content_hash(round_id, card.id, str(when))[:32],
        version=1,
        when=when,
        status="provisional" if trial else card.status,
        trial=trial,
        provenance=provenance,
        created_at=at,
        valid_from=at,
    )


def invalid(child: Card, parent: Card, card_tokens: int) -> str | None:
    """Why a replacement may not take its parent's place; None where it may."""
    if not child.guidance.strip():
        return "the replacement says nothing"
    if child.tokens > card_tokens:
        return f"the replacement has {child.tokens} tokens, more than {card_tokens}"
    if count_tokens(child.key) == 0:
        return "the replacement names no task"
    if not child.when.overlaps(child.when):
        return f"its condition {child.when} can never hold"
    if child.content_hash == parent.content_hash:
        return "the replacement says the same"
    return None
