"""What a profile is compared with; each scores a user's candidates, higher is better.

All but the trained ones learn nothing: they know titles, how often items are chosen by anyone, and one user's history.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterwit.benchmarks.recsys.data import Ratings, User
from afterwit.digest.answer import Answerer, AnswerRules, Candidate
from afterwit.digest.catalogue import Catalogue
from afterwit.digest.chunk import ChunkRules, chunks
from afterwit.digest.extractive import Extractive
from afterwit.digest.fold import Folding, Writer, empty
from afterwit.digest.sketch import HALF_LIFE
from afterwit.digest.terms import words
from afterwit.digest.together import key
from afterwit.digest.weighing import Floats, commonness, standard
from afterwit.errors import ModelError
from afterwit.model import count_tokens
from afterwit.ports import Embedder

_AT = datetime(2000, 1, 1, tzinfo=UTC)
_TOP_CHUNKS, _PER_CHUNK = 5, 2
_TEXT = AnswerRules(words=0.5, meaning=0.55, weighing=False)


@dataclass(frozen=True, kw_only=True)
class Scored:
    """tokens: of the text that the answer was read from."""

    scores: Floats
    tokens: int


Comparator = Callable[[User], Scored]


class Known:
    """An embedder that has read every title once; other texts it passes on."""

    def __init__(self, embedder: Embedder, texts: Sequence[str]) -> None:
        once = list(dict.fromkeys(texts))
        self.name, self.dimensions = embedder.name, embedder.dimensions
        self._embedder = embedder
        self._places = {text: i for i, text in enumerate(once)}
        self._matrix = embedder(once)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if any(text not in self._places for text in texts):
            return self._embedder(texts)
        return self._matrix[[self._places[text] for text in texts]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Bench:
    """The data, and what all comparators share."""

    data: Ratings
    embedder: Known
    catalogue: Catalogue
    budget: int = 5000
    window: int = 128_000

    @staticmethod
    def of(data: Ratings, embedder: Embedder, *, budget: int = 5000) -> "Bench":
        titles = {id_: item.title for id_, item in data.items.items()}
        catalogue = Catalogue.of(titles, histories=data.known)
        return Bench(data=data, embedder=Known(embedder, list(titles.values())), catalogue=catalogue, budget=budget)

    def candidates(self, user: User) -> list[Candidate]:
        return [Candidate(id=id_, title=self.data.items[id_].title) for id_ in user.candidates]

    def titles(self, user: User) -> list[str]:
        return [self.data.items[id_].title for id_ in user.history]

    @property
    def text_alone(self) -> Answerer:
        """Knows how rare words are, and nothing of what others chose."""
        known = Catalogue(rarity=self.catalogue.rarity)
        return Answerer(embedder=self.embedder, catalogue=known, rules=_TEXT)

    # Without a profile

    def popularity(self, user: User) -> Scored:
        return Scored(scores=np.array([self.catalogue.chosen.get(id_, 0) for id_ in user.candidates], float), tokens=0)

    def last_item(self, user: User) -> Scored:
        last = self.titles(user)[-1:]
        return Scored(scores=self._cosines(user, last).max(axis=1, initial=0), tokens=sum(map(count_tokens, last)))

    def mean_embedding(self, user: User) -> Scored:
        titles = self.titles(user)
        return Scored(scores=self._cosines(user, titles).mean(axis=1), tokens=sum(map(count_tokens, titles)))

    def bm25(self, user: User) -> Scored:
        """Okapi over the candidates with the whole history as the query, k1 = 1.2, b = 0.75."""
        titles = self.titles(user)
        asked = Counter(word for title in titles for word in words(title))
        found = self.text_alone.words_of(asked, self.candidates(user))
        return Scored(scores=found, tokens=sum(map(count_tokens, titles)))

    def bm25_and_prior(self, user: User) -> Scored:
        """No profile: the two parts alone that cost nothing, at the answerer's weights."""
        found = self.bm25(user)
        prior = commonness(self.popularity(user).scores)
        return Scored(scores=_TEXT.words * standard(found.scores) + _TEXT.prior * prior, tokens=found.tokens)

    def item_to_item(self, user: User) -> Scored:
        """Σ_h 0.5^(place / 5) · n_hc / (n_h + 1) over the history: of those who chose h the share that chose c."""
        together = self.catalogue.together
        assert together is not None
        mine, theirs = (
            [together.titles[key(self.data.items[i].title)] for i in ids] for ids in (user.history, user.candidates)
        )
        fading = 0.5 ** (np.arange(len(mine))[::-1] / HALF_LIFE)
        shares = together.items[mine][:, theirs].toarray() / (together.chosen[mine][:, None] + 1)
        return Scored(scores=fading @ shares, tokens=0)

    def item_to_item_and_prior(self, user: User) -> Scored:
        prior = commonness(self.popularity(user).scores)
        return Scored(scores=_TEXT.words * standard(self.item_to_item(user).scores) + _TEXT.prior * prior, tokens=0)

    def full_history(self, user: User) -> Scored:
        """Every title as a line of text, the newest that fit the window, read by the same answerer."""
        return self._lines(user, self._within(self.titles(user), self.window))

    def full_history_and_catalogue(self, user: User) -> Scored:
        """No profile: every title, read with all that a profile's reader knows of the catalogue."""
        lines = self._within(self.titles(user), self.window)[::-1]
        return self._lines(user, lines, Answerer(embedder=self.embedder, catalogue=self.catalogue))

    def retrieval(self, user: User) -> Scored:
        """The five chunks of the history that lie nearest to the candidates, read by the same answerer."""
        titles = self.titles(user)
        parts = [titles[i : i + _PER_CHUNK] for i in range(0, len(titles), _PER_CHUNK)]
        near = self._cosines(user, titles).max(axis=0)
        best = sorted(range(len(parts)), key=lambda i: -max(near[i * _PER_CHUNK : i * _PER_CHUNK + len(parts[i])]))
        return self._lines(user, [title for i in sorted(best[:_TOP_CHUNKS]) for title in parts[i]])

    # With one

    def profile(
        self,
        *,
        writer: Writer | None = None,
        turns: int = 3,
        catalogue: Catalogue | None = None,
        reading: AnswerRules = AnswerRules(),
    ) -> Comparator:
        """catalogue: what the reader knows of items, if not all. reading: how it weighs."""
        answerer = Answerer(embedder=self.embedder, catalogue=catalogue or self.catalogue, rules=reading)
        rules = ChunkRules(turns=turns)
        folding = Folding(writer=writer or Extractive(rarity=self.catalogue.rarity), clock=lambda: _AT)
        first = empty(scope="recsys", user="", budget=self.budget, at=_AT)

        def scored(user: User) -> Scored:
            state = replace(first, user=user.id)
            with suppress(ModelError):  # what a writer that failed had folded by then stands
                for chunk in chunks(self.data.interactions(user), rules=rules):
                    state = folding.fold(state, chunk)
            return Scored(scores=answerer.scores(state.text, self.candidates(user)), tokens=state.tokens)

        return scored

    def _lines(self, user: User, titles: Sequence[str], answerer: Answerer | None = None) -> Scored:
        text = "# Profile\n## Notes\n" + "\n".join(f"- {title}" for title in titles)
        scores = (answerer or self.text_alone).scores(text, self.candidates(user))
        return Scored(scores=scores, tokens=sum(map(count_tokens, titles)))

    def _within(self, titles: Sequence[str], window: int) -> list[str]:
        kept: list[str] = []
        for title in reversed(titles):
            window -= count_tokens(title)
            if window < 0:
                break
            kept.append(title)
        return kept[::-1]

    def _cosines(self, user: User, titles: Sequence[str]) -> NDArray[Any]:
        """(candidates, titles)."""
        one = self.embedder([self.data.items[id_].title for id_ in user.candidates])
        return one.astype(np.float64) @ self.embedder(titles).astype(np.float64).T
