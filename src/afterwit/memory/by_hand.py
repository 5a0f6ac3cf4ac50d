"""The bank by hand: cards that a person or an agent writes, changes and retires."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from afterwit.errors import CapacityExceeded, ConditionError, Conflict, NotFound
from afterwit.evolve import by_hand
from afterwit.evolve.adding import asked, plan_additions
from afterwit.evolve.replacing import with_room
from afterwit.memory.opened import Opened
from afterwit.model import (
    Added,
    Card,
    Condition,
    Edit,
    Note,
    Round,
    Value,
)
from afterwit.recall.filing import said_key

When = Condition | Mapping[str, Value | Iterable[Value]] | str | None

_ATTEMPTS = 5


class ByHand(Opened):
    """Cards by hand."""

    def add(
        self,
        guidance: str,
        *,
        key: str | None = None,
        when: When = None,
        prefer: str | None = None,
        avoid: str | None = None,
        topic: str | None = None,
        bank: str = "content",
        trust: Literal["user", "model", "page"] = "user",
        valid_until: datetime | None = None,
        replace: bool = False,
    ) -> Card:
        """A card by hand, or the card that is there where one says the same of the same task and condition.

        Spelling, case, space and punctuation make no second card; negation, numbers and names do
        (`afterwit.model.said`); ``add_many`` tells which were there. A text that quotes recalled cards is not learned
        again. prefer, avoid: a decision such as ``hook=question`` that the card is for or against. topic: the newest
        statement on a topic retires the older one. replace: a full bank retires the least useful card by hand
        for it (`afterwit.evolve.room`), never a pinned or learned one. Raises ConditionError for a field that no
        episode or delivery of the scope ever had, CapacityExceeded for a full bank, saying what would have to go.
        """
        note = Note(
            guidance=guidance,
            key=key,
            when=self._condition(when),
            prefer=prefer,
            avoid=avoid,
            topic=topic,
            trust=trust,
            valid_until=valid_until,
        )
        return self._add([note], bank, replacing=replace)[0].card

    def add_many(
        self, notes: Iterable[Note | str], *, bank: str = "content", replace: bool = False
    ) -> tuple[Added, ...]:
        """All of them or none, embedded in one batch; what became of each, in order. A text alone is its own key.
        replace: as for ``add``."""
        many = [Note(guidance=note) if isinstance(note, str) else note for note in notes]
        for note in many:
            self._condition(note.when)
        return self._add(many, bank, replacing=replace)

    def get(self, card_id: str) -> Card:
        """The latest version of a card, retired ones included. Raises NotFound."""
        versions = self.history(card_id)
        return next(card for edit in reversed(versions) for card in edit.writes if card.id == card_id)

    def update(self, card_id: str, guidance: str) -> Card:
        card = self._live(card_id)
        self._by_hand(card, by_hand.update(card, guidance, at=self._parts.clock()))
        return self.get(card_id)

    def pin(self, card_id: str) -> Card:
        """Keeps a card whatever rounds find: none retires it, but for a ``valid_until`` of its own. Raises NotFound,
        Conflict for a retired card."""
        return self._pin(card_id, True)

    def unpin(self, card_id: str) -> Card:
        return self._pin(card_id, False)

    def delete(self, card_id: str) -> None:
        """Retires a card; its history stays. To erase the text, use ``forget``."""
        card = self.get(card_id)
        if card.live:
            self._by_hand(card, by_hand.delete(card))

    def history(self, card_id: str) -> tuple[Edit, ...]:
        """The edits that wrote a card, oldest first. Raises NotFound."""
        edits = self._store.edits(self.scope, card_id=card_id)
        if not any(card.id == card_id for edit in edits for card in edit.writes):
            raise NotFound(f"there is no card {card_id} in scope {self.scope}")
        return edits

    def cards(self, *, bank: str = "content", as_of: datetime | None = None) -> tuple[Card, ...]:
        return self._bank(bank, as_of=as_of).cards

    def _condition(self, when: When) -> Condition:
        condition = Condition.of(when)
        if not condition.clauses:
            return condition
        known = self._store.fields(self.scope)
        for field in sorted(condition.fields):
            if known and field not in known:
                fields = ", ".join(sorted(known))
                raise ConditionError(f"condition on unknown field {field!r}: this scope knows {fields}")
        return condition

    def _add(self, notes: Sequence[Note], bank: str, *, replacing: bool) -> tuple[Added, ...]:
        keys = [key for note in notes for key in asked(note)]
        for attempt in range(_ATTEMPTS):
            version = self._store.bank_version(self.scope, bank)
            known = self._store.filed(self.scope, bank, keys)
            found, round_ = plan_additions(
                notes, known, scope=self.scope, bank=bank, version=version, at=self._parts.clock()
            )
            if not round_.edits:
                return found
            try:
                if self._commit_additions(round_, found, replacing) == version + 1:
                    return found
            except Conflict:  # somebody changed what this replaces: look again
                if attempt == _ATTEMPTS - 1 or self._store.bank_version(self.scope, bank) == version:
                    raise
                continue
            # Somebody added meanwhile, and may have said the same: then theirs is the card.
            now = self._store.filed(self.scope, bank, [said_key(added.card) for added in found])
            return tuple(replace(a, card=now.get(said_key(a.card), (a.card,))[0]) for a in found)
        raise AssertionError("the last attempt returns or raises")

    def _commit_additions(self, round_: Round, found: Sequence[Added], replacing: bool) -> int:
        try:
            return self._commit(round_)
        except CapacityExceeded as full:
            asked = {added.card.id for added in found}
            roomy = with_room(round_, self._bank(round_.bank), self._room(round_.bank), asked=asked)
            if replacing:
                return self._commit(roomy)
            going = [card for edit in roomy.edits for card in edit.writes if edit.operator == "evict"]
            more = f" and {len(going) - 1} more" if len(going) > 1 else ""
            why = f"{full}; with replace=True (afterwit add --replace) “{going[0].guidance}”{more} would go"
            raise CapacityExceeded(why) from None

    def _live(self, card_id: str) -> Card:
        card = self.get(card_id)
        if not card.live:
            raise Conflict(f"card {card_id} is retired: add it again, or roll back to when it was live")
        return card

    def _pin(self, card_id: str, pinned: bool) -> Card:
        card = self._live(card_id)
        if card.pinned != pinned:
            self._by_hand(card, by_hand.pin(card, pinned))
        return self.get(card_id)

    def _by_hand(self, card: Card, edit: Edit) -> None:
        self._commit(by_hand.round_of(self._bank(card.bank), edit, self._parts.clock()))
