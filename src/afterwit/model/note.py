"""What somebody wants remembered, before it is a card."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from afterwit.errors import InputError
from afterwit.model.card import Card, Stance
from afterwit.model.condition import Condition


@dataclass(frozen=True, kw_only=True)
class Note:
    """guidance: what to do. key: the task that it is for, the guidance where None. prefer, avoid: a decision such as
    ``hook=question`` that it is for or against. topic: the newest statement on a topic retires the older one.
    trust: who is behind the text. Raises InputError where it is for and against something at once.
    """

    guidance: str
    key: str | None = None
    when: Condition = field(default_factory=Condition)
    prefer: str | None = None
    avoid: str | None = None
    topic: str | None = None
    trust: Literal["user", "model", "page"] = "user"
    valid_until: datetime | None = None

    def __post_init__(self) -> None:
        if self.prefer and self.avoid:
            raise InputError("a card is for or against one decision: give prefer= or avoid=, not both")

    @property
    def stance(self) -> Stance | None:
        decision = self.prefer or self.avoid
        return Stance(decision=decision, prefer=bool(self.prefer)) if decision else None


@dataclass(frozen=True, kw_only=True)
class Added:
    """The card that says it. new: False where the bank had one that says the same already."""

    card: Card
    new: bool
