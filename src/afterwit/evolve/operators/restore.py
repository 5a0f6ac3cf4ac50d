"""Restore: an earlier state stands again, as a new edit."""

from collections.abc import Mapping
from dataclasses import replace

from afterwit.model import Bank, Card, Edit, Provenance, new_id


def rollback(now: Bank, then: Bank, latest: Mapping[str, Card]) -> tuple[Edit, ...]:
    """The edits that put the bank back: cards of then are restored, those that came since are retired.

    latest: every card of the bank ever written, so that a restored one gets a version of its own.
    """
    edit_id = new_id()
    here = {card.id: card for card in now.cards}
    wanted = {card.id: card for card in then.cards}
    again = [_again(card, edit_id, latest[card.id]) for card in then.cards]
    restored = [card for card in again if card.id not in here or _same(card) != _same(here[card.id])]
    gone = [
        card.changed(status="retired", provenance=Provenance(operator="restore", parents=(card.id,), round_id=edit_id))
        for card in now.cards
        if card.id not in wanted
    ]
    if not restored and not gone:
        return ()
    parents = tuple(sorted(here.keys() | wanted.keys()))
    reason = f"{len(restored)} restored, {len(gone)} retired"
    return (Edit(id=edit_id, operator="restore", writes=(*gone, *restored), parents=parents, reason=reason),)


def _again(card: Card, edit_id: str, latest: Card) -> Card:
    """As it was, but for a test that has been spent since: no rollback makes that unseen."""
    provenance = Provenance(
        operator="restore",
        parents=(card.id,),
        evidence=card.provenance.evidence,
        round_id=edit_id,
        trust=card.provenance.trust,
    )
    trial = latest.trial if latest.trial and latest.trial.tested_at else card.trial
    return replace(card, version=latest.version + 1, trial=trial, provenance=provenance)


def _same(card: Card) -> Card:
    return replace(card, version=0, provenance=Provenance(operator="restore"))
