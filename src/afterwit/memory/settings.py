"""What banks are run with: what is kept, else the default."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from afterwit.decisions.vocabulary import Vocabulary
from afterwit.errors import InputError
from afterwit.evolve.stages.learn import BOTH
from afterwit.evolve.stages.rules import StageRules
from afterwit.model import KeptVocabulary, Settings, SettingsChange
from afterwit.ports import Clock, Store


class KeptSettings:
    """The settings of a scope's banks, in the ledger.

    A bank that was never given any is run with those of ``content``, but for the capacity of ``planning`` and
    ``execution``, which have their own default.
    """

    def __init__(self, store: Store, scope: str, clock: Clock) -> None:
        self._store = store
        self._scope = scope
        self._clock = clock
        self._own: dict[str, dict[str, Any]] = {}

    def of(self, bank: str) -> Settings:
        kept = self._store.settings(self._scope, bank=bank)
        if kept:
            found = kept[0].settings
        elif bank == "content":
            found = Settings()
        else:
            found = self.of("content")
            if bank in BOTH:
                found = replace(found, capacity=StageRules().capacity.cards)
        return replace(found, **self._own.get(bank, {}))

    def change(self, bank: str, given: Mapping[str, Any], *, keep: bool = True) -> Settings:
        """Takes what is given, beside what is kept; nothing is written where it is the same. keep: else it holds for
        this opening alone."""
        if not keep:
            self._own.setdefault(bank, {}).update(given)
            return self.of(bank)
        before = self.of(bank)
        after = replace(before, **given)
        if given:
            first = not self._store.settings(self._scope, bank=bank)
            reason = after.difference(before) or "as by default"
            if first or after != before:
                change = SettingsChange(bank=bank, at=self._clock(), settings=after, reason=reason)
                self._store.change_settings(self._scope, change)
        return after

    def history(self, bank: str) -> tuple[SettingsChange, ...]:
        return self._store.settings(self._scope, bank=bank)


def given_settings(
    *,
    capacity: int | None = None,
    objective: str | None = None,
    vocabulary: str | Path | None = None,
    meaning: bool | None = None,
    hand_share: float | None = None,
) -> dict[str, Any]:
    """What of a caller's arguments is given, checked; an empty vocabulary is none. Raises InputError."""
    found: dict[str, Any] = {"capacity": capacity, "objective": objective, "meaning": meaning}
    found["hand_share"] = hand_share
    found = {name: value for name, value in found.items() if value is not None}
    if vocabulary is not None:
        found["vocabulary"] = _kept(vocabulary) if str(vocabulary) else None
    Settings(**found)
    return found


def changed_since(kept: KeptVocabulary) -> bool:
    """Whether the file, or the bundled vocabulary, says something else by now; one that is gone says nothing."""
    try:
        return Vocabulary.text_of(kept.name) != kept.text
    except InputError:
        return False


def _kept(name_or_path: str | Path) -> KeptVocabulary:
    text = Vocabulary.text_of(name_or_path)
    Vocabulary.parse(text, str(name_or_path))
    return KeptVocabulary(name=str(name_or_path), text=text)
