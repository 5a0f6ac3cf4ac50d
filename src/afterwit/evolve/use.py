"""What use shows of a card: which decision its words are behind, or that they are behind none (law 1).

A card in words alone names no decision, so evidence cannot reach it. Responsibility can: where replay finds it behind
one decision again and again, that decision is its stance from then on, and the card stands or falls with the evidence
on it. A card that was recalled often and never changed anything leaves. Both are our reconstruction of TIDE's
responsibility credit (design section 7).
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from afterwit.evolve.draft import RoundDraft
from afterwit.evolve.operators.retire import expire
from afterwit.model import Card, Credit, Edit, Refusal, Stance

_NAMED = 3
_SHARE = 0.8
_UNUSED = 20


def settle_use(draft: RoundDraft, standing: Iterable[Credit]) -> None:
    """standing: every credit that stands, those of weight 0 among them.

    A stance is named by three episodes with four fifths of the card's weight. A card leaves after twenty episodes
    whose agent cited cards, in none of which it was responsible. What a person wrote or pinned stays: it is told
    of instead.
    """
    by_card: defaultdict[str, list[Credit]] = defaultdict(list)
    citing: set[str] = set()
    for credit in standing:
        by_card[credit.card_id].append(credit)
        if credit.weight > 0:
            citing.add(credit.episode_id)
    for card in sorted(draft.live.values(), key=lambda card: card.content_hash):
        credits = by_card.get(card.id, [])
        if any(credit.weight > 0 for credit in credits):
            if card.stance is None and card.provenance.trust != "user":
                draft.apply(_named(draft.edit_id("revise"), card, credits, draft.round_id))
        elif (episodes := _idle_episodes(credits, citing)) >= _UNUSED and card.stance is None:
            reason = f"recalled in {episodes} episodes and behind no decision of any"
            if card.provenance.trust == "user" or card.pinned:
                draft.refused.append(
                    Refusal(subject=card.id, verdict="unused", reason=f"{reason}: consider deleting it")
                )
            else:
                draft.apply(expire(draft.edit_id("expire"), card, reason=reason, round_id=draft.round_id))


def _named(edit_id: str, card: Card, credits: Iterable[Credit], round_id: str) -> Edit | None:
    weight: defaultdict[str, float] = defaultdict(float)
    episodes: defaultdict[str, set[str]] = defaultdict(set)
    for credit in credits:
        if credit.weight > 0:
            weight[credit.decision] += credit.weight
            episodes[credit.decision].add(credit.episode_id)
    decision = min(weight, key=lambda d: (-weight[d], d))
    n = len(episodes[decision])
    if n < _NAMED or weight[decision] < _SHARE * sum(weight.values()):
        return None
    stance = Stance(decision=decision.removeprefix("not:"), prefer=not decision.startswith("not:"))
    provenance = replace(card.provenance, operator="revise", parents=(card.id,), round_id=round_id)
    return Edit(
        id=edit_id,
        operator="revise",
        writes=(card.changed(stance=stance, provenance=provenance),),
        parents=(card.id,),
        reason=f"replay finds it behind {decision} in {n} episodes",
    )


def _idle_episodes(credits: Iterable[Credit], citing: set[str]) -> int:
    """Episodes that could tell: some card was found responsible, and this one's replay did not fail."""
    told: dict[str, bool] = {}
    for credit in credits:
        told[credit.episode_id] = told.get(credit.episode_id, True) and credit.kind == "none"
    return sum(fine and episode in citing for episode, fine in told.items())
