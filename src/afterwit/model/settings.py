"""What a bank is run with; kept beside it, so that no opening and no command has to repeat it."""

from dataclasses import dataclass, fields
from datetime import datetime

from afterwit.errors import InputError
from afterwit.model.ids import content_hash

MOST_CARDS = 1_000_000
"""Recall compares a query with every card of a bank, so that more would be no bounded memory."""


@dataclass(frozen=True, kw_only=True)
class KeptVocabulary:
    """A vocabulary by its content. name: bundled name or path that it was read from. text: its TOML."""

    name: str
    text: str

    @property
    def hash(self) -> str:
        return content_hash(self.text)

    def __str__(self) -> str:
        return f"{self.name} ({self.hash[:8]})"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """capacity: B, live cards that the bank may hold. objective: the kind of event that cards are for. vocabulary: of
    named decisions in text. meaning: whether to learn also from what texts are like in meaning. hand_share: share of
    the capacity that cards by hand keep whatever the evidence.

    Raises InputError for a value that no bank can be run with.
    """

    capacity: int = 80
    objective: str = "click"
    vocabulary: KeptVocabulary | None = None
    meaning: bool = False
    hand_share: float = 0.25

    def __post_init__(self) -> None:
        if self.capacity < 1:
            raise InputError(f"capacity is {self.capacity}: a memory must hold at least 1 card")
        if self.capacity > MOST_CARDS:
            raise InputError(f"capacity is {self.capacity}: banks are bounded, give at most {MOST_CARDS:,}")
        if not 0 <= self.hand_share <= 1:
            raise InputError(f"the share for cards by hand is {self.hand_share}: give a number from 0 to 1")
        if not self.objective.strip():
            raise InputError("the objective is empty: name a kind of event, such as click")

    def difference(self, before: "Settings") -> str:
        """What changed, as ``capacity 80 → 200``; empty where nothing did."""
        pairs = [(f.name, getattr(before, f.name), getattr(self, f.name)) for f in fields(self)]
        return ", ".join(f"{name} {_told(old)} → {_told(new)}" for name, old, new in pairs if old != new)


@dataclass(frozen=True, kw_only=True)
class SettingsChange:
    """The settings of a bank from a moment on. reason: what changed, for people."""

    bank: str
    at: datetime
    settings: Settings
    reason: str


def _told(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
