"""What a user did, and the bounded text that remembers it (ReMem)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from afterwit.model.condition import Value
from afterwit.model.ids import content_hash

ProfileOperator = Literal["fold", "edit", "constrain", "rollback"]


@dataclass(frozen=True, kw_only=True)
class Interaction:
    """One thing that a user did with one item. item: its id; title: what people call it. attributes: brand, category,
    price (a number), currency, rating (a number) and whatever else is known. text: a review, or what its page says.
    id: of the event; without one, the same content is the same interaction."""

    item: str
    title: str
    at: datetime | None = None
    kind: str = "chose"
    attributes: Mapping[str, Value] = field(default_factory=dict)
    text: str = ""
    id: str = ""

    @property
    def identity(self) -> str:
        known = sorted((name, str(value)) for name, value in self.attributes.items())
        return self.id or content_hash(self.item, self.title, str(self.at), self.kind, str(known), self.text)

    def told(self) -> str:
        """In one line, as writers read it, whatever breaks its parts hold."""
        known = "; ".join(f"{name}: {value}" for name, value in self.attributes.items())
        parts = (self.day or "undated", self.kind, self.title, known, self.text)
        return " · ".join(part for part in (" ".join(part.split()) for part in parts) if part)

    @property
    def day(self) -> str:
        """ISO date, "" where undated."""
        return self.at.date().isoformat() if self.at else ""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One version of what is remembered of a user.

    text: what a model or person reads, constraints included; tokens: of it, by the tokenizer in use, never above
    ``budget``. interactions: folded in so far. parent: the version it was made from. constraints: what every later
    version must respect. query: what the profile is for, "" for anything. note: what was cut or left out.
    """

    scope: str
    user: str
    version: int
    text: str
    tokens: int
    budget: int
    writer: str
    operator: ProfileOperator
    at: datetime
    parent: int | None = None
    interactions: int = 0
    constraints: tuple[str, ...] = ()
    query: str = ""
    note: str = ""
