"""From texts to a 0/1 matrix of the decisions that they show."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from afterwit.decisions.mining import mined
from afterwit.decisions.vocabulary import Vocabulary


@dataclass(frozen=True, kw_only=True)
class MiningRules:
    """support: in how many strata a decision must vary to be examined. mine: whether words, pairs, stems and
    lengths count, beside what is declared and what the vocabulary names."""

    support: int = 20
    mine: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class Extractor:
    """Decisions of texts; what a text shows is worked out once and kept.

    A decision that the agent declared wins: extracted ones of the same name are left out.
    """

    vocabulary: Vocabulary | None = None
    rules: MiningRules = field(default_factory=MiningRules)
    _known: dict[tuple[str, tuple[str, ...]], frozenset[str]] = field(default_factory=dict, repr=False)
    _columns: dict[str, int] = field(default_factory=dict, repr=False)
    _rows: dict[tuple[str, tuple[str, ...]], NDArray[np.int64]] = field(default_factory=dict, repr=False)

    def shown(self, text: str, declared: Iterable[str] = ()) -> frozenset[str]:
        """Keys of the decisions that one text shows."""
        place = (text, tuple(declared))
        found = self._known.get(place)
        if found is None:
            found = mined(text) if self.rules.mine else frozenset()
            if self.vocabulary is not None:
                found |= self.vocabulary.shown(text)
            names = {key.partition("=")[0] for key in place[1]}
            if names:
                found = frozenset(key for key in found if key.partition("=")[0] not in names) | set(place[1])
            self._known[place] = found
        return found

    def design(
        self,
        texts: Sequence[str] | NDArray[np.object_],
        strata: NDArray[np.int64],
        declared: Sequence[tuple[str, ...]] | NDArray[np.object_] | None = None,
    ) -> tuple[tuple[str, ...], sparse.csr_array]:
        """Names (sorted) of the decisions that vary in at least ``support`` strata, and the (items, names) matrix."""
        rows = [
            self._row(t, d) for t, d in zip(texts, declared if declared is not None else [()] * len(texts), strict=True)
        ]
        indices = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
        pointers = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
        frequent = np.bincount(indices, minlength=len(self._columns)) >= self.rules.support
        kept = np.flatnonzero(frequent)
        place = np.full(len(self._columns), -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        inside = frequent[indices]
        row_of = np.repeat(np.arange(len(rows)), np.diff(pointers))[inside]
        matrix = sparse.csr_array(
            (np.ones(len(row_of)), (row_of, place[indices[inside]])), shape=(len(rows), len(kept))
        )
        varying = np.flatnonzero(support(matrix, strata) >= self.rules.support)
        keys = np.array(list(self._columns), dtype=object)[kept[varying]]
        order = np.argsort(keys.astype(str), kind="stable")
        return tuple(keys[order]), matrix[:, varying[order]].tocsr()

    def _row(self, text: str, declared: tuple[str, ...]) -> NDArray[np.int64]:
        row = self._rows.get((text, declared))
        if row is None:
            keys = sorted(self.shown(text, declared))
            row = np.array([self._columns.setdefault(key, len(self._columns)) for key in keys], dtype=np.int64)
            self._rows[text, declared] = row
        return row


def support(matrix: sparse.csr_array, strata: NDArray[np.int64]) -> NDArray[np.int64]:
    """Per decision, in how many strata some items show it and some do not; shape (decisions,)."""
    if matrix.shape[0] == 0:
        return np.zeros(matrix.shape[1], dtype=np.int64)
    of = sparse.csr_array((np.ones(len(strata)), (strata, np.arange(len(strata)))))
    sizes: Any = np.bincount(strata, minlength=of.shape[0])
    shown = (of @ matrix).tocoo()
    some_lack_it = shown.data < sizes[shown.row]
    return np.bincount(shown.col[some_lack_it], minlength=matrix.shape[1])
