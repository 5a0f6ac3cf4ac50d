"""Serving tasks: episodes, recall, profiles of users."""

from collections.abc import Callable, Sequence

from afterwit import models
from afterwit.digest.answer import Answerer
from afterwit.digest.catalogue import Catalogue
from afterwit.digest.chunk import ChunkRules
from afterwit.digest.extractive import Extractive
from afterwit.digest.fold import Folding, Writer
from afterwit.digest.profile import UserProfile
from afterwit.errors import Conflict, InputError, NotFound
from afterwit.memory.opened import Opened
from afterwit.model import (
    Card,
    Context,
    Episode,
    Recalled,
    count_tokens,
    new_id,
)
from afterwit.model.condition import check_value
from afterwit.recall.render import render
from afterwit.record.recorder import EpisodeRecorder


class Serving(Opened):
    """Recall and record."""

    def episode(
        self, task: str, *, context: Context | None = None, candidates: Sequence[str] = (), id: str | None = None
    ) -> EpisodeRecorder:
        """One task to serve: a context manager on which to recall, decide, act and deliver.

        Raises ConditionError for a context value that is no text, number or truth value.
        """
        for field, value in (context or {}).items():
            check_value(field, value)
        episode = Episode(
            id=id or new_id(),
            scope=self.scope,
            task=task,
            context=dict(context or {}),
            started_at=self._parts.clock(),
            candidates=tuple(candidates),
        )
        return EpisodeRecorder(episode, store=self._store, clock=self._parts.clock, recall=self._recall)

    def resume(self, episode_id: str) -> EpisodeRecorder:
        """An episode that ``EpisodeRecorder.keep`` left open, here or in another process. Raises NotFound, Conflict
        for one that is closed."""
        found = self.recorded(episode_id)
        if found.ended_at is not None:
            raise Conflict(f"episode {episode_id} is closed: open another one")
        return EpisodeRecorder(found, store=self._store, clock=self._parts.clock, recall=self._recall)

    def recorded(self, episode_id: str) -> Episode:
        """Raises NotFound."""
        for found in self._store.episodes(self.scope, ids=[episode_id]):
            return found
        raise NotFound(f"there is no episode {episode_id} in scope {self.scope}")

    def episodes(self, *, limit: int = 50, before: str | None = None) -> tuple[Episode, ...]:
        """Newest first; ``before`` names the last one already seen."""
        return self._store.latest(self.scope, limit=limit, before=before)

    def profile(
        self,
        user: str,
        *,
        budget: int = 5000,
        query: str = "",
        writer: Writer | None = None,
        catalogue: Catalogue | None = None,
        chunking: ChunkRules = ChunkRules(),
        count: Callable[[str], int] = count_tokens,
    ) -> UserProfile:
        """What is remembered of a user, within ``budget`` tokens whatever the length of the history.

        writer: who folds; the memory's model where it has one, else counting. catalogue: what is known of items beside
        the user. count: the tokenizer in use. Raises InputError for a budget that holds nothing.
        """
        if not user.strip() or budget < 50:
            raise InputError(f"a profile of {user!r} in {budget} tokens: name the user and give at least 50 tokens")
        known = catalogue or Catalogue()
        chosen = writer or (models.profile_writer(self._chat) if self._chat else Extractive(rarity=known.rarity))
        return UserProfile(
            store=self._store,
            scope=self.scope,
            user=user,
            folding=Folding(writer=chosen, count=count, clock=self._parts.clock),
            answerer=Answerer(embedder=self._parts.embedder, catalogue=known),
            budget=budget,
            query=query,
            rules=chunking,
        )

    def users(self) -> tuple[str, ...]:
        """Who has a profile."""
        return self._store.users(self.scope)

    def search(
        self,
        query: str,
        *,
        context: Context | None = None,
        bank: str = "content",
        k: int = 3,
        candidates: Sequence[str] = (),
    ) -> tuple[tuple[Card, Recalled], ...]:
        """What a recall would give, without an episode and without leaving a trace."""
        episode = Episode(
            id="search",
            scope=self.scope,
            task=query,
            context=dict(context or {}),
            started_at=self._parts.clock(),
            candidates=tuple(candidates),
        )
        return self._recall(episode, bank=bank, k=k)

    def render(self, cards: Sequence[Card], *, budget_tokens: int = 800) -> str:
        """The cards as a block of data for a prompt, never as orders, whole cards within the budget."""
        return render(cards, budget_tokens=budget_tokens)
