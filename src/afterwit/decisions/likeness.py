"""Decisions by meaning: how much a text is like one of a few hundred exemplars.

Words miss what a paraphrase shares. So of the first 1,500 distinct texts of a log, 200 that lie farthest apart in
meaning become exemplars (farthest-first traversal, Gonzalez 1985). A text shows ``like=0.051:0.347|exemplar`` to
the degree

    clip((cosine − low) / (high − low), 0, 1)

where low and high are the cosines that a twentieth of those 1,500 texts lie below and above. The name holds all
that the degree depends on, so that it never moves under a card; one number, ``like=0.231|exemplar``, is a step there.
Degrees have three decimals. Our reconstruction of TIDE's second layer, source cases near the task in meaning.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from afterwit.decisions.mining import is_mined
from afterwit.model import count_tokens
from afterwit.ports import Embedder

NAME = "like"
_REFERENCE = 1500
_EXEMPLARS = 200
_TAIL = 0.05
_TOKENS = 30
_BATCH = 256
_DIGITS = 3
_STEP = 1e-6


def is_named(decision: str) -> bool:
    """Whether a vocabulary or an agent gave it its name; the others were mined from texts, words or meaning."""
    return not is_mined(decision) and not decision.startswith(f"{NAME}=")


@dataclass(kw_only=True, eq=False)
class Likeness:
    """embed: the embedder that every range is for. mine: whether exemplars are picked from texts, or only those that
    cards name are looked for. generation: grows when exemplars are added."""

    embed: Embedder
    mine: bool = True
    generation: int = 0
    _rows: dict[str, int] = field(default_factory=dict, repr=False)
    _vectors: list[NDArray[np.float32]] = field(default_factory=list, repr=False)
    _keys: dict[str, int] = field(default_factory=dict, repr=False)
    _exemplars: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32), repr=False)
    _ranges: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 2)), repr=False)
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
        low, high = np.quantile(reference @ reference[able][picked].T, (_TAIL, 1 - _TAIL), axis=0)
        ranges = zip(low, high, strict=True)
        self.follow(f"{NAME}={a:.3f}:{b:.3f}|{first[able[i]]}" for i, (a, b) in zip(picked, ranges, strict=True))

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
        self._ranges = np.concatenate((self._ranges, [_range(numbers) for numbers, _, _ in parts]))
        added = self._matrix(texts)
        self._exemplars = np.concatenate((self._exemplars, added)) if len(self._exemplars) else added
        self.generation += 1

    @property
    def keys(self) -> tuple[str, ...]:
        """Exemplars looked for, in the order of the columns of ``degrees``."""
        return tuple(self._keys)

    def degrees(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """How much each text is like each exemplar, (texts, keys), in [0, 1]."""
        if not self._keys or not texts:
            return np.zeros((len(texts), len(self._keys)))
        self.prepare(texts)
        cosine = (self._matrix(texts) @ self._exemplars.T).astype(np.float64)
        low, high = self._ranges.T
        found: NDArray[np.float64] = np.round(np.clip((cosine - low) / (high - low), 0, 1), _DIGITS)
        return found

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


def _range(numbers: str) -> tuple[float, float]:
    """From ``low:high``, or one cut, which is as good as a step. Raises ValueError for what is no number."""
    low, _, high = numbers.partition(":")
    return (float(low), float(high)) if high else (float(low) - _STEP, float(low))
