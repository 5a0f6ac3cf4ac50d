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
    restored = [
        _again(card, edit_id, latest[card.id].version)
        for card in then.cards
        if card.id not in here or _same(card) != _same(here[card.id])
    ]
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


def _again(card: Card, edit_id: str, latest: int) -> Card:
    provenance = Provenance(
        operator="restore",
        parents=(card.id,),
        evidence=card.provenance.evidence,
        round_id=edit_id,
        trust=card.provenance.trust,
    )
    return replace(card, version=latest + 1, provenance=provenance)


def _same(card: Card) -> Card:
    return replace(card, version=0, provenance=Provenance(operator="restore"))
