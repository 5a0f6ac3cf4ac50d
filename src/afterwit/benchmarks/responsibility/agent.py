"""A frozen, rule-based agent whose causes are known because they are written down."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from afterwit.model import Card, Citation, Decision, Draft, Task


@dataclass(frozen=True, kw_only=True)
class Slot:
    """How the agent settles one decision, and whom it thanks for it.

    name: of the decision; ``usual``: its value without advice. votes: card id → strength of its advice for
    ``advised``, taken where the strengths of the cards present reach ``threshold``. ranks: instead of votes, (card
    id, value) in order of priority, the first card present decides. cites: card ids that it names as reasons,
    rightly or not, where they are present.
    """

    name: str
    usual: str
    advised: str
    votes: Mapping[str, int] = field(default_factory=dict)
    threshold: int = 1
    ranks: tuple[tuple[str, str], ...] = ()
    cites: tuple[str, ...] = ()

    def value(self, present: frozenset[str]) -> str:
        if self.ranks:
            return next((value for card, value in self.ranks if card in present), self.usual)
        strength = sum(vote for card, vote in self.votes.items() if card in present)
        return self.advised if strength >= self.threshold else self.usual


@dataclass(frozen=True, kw_only=True)
class RuleAgent:
    """A Generator: task text → its slots. The same cards give the same draft, in any order and under any seed."""

    slots: Mapping[str, tuple[Slot, ...]]

    def __call__(self, task: Task, cards: Sequence[Card], *, seed: int = 0) -> Draft:
        present = frozenset(card.id for card in cards)
        decisions, citations = [], []
        for slot in self.slots[task.text]:
            decision = Decision(name=slot.name, value=slot.value(present))
            decisions.append(decision)
            cited = tuple(card for card in slot.cites if card in present)
            if cited:
                citations.append(Citation(decision=decision.key, cards=cited))
        return Draft(output="; ".join(map(str, decisions)), decisions=tuple(decisions), citations=tuple(citations))
