"""Trials that fall due, and looks at active cards."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from afterwit.credit.confirm import batch_bh, due, spent
from afterwit.credit.contrast import Cells
from afterwit.credit.evidence import EvidenceTable
from afterwit.credit.items import Items
from afterwit.credit.later import Later, always_valid, demoted, holding, later, moment
from afterwit.evolve.operators.confirm import tested
from afterwit.model import Batch, Card, Trial


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
) -> tuple[tuple[Card, ...], Batch | None]:
    """Spends the trials that are due as one batch; the cards tested, and the batch (None where nothing was due)."""
    open_ = [
        card
        for card in _on_trial(cards, table)
        if card.trial
        and card.trial.tested_at is None
        and card.status == "provisional"
        and card.trial.admitted_at < as_of
    ]
    if not open_:
        return (), None
    trials = {card.id: card.trial for card in open_ if card.trial}
    found = _later(open_, table, items, cells, capped=True)
    place = {card.id: i for i, card in enumerate(open_)}
    available = {card.id: int(found.strata[i]) for card, i in zip(open_, place.values(), strict=True)}
    last = history[-1].at if history else None
    names = due(trials, available, as_of=as_of, last=last, final=final)
    if not names:
        return (), None
    batch = batch_bh(history, {name: float(found.p_value[place[name]]) for name in names}, as_of, final=final)
    cards_by_id = {card.id: card for card in open_}
    done = []
    for name in names:
        i = place[name]
        trial = spent(trials[name], batch=batch, name=name, effect=float(found.effect[i]), sd=float(found.se[i]))
        done.append(tested(cards_by_id[name], trial, round_id=round_id))
    return tuple(done), batch


def to_demote(cards: Sequence[Card], table: EvidenceTable, items: Items, cells: Cells) -> Mapping[str, str]:
    """Active cards that an always-valid interval speaks against: id → reason."""
    active = [card for card in _on_trial(cards, table) if card.status == "active"]
    if not active:
        return {}
    found = _later(active, table, items, cells, capped=False)
    sought = np.array([_trial(card).effect for card in active])
    band = always_valid(found, sought)
    out = demoted(band, np.sign(sought))
    return {
        card.id: f"always-valid interval since admission [{band.low[i]:+.3f}, {band.high[i]:+.3f}] is against it"
        for i, card in enumerate(active)
        if out[i]
    }


def _on_trial(cards: Sequence[Card], table: EvidenceTable) -> list[Card]:
    known = set(table.names)
    return [card for card in cards if card.trial and card.stance and card.stance.decision in known]


def _later(cards: Sequence[Card], table: EvidenceTable, items: Items, cells: Cells, *, capped: bool) -> Later:
    """Later evidence of each card where it applies; rows as the cards."""
    place = table.index()
    parts: list[tuple[list[int], Later]] = []
    for when in dict.fromkeys(card.when for card in cards):
        rows = [i for i, card in enumerate(cards) if card.when == when]
        trials = [_trial(cards[i]) for i in rows]
        columns = np.array([place[c.stance.decision] for c in (cards[i] for i in rows) if c.stance], dtype=np.int64)
        found = later(
            holding(items, cells, when),
            columns,
            np.array([moment(t.admitted_at) for t in trials]),
            np.sign(np.array([t.effect for t in trials], dtype=np.float64)),
            needed=np.array([t.needed for t in trials], dtype=np.int64) if capped else None,
        )
        parts.append((rows, found))
    order = np.argsort(np.concatenate([rows for rows, _ in parts]))
    return Later(
        effect=np.concatenate([f.effect for _, f in parts])[order],
        se=np.concatenate([f.se for _, f in parts])[order],
        strata=np.concatenate([f.strata for _, f in parts])[order],
        p_value=np.concatenate([f.p_value for _, f in parts])[order],
    )


def _trial(card: Card) -> Trial:
    if card.trial is None:
        raise ValueError(f"card {card.id} has no trial")
    return card.trial
