"""What the banks of a memory are run with."""

from pathlib import Path

from afterwit.memory.opened import Opened
from afterwit.memory.settings import changed_since, given_settings
from afterwit.model import Settings, SettingsChange


class Configuring(Opened):
    """Settings, kept in the ledger bank by bank."""

    def settings(self, *, bank: str = "content") -> Settings:
        """What a bank is run with: what is kept, else the default."""
        return self._settings.of(bank)

    def configure(
        self,
        *,
        bank: str = "content",
        capacity: int | None = None,
        objective: str | None = None,
        vocabulary: str | Path | None = None,
        meaning: bool | None = None,
        hand_share: float | None = None,
        keep: bool = True,
    ) -> Settings:
        """Changes what is given, for this and every later opening; what it was stays in the history.

        keep: else it holds for this opening alone. vocabulary: a bundled name or a path, kept by content; an empty text
        is none. A lowered capacity is met by the next round, each eviction with its reason. Raises InputError for a
        value that no bank can be run with.
        """
        given = given_settings(
            capacity=capacity, objective=objective, vocabulary=vocabulary, meaning=meaning, hand_share=hand_share
        )
        return self._settings.change(bank, given, keep=keep)

    def settings_history(self, *, bank: str = "content") -> tuple[SettingsChange, ...]:
        """Every change, newest first."""
        return self._settings.history(bank)

    def notices(self, *, bank: str = "content") -> tuple[str, ...]:
        """What somebody should know of a bank's settings, a line each: a vocabulary that reads otherwise by now, more
        cards than a lowered capacity allows."""
        settings, found = self._settings.of(bank), []
        kept = settings.vocabulary
        if kept is not None and changed_since(kept):
            found.append(
                f"vocabulary {kept.name} has changed since it was kept: give it again to take the new one "
                f"(afterwit settings --vocabulary {kept.name})"
            )
        over = len(self._bank(bank).cards) - settings.capacity
        if over > 0:
            found.append(
                f"bank {bank!r} holds {over} cards more than its capacity of {settings.capacity}: "
                "the next round evicts them"
            )
        return tuple(found)
