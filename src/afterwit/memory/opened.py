"""A memory while it is open: its parts, what it commits, what it looks up."""

from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from afterwit import models
from afterwit.chat.meter import metered
from afterwit.compose import Parts, open_chat, open_parts
from afterwit.credit.gate.evidence import EvidenceGate
from afterwit.decisions.extraction import Extractor
from afterwit.decisions.likeness import Likeness
from afterwit.decisions.vocabulary import Vocabulary
from afterwit.errors import InputError
from afterwit.evolve.learn import Learner
from afterwit.evolve.rules import EvolveRules
from afterwit.evolve.stages.learn import BOTH
from afterwit.evolve.stages.rules import StageRules
from afterwit.generate.choose import Chooser
from afterwit.memory.settings import KeptSettings, given_settings
from afterwit.model import Bank, Round, Settings
from afterwit.ports import Capacity, Chat, Clock, Embedder, Gate, Generator
from afterwit.recall.recaller import Recaller


class Opened:
    """What every facade of a memory stands on; see `Memory` for the arguments."""

    def __init__(
        self,
        url: str | Path | Parts = "memory.db",
        *,
        scope: str,
        capacity: int | None = None,
        objective: str | None = None,
        vocabulary: str | Path | None = None,
        meaning: bool | None = None,
        generator: Generator | None = None,
        model: Chat | str | None = None,
        gate: Gate | None = None,
        embedder: Embedder | None = None,
        clock: Clock | None = None,
        create: bool = True,
        keep: bool = True,
    ) -> None:
        given = given_settings(capacity=capacity, objective=objective, vocabulary=vocabulary, meaning=meaning)
        if not scope.strip():
            raise InputError("the scope is empty: name tenant and agent, such as 'acme/push'")
        self.scope = scope
        self._chat = metered(open_chat(model) if isinstance(model, str) else model)
        self._gate = gate or (models.gate(self._chat) if self._chat else EvidenceGate())
        self._parts = open_parts(url, scope=scope, create=create, embedder=embedder, clock=clock)
        self._store = self._parts.store
        self._generator = generator
        self._settings = KeptSettings(self._store, scope, self._parts.clock)
        self._learners: dict[str, tuple[Settings, Learner]] = {}
        self._recall = Recaller(
            self._store, self._parts.embedder, self._parts.clock, decisions=lambda bank: self._known(bank).extractor
        )
        self._settings.change("content", given, keep=keep)

    @property
    def capacity(self) -> Capacity:
        """B of the bank ``content``."""
        return self._room("content")

    def close(self) -> None:
        self._parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Inside

    def _bank(self, name: str, *, as_of: datetime | None = None) -> Bank:
        return self._store.bank(self.scope, name, as_of=zoned(as_of))

    def _commit(self, round_: Round) -> int:
        """The bank's new version."""
        return self._store.commit(round_, capacity=self._room(round_.bank), vectors=self._vectors(round_))

    def _room(self, bank: str) -> Capacity:
        rules = StageRules() if bank in BOTH else EvolveRules()
        cards = self._settings.of(bank).capacity
        return Capacity(cards=cards, tokens=rules.card_tokens * cards)

    def _known(self, bank: str) -> Learner:
        """The learner in use; what another process changed since is for the next `_learner`."""
        return self._learners[bank][1] if bank in self._learners else self._learner(bank)

    def _learner(self, bank: str) -> Learner:
        """By the bank's settings as they stand now; made anew only where they changed, for it knows texts by now."""
        settings = self._settings.of(bank)
        known = self._learners.get(bank)
        if known is None or known[0] != settings:
            known = self._learners[bank] = (settings, self._made(settings))
        return known[1]

    def _made(self, settings: Settings) -> Learner:
        kept = settings.vocabulary
        extractor = Extractor(
            vocabulary=Vocabulary.parse(kept.text, kept.name) if kept else None,
            likeness=Likeness(embed=self._parts.embedder, mine=settings.meaning),
        )
        return Learner(
            extractor=extractor,
            generator=self._generator or Chooser(extractor.degrees),
            objective=settings.objective,
            capacity=Capacity(cards=settings.capacity, tokens=EvolveRules().card_tokens * settings.capacity),
            hand_share=settings.hand_share,
        )

    def _vectors(self, round_: Round) -> dict[str, Any]:
        live = [card for edit in round_.edits for card in edit.writes if card.live]
        return dict(zip([c.id for c in live], self._parts.embedder([c.key for c in live]), strict=True)) if live else {}


def zoned(moment: datetime | None) -> datetime | None:
    if moment is not None and moment.tzinfo is None:
        raise InputError(f"the time {moment.isoformat()} has no timezone: give one, such as UTC")
    return moment
