"""Tasks whose candidates were all tried, so that every choice has a known outcome."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from afterwit.credit.items import Bools, Floats, Ints, Objects, Times
from afterwit.generate.choose import contribution, score_matrix
from afterwit.model import Card, Condition

_DIGITS = 12


class Pairs(NamedTuple):
    """All pairs of candidates of one task: first, second: their rows; z: two-proportion statistic; shape (p,)."""

    first: Ints
    second: Ints
    z: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Tasks:
    """Candidates, shape (n,), sorted by task, and tasks, shape (G,).

    ids, texts, exposures, engagements, contexts: of candidates. task: code 0…G−1 of a candidate's task. names,
    created_at, available_at: of tasks; experiments: codes of the randomised test that a task is part of, by which
    intervals are bootstrapped.
    """

    ids: Objects
    texts: Objects
    exposures: Floats
    engagements: Floats
    contexts: Mapping[str, Objects]
    task: Ints
    names: Objects
    experiments: Ints
    created_at: Times
    available_at: Times

    def __len__(self) -> int:
        return len(self.names)

    def take(self, tasks: Bools) -> "Tasks":
        """The tasks under this mask, codes closed up."""
        rows = tasks[self.task]
        return Tasks(
            ids=self.ids[rows],
            texts=self.texts[rows],
            exposures=self.exposures[rows],
            engagements=self.engagements[rows],
            contexts={field: column[rows] for field, column in self.contexts.items()},
            task=(np.cumsum(tasks) - 1)[self.task[rows]].astype(np.int64),
            names=self.names[tasks],
            experiments=self.experiments[tasks],
            created_at=self.created_at[tasks],
            available_at=self.available_at[tasks],
        )

    @cached_property
    def rates(self) -> Floats:
        """Engagements per exposure, 0 where nothing was shown; (n,)."""
        return np.divide(self.engagements, self.exposures, out=np.zeros(len(self.ids)), where=self.exposures > 0)

    @cached_property
    def pairs(self) -> Pairs:
        """z = (p_1 − p_2) / √(p (1 − p) (1/n_1 + 1/n_2)), p pooled; 0 where p is 0 or 1 or nothing was shown."""
        n = len(self.task)
        found = [np.flatnonzero(self.task[: n - d] == self.task[d:]) for d in range(1, self._most)]
        first = np.concatenate([*found, np.zeros(0, dtype=np.int64)]).astype(np.int64)
        shift = np.repeat(np.arange(1, len(found) + 1), [len(rows) for rows in found])
        second = (first + shift).astype(np.int64)
        n_1, n_2 = self.exposures[first], self.exposures[second]
        shown = (n_1 > 0) & (n_2 > 0)
        pooled = np.divide(
            self.engagements[first] + self.engagements[second], n_1 + n_2, out=np.zeros(len(first)), where=shown
        )
        parts = np.where(shown, 1 / np.maximum(n_1, 1) + 1 / np.maximum(n_2, 1), 0.0)
        spread = np.sqrt(pooled * (1 - pooled) * parts)
        gap = self.rates[first] - self.rates[second]
        return Pairs(first, second, np.divide(gap, spread, out=np.zeros(len(first)), where=spread > 0))

    @property
    def _most(self) -> int:
        return int(np.bincount(self.task).max()) if len(self.task) else 1

    def utilities(self, scores: Floats) -> Floats:
        """U of each task, (G,): rate of the choice / mean rate of its candidates − 1; 0 where no rate is above 0.

        scores: (n,), the higher the better; the mean rate of the best where several tie, so that scores that are
        all equal have U = 0 exactly.
        """
        scores = np.round(scores, _DIGITS)
        best = np.full(len(self), -np.inf)
        np.maximum.at(best, self.task, scores)
        top = (scores == best[self.task]).astype(np.float64)
        chosen = self._sums(top * self.rates) / np.maximum(self._sums(top), 1)
        mean = self._sums(self.rates) / np.maximum(self._sums(np.ones(len(self.task))), 1)
        return np.divide(chosen, mean, out=np.ones(len(self)), where=mean > 0) - 1

    def hits(self, scores: Floats) -> Floats:
        """Per pair, (p,): 1 where the scores order it as the rates do, ½ where they tie, else 0."""
        scores = np.round(scores, _DIGITS)
        said = np.sign(scores[self.pairs.first] - scores[self.pairs.second])
        return np.where(said == 0, 0.5, (said == np.sign(self.pairs.z)).astype(np.float64))

    def pair_sums(self, values: Floats) -> Floats:
        """Sums over the pairs of each task, (G,)."""
        return np.bincount(self.task[self.pairs.first], weights=values, minlength=len(self)).astype(np.float64)

    def _sums(self, values: Floats) -> Floats:
        return np.bincount(self.task, weights=values, minlength=len(self)).astype(np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Shown:
    """Which candidate shows which decision. place: decision → column; matrix: (n, decisions), degrees, CSR."""

    place: Mapping[str, int]
    matrix: sparse.csr_array

    @staticmethod
    def of(found: Iterable[Mapping[str, float]]) -> "Shown":
        """found: decision → degree, of each candidate in turn."""
        place: dict[str, int] = {}
        rows = [sorted((place.setdefault(key, len(place)), degree) for key, degree in one.items()) for one in found]
        pointers = np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64)))
        columns = np.array([column for row in rows for column, _ in row], dtype=np.int64)
        degrees = np.array([degree for row in rows for _, degree in row], dtype=np.float64)
        matrix = sparse.csr_array((degrees, columns, pointers), shape=(len(rows), len(place)))
        return Shown(place=place, matrix=matrix)

    def take(self, rows: Ints | Bools) -> "Shown":
        return Shown(place=self.place, matrix=self.matrix[rows])


def bank_scores(cards: Sequence[Card], shown: Shown, contexts: Mapping[str, Objects]) -> Floats:
    """What the frozen chooser gives every candidate, (n,): all cards that name one of its decisions are taken.

    contexts: of the candidates. A card counts only where its condition holds.
    """
    found = np.zeros(shown.matrix.shape[0])
    by_condition: dict[Condition, dict[str, float]] = {}
    for card in sorted(cards, key=lambda card: card.id):
        if card.stance is not None and card.stance.decision in shown.place:
            effects = by_condition.setdefault(card.when, {})
            effects[card.stance.decision] = effects.get(card.stance.decision, 0.0) + contribution(card)
    for when, effects in by_condition.items():
        names = sorted(effects)
        part = shown.matrix[:, [shown.place[name] for name in names]]
        scores = score_matrix(effects, names, sparse.csr_array(part))
        found += scores * _holds(when, contexts, len(scores)) if when.clauses else scores
    return found


def _holds(when: Condition, contexts: Mapping[str, Objects], n: int) -> Bools:
    fields = [field for field in when.fields if field in contexts]
    given = ({field: contexts[field][i] for field in fields if contexts[field][i] is not None} for i in range(n))
    return np.array([when.holds(context) for context in given], dtype=np.bool_)
