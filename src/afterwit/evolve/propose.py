"""What the evidence demands of each card, and which decisions may become cards (the table of design section 9)."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from afterwit.credit.confirmation.trials import declare_trial
from afterwit.credit.items import Design, Ints, Items, moment, showing
from afterwit.credit.semantic.duplicates import Duplicate
from afterwit.credit.semantic.evidence import EvidenceTable
from afterwit.evolve.coverage import holds
from afterwit.evolve.draft import RoundDraft
from afterwit.evolve.evidenced import Standing, on_side
from afterwit.evolve.operators.admit import admitted
from afterwit.evolve.operators.replace import replace_card
from afterwit.evolve.operators.retire import evict
from afterwit.evolve.rules import EvolveRules
from afterwit.evolve.wording import Describe, guidance_for
from afterwit.model import Card, Condition, Edit, Evidence, Refusal

_SHOWN_REFUSALS = 30


def judge_claims(
    draft: RoundDraft,
    standing: Mapping[str, Standing],
    table: EvidenceTable,
    *,
    spared: frozenset[str],
    demote: Mapping[str, str],
    divided: frozenset[str] = frozenset(),
    describe: Describe,
    rules: EvolveRules,
    as_of: datetime,
) -> None:
    """Contradicted, conditional, demoted or no longer plausible cards change here; the others stay.

    spared: cards of known utility whose removal would not improve it, which semantic evidence alone may not evict
    (design section 7). divided: active cards that one side of a split speaks against at any look.
    """
    for card in sorted(draft.live.values(), key=lambda card: card.content_hash):
        found = standing.get(card.id)
        if found is None or card.stance is None:
            continue
        row, evidence = found.row, (found.row.id,)
        sides = _sides(card.stance.decision, table, rules, inside=card.when)
        if (at := table.since.get(card.stance.decision)) is not None and _older(card, at):
            draft.apply(_after_change(draft, card, found, at, rules, as_of))
            continue
        against = found.verdict == "contradicted" or card.id in demote
        if against and card.id in spared:
            draft.refused.append(
                Refusal(
                    subject=card.id, verdict="refused", reason="replay shows that removing it would not improve utility"
                )
            )
        elif card.id in demote:
            draft.apply(
                evict(draft.edit_id("evict"), card, reason=demote[card.id], round_id=draft.round_id, evidence=evidence)
            )
        elif sides and card.status == "active" and card.id not in divided:
            draft.refused.append(
                Refusal(subject=card.id, verdict="conditional", reason=f"an active card stays as it is: {row.reason}")
            )
        elif sides:
            children = [_child(draft, card, part, when, describe, as_of) for when, part in sides]
            draft.apply(
                replace_card(
                    draft.edit_id("split"),
                    card,
                    children,
                    operator="split" if len(children) > 1 else "revise",
                    reason=table.reason(table.index()[card.stance.decision]),
                    evidence=evidence,
                    round_id=draft.round_id,
                    card_tokens=rules.card_tokens,
                )
            )
        elif found.verdict == "contradicted" and (card.status != "active" or card.trial is None):
            # A confirmed card is looked at again and again: it leaves by the always-valid interval alone.
            child = _child(draft, card, row, card.when, describe, as_of)
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
    taken: dict[str, list[Condition]] = {}
    for held in draft.live.values():
        if held.stance is not None:
            taken.setdefault(held.stance.decision, []).append(held.when)
    # What this round retires it does not admit again; the opposite claim may come in its place.
    gone = {(card.when, card.stance) for edit in draft.edits for card in edit.writes if not card.live}
    shown = design.matrix.tocsc()
    cards: list[tuple[Card, Evidence]] = []
    refused = _left(table, rules)
    for i in passing(table, rules):
        name = table.names[i]
        if groups.get(name, Duplicate(name=name, sign=1)).name != name:
            continue
        row = table.row(int(i))
        where = showing(shown, int(i))
        for when, part in _sides(name, table, rules) if row.verdict == "conditional" else [(Condition(), row)]:
            if any(when.overlaps(other) for other in taken.get(name, ())):
                continue
            prefer = part.posterior_mean > 0
            inside = where[holds(when, items)[where]]
            card = admitted(
                part,
                scope=scope,
                bank=bank,
                key=describe(name) or name,
                guidance=guidance_for(name, prefer, describe),
                when=when,
                prefer=prefer,
                cases=tuple(str(c) for c in items.ids[np.sort(inside)[-rules.cases :]]),
                round_id=draft.round_id,
                at=as_of,
                since=table.since.get(name),
            )
            if card.tokens > rules.card_tokens:
                reason = f"the card would have {card.tokens} tokens, more than {rules.card_tokens}"
                refused.append(Refusal(subject=name, verdict="refused", reason=reason))
            elif (when, card.stance) not in gone:
                cards.append((card, part))
    return cards, refused


def passing(table: EvidenceTable, rules: EvolveRules) -> Ints:
    """Rows that pass admission, as a whole or, where the effect depends on the context, on a side at least."""
    sure = table.p_sign >= rules.admission
    for i in np.flatnonzero(table.verdict == "conditional"):
        sure[i] = bool(_sides(table.names[i], table, rules))
    return np.flatnonzero(sure & table.enough).astype(np.int64)


def _left(table: EvidenceTable, rules: EvolveRules) -> list[Refusal]:
    """Decisions examined that stay without a card, most promising first."""
    short = np.setdiff1d(np.arange(len(table)), passing(table, rules))
    order = short[np.argsort(-np.abs(table.posterior_mean[short]), kind="stable")]
    left = [
        Refusal(
            subject=table.names[i],
            verdict="insufficient",
            reason=f"P(sign) {table.p_sign[i]:.2f}, {rules.admission} is needed: {table.reason(int(i))}",
            figures={"effect": float(np.nan_to_num(table.effect[i])), "p_sign": float(table.p_sign[i])},
        )
        for i in order[:_SHOWN_REFUSALS]
    ]
    if len(order) > _SHOWN_REFUSALS:
        more = len(order) - _SHOWN_REFUSALS
        left.append(Refusal(subject=f"{more} more decisions", verdict="insufficient", reason="P(sign) too small"))
    return left


def _sides(
    decision: str, table: EvidenceTable, rules: EvolveRules, *, inside: Condition = Condition()
) -> list[tuple[Condition, Evidence]]:
    """Contexts in which a conditional effect is evidenced, narrower than ``inside``, and the row as it reads there."""
    split, i = table.splits.get(decision), table.index()[decision]
    if split is None or table.verdict[i] != "conditional":
        return []
    found = []
    for when, side, _ in split.leaves():
        part = on_side(table.row(i), side, str(when), table)
        narrower = set(when.clauses) > set(inside.clauses)
        if narrower and part.verdict == "supported" and part.p_sign >= rules.admission:
            found.append((when, part))
    return found


def _older(card: Card, at: np.datetime64) -> bool:
    """Whether the card was learned from what was before the change."""
    return card.trial is not None and bool(moment(card.trial.admitted_at) < at)


def _after_change(
    draft: RoundDraft, card: Card, found: Standing, at: np.datetime64, rules: EvolveRules, as_of: datetime
) -> Edit:
    """A card whose effect is another one now: what is still for it keeps it, on a new trial; else it leaves."""
    day = at.astype("datetime64[us]").item().replace(tzinfo=UTC)
    reason = f"changed: its effect is another one since {day:%Y-%m-%d}; {found.row.reason}"
    evidence = (found.row.id,)
    if found.p_for(card) < rules.admission or found.verdict == "contradicted":
        gone = evict(draft.edit_id("evict"), card, reason=reason, round_id=draft.round_id, evidence=evidence)
        return replace(gone, writes=tuple(replace(version, valid_until=day) for version in gone.writes))
    trial = declare_trial(effect=found.fitness.mean, stratum_variance=found.row.strata * found.row.se**2, as_of=as_of)
    provenance = replace(card.provenance, operator="revise", evidence=evidence, round_id=draft.round_id)
    kept = card.changed(status="provisional", trial=trial, valid_from=day, provenance=provenance)
    return Edit(
        id=draft.edit_id("revise"),
        operator="revise",
        writes=(kept,),
        parents=(card.id,),
        evidence=evidence,
        reason=reason,
    )


def _child(draft: RoundDraft, card: Card, row: Evidence, when: Condition, describe: Describe, as_of: datetime) -> Card:
    """What takes the card's place: the claim that the evidence makes where ``when`` holds."""
    prefer = row.effect > 0
    return admitted(
        row,
        scope=card.scope,
        bank=card.bank,
        key=card.key,
        guidance=guidance_for(row.decision, prefer, describe),
        when=when,
        prefer=prefer,
        cases=card.cases,
        round_id=draft.round_id,
        at=as_of,
        parents=(card.id,),
    )


def _implausible(card: Card, found: Standing, rules: EvolveRules) -> bool:
    spent = card.trial is not None and card.trial.tested_at is not None
    wrong_sign = card.stance is not None and card.stance.sign != found.sign
    return found.p_sign < rules.admission or wrong_sign or (spent and found.verdict == "null")
