"""Edits that a person or an agent asks for directly, each as a round of its own."""

from datetime import UTC, datetime

from afterwit.errors import InputError
from afterwit.model import Bank, Card, Condition, Edit, Note, Provenance, Round, Stance, new_id, normalised
from afterwit.recall.filing import said_key

MAX_CHARACTERS = 4000
_REPEATS = 8
_NEVER = datetime(1, 1, 1, tzinfo=UTC)


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


def said_by(note: Note) -> str:
    """The key under which a card that says it would be filed."""
    return said_key(_card(note, scope="", bank="", round_id="", at=_NEVER))


def add(bank: Bank, note: Note, *, round_id: str, at: datetime) -> tuple[Card, Edit | None]:
    """A card by hand, active at once; no edit where the bank holds a card that says the same already.

    bank: at least those of its cards that say the same or could be contradicted. At most one live card stands per topic
    and overlapping condition: the newer statement wins, and the older one retires in the same edit. Likewise a stance
    retires an opposite hand-made stance on the same decision.
    """
    check_text(note.guidance)
    card = _card(note, scope=bank.scope, bank=bank.name, round_id=round_id, at=at)
    same = said_key(card)
    for known in bank.cards:
        if said_key(known) == same:
            return known, None
    replaced = [known for known in bank.cards if _contradicts(card, known, note.topic)]
    parents = tuple(known.id for known in replaced)
    retired = [
        known.changed(status="retired", provenance=Provenance(operator="add", parents=(card.id,), round_id=round_id))
        for known in replaced
    ]
    reason = f"added by hand, replacing {len(retired)}" if retired else "added by hand"
    return card, Edit(id=new_id(), operator="add", writes=(card, *retired), parents=parents, reason=reason)


def _card(note: Note, *, scope: str, bank: str, round_id: str, at: datetime) -> Card:
    stance = note.stance
    if note.topic is not None:
        stance = Stance(decision=f"{normalised(note.topic)}={normalised(note.guidance)}", prefer=True)
    return Card(
        id=new_id(),
        scope=scope,
        bank=bank,
        key=note.key or note.guidance,
        guidance=note.guidance,
        when=note.when,
        stance=stance,
        status="active",
        provenance=Provenance(operator="add", round_id=round_id, trust=note.trust),
        created_at=at,
        valid_from=at,
        valid_until=note.valid_until,
    )


def update(card: Card, guidance: str, *, at: datetime) -> Edit:
    """A new version with other words; what the evidence said of the old words stays on the old version."""
    check_text(guidance)
    edit_id = new_id()
    provenance = Provenance(operator="update", parents=(card.id,), round_id=edit_id, trust="user")
    written = card.changed(guidance=guidance, provenance=provenance, valid_from=at, beside=())
    return Edit(id=edit_id, operator="update", writes=(written,), parents=(card.id,), reason="reworded by hand")


def delete(card: Card) -> Edit:
    edit_id = new_id()
    provenance = Provenance(operator="evict", parents=(card.id,), round_id=edit_id, trust="user")
    gone = card.changed(status="retired", provenance=provenance)
    return Edit(id=edit_id, operator="evict", writes=(gone,), parents=(card.id,), reason="deleted by hand")


def pin(card: Card, pinned: bool) -> Edit:
    """Says nothing new, so the card's provenance stays that of what it says."""
    reason = "pinned by hand" if pinned else "unpinned by hand"
    return Edit(
        id=new_id(), operator="update", writes=(card.changed(pinned=pinned),), parents=(card.id,), reason=reason
    )


def settle(one: Card, other: Card) -> Edit:
    """Both are right."""
    writes = tuple(
        card.changed(beside=tuple(dict.fromkeys((*card.beside, beside.id))))
        for card, beside in ((one, other), (other, one))
    )
    parents = (one.id, other.id)
    return Edit(id=new_id(), operator="update", writes=writes, parents=parents, reason="both are right, by hand")


def narrow(card: Card, when: Condition) -> Edit:
    """Raises InputError for a condition that can never hold."""
    both = Condition(clauses=tuple(sorted({*card.when.clauses, *when.clauses}, key=str)))
    if not both.overlaps(both):
        raise InputError(f"card {card.id} holds when {card.when}: with {when} beside it could never hold")
    edit_id = new_id()
    provenance = Provenance(operator="update", parents=(card.id,), round_id=edit_id, trust="user")
    written = card.changed(when=both, provenance=provenance)
    return Edit(id=edit_id, operator="update", writes=(written,), parents=(card.id,), reason="narrowed by hand")


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
