"""Cards by hand that say nearly the same become one."""

from afterwit.evolve.draft import RoundDraft
from afterwit.evolve.operators.merge import merge
from afterwit.model import Card, normalised
from afterwit.model.said import nearly_said


def unite_alike(draft: RoundDraft) -> None:
    """A pinned one is kept, else the oldest, and its lineage names the others. Alike are cards of one task, condition
    and stance that differ in spelling, punctuation, articles or politeness alone; negation, numbers and names tell
    cards apart."""
    groups: dict[tuple[object, ...], list[Card]] = {}
    for card in sorted(draft.live.values(), key=lambda card: (not card.pinned, card.created_at, card.id)):
        if card.provenance.trust != "evidence":
            groups.setdefault(_claim(card), []).append(card)
    for kept, *rest in groups.values():
        others = [card for card in rest if not card.pinned]
        if others:
            draft.apply(
                merge(
                    draft.edit_id("merge"),
                    kept,
                    others,
                    signs=[1] * len(others),
                    reason=f"nearly the same words: {', '.join(card.guidance for card in others)}",
                    round_id=draft.round_id,
                )
            )


def _claim(card: Card) -> tuple[object, ...]:
    stance = str(card.stance).removesuffix(normalised(card.guidance)) if card.stance else ""
    return nearly_said(card.key), nearly_said(card.guidance), card.when, stance, card.valid_until
