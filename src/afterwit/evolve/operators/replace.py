"""Revise, split and flip: a card is replaced by narrower or opposite ones, in one edit.

The replacement is validated first; where it does not stand, the parent stays and the refusal says why.
"""

from collections.abc import Sequence
from typing import Literal

from afterwit.evolve.operators.retire import retired
from afterwit.model import Card, Edit, Refusal, count_tokens


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
    gone = retired(parent, operator=operator, round_id=round_id, evidence=evidence, by=tuple(c.id for c in children))
    return Edit(
        id=edit_id,
        operator=operator,
        writes=(*children, gone),
        parents=(parent.id,),
        evidence=evidence,
        reason=reason,
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
