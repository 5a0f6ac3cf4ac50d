"""The bank by hand: cards that a person or an agent writes, changes and retires."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from afterwit.errors import ConditionError, Conflict, InputError, NotFound
from afterwit.evolve import by_hand
from afterwit.memory.opened import Opened
from afterwit.model import (
    Card,
    Condition,
    Edit,
    Stance,
    Value,
)
from afterwit.recall.render import contains_recalled, short_id

When = Condition | Mapping[str, Value | Iterable[Value]] | str | None


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
    ) -> Card:
        """A card by hand; the same card twice is one card, and text that holds recalled cards is not learned again.

        prefer, avoid: a decision such as ``hook=question`` that the card is for or against. topic: the newest
        statement on a topic retires the older one. Raises ConditionError for a field that no episode or delivery
        of the scope ever had, CapacityExceeded for a full bank.
        """
        if prefer and avoid:
            raise InputError("a card is for or against one decision: give prefer= or avoid=, not both")
        condition = self._condition(when)
        now = self._bank(bank)
        if known := _quoted(guidance, now.cards):
            return known
        decision = prefer or avoid
        card, edit = by_hand.add(
            now,
            guidance,
            key=key or guidance,
            when=condition,
            topic=topic,
            trust=trust,
            at=self._parts.clock(),
            stance=Stance(decision=decision, prefer=prefer is not None) if decision else None,
            valid_until=valid_until,
        )
        if edit is not None:
            self._commit(by_hand.round_of(now, edit, self._parts.clock()))
            # Somebody may have added the same meanwhile: then theirs is the card.
            return next(c for c in self._bank(bank).cards if c.content_hash == card.content_hash)
        return card

    def get(self, card_id: str) -> Card:
        """The latest version of a card, retired ones included. Raises NotFound."""
        versions = self.history(card_id)
        return next(card for edit in reversed(versions) for card in edit.writes if card.id == card_id)

    def update(self, card_id: str, guidance: str) -> Card:
        card = self.get(card_id)
        if not card.live:
            raise Conflict(f"card {card_id} is retired: add it again, or roll back to when it was live")
        self._by_hand(card, by_hand.update(card, guidance, at=self._parts.clock()))
        return self.get(card_id)

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
        known = self._store.fields(self.scope)
        for field in sorted(condition.fields):
            if known and field not in known:
                fields = ", ".join(sorted(known))
                raise ConditionError(f"condition on unknown field {field!r}: this scope knows {fields}")
        return condition

    def _by_hand(self, card: Card, edit: Edit) -> None:
        self._commit(by_hand.round_of(self._bank(card.bank), edit, self._parts.clock()))


def _quoted(text: str, cards: Sequence[Card]) -> Card | None:
    """The card that a text quotes. Raises InputError for rendered notes that no card of the bank says (any more)."""
    for card in cards:
        if f"[{short_id(card)}]" in text:
            return card
    if contains_recalled(text, ()):
        raise InputError("the text holds rendered notes of cards that this bank does not have: leave the notes out")
    return next((card for card in cards if contains_recalled(text, [card])), None)
