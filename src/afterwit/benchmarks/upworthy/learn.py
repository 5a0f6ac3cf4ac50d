"""The learning pass over the archive, the same for score and audit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from afterwit.credit.items import Items
from afterwit.decisions.extraction import Extractor
from afterwit.decisions.likeness import Likeness
from afterwit.decisions.mining import description_of
from afterwit.decisions.vocabulary import Vocabulary
from afterwit.errors import InputError
from afterwit.evaluate.policies import Policy, Setting
from afterwit.evaluate.replay import ItemStream, Replayed, replay, utc, weekly
from afterwit.evaluate.tasks import Tasks
from afterwit.evolve.rules import EvolveRules
from afterwit.model import Bank, Round
from afterwit.ports import Capacity, Embedder, Progress, Store

VOCABULARY = "headlines"
TOKENS_A_CARD = 60
BANK = "content"


def extractor(embedder: Embedder) -> Extractor:
    return Extractor(vocabulary=Vocabulary.load(VOCABULARY), likeness=Likeness(embed=embedder))


def setting(found: Extractor, *, capacity: int, seed: int, scope: str) -> Setting:
    """Raises InputError for a capacity below 1."""
    if capacity < 1:
        raise InputError(f"capacity is {capacity}: a memory must hold at least 1 card")
    vocabulary = found.vocabulary

    def describe(key: str) -> str | None:
        return (vocabulary.describe(key) if vocabulary else None) or description_of(key)

    room = Capacity(cards=capacity, tokens=TOKENS_A_CARD * capacity)
    return Setting(
        scope=scope,
        bank=BANK,
        seed=seed,
        rules=EvolveRules(capacity=room, card_tokens=TOKENS_A_CARD),
        describe=describe,
    )


def learn(
    items: Items,
    tasks: Tasks,
    policies: Sequence[Policy],
    *,
    until: np.datetime64,
    extractor: Extractor,
    setting: Setting,
    progress: Progress | None = None,
) -> Replayed:
    """Weekly rounds from the first creation to the freeze: when the last item became available, or at ``until``, the
    first creation of what is to be scored, whichever is earlier. Raises InputError where nothing is known by then."""
    known = items.available_at[items.available_at <= until]
    if not len(known):
        raise InputError(f"no outcome of the history was available before {until}Z: there is nothing to learn from")
    rounds = weekly(utc(items.first_delivered_at.min()), utc(known.max()))
    return replay(
        ItemStream(items=items),
        tasks,
        policies,
        rounds=rounds,
        extractor=extractor,
        setting=setting,
        progress=progress,
    )


@dataclass(kw_only=True, eq=False)
class StoreLedger:
    """A tide bank in a store, so that the benchmark runs the very commits of a memory."""

    store: Store
    scope: str
    capacity: Capacity
    embedder: Embedder

    def __post_init__(self) -> None:
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._bank = self.store.bank(self.scope, BANK)

    def bank(self) -> Bank:
        return self._bank

    def commit(self, round_: Round) -> None:
        live = [card for edit in round_.edits for card in edit.writes if card.live]
        new = sorted({card.key for card in live} - self._vectors.keys())
        if new:
            self._vectors.update(zip(new, self.embedder(new), strict=True))
        self.store.commit(round_, capacity=self.capacity, vectors={card.id: self._vectors[card.key] for card in live})
        self._bank = self.store.bank(self.scope, BANK)
