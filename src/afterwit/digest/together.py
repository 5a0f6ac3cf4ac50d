"""What goes with what: knowledge of a catalogue, counted from many users' histories and trained on none.

    items   Σ_l h_l · ln((n_lc + 1) / (e_lc + 1)), over the lines of evidence l, h_l = 0.5^(place / 5): n_lc the users
            who chose both titles, e_lc = n_l · n_c / N what chance would give among N users
    words   the mean of ln((n_vw + 3) / (e_vw + 3)) over words v of the profile, by weight and rarity, and words w of
            the candidate, by rarity: n_vw the pairs of items of one user of which one says v and the other w, e_vw what
            chance would give. Series, brands and makers are words; so an item that nobody has chosen yet has company

The pseudo-counts pull what was seldom seen to chance. Our reconstruction. Memory grows with the pairs that occur.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from afterwit.digest.sketch import HALF_LIFE
from afterwit.digest.terms import Rarity, words
from afterwit.model import normalised

Floats = NDArray[np.float64]
LONGEST = 50  # of a history the newest items that are counted: pairs grow with the square
_ITEMS, _WORDS = 1.0, 3.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Together:
    """titles, vocabulary: row of each title as it is compared, and of each word. items: (T, T) users who chose both;
    chosen: (T,) users of each. pairs: (V, V) as above; said: (V,) their margins; total: pairs
    of items. users: histories counted."""

    titles: Mapping[str, int]
    items: sparse.csr_array
    chosen: Floats
    users: int
    vocabulary: Mapping[str, int]
    pairs: sparse.csr_array
    said: Floats
    total: float

    @staticmethod
    def of(titles: Mapping[str, str], histories: Iterable[Sequence[str]]) -> "Together":
        """titles: item id → title. histories: of one user each, item ids in order; unknown ids count for nothing."""
        places: dict[str, int] = {}
        row = {id_: places.setdefault(key(title), len(places)) for id_, title in titles.items()}
        baskets = [{row[id_] for id_ in history[-LONGEST:] if id_ in row} for history in histories]
        chose = _ones(
            [(user, item) for user, basket in enumerate(baskets) for item in basket], len(baskets), len(places)
        )
        items = sparse.csr_array(chose.T @ chose)
        chosen = items.diagonal()
        items.setdiag(0)
        items.eliminate_zeros()
        vocabulary: dict[str, int] = {}
        says = _ones(
            [
                (place, vocabulary.setdefault(word, len(vocabulary)))
                for title, place in places.items()
                for word in sorted(set(words(title)))
            ],
            len(places),
            len(vocabulary),
        )
        return Together(
            titles=places,
            items=items,
            chosen=np.asarray(chosen, dtype=np.float64),
            users=len(baskets),
            vocabulary=vocabulary,
            pairs=sparse.csr_array(says.T @ (items @ says)),
            said=np.asarray(says.T @ items.sum(axis=1), dtype=np.float64),
            total=float(items.sum()),
        )

    def by_items(self, lines: Sequence[str], candidates: Sequence[str]) -> Floats:
        """lines: titles, newest first. Of each candidate's title, (candidates,); 0 where either is unknown."""
        found = np.zeros(len(candidates))
        mine = [(place, self.titles[key(line)]) for place, line in enumerate(lines) if key(line) in self.titles]
        theirs = [(i, self.titles[key(one)]) for i, one in enumerate(candidates) if key(one) in self.titles]
        if not mine or not theirs:
            return found
        fading, said = 0.5 ** (np.array([place for place, _ in mine]) / HALF_LIFE), [row for _, row in mine]
        at, c = [i for i, _ in theirs], [row for _, row in theirs]
        both = self.items[said][:, c].toarray()
        chance = np.outer(self.chosen[said], self.chosen[c]) / max(self.users, 1)
        found[at] = fading @ np.log((both + _ITEMS) / (chance + _ITEMS))
        return found

    def by_words(self, asked: Mapping[str, float], candidates: Sequence[str], rarity: Rarity) -> Floats:
        """asked: words of the profile → weight. (candidates,)."""
        known = {word: weight * rarity(word) for word, weight in asked.items() if word in self.vocabulary}
        texts = [[w for w in dict.fromkeys(words(one)) if w in self.vocabulary] for one in candidates]
        columns = list(dict.fromkeys(word for text in texts for word in text))
        if not columns or not known or not sum(known.values()):
            return np.zeros(len(candidates))
        v, w = [self.vocabulary[word] for word in known], [self.vocabulary[word] for word in columns]
        weight = np.array(list(known.values()))
        chance = np.outer(self.said[v], self.said[w]) / max(self.total, 1.0)
        lift = np.log((self.pairs[v][:, w].toarray() + _WORDS) / (chance + _WORDS))
        mean = dict(zip(columns, weight @ lift / weight.sum(), strict=True))
        return np.array([_mean([mean[one] for one in text], [rarity(one) for one in text]) for text in texts])


def key(title: str) -> str:
    """A title as it is compared: case, accents' spelling and breaks make no difference."""
    return " ".join(normalised(title).split())


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    total = sum(weights)
    return sum(v * w for v, w in zip(values, weights, strict=True)) / total if total else 0.0


def _ones(pairs: Sequence[tuple[int, int]], rows: int, columns: int) -> Any:
    """A sparse matrix of ones in these places, (rows, columns)."""
    at = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return sparse.csr_array((np.ones(len(at), dtype=np.float32), (at[:, 0], at[:, 1])), shape=(rows, columns))
