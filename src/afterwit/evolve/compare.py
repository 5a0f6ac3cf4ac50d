"""What changed between two states of a bank."""

from dataclasses import dataclass

from afterwit.model import Bank, Card


@dataclass(frozen=True, kw_only=True)
class BankDiff:
    """added, removed: cards on one side only; changed: (before, after) of those that differ."""

    added: tuple[Card, ...]
    removed: tuple[Card, ...]
    changed: tuple[tuple[Card, Card], ...]

    @property
    def empty(self) -> bool:
        return not (self.added or self.removed or self.changed)


def diff(before: Bank, after: Bank) -> BankDiff:
    old = {card.id: card for card in before.cards}
    new = {card.id: card for card in after.cards}
    return BankDiff(
        added=tuple(card for card in after.cards if card.id not in old),
        removed=tuple(card for card in before.cards if card.id not in new),
        changed=tuple((old[i], new[i]) for i in old if i in new and old[i] != new[i]),
    )
