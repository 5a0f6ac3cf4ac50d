"""From texts to a matrix of the decisions that they show, and to what degree."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from afterwit.decisions.likeness import NAME, Likeness, is_named
from afterwit.decisions.mining import mined
from afterwit.decisions.vocabulary import Vocabulary

_KEPT = 100_000
SHOWS = 0.5
"""From this degree on a text shows a decision rather than not."""
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class _Row(NamedTuple):
    """What one text shows: columns, and degrees above 0, by the keys' names."""

    columns: Ints
    degrees: Floats


@dataclass(frozen=True, kw_only=True)
class MiningRules:
    """support: in how many strata a mined decision, or a likeness, must vary to be examined. named: the same of one
    that a vocabulary or an agent names, of which there are few. mine: whether words, pairs, stems and
    lengths count, beside what is declared and what the vocabulary names."""

    support: int = 20
    named: int = 5
    mine: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class Extractor:
    """Decisions of texts; what a text shows is worked out once and kept.

    A decision that the agent declared wins: extracted ones of the same name are left out. A declared
    ``not:hook=question`` says that the text does not show that one, whatever a pattern found. likeness: also looks at
    what texts mean, at about a millisecond a text for the default embedder.
    """

    vocabulary: Vocabulary | None = None
    likeness: Likeness | None = None
    rules: MiningRules = field(default_factory=MiningRules)
    _known: dict[tuple[str, tuple[str, ...]], frozenset[str]] = field(default_factory=dict, repr=False)
    _columns: dict[str, int] = field(default_factory=dict, repr=False)
    _rows: dict[tuple[str, tuple[str, ...]], _Row] = field(default_factory=dict, repr=False)

    def follow(self, decisions: Iterable[str]) -> None:
        """Makes sure that decisions which cards name are looked for, exemplars in particular."""
        if self.likeness is not None:
            before = self.likeness.generation
            self.likeness.follow(decisions)
            if self.likeness.generation != before:
                self._rows.clear()

    def shown(self, text: str, declared: Iterable[str] = ()) -> frozenset[str]:
        """Keys of the decisions that one text shows rather than not: to a degree of a half or more."""
        found = self.degrees_each([text], [tuple(declared)])[0]
        return frozenset(key for key, degree in found.items() if degree >= SHOWS)

    def degrees(self, text: str) -> Mapping[str, float]:
        """Decision → how much of it one text shows, above 0 and at most 1; words and patterns are shown whole."""
        return self.degrees_each([text])[0]

    def degrees_each(
        self, texts: Sequence[str], declared: Sequence[tuple[str, ...]] | None = None
    ) -> list[dict[str, float]]:
        """The same for many texts, which is faster than one by one."""
        given = [()] * len(texts) if declared is None else declared
        found = [dict.fromkeys(self._lexical(text, keys), 1.0) for text, keys in zip(texts, given, strict=True)]
        if self.likeness is not None:
            names = self.likeness.keys
            for keys, like, own in zip(found, self.likeness.degrees(list(texts)).tolist(), given, strict=True):
                if not any(key.startswith(f"{NAME}=") for key in own):
                    keys.update((name, degree) for name, degree in zip(names, like, strict=True) if degree > 0)
        return found

    def _lexical(self, text: str, declared: tuple[str, ...]) -> frozenset[str]:
        place = (text, declared)
        found = self._known.get(place)
        if found is None:
            found = mined(text) if self.rules.mine else frozenset()
            if self.vocabulary is not None:
                found |= self.vocabulary.shown(text)
            if declared:
                found = _declared_wins(found, declared)
            if len(self._known) >= _KEPT:  # an agent that serves for months must not fill its memory
                self._known.clear()
            self._known[place] = found
        return found

    def design(
        self,
        texts: Sequence[str] | NDArray[np.object_],
        strata: Ints,
        declared: Sequence[tuple[str, ...]] | NDArray[np.object_] | None = None,
    ) -> tuple[tuple[str, ...], sparse.csr_array]:
        """Names (sorted) of the decisions that vary in enough strata, and the (items, names) matrix."""
        given = [()] * len(texts) if declared is None else declared
        rows = self._rows_of(list(zip(texts, given, strict=True)))
        indices = np.concatenate([row.columns for row in rows]) if rows else np.zeros(0, dtype=np.int64)
        degrees = np.concatenate([row.degrees for row in rows]) if rows else np.zeros(0)
        row_of = np.repeat(np.arange(len(rows)), [len(row.columns) for row in rows])
        keys = np.array(list(self._columns), dtype=object)
        least = np.array([self._least(str(key)) for key in keys], dtype=np.int64)
        frequent = np.flatnonzero(np.bincount(indices, minlength=len(keys)) >= least)
        enough = support(_matrix(indices, degrees, row_of, frequent, len(keys), len(rows)), strata) >= least[frequent]
        varying = frequent[enough]
        varying = varying[np.argsort(keys[varying].astype(str), kind="stable")]
        return tuple(keys[varying]), _matrix(indices, degrees, row_of, varying, len(keys), len(rows))

    def _least(self, key: str) -> int:
        return min(self.rules.named, self.rules.support) if is_named(key) else self.rules.support

    def _rows_of(self, places: Sequence[tuple[str, tuple[str, ...]]]) -> list[_Row]:
        """Columns that each text shows; only texts not seen before cost anything."""
        if self.likeness is not None:
            before = self.likeness.generation
            self.likeness.choose(text for text, _ in places)
            if self.likeness.generation != before:
                self._rows.clear()
        new = [place for place in dict.fromkeys(places) if place not in self._rows]
        found = self.degrees_each([text for text, _ in new], [declared for _, declared in new])
        for place, degrees in zip(new, found, strict=True):
            keys = sorted(degrees)
            columns = [self._columns.setdefault(key, len(self._columns)) for key in keys]
            self._rows[place] = _Row(
                columns=np.array(columns, dtype=np.int64),
                degrees=np.array([degrees[key] for key in keys], dtype=np.float64),
            )
        return [self._rows[place] for place in places]


