"""Edits that a person or an agent asks for directly, each as a round of its own."""

from datetime import datetime
from typing import Literal

from afterwit.errors import InputError
from afterwit.model import Bank, Card, Condition, Edit, Provenance, Round, Stance, new_id, normalised

MAX_CHARACTERS = 4000
_REPEATS = 8


def round_of(bank: Bank, edit: Edit, at: datetime) -> Round:
    return Round(
        id=edit.id,
        scope=bank.scope,
        bank=bank.name,
        as_of=at,
        base_version=bank.version,
        edits=(edit,),
        note=edit.reason,
    )


def add(
    bank: Bank,
    guidance: str,
    *,
    key: str,
    when: Condition,
    stance: Stance | None,
    topic: str | None,
    trust: Literal["user", "model", "page"],
    at: datetime,
    valid_until: datetime | None = None,
) -> tuple[Card, Edit | None]:
    """A card by hand, active at once; no edit where the bank holds the very same card already.

    topic: at most one live card per topic and overlapping condition: the newer statement wins, and the older
    one retires in the same edit. Likewise a stance retires an opposite hand-made stance on the same decision.
    """
    check_text(guidance)
    if topic is not None:
        stance = Stance(decision=f"{normalised(topic)}={normalised(guidance)}", prefer=True)
    edit_id = new_id()
    card = Card(
        id=new_id(),
        scope=bank.scope,
        bank=bank.name,
        key=key,
        guidance=guidance,
        when=when,
        stance=stance,
        status="active",
        provenance=Provenance(operator="add", round_id=edit_id, trust=trust),
        created_at=at,
        valid_from=at,
        valid_until=valid_until,
    )
    for known in bank.cards:
        if known.content_hash == card.content_hash:
            return known, None
    replaced = [known for known in bank.cards if _contradicts(card, known, topic)]
    parents = tuple(known.id for known in replaced)
    retired = [
        known.changed(status="retired", provenance=Provenance(operator="add", parents=(card.id,), round_id=edit_id))
        for known in replaced
    ]
    reason = f"added by hand, replacing {len(retired)}" if retired else "added by hand"
    return card, Edit(id=edit_id, operator="add", writes=(card, *retired), parents=parents, reason=reason)


def update(card: Card, guidance: str, *, at: datetime) -> Edit:
    """A new version with other words; what the evidence said of the old words stays on the old version."""
    check_text(guidance)
    edit_id = new_id()
    provenance = Provenance(operator="update", parents=(card.id,), round_id=edit_id, trust="user")
    written = card.changed(guidance=guidance, provenance=provenance, valid_from=at)
    return Edit(id=edit_id, operator="update", writes=(written,), parents=(card.id,), reason="reworded by hand")


def delete(card: Card) -> Edit:
    edit_id = new_id()
    provenance = Provenance(operator="evict", parents=(card.id,), round_id=edit_id, trust="user")
    gone = card.changed(status="retired", provenance=provenance)
    return Edit(id=edit_id, operator="evict", writes=(gone,), parents=(card.id,), reason="deleted by hand")


def check_text(text: str) -> None:
    """Raises InputError for text that no memory should hold: empty, too long, or one sentence looping."""
    if not text.strip():
        raise InputError("the text of a card is empty")
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"the text of a card has {len(text)} characters; at most {MAX_CHARACTERS} are kept")
    words = normalised(text).split()
    for size in range(1, 1 + len(words) // _REPEATS):
        run = 0
        for i in range(size, len(words)):
            run = run + 1 if words[i] == words[i - size] else 0
            if run >= size * (_REPEATS - 1):
                loop = " ".join(words[i - size + 1 : i + 1])[:40]
                raise InputError(f"the text of a card repeats {loop!r} over and over; it was not kept")


def _contradicts(new: Card, known: Card, topic: str | None) -> bool:
    if new.stance is None or known.stance is None or not new.when.overlaps(known.when):
        return False
    if known.provenance.trust == "evidence":
        return False  # what evidence holds is settled by evidence, in a round
    if topic is not None:
        return known.stance.decision.startswith(f"{normalised(topic)}=")
    return known.stance.decision == new.stance.decision and known.stance.prefer != new.stance.prefer
