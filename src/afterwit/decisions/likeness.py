"""Decisions by meaning: a text is like one of a few hundred exemplars, or it is not.

Words miss what a paraphrase shares. So of the first 1,500 distinct texts of a log, 500 that lie farthest apart in
meaning become exemplars (farthest-first traversal, Gonzalez 1985), and a text shows ``like=0.231|exemplar`` where
its cosine to that exemplar reaches the cut, above which a fifth of those 1,500 lie. Key and cut never change once
a card names them. Our reconstruction of TIDE's second layer, source cases near the task in meaning.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from afterwit.model import count_tokens
from afterwit.ports import Embedder

NAME = "like"
_REFERENCE = 1500
_EXEMPLARS = 500
_SHARE = 0.2
_TOKENS = 30
_BATCH = 256


@dataclass(kw_only=True, eq=False)
class Likeness:
    """embed: the embedder that every cut is for. mine: whether exemplars are picked from texts, or only those that
    cards name are looked for. generation: grows when exemplars are added."""

    embed: Embedder
    mine: bool = True
    generation: int = 0
    _rows: dict[str, int] = field(default_factory=dict, repr=False)
    _vectors: list[NDArray[np.float32]] = field(default_factory=list, repr=False)
    _keys: dict[str, int] = field(default_factory=dict, repr=False)
    _exemplars: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32), repr=False)
    _cuts: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), repr=False)
    _chosen: bool = False

    def prepare(self, texts: Iterable[str]) -> None:
        """Embeds the texts not embedded yet, in batches of like length, which is what the embedder is fast at."""
        new = sorted({text for text in texts if text not in self._rows}, key=lambda text: (len(text), text))
        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            for text, vector in zip(batch, self.embed(batch), strict=True):
                self._rows[text] = len(self._vectors)
                self._vectors.append(vector)

    def choose(self, texts: Iterable[str]) -> None:
        """Picks the exemplars, once, as soon as there are enough distinct texts; in the order given."""
        if self._chosen or not self.mine:
            return
        first = list(dict.fromkeys(texts))[:_REFERENCE]
        if len(first) < _REFERENCE:
            return
        self._chosen = True
        self.prepare(first)
        reference = self._matrix(first)
        able = [i for i, text in enumerate(first) if 0 < count_tokens(text) <= _TOKENS]
        if not able:
            return
        picked = _farthest(reference[able], _EXEMPLARS)
        cuts = np.quantile(reference @ reference[able][picked].T, 1 - _SHARE, axis=0)
        self.follow(f"{NAME}={cut:.3f}|{first[able[i]]}" for i, cut in zip(picked, cuts, strict=True))

    def follow(self, keys: Iterable[str]) -> None:
        """Adds exemplars by key, such as those that cards name."""
        new = [key for key in dict.fromkeys(keys) if key.startswith(f"{NAME}=") and key not in self._keys]
        if not new:
            return
        parts = [key.removeprefix(f"{NAME}=").partition("|") for key in new]
        texts = [text for _, _, text in parts]
        self.prepare(texts)
        for key in new:
            self._keys[key] = len(self._keys)
        self._cuts = np.concatenate((self._cuts, [float(cut) for cut, _, _ in parts]))
        added = self._matrix(texts)
        self._exemplars = np.concatenate((self._exemplars, added)) if len(self._exemplars) else added
        self.generation += 1

    def shown(self, texts: Sequence[str]) -> list[list[str]]:
        """Per text, the keys of the exemplars that it is like."""
        if not self._keys or not texts:
            return [[] for _ in texts]
        self.prepare(texts)
        names = list(self._keys)
        like = self._matrix(texts) @ self._exemplars.T >= self._cuts
        return [[names[j] for j in np.flatnonzero(row)] for row in like]

    def _matrix(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._vectors[self._rows[text]] for text in texts])


def _farthest(vectors: NDArray[np.float32], count: int) -> list[int]:
    """Farthest-first traversal by cosine, from the first row."""
    picked = [0]
    nearest = vectors @ vectors[0]
    while len(picked) < min(count, len(vectors)):
        following = int(np.argmin(nearest))
        picked.append(following)
        nearest = np.maximum(nearest, vectors @ vectors[following])
    return picked
