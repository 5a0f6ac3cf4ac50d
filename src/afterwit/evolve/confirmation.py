"""Trials that fall due, and looks at active cards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from afterwit.credit.confirmation.later import POWER, Later, always_valid, demoted, later, wealth_since
from afterwit.credit.confirmation.trials import (
    Q_BATCH,
    batch_bh,
    by_wealth,
    due,
    spent,
    wealth_needed,
    weights,
    won_trial,
)
from afterwit.credit.confirmation.wealth import strata_wanted
from afterwit.credit.items import Floats, Items, moment
from afterwit.credit.semantic.contrast import Cells, holding
from afterwit.credit.semantic.evidence import EvidenceTable
from afterwit.evolve.operators.confirm import tested
from afterwit.model import Batch, Card, Trial, Waiting

_FAR = 10_000
_WEEK = timedelta(days=7)
_ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """tested: cards whose trial was spent or won now. batch: what was spent, None where nothing was. waiting: what is
    still open, soonest first."""

    tested: tuple[Card, ...] = ()
    batch: Batch | None = None
    waiting: tuple[Waiting, ...] = ()


def test_due(
    cards: Sequence[Card],
    table: EvidenceTable,
    items: Items,
    cells: Cells,
    history: Sequence[Batch],
    *,
    as_of: datetime,
    final: bool,
    round_id: str,
) -> Outcome:
    """Trials that their wealth confirms now, then those of fixed size that are due together as one batch.

    A trial whose batch did not confirm it goes on betting: the two roads have levels of their own.
    """
    open_ = [
        card
        for card in _on_trial(cards, table)
        if card.trial and not card.trial.confirmed and card.status == "provisional" and card.trial.admitted_at < as_of
    ]
    if not open_:
        return Outcome()
    trials = {card.id: _trial(card) for card in open_}
    place = {card.id: i for i, card in enumerate(open_)}
    whole, wealth = _later(open_, table, items, cells, capped=False)
    known = {name: float(wealth[i]) for name, i in place.items()}
    won = by_wealth(history, {name: trial.admitted_at for name, trial in trials.items()}, known)
    found, _ = _later(open_, table, items, cells, capped=True)
    left = {name: trial for name, trial in trials.items() if name not in won}
    available = {name: int(found.strata[place[name]]) for name in left}
    last = max((batch.at for batch in history if batch.p_values), default=None)
    names = due(left, available, as_of=as_of, last=last, final=final)
    batch = batch_bh(
        history, {name: float(found.p_value[place[name]]) for name in names}, as_of, q=Q_BATCH, final=final
    )
    batch = replace(batch, wealth={name: known[name] for name in won})
    done = []
    for name in (*won, *names):
        later_ = whole if name in won else found
        effect, sd = float(later_.effect[place[name]]), float(later_.se[place[name]])
        trial = (
            won_trial(trials[name], at=as_of, wealth=known[name], effect=effect, sd=sd)
            if name in won
            else spent(trials[name], batch=batch, name=name, effect=effect, sd=sd)
        )
        done.append(tested(open_[place[name]], trial, round_id=round_id))
    confirmed = {card.id for card in done if card.status == "active"}
    waiting = _waiting([card for card in open_ if card.id not in confirmed], place, whole, known, history, as_of)
    return Outcome(tested=tuple(done), batch=batch if done else None, waiting=waiting)


def _waiting(
    cards: Sequence[Card],
    place: Mapping[str, int],
    found: Later,
    wealth: Mapping[str, float],
    history: Sequence[Batch],
    as_of: datetime,
) -> tuple[Waiting, ...]:
    """How far each open trial is, at the effect that was sought."""
    given = weights(history, {card.id: _trial(card).admitted_at for card in cards})
    confirmed = sum(len(batch.wealth) for batch in history)
    rows = []
    for card in cards:
        trial, strata = _trial(card), int(found.strata[place[card.id]])
        posterior = next(iter(card.fitness.values()), None)
        spread = found.se[place[card.id]] ** 2 * strata if strata > 1 else trial.needed * trial.effect**2 / (4 * POWER)
        effect = trial.effect if posterior is None else posterior.mean
        short = wealth_needed(given[card.id], confirmed + 1) - wealth[card.id]
        more = strata_wanted(effect, spread, max(short, 0.0)) if np.isfinite(short) else trial.needed - strata
        more = max(1, round(min(more, _FAR)))
        due_at = as_of + (as_of - trial.admitted_at) * (more / strata) if strata else None
        rows.append(
            Waiting(card_id=card.id, strata=strata, needed=strata + more, due_at=due_at, wealth=wealth[card.id])
        )
    return tuple(sorted(rows, key=lambda row: (row.needed - row.strata, row.card_id)))


def to_demote(cards: Sequence[Card], table: EvidenceTable, items: Items, cells: Cells) -> Mapping[str, str]:
    """Active cards that an always-valid interval speaks against: id → reason."""
    active = [card for card in _on_trial(cards, table) if card.status == "active"]
    if not active:
        return {}
    found, _ = _later(active, table, items, cells, capped=False)
    sought = np.array([_trial(card).effect for card in active])
    band = always_valid(found, sought)
    out = demoted(band, np.sign(sought))
    return {
        card.id: f"always-valid interval since admission [{band.low[i]:+.3f}, {band.high[i]:+.3f}] is against it"
        for i, card in enumerate(active)
        if out[i]
    }


def divided(cards: Sequence[Card], table: EvidenceTable, items: Items, cells: Cells) -> frozenset[str]:
    """Active cards that do not hold in one of the contexts that a split tells apart: an always-valid interval speaks
    against them there, or nothing there speaks for them and the split's p-value, after n weeks at most 1 / (n (n + 1))
    of 5 %, stands however often one looks."""
    found = set()
    for card in _on_trial(cards, table):
        split = table.splits.get(card.stance.decision) if card.stance else None
        if split is None or card.stance is None or card.status != "active":
            continue
        weeks = (table.as_of - _trial(card).admitted_at) / _WEEK + 1
        parts = [part for part in split.leaves() if set(part[0].clauses) > set(card.when.clauses)]
        sure = any(p <= _ALPHA / (weeks * (weeks + 1)) for _, _, p in parts)
        lacking = any((side.low if card.stance.prefer else -side.high) <= 0 for _, side, _ in parts)
        there = [replace(card, id=str(when), when=when) for when, _, _ in parts]
        if parts and ((sure and lacking) or to_demote(there, table, items, cells)):
            found.add(card.id)
    return frozenset(found)


def _on_trial(cards: Sequence[Card], table: EvidenceTable) -> list[Card]:
    known = set(table.names)
    return [card for card in cards if card.trial and card.stance and card.stance.decision in known]


def _later(
    cards: Sequence[Card], table: EvidenceTable, items: Items, cells: Cells, *, capped: bool
) -> tuple[Later, Floats]:
    """Later evidence of each card where it applies, and its log wealth; rows as the cards."""
    place = table.index()
    parts: list[tuple[list[int], Later, Floats]] = []
    for when in dict.fromkeys(card.when for card in cards):
        rows = [i for i, card in enumerate(cards) if card.when == when]
        trials = [_trial(cards[i]) for i in rows]
        columns = np.array([place[c.stance.decision] for c in (cards[i] for i in rows) if c.stance], dtype=np.int64)
        inside = holding(items, cells, when)
        since = np.array([moment(t.admitted_at) for t in trials])
        sought = np.array([t.effect for t in trials], dtype=np.float64)
        found = later(
            inside,
            columns,
            since,
            np.sign(sought),
            needed=np.array([t.needed for t in trials], dtype=np.int64) if capped else None,
        )
        parts.append((rows, found, wealth_since(inside, columns, since, sought)))
    order = np.argsort(np.concatenate([rows for rows, _, _ in parts]))
    gathered = Later(
        effect=np.concatenate([f.effect for _, f, _ in parts])[order],
        se=np.concatenate([f.se for _, f, _ in parts])[order],
        strata=np.concatenate([f.strata for _, f, _ in parts])[order],
        p_value=np.concatenate([f.p_value for _, f, _ in parts])[order],
    )
    return gathered, np.concatenate([wealth for _, _, wealth in parts])[order]


def _trial(card: Card) -> Trial:
    if card.trial is None:
        raise ValueError(f"card {card.id} has no trial")
    return card.trial
