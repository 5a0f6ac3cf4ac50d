"""Recall for a scope: banks laid out once per version, tasks embedded once."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Protocol

from afterwit.model import Card, Episode, Recalled
from afterwit.ports import Clock, Embedder, Store
from afterwit.recall.index import BankIndex
from afterwit.recall.retrieve import Exploration, recall

_TASKS = 256


class Decisions(Protocol):
    """shown: decisions that a text shows. follow: told which decisions the cards of a bank name, before they are
    looked for in texts."""

    def shown(self, text: str) -> frozenset[str]: ...

    def follow(self, decisions: Iterable[str]) -> None: ...


class Recaller:
    """decisions: of a bank, by its name: what a text shows."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        clock: Clock,
        *,
        decisions: Callable[[str], Decisions],
    ) -> None:
        self._store = store
        self._clock = clock
        self._decisions = decisions
        self._indexes: dict[tuple[str, str], BankIndex] = {}
        # An episode asks several banks about one task, and embedding costs more than all the rest of a recall.
        self._vector = lru_cache(maxsize=_TASKS)(lambda text: embedder([text])[0])

    def __call__(
        self,
        episode: Episode,
        *,
        bank: str = "content",
        k: int = 3,
        query: str | None = None,
        explore: float = 0.0,
    ) -> tuple[tuple[Card, Recalled], ...]:
        """See `afterwit.recall.retrieve.recall`. query: what is searched for in place of the task."""
        return recall(
            self._index(episode.scope, bank),
            self._vector(query or episode.task),
            context=episode.context,
            now=self._clock(),
            k=k,
            candidates=episode.candidates,
            shown=self._decisions(bank).shown,
            exploration=Exploration(rate=explore, seed=episode.id) if explore else None,
        )

    def forget(self) -> None:
        """Drops every text that is kept."""
        self._indexes.clear()
        self._vector.cache_clear()

    def _index(self, scope: str, name: str) -> BankIndex:
        kept = self._indexes.get((scope, name))
        version = self._store.bank_version(scope, name)
        while kept is None or kept.version != version:
            ids, matrix = self._store.vectors(scope, name)
            bank = self._store.bank(scope, name)
            if bank.version == version:  # else somebody committed in between, and the two may not match
                kept = self._indexes[scope, name] = BankIndex.build(bank, ids, matrix)
                self._decisions(name).follow(kept.decisions)
            version = bank.version
        return kept
