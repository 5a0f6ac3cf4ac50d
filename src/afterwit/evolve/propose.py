"""What the evidence demands of each card, and which decisions may become cards (the table of design section 9)."""

from collections.abc import Mapping
from datetime import datetime

import numpy as np

from afterwit.credit.conditions import Side
from afterwit.credit.duplicates import Duplicate
from afterwit.credit.evidence import EvidenceTable
from afterwit.credit.items import Design, Items
from afterwit.evolve.draft import RoundDraft
from afterwit.evolve.evidenced import Standing
from afterwit.evolve.operators.admit import admitted
from afterwit.evolve.operators.merge import merge
from afterwit.evolve.operators.replace import replace_card
from afterwit.evolve.operators.retire import evict, expire
from afterwit.evolve.rules import EvolveRules
from afterwit.evolve.wording import Describe, guidance_for
from afterwit.model import Card, Clause, Condition, Evidence, Posterior, Refusal

_SHOWN_REFUSALS = 30


def expire_past(draft: RoundDraft, *, as_of: datetime, idle: frozenset[str]) -> None:
    for card in list(draft.live.values()):
        if card.valid_until is not None and card.valid_until <= as_of:
            reason = f"valid until {card.valid_until:%Y-%m-%d}"
        elif card.id in idle:
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
            members, key=lambda m: (m[0].status != "active", m[0].stance.decision != name if m[0].stance else 1)
        )
        agreeing = [(c, s * sign) for c, s in members if c is not kept and _agrees(c, kept, s * sign)]
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


def settle_conflicts(draft: RoundDraft, standing: Mapping[str, Standing]) -> None:
    """Opposite stances on one decision in overlapping contexts: the posterior decides, the loser is evicted."""
    cards = sorted((c for c in draft.live.values() if c.stance), key=lambda card: card.content_hash)
    for i, one in enumerate(cards):
        for other in cards[i + 1 :]:
            if one.id not in draft.live or other.id not in draft.live or not _conflict(one, other):
                continue
            found = standing.get(one.id) or standing.get(other.id)
            if found is None:
                continue
            loser = one if one.stance and one.stance.sign != found.sign else other
            reason = f"opposite stances on {found.row.decision}: {found.row.reason}"
            draft.apply(
                evict(draft.edit_id("evict"), loser, reason=reason, round_id=draft.round_id, evidence=(found.row.id,))
            )


def judge_claims(
    draft: RoundDraft,
    standing: Mapping[str, Standing],
    table: EvidenceTable,
    *,
    spared: frozenset[str],
    demote: Mapping[str, str],
    describe: Describe,
    rules: EvolveRules,
    as_of: datetime,
) -> None:
    """Contradicted, conditional, demoted or no longer plausible cards change here; the others stay.

    spared: cards of known utility whose removal would not improve it, which semantic evidence alone may not evict
    (design section 7).
    """
    for card in sorted(draft.live.values(), key=lambda card: card.content_hash):
        found = standing.get(card.id)
        if found is None or card.stance is None:
            continue
        row, evidence = found.row, (found.row.id,)
        split = table.splits.get(row.decision)
        against = found.verdict == "contradicted" or card.id in demote
        if against and card.id in spared:
            draft.refused.append(
                Refusal(
                    subject=card.id, verdict="refused", reason="replay shows that removing it would not improve utility"
                )
            )
        elif found.verdict == "conditional" and split is not None and card.status != "active":
            _narrow(draft, card, row, split.clause, (split.holds, split.fails), describe, rules, as_of)
        elif card.id in demote:
            draft.apply(
                evict(draft.edit_id("evict"), card, reason=demote[card.id], round_id=draft.round_id, evidence=evidence)
            )
        elif found.verdict == "contradicted":
            child = admitted(
                row,
                scope=card.scope,
                bank=card.bank,
                key=card.key,
                when=card.when,
                cases=card.cases,
                guidance=guidance_for(row.decision, not card.stance.prefer, describe),
                prefer=not card.stance.prefer,
                round_id=draft.round_id,
                at=as_of,
                parents=(card.id,),
            )
            draft.apply(
                replace_card(
                    draft.edit_id("revise"),
                    card,
                    [child],
                    operator="revise",
                    evidence=evidence,
                    reason=f"contradicted, its opposite is supported: {row.reason}",
                    round_id=draft.round_id,
                    card_tokens=rules.card_tokens,
                )
            )
        elif card.status == "provisional" and _implausible(card, found, rules):
            reason = f"{found.verdict}, P(sign) {found.p_sign:.2f}: {row.reason}"
            draft.apply(evict(draft.edit_id("evict"), card, reason=reason, round_id=draft.round_id, evidence=evidence))


