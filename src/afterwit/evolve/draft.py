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
        self.edits.append(made)
        for card in made.writes:
            if card.live:
                self.live[card.id] = card
            else:
                self.live.pop(card.id, None)
        return True
