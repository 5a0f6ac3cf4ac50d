"""A round: credit in, edits out, one pure function (design section 9)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from afterwit.credit.items import Design, Ints, Items, moment
from afterwit.credit.responsibility.grants import Grants, unharmed
from afterwit.credit.semantic.contrast import cells
from afterwit.credit.semantic.duplicates import duplicates
from afterwit.credit.semantic.evidence import EvidenceTable
from afterwit.errors import LeakageError
from afterwit.evolve.alike import unite_alike
from afterwit.evolve.confirmation import divided, test_due, to_demote
from afterwit.evolve.coverage import Selection, select
from afterwit.evolve.draft import RoundDraft
from afterwit.evolve.evidenced import Standing, standings
from afterwit.evolve.operators.admit import admit
from afterwit.evolve.operators.confirm import confirm
from afterwit.evolve.operators.reinforce import refreshed, reinforce
from afterwit.evolve.operators.retire import evict
from afterwit.evolve.propose import candidates, judge_claims, passing
from afterwit.evolve.room import beside, evict_unseated, guaranteed, no_room, seated
from afterwit.evolve.rules import EvolveRules
from afterwit.evolve.settle import expire_past, settle_conflicts, unite_duplicates
from afterwit.evolve.use import settle_use
from afterwit.evolve.wording import Describe
from afterwit.model import Bank, Batch, Card, Credit, Evidence, Refusal, Round, new_id
from afterwit.ports import Capacity


def plan_round(
    bank: Bank,
    evidence: EvidenceTable,
    *,
    items: Items,
    design: Design,
    history: Sequence[Batch] = (),
    credits: Grants = Grants(),
    idle: frozenset[str] = frozenset(),
    as_of: datetime,
    final: bool = False,
    describe: Describe = lambda _: None,
    rules: EvolveRules = EvolveRules(),
    round_id: str | None = None,
) -> Round:
    """The edits that the evidence demands of a bank; nothing is written.

    items, design: what the evidence was worked out from. history: earlier confirmation batches, oldest first.
    credits: responsibility, what is new and what stands. idle: cards unused for too long. final: spend every open
    trial. describe: decision key → what it is called. The same input gives the same round. Raises LeakageError for
    evidence or items of later.

    Order: expiry, use, duplicates, conflicts, claims, confirmation, admission and selection to capacity, numbers.
    """
    if evidence.as_of > as_of or (items.available_at > moment(as_of)).any():
        raise LeakageError(f"a round as of {as_of} was given what was available only later: cut the items first")
    draft = RoundDraft(
        round_id=round_id or new_id(), live={card.id: card for card in bank.cards}, without=rules.without
    )
    contrasts = evidence.cells or cells(items, design, evidence.objective)
    expire_past(draft, as_of=as_of, idle=idle)
    settle_use(draft, credits.standing)
    groups = duplicates(items, design, _worth_comparing(draft, evidence, rules)) if len(items) else {}
    unite_duplicates(draft, groups)
    unite_alike(draft)
    settle_conflicts(draft, standings(list(draft.live.values()), evidence, items, contrasts), rules=rules, as_of=as_of)
    judge_claims(
        draft,
        standings(list(draft.live.values()), evidence, items, contrasts),
        evidence,
        spared=unharmed(credits.standing),
        describe=describe,
        rules=rules,
        as_of=as_of,
        demote=to_demote(list(draft.live.values()), evidence, items, contrasts),
        divided=divided(list(draft.live.values()), evidence, items, contrasts),
    )
    unite_duplicates(draft, groups)  # what was narrowed may now say what another card says
    outcome = test_due(
        list(draft.live.values()),
        evidence,
        items,
        contrasts,
        history,
        as_of=as_of,
        final=final,
        round_id=draft.round_id,
    )
    draft.apply(confirm(draft.edit_id("confirm"), outcome.tested, outcome.batch) if outcome.batch else None)
    fresh, left = candidates(
        draft,
        evidence,
        items,
        design,
        groups,
        scope=bank.scope,
        bank=bank.name,
        describe=describe,
        rules=rules,
        as_of=as_of,
    )
    if "admit" in rules.without:
        fresh = []  # nothing makes room for what may not come
    draft.refused.extend(left)
    rivals = [*draft.live.values(), *(card for card, _ in fresh)]
    standing = standings(rivals, evidence, items, contrasts)
    unjudged = [card for card in rivals if card.id not in standing]
    held = [card for card in rivals if card.pinned and card.id in standing]
    seats = guaranteed(unjudged, rules, beside(held, rules.capacity))
    chosen = _select(rivals, standing, evidence, items, design, beside(seats, rules.capacity))
    taken = (*seats, *(card for card in rivals if card.id in chosen.effects))
    left_over = beside(taken, rules.capacity)
    staying = seated([card for card in unjudged if card not in seats], left_over)
    evict_unseated(draft, unjudged, (*seats, *staying), rules.capacity)
    _keep(draft, fresh, chosen, standing, rules, why_not=no_room(seats, left_over))
    _refresh(draft, standing, chosen, evidence, credits.new)
    place = evidence.index()
    touched = [*draft.live.values(), *(card for edit in draft.edits for card in edit.writes)]
    named = sorted({card.stance.decision for card in touched if card.stance and card.stance.decision in place})
    return Round(
        id=draft.round_id,
        scope=bank.scope,
        bank=bank.name,
        as_of=as_of,
        base_version=bank.version,
        edits=tuple(draft.edits),
        evidence=tuple(evidence.row(place[name]) for name in named),
        credits=credits.new,
        refused=tuple(draft.refused),
        batch=_counted(outcome.batch, draft, as_of),
        waiting=tuple(row for row in outcome.waiting if row.card_id in draft.live),
        figures={
            "items": float(len(items)),
            "examined": float(len(evidence)),
            "prior_sd": evidence.prior_sd,
            "cards": float(len(draft.live)),
            "active": float(sum(c.status == "active" for c in draft.live.values())),
        },
    )


def _counted(batch: Batch | None, draft: RoundDraft, as_of: datetime) -> Batch | None:
    """The batch with the number of trials that this round declares, on which their level depends."""
    written = {card.id: card for edit in draft.edits for card in edit.writes if card.live}
    declared = sum(card.trial is not None and card.trial.admitted_at == as_of for card in written.values())
    if batch is None:
        batch = Batch(at=as_of, level=0.0, p_values={}, confirmed=(), max_rejections=0) if declared else None
    return replace(batch, declared=declared) if batch and declared else batch


def _worth_comparing(draft: RoundDraft, evidence: EvidenceTable, rules: EvolveRules) -> Ints:
    place = evidence.index()
    held = [place[c.stance.decision] for c in draft.live.values() if c.stance and c.stance.decision in place]
    return np.union1d(np.array(held, dtype=np.int64), passing(evidence, rules))


def _select(
    rivals: Sequence[Card],
    standing: Mapping[str, Standing],
    evidence: EvidenceTable,
    items: Items,
    design: Design,
    room: Capacity,
) -> Selection:
    """Of the cards that evidence speaks of; active cards are kept before new ones come."""
    judged = [card for card in rivals if card.id in standing]
    return select(
        judged,
        frozenset(card.id for card in judged if card.status == "active"),
        evidence,
        items,
        design,
        claimed={card.id: standing[card.id].row.joint for card in judged},
        capacity=room,
    )


def _keep(
    draft: RoundDraft,
    fresh: Sequence[tuple[Card, Evidence]],
    chosen: Selection,
    standing: Mapping[str, Standing],
    rules: EvolveRules,
    *,
    why_not: str,
) -> None:
    """Evicts what was not chosen, then admits what was: the bank is never above capacity."""
    kept = set(chosen.kept)
    for card in sorted(draft.live.values(), key=lambda card: card.content_hash):
        if card.id not in kept and card.id in standing:
            reason = f"adds nothing beside the {len(kept)} cards kept (capacity {rules.capacity.cards})"
            draft.apply(
                evict(
                    draft.edit_id("evict"),
                    card,
                    reason=reason,
                    round_id=draft.round_id,
                    evidence=card.provenance.evidence,
                )
            )
    rows = {card.id: (card, row) for card, row in fresh}
    for card_id in chosen.kept:
        if card_id in rows and _room_for(rows[card_id][0], draft, rules):
            draft.apply(admit(draft.edit_id("admit"), *rows[card_id]))
    for card_id, (card, _) in rows.items():
        if card_id not in kept:
            draft.refused.append(Refusal(subject=str(card.stance), verdict="no room", reason=why_not))


def _room_for(card: Card, draft: RoundDraft, rules: EvolveRules) -> bool:
    """The selection leaves room for what it keeps, unless eviction may not act: a full bank then takes nothing."""
    spent = sum(held.tokens for held in draft.live.values())
    return len(draft.live) < rules.capacity.cards and spent + card.tokens <= rules.capacity.tokens


def _refresh(
    draft: RoundDraft,
    standing: Mapping[str, Standing],
    chosen: Selection,
    evidence: EvidenceTable,
    credits: Sequence[Credit],
) -> None:
    used: dict[str, tuple[int, float]] = {}
    for credit in credits:
        if credit.weight > 0:
            count, weight = used.get(credit.card_id, (0, 0.0))
            sign = 1 if credit.reverses is None else -1
            used[credit.card_id] = (count + sign, weight + sign * credit.weight)
    after = []
    for card in sorted(draft.live.values(), key=lambda card: card.content_hash):
        new = refreshed(
            card,
            standing.get(card.id),
            objective=evidence.objective,
            effect=chosen.effects.get(card.id),
            prior_sd=evidence.prior_sd,
            used=used.get(card.id, (0, 0.0)),
            round_id=draft.round_id,
        )
        after.append(new)
    draft.apply(reinforce(draft.edit_id("reinforce"), draft.live, after, "numbers as of all evidence"))
