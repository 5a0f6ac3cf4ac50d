"""How a bank changes: edits, gathered in rounds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from afterwit.model.card import Card, OperatorName
from afterwit.model.credit import Credit, Evidence, Refusal
from afterwit.model.stage import Attribution


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One operator applied.

    writes: card versions put into the bank (a retired one carries status ``retired``). parents: card ids that
    the operator read. reason: one line for people. evidence: ids of the evidence behind it.
    """

    id: str
    operator: OperatorName
    writes: tuple[Card, ...]
    parents: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """One batch of confirmation tests and what the online FDR procedure said of it.

    level: the significance level granted to this batch. p_values: per decision tested. confirmed: those
    rejected. max_rejections: R⁺, kept because later levels depend on it (Zrnic et al. 2020, Batch-BH). final: it
    was declared the last and took all of the level that was left. declared: trials that the round of this moment
    declared. wealth: card confirmed by its wealth alone → log wealth then (`credit/confirm`).
    """

    at: datetime
    level: float
    p_values: Mapping[str, float]
    confirmed: tuple[str, ...]
    max_rejections: int
    final: bool = False
    declared: int = 0
    wealth: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A trial that is open: strata gathered since admission, about how many it takes in all if the effect is what
    it seemed to be, and when that is at the rate seen; None where no stratum came yet. wealth: log, so far."""

    card_id: str
    strata: int
    needed: int
    due_at: datetime | None
    wealth: float

    def __str__(self) -> str:
        when = f", about {self.due_at:%Y-%m-%d} at this rate" if self.due_at else ""
        return f"{self.strata} of about {self.needed} strata{when}"


@dataclass(frozen=True, kw_only=True)
class Round:
    """One atomic credit-and-evolve pass over one bank, as of a moment.

    base_version: the bank version it was planned on; committing on another is a Conflict. status: ``proposed``
    rounds wait for approval. refused: what was considered and left, with reasons.
    """

    id: str
    scope: str
    bank: str
    as_of: datetime
    base_version: int
    status: Literal["proposed", "applied", "rejected"] = "applied"
    edits: tuple[Edit, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    credits: tuple[Credit, ...] = ()
    attributions: tuple[Attribution, ...] = ()
    refused: tuple[Refusal, ...] = ()
    batch: Batch | None = None
    waiting: tuple[Waiting, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)
    note: str = ""

    def summary(self) -> str:
        counts: dict[str, int] = {}
        for edit in self.edits:
            counts[edit.operator] = counts.get(edit.operator, 0) + 1
        done = ", ".join(f"{n} {name}" for name, n in sorted(counts.items())) or "no edits"
        changed = sum(refusal.verdict == "changed" for refusal in self.refused)
        told = f"; {changed} changed" if changed else ""
        return f"round as of {self.as_of:%Y-%m-%d}: {done}{told}; {len(self.refused) - changed} left as they are"


@dataclass(frozen=True, kw_only=True)
class Bank:
    """The cards of one kind in a scope, retired ones left out; ``version`` counts its commits."""

    scope: str
    name: str
    version: int
    cards: tuple[Card, ...]


def fold(edits: Iterable[Edit]) -> dict[str, Card]:
    """The bank as a fold of its edits, in order: card id → latest version, retired ones included."""
    cards: dict[str, Card] = {}
    for edit in edits:
        for card in edit.writes:
            cards[card.id] = card
    return cards
