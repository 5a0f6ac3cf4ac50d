"""Confirm: a provisional card that later data confirmed, at any look or in its declared test, becomes active."""

from collections.abc import Sequence
from dataclasses import replace

from afterwit.model import Batch, Card, Edit, Trial


def tested(card: Card, trial: Trial, *, round_id: str) -> Card:
    """The card once its trial is spent; its other numbers stay."""
    status = "active" if trial.confirmed else card.status
    provenance = replace(card.provenance, operator="confirm", round_id=round_id)
    return card.changed(trial=trial, status=status, provenance=provenance)


def confirm(edit_id: str, cards: Sequence[Card], batch: Batch) -> Edit | None:
    """One edit for all tests of a batch, passed or not; None for an empty batch."""
    if not cards:
        return None
    parts = [f"{len(batch.confirmed)} of {len(batch.p_values)} confirmed at level {batch.level:.4f} (Batch-BH)"]
    reason = "; ".join(
        [f"{len(batch.wealth)} confirmed by what came since admission"] * bool(batch.wealth)
        + parts * bool(batch.p_values)
    )
    evidence = tuple(dict.fromkeys(e for card in cards for e in card.provenance.evidence))
    return Edit(
        id=edit_id,
        operator="confirm",
        writes=tuple(cards),
        parents=tuple(c.id for c in cards),
        evidence=evidence,
        reason=reason,
    )
