"""A round while it is being planned: the cards as they would stand, and the edits that get them there."""

from dataclasses import dataclass, field

from afterwit.model import Card, Edit, OperatorName, Refusal, content_hash


@dataclass(kw_only=True)
class RoundDraft:
    """live: card id → card as it would stand. edits, refused: in order. without: operators that may not act."""

    round_id: str
    live: dict[str, Card]
    edits: list[Edit] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    without: frozenset[OperatorName] = frozenset()

    def edit_id(self, operator: str) -> str:
        return content_hash(self.round_id, operator, str(len(self.edits)))[:32]

    def apply(self, made: Edit | Refusal | None) -> bool:
        """Takes an edit in, or notes a refusal; whether anything changed."""
        if made is None:
            return False
        if isinstance(made, Refusal):
            self.refused.append(made)
            return False
        if made.operator in self.without:
            return False
        held = [card for card in made.writes if not card.live and self._pinned(card)]
        if held and made.operator != "expire":
            reason = f"pinned, stays against: {made.reason} (afterwit unpin lets it go)"
            self.refused.extend(Refusal(subject=card.id, verdict="pinned", reason=reason) for card in held)
            return False
        self.edits.append(made)
        for card in made.writes:
            if card.live:
                self.live[card.id] = card
            else:
                self.live.pop(card.id, None)
        return True

    def _pinned(self, card: Card) -> bool:
        return card.id in self.live and self.live[card.id].pinned