def candidates(
    draft: RoundDraft,
    table: EvidenceTable,
    items: Items,
    design: Design,
    groups: Mapping[str, Duplicate],
    *,
    scope: str,
    bank: str,
    describe: Describe,
    rules: EvolveRules,
    as_of: datetime,
) -> tuple[list[tuple[Card, Evidence]], list[Refusal]]:
    """Cards that may be admitted, and what was left as insufficient (the most promising, then a count)."""
    taken = {card.stance.decision for card in draft.live.values() if card.stance}
    passing = np.flatnonzero((table.p_sign >= rules.admission) & table.enough)
    shown = design.matrix.tocsc()
    cards = []
    for i in passing:
        name = table.names[i]
        if name in taken or groups.get(name, Duplicate(name=name, sign=1)).name != name:
            continue
        row = table.row(int(i))
        where = shown.indices[shown.indptr[i] : shown.indptr[i + 1]]
        sides = table.splits.get(name)
        when = Condition()
        if sides is not None and row.verdict == "conditional":
            when = when.narrowed(sides.clause)
        prefer = row.posterior_mean > 0 if not when.clauses else (sides is not None and sides.holds.effect > 0)
        guidance = guidance_for(name, prefer, describe)
        card = admitted(
            row,
            scope=scope,
            bank=bank,
            key=describe(name) or name,
            guidance=guidance,
            when=when,
            prefer=prefer,
            cases=tuple(str(c) for c in items.ids[np.sort(where)[-rules.cases :]]),
            round_id=draft.round_id,
            at=as_of,
        )
        if card.tokens <= rules.card_tokens:
            cards.append((card, row))
    return cards, _left(table, rules)


def _left(table: EvidenceTable, rules: EvolveRules) -> list[Refusal]:
    """Decisions examined that stay without a card, most promising first."""
    short = np.flatnonzero((table.p_sign < rules.admission) | ~table.enough)
    order = short[np.argsort(-np.abs(table.posterior_mean[short]), kind="stable")]
    left = [
        Refusal(
            subject=table.names[i],
            verdict="insufficient",
            reason=f"P(sign) {table.p_sign[i]:.2f} < {rules.admission}: {table.reason(int(i))}",
            figures={"effect": float(np.nan_to_num(table.effect[i])), "p_sign": float(table.p_sign[i])},
        )
        for i in order[:_SHOWN_REFUSALS]
    ]
    if len(order) > _SHOWN_REFUSALS:
        more = len(order) - _SHOWN_REFUSALS
        left.append(Refusal(subject=f"{more} more decisions", verdict="insufficient", reason="P(sign) too small"))
    return left


def _narrow(
    draft: RoundDraft,
    card: Card,
    row: Evidence,
    clause: Clause,
    sides: tuple[Side, Side],
    describe: Describe,
    rules: EvolveRules,
    as_of: datetime,
) -> None:
    """Split into two cards where both sides are evidenced, else revise to the side where the claim holds."""
    other = Clause(field=clause.field, operator="not in" if clause.operator == "in" else "in", values=clause.values)
    children = []
    for side, part in zip(sides, (clause, other), strict=True):
        if side.low <= 0 <= side.high or part in card.when.clauses:
            continue
        narrowed = Posterior(mean=side.effect, sd=(side.high - side.low) / 3.92, strata=side.strata)
        prefer = side.effect > 0
        child = admitted(
            row,
            scope=card.scope,
            bank=card.bank,
            key=card.key,
            when=card.when.narrowed(part),
            cases=card.cases,
            guidance=guidance_for(row.decision, prefer, describe),
            prefer=prefer,
            round_id=draft.round_id,
            at=as_of,
            parents=(card.id,),
        )
        children.append(child.changed(version=1, fitness={row.objective: narrowed}))
    if children:
        draft.apply(
            replace_card(
                draft.edit_id("split"),
                card,
                children,
                operator="split" if len(children) == 2 else "revise",
                reason=row.reason,
                evidence=(row.id,),
                round_id=draft.round_id,
                card_tokens=rules.card_tokens,
            )
        )


def _implausible(card: Card, found: Standing, rules: EvolveRules) -> bool:
    spent = card.trial is not None and card.trial.tested_at is not None
    wrong_sign = card.stance is not None and card.stance.sign != found.sign
    return found.p_sign < rules.admission or wrong_sign or (spent and found.verdict == "null")


def _agrees(card: Card, kept: Card, sign: int) -> bool:
    return card.stance is not None and kept.stance is not None and kept.stance.sign * sign == card.stance.sign


def _conflict(one: Card, other: Card) -> bool:
    return (
        one.stance is not None
        and other.stance is not None
        and one.stance.decision == other.stance.decision
        and one.stance.prefer != other.stance.prefer
        and one.when.overlaps(other.when)
    )
