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
from afterwit.evolve.stages.learn import BOTH
from afterwit.evolve.stages.rules import StageRules
from afterwit.generate.choose import Chooser
from afterwit.model import (
    Bank,
    Round,
)
from afterwit.ports import Capacity, Chat, Clock, Embedder, Gate, Generator
from afterwit.recall.recaller import Recaller


class Opened:
    """What every facade of a memory stands on; see `Memory` for the arguments."""

    def __init__(
        self,
        url: str | Path | Parts = "memory.db",
        *,
        scope: str,
        capacity: int = 80,
        objective: str = "click",
        vocabulary: str | Path | None = None,
        meaning: bool = False,
        generator: Generator | None = None,
        model: Chat | str | None = None,
        gate: Gate | None = None,
        embedder: Embedder | None = None,
        clock: Clock | None = None,
        create: bool = True,
    ) -> None:
        if capacity < 1:
            raise InputError(f"capacity is {capacity}: a memory must hold at least 1 card")
        if not scope.strip():
            raise InputError("the scope is empty: name tenant and agent, such as 'acme/push'")
        self.scope = scope
        self.capacity = Capacity(cards=capacity, tokens=60 * capacity)
        named = Vocabulary.load(vocabulary) if vocabulary else None
        self._chat = metered(open_chat(model) if isinstance(model, str) else model)
        self._gate = gate or (models.gate(self._chat) if self._chat else EvidenceGate())
        self._parts = open_parts(url, scope=scope, create=create, embedder=embedder, clock=clock)
        extractor = Extractor(vocabulary=named, likeness=Likeness(embed=self._parts.embedder, mine=meaning))
        self._store = self._parts.store
        self._learner = Learner(
            extractor=extractor,
            generator=generator or Chooser(extractor.shown),
            objective=objective,
            capacity=self.capacity,
        )
        self._recall = Recaller(
            self._store,
            self._parts.embedder,
            self._parts.clock,
            shown=extractor.shown,
            follow=extractor.follow,
        )

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

    def _commit(self, round_: Round) -> None:
        self._store.commit(round_, capacity=self._room(round_.bank), vectors=self._vectors(round_))

    def _room(self, bank: str) -> Capacity:
        return StageRules().capacity if bank in BOTH else self.capacity

    def _vectors(self, round_: Round) -> dict[str, Any]:
        live = [card for edit in round_.edits for card in edit.writes if card.live]
        return dict(zip([c.id for c in live], self._parts.embedder([c.key for c in live]), strict=True)) if live else {}


def zoned(moment: datetime | None) -> datetime | None:
    if moment is not None and moment.tzinfo is None:
        raise InputError(f"the time {moment.isoformat()} has no timezone: give one, such as UTC")
    return moment
