"""What one lesson does to a bank: it joins its nearest card, becomes a card, or is refused aloud."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from afterwit.evolve.draft import RoundDraft
from afterwit.evolve.stages.rules import StageRules
from afterwit.model import Attribution, Card, Edit, Lesson, Provenance, Refusal, content_hash, count_tokens, normalised

Vectors = dict[str, NDArray[np.float32]]


def write_lesson(
    draft: RoundDraft,
    lesson: Lesson,
    vector: NDArray[np.float32],
    attribution: Attribution,
    *,
    scope: str,
    bank: str,
    vectors: Vectors,
    at: datetime,
    rules: StageRules,
) -> Edit | Refusal:
    """Merged into the nearest live card where the cosine of their keys is at least ``rules.merge``, else inserted.

    vectors: key vectors of the live cards; the new card's is added. The same lesson again adds its episode as a
    case and nothing else.
    """
    if count_tokens(lesson.key) + count_tokens(lesson.guidance) > rules.card_tokens:
        return _refused(lesson, f"longer than {rules.card_tokens} tokens")
    near = _nearest(vector, [card for card in draft.live.values() if card.bank == bank], vectors)
    if near is not None and near[1] >= rules.merge:
        card, cosine = near
        return _merged(draft, card, lesson, attribution, cosine, rules)
    card = Card(
        id=content_hash(draft.round_id, lesson.stage, lesson.key, lesson.guidance)[:32],
        scope=scope,
        bank=bank,
        key=lesson.key,
        guidance=lesson.guidance,
        provenance=Provenance(operator="admit", evidence=(attribution.episode_id,), round_id=draft.round_id),
        cases=(attribution.episode_id,),
        created_at=at,
        valid_from=at,
    )
    vectors[card.id] = vector
    return Edit(
        id=draft.edit_id("admit"),
        operator="admit",
        writes=(card,),
        evidence=(attribution.episode_id,),
        reason=f"credit to {attribution.stage}, confidence {attribution.confidence:.2f}: {attribution.reason}",
    )


def _merged(
    draft: RoundDraft, card: Card, lesson: Lesson, attribution: Attribution, cosine: float, rules: StageRules
) -> Edit | Refusal:
    episode = attribution.episode_id
    guidance = card.guidance
    if normalised(lesson.guidance) not in normalised(guidance):
        guidance = f"{guidance} {lesson.guidance}"
        if count_tokens(card.key) + count_tokens(guidance) > rules.card_tokens:
            # What has proven itself stays; what has not gives way to the newer lesson.
            if card.value > 0 or card.pinned:
                why = "pinned" if card.pinned else "of value"
                return _refused(lesson, f"the card that it belongs to, {card.id}, is full and {why}")
            guidance = lesson.guidance
    provenance = Provenance(
        operator="merge", parents=(card.id,), evidence=(episode,), round_id=draft.round_id, trust=card.provenance.trust
    )
    united = card.changed(guidance=guidance, cases=tuple(dict.fromkeys((*card.cases, episode))), provenance=provenance)
    return Edit(
        id=draft.edit_id("merge"),
        operator="merge",
        writes=(united,),
        parents=(card.id,),
        evidence=(episode,),
        reason=f"cosine of keys {cosine:.2f}, confidence {attribution.confidence:.2f}: {attribution.reason}",
    )


def _nearest(
    vector: NDArray[np.float32], cards: Sequence[Card], vectors: Mapping[str, NDArray[np.float32]]
) -> tuple[Card, float] | None:
    known = [card for card in sorted(cards, key=lambda card: card.content_hash) if card.id in vectors]
    if not known:
        return None
    cosines = np.stack([vectors[card.id] for card in known]) @ vector
    best = int(np.argmax(cosines))
    return known[best], float(cosines[best])


def _refused(lesson: Lesson, reason: str) -> Refusal:
    return Refusal(subject=lesson.guidance, verdict="refused", reason=reason)
