"""Additions by hand: many at once as well as one, planned on the few cards that have to do with them."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from afterwit.errors import InputError
from afterwit.evolve import by_hand
from afterwit.model import Added, Bank, Card, Edit, Note, Round, new_id, normalised
from afterwit.model.said import said
from afterwit.recall.filing import decision_key, filed, name_key, quoted_keys
from afterwit.recall.render import contains_recalled


def asked(note: Note) -> frozenset[str]:
    """Keys under which cards are filed that may say the same, be quoted or be contradicted."""
    keys = set(quoted_keys(note.guidance)) | {by_hand.said_by(note)}
    if note.stance is not None:
        keys.add(decision_key(note.stance.decision))
    if note.topic is not None:
        keys.add(name_key(normalised(note.topic)))
    return frozenset(keys)


def plan_additions(
    notes: Sequence[Note], known: Mapping[str, Sequence[Card]], *, scope: str, bank: str, version: int, at: datetime
) -> tuple[tuple[Added, ...], Round]:
    """One round for all of them, in which later notes see the earlier; nothing is written.

    known: live cards by the keys that ``asked`` gives. Raises InputError for a text that no memory should hold, naming
    which of the notes it is.
    """
    held = {key: {card.id: card for card in cards} for key, cards in known.items()}
    round_id, edits, found = new_id(), list[Edit](), list[Added]()
    for place, note in enumerate(notes, start=1):
        near = {card.id: card for key in sorted(asked(note)) for card in held.get(key, {}).values()}
        here = Bank(scope=scope, name=bank, version=version, cards=tuple(near.values()))
        try:
            card, edit = _added(here, note, round_id=round_id, at=at)
        except InputError as error:
            raise InputError(f"note {place} of {len(notes)}: {error}" if len(notes) > 1 else str(error)) from None
        found.append(Added(card=card, new=edit is not None))
        if edit is not None:
            edits.append(edit)
            for written in edit.writes:
                for key in filed(written):
                    cards = held.setdefault(key, {})
                    cards.pop(written.id, None)
                    if written.live:
                        cards[written.id] = written
    note_ = edits[0].reason if len(edits) == 1 else f"{len(edits)} added by hand"
    round_ = Round(id=round_id, scope=scope, bank=bank, as_of=at, base_version=version, edits=tuple(edits), note=note_)
    return tuple(found), round_


def _added(bank: Bank, note: Note, *, round_id: str, at: datetime) -> tuple[Card, Edit | None]:
    quoted = _quoted(note, bank.cards)
    return (quoted, None) if quoted else by_hand.add(bank, note, round_id=round_id, at=at)


def _quoted(note: Note, cards: Sequence[Card]) -> Card | None:
    """The card that a text quotes. Raises InputError for rendered notes that no card of the bank says (any more).

    The very words of a card under a key of their own are no quotation: they are said of another task.
    """
    marks = quoted_keys(note.guidance)
    for card in cards:
        if any(key.startswith("mark:") for key in marks & filed(card)):
            return card
    if contains_recalled(note.guidance, ()):
        raise InputError("the text holds rendered notes of cards that this bank does not have: leave the notes out")
    own = None if note.key is None else said(note.guidance)
    return next((card for card in cards if marks & filed(card) and said(card.guidance) != own), None)
