"""What a bank settles before its claims are judged: expiry, duplicates, conflicts (design section 9)."""

from collections.abc import Mapping
from datetime import datetime
from itertools import combinations

from afterwit.credit.semantic.duplicates import Duplicate
from afterwit.evolve.draft import RoundDraft
from afterwit.evolve.evidenced import Standing
from afterwit.evolve.operators.merge import merge
from afterwit.evolve.operators.replace import narrowed_to, replace_card
from afterwit.evolve.operators.retire import evict, expire
from afterwit.evolve.rules import EvolveRules
from afterwit.model import Card, Clause, Condition


def expire_past(draft: RoundDraft, *, as_of: datetime, idle: frozenset[str]) -> None:
    for card in list(draft.live.values()):
        if card.valid_until is not None and card.valid_until <= as_of:
            reason = f"valid until {card.valid_until:%Y-%m-%d}"
        elif card.id in idle and not card.pinned:
            reason = "no episode recalled it for too long"
        else:
            continue
        draft.apply(expire(draft.edit_id("expire"), card, reason=reason, round_id=draft.round_id))


def unite_duplicates(draft: RoundDraft, groups: Mapping[str, Duplicate]) -> None:
    """One hypothesis, one card: cards whose decisions are duplicates, or the same, merge where contexts agree."""
    by_claim: dict[tuple[str, Condition], list[tuple[Card, int]]] = {}
    for card in sorted(draft.live.values(), key=lambda card: card.content_hash):
        if card.stance is not None:
            group = groups.get(card.stance.decision)
            name, sign = (group.name, group.sign) if group else (card.stance.decision, 1)
            by_claim.setdefault((name, card.when), []).append((card, sign))
    for (name, _), members in sorted(by_claim.items(), key=lambda item: (item[0][0], str(item[0][1]))):
        if len(members) < 2:
            continue
        kept, sign = min(
            members,
            key=lambda m: (
                not m[0].pinned,
                m[0].status != "active",
                m[0].stance.decision != name if m[0].stance else 1,
            ),
        )
        others = [(c, s * sign) for c, s in members if c is not kept and not c.pinned]
        agreeing = [(c, s) for c, s in others if _agrees(c, kept, s)]
        if agreeing:
            draft.apply(
                merge(
                    draft.edit_id("merge"),
                    kept,
                    [c for c, _ in agreeing],
                    signs=[s for _, s in agreeing],
                    reason=f"one hypothesis: {', '.join(str(c.stance) for c, _ in agreeing)}",
                    round_id=draft.round_id,
                )
            )


def settle_conflicts(
    draft: RoundDraft, standing: Mapping[str, Standing], *, rules: EvolveRules, as_of: datetime
) -> None:
    """Opposite stances on one decision in overlapping contexts: the posteriors where each applies decide.

    Where both claims stand and one clause tells their contexts apart, the card with more strata behind it is narrowed:
    the other is its exception. Else the loser is evicted, which is the older one where the posteriors cannot tell. A
    pinned card never loses, and two of them stay as they are.
    """
    held = dict(standing)
    while (pair := _first_conflict(draft, held)) is not None:
        loser, winner = sorted(pair, key=lambda c: (c.pinned, held[c.id].p_for(c), c.created_at, c.content_hash))
        row = held[winner.id].row
        reason = f"opposite stances on {row.decision}: {row.reason}"
        rule, other = sorted((loser, winner), key=lambda card: -held[card.id].fitness.strata)
        exception = _exception(rule, other) if held[loser.id].p_for(loser) > 0.5 else None
        if exception is not None:
            wide, narrow, clause = exception
            child = narrowed_to(
                wide, clause.complement, parents=(wide.id, narrow.id), round_id=draft.round_id, at=as_of
            )
            held[child.id] = held[wide.id]
            made = replace_card(
                draft.edit_id("revise"),
                wide,
                [child],
                operator="revise",
                reason=reason,
                evidence=(row.id,),
                round_id=draft.round_id,
                card_tokens=max(rules.card_tokens, wide.tokens),
            )
            if draft.apply(made):
                continue
        if not draft.apply(
            evict(draft.edit_id("evict"), loser, reason=reason, round_id=draft.round_id, evidence=(row.id,))
        ):
            return  # eviction may not act: the conflict stays


def _agrees(card: Card, kept: Card, sign: int) -> bool:
    return card.stance is not None and kept.stance is not None and kept.stance.sign * sign == card.stance.sign


def _first_conflict(draft: RoundDraft, standing: Mapping[str, Standing]) -> tuple[Card, Card] | None:
    cards = [card for card in draft.live.values() if card.id in standing]
    pairs = combinations(sorted(cards, key=lambda card: card.content_hash), 2)
    return next((pair for pair in pairs if _conflict(*pair)), None)


def _exception(rule: Card, other: Card) -> tuple[Card, Card, Clause] | None:
    """A card to narrow, the other, and the one clause of the other's that it leaves out; the rule where it can be."""
    for wide, narrow in ((rule, other), (other, rule)):
        extra = set(narrow.when.clauses) - set(wide.when.clauses)
        if len(extra) == 1:
            return wide, narrow, extra.pop()
    return None


def _conflict(one: Card, other: Card) -> bool:
    return (
        one.stance is not None
        and other.stance is not None
        and one.stance.decision == other.stance.decision
        and one.stance.prefer != other.stance.prefer
        and one.when.overlaps(other.when)
        and not (one.pinned and other.pinned)
    )