def _declared_wins(found: frozenset[str], declared: tuple[str, ...]) -> frozenset[str]:
    denied = {key.removeprefix("not:") for key in declared if key.startswith("not:")}
    given = {key for key in declared if not key.startswith("not:")}
    names = {key.partition("=")[0] for key in given}
    return frozenset(key for key in found if key.partition("=")[0] not in names and key not in denied) | given


def _matrix(indices: Ints, degrees: Floats, row_of: Ints, columns: Ints, known: int, rows: int) -> sparse.csr_array:
    """The (rows, columns) matrix of what each row shows. Rows list their keys by name; so do ``columns`` where they are
    by name too, and then the order within rows, and every sum over one, does not depend on what was seen first."""
    place = np.full(known, -1, dtype=np.int64)
    place[columns] = np.arange(len(columns))
    inside = place[indices] >= 0
    # Half as wide as need be is half as much to read in every product to come.
    pointers = np.concatenate(([0], np.cumsum(np.bincount(row_of[inside], minlength=rows)))).astype(np.int32)
    kept = place[indices[inside]].astype(np.int32)
    return sparse.csr_array((degrees[inside], kept, pointers), shape=(rows, len(columns)))


def support(matrix: sparse.csr_array, strata: Ints) -> Ints:
    """Per decision, in how many strata some items show it and not all do whole; shape (decisions,)."""
    if matrix.shape[0] == 0:
        return np.zeros(matrix.shape[1], dtype=np.int64)
    of = sparse.csr_array((np.ones(len(strata)), (strata, np.arange(len(strata)))))
    sizes: Any = np.bincount(strata, minlength=of.shape[0])
    shown = (of @ matrix).tocoo()
    some_lack_it = shown.data < sizes[shown.row]
    return np.bincount(shown.col[some_lack_it], minlength=matrix.shape[1])
