"""A round of a planning or execution bank: attributions in, edits out, one pure function (CHIME; design section 8)."""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from afterwit.credit.responsibility.value import rewarded
from afterwit.evolve.alike import unite_alike
from afterwit.evolve.draft import RoundDraft
from afterwit.evolve.operators.retire import evict
from afterwit.evolve.settle import expire_past
from afterwit.evolve.stages.actionable import why_not_actionable
from afterwit.evolve.stages.lessons import write_lesson
from afterwit.evolve.stages.rules import StageRules
from afterwit.model import Attribution, Bank, Card, Edit, Episode, Provenance, Refusal, Round, Stage

Embed = Callable[[Sequence[str]], NDArray[np.float32]]


def stage_round(
    bank: Bank,
    attributions: Sequence[Attribution],
    episodes: Mapping[str, Episode],
    *,
    stages: frozenset[Stage],
    vectors: Mapping[str, NDArray[np.float32]],
    embed: Embed,
    as_of: datetime,
    rules: StageRules = StageRules(),
    refused: Sequence[Refusal] = (),
    round_id: str,
) -> Round:
    """The edits that the attributions demand of a bank; nothing is written. The same input gives the same round.

    episodes: those attributed, by id. stages: whose lessons the bank keeps, as a rule the one it is named after.
    vectors: card id → unit vector of its key. refused: what was refused on the way here.

    Order: expiry, values of the cards used, then per attribution its lessons, then pruning, then capacity.
    """
    draft = RoundDraft(round_id=round_id, live={card.id: card for card in bank.cards}, refused=list(refused))
    expire_past(draft, as_of=as_of, idle=frozenset())
    unite_alike(draft)
    draft.apply(_valued(draft, attributions, stages, rules))
    known = dict(vectors)
    for attribution in attributions:
        for stage in sorted(stages & attribution.lessons.keys()):
            lesson = attribution.lessons[stage]
            why = why_not_actionable(lesson, episodes[attribution.episode_id])
            if attribution.confidence < rules.confidence:
                why = f"confidence {attribution.confidence:.2f}, {rules.confidence} is needed"
            if why is not None:
                draft.apply(Refusal(subject=lesson.guidance, verdict="refused", reason=why))
                continue
            vector = embed([lesson.key])[0]
            draft.apply(
                write_lesson(
                    draft,
                    lesson,
                    vector,
                    attribution,
                    scope=bank.scope,
                    bank=bank.name,
                    vectors=known,
                    at=as_of,
                    rules=rules,
                )
            )
    _prune(draft, rules)
    _fit(draft, rules)
    return Round(
        id=round_id,
        scope=bank.scope,
        bank=bank.name,
        as_of=as_of,
        base_version=bank.version,
        edits=tuple(draft.edits),
        attributions=tuple(attributions),
        refused=tuple(draft.refused),
        figures={
            "episodes": float(len(attributions)),
            "cards": float(len(draft.live)),
            "active": float(sum(card.status == "active" for card in draft.live.values())),
        },
    )


def rewards(attributions: Sequence[Attribution], stages: frozenset[Stage]) -> list[tuple[str, float, float]]:
    """(card id, r, c): r = +1 for helped cards of a stage credited with success, −1 for misleading ones (law 1)."""
    found = []
    for attribution in attributions:
        if stages & set(attribution.stages):
            good = attribution.helped if attribution.success else ()
            found += [(card_id, 1.0, attribution.confidence) for card_id in good]
            found += [(card_id, -1.0, attribution.confidence) for card_id in attribution.misleading]
    return found


def _valued(
    draft: RoundDraft, attributions: Sequence[Attribution], stages: frozenset[Stage], rules: StageRules
) -> Edit | None:
    changed: dict[str, Card] = {}
    for card_id, reward, confidence in rewards(attributions, stages):
        card = changed.get(card_id) or draft.live.get(card_id)
        if card is not None:
            changed[card_id] = rewarded(card, reward=reward, confidence=confidence)
    moved = []
    for card_id, card in sorted(changed.items()):
        before = draft.live[card_id]
        if card != before:
            proven = card.uses >= rules.proven and card.value > 0
            provenance = Provenance(
                operator="reinforce",
                parents=(card_id,),
                evidence=tuple(a.episode_id for a in attributions if card_id in (*a.helped, *a.misleading)),
                round_id=draft.round_id,
                trust=card.provenance.trust,
            )
            status = "active" if proven else before.status
            value = {"value": card.value, "weight": card.weight, "uses": card.uses}
            moved.append(before.changed(**value, status=status, provenance=provenance))
    if not moved:
        return None
    return Edit(
        id=draft.edit_id("reinforce"),
        operator="reinforce",
        writes=tuple(moved),
        parents=tuple(card.id for card in moved),
        evidence=tuple(dict.fromkeys(e for card in moved for e in card.provenance.evidence)),
        reason="values as of the uses credited",
    )


def _prune(draft: RoundDraft, rules: StageRules) -> None:
    for card in sorted(draft.live.values(), key=lambda card: card.content_hash):
        if card.uses >= rules.prune_uses and card.value < rules.prune_value:
            reason = f"value {card.value:+.2f} after {card.uses} uses"
            draft.apply(evict(draft.edit_id("evict"), card, reason=reason, round_id=draft.round_id))


def _fit(draft: RoundDraft, rules: StageRules) -> None:
    """Down to capacity: the lowest shrunken value goes first, of equals the oldest. Pinned cards, then those that a
    person wrote, stay before all others, and provisional cards may count on their quota, the newest of them first."""

    def newer(card: Card) -> tuple[float, str]:
        return -card.created_at.timestamp(), card.id

    provisional = sorted((card for card in draft.live.values() if card.status == "provisional"), key=newer)
    safe = {card.id for card in provisional[: math.floor(rules.quota * rules.capacity.cards)]}
    left, tokens = rules.capacity.cards, rules.capacity.tokens
    for card in sorted(
        draft.live.values(),
        key=lambda c: (not c.pinned, c.provenance.trust != "user", c.id not in safe, -_shrunken(c, rules), *newer(c)),
    ):
        if left >= 1 and card.tokens <= tokens:
            left, tokens = left - 1, tokens - card.tokens
        else:
            reason = f"the least of value beside {rules.capacity.cards} cards (capacity)"
            draft.apply(evict(draft.edit_id("evict"), card, reason=reason, round_id=draft.round_id))


def _shrunken(card: Card, rules: StageRules) -> float:
    return card.value * card.uses / (card.uses + rules.shrink)
