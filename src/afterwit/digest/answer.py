"""Answers from a profile's text alone: rank candidates, search a catalogue, judge one item.

score = a · words + b · meaning + c · prior + query terms; all but the prior standardised over the candidates.

    words    BM25 (k1 = 1.2, b = 0.75) of the candidate's words, weighted by the profile's tallies, or by the lines
             that hold them where a text has no tallies
    meaning  τ · ln Σ_l h_l · exp(cos(candidate, line) / τ) over evidence lines, newest first, h_l = 0.5^(place / 5)
    prior    ln(1 + n / 5), n how often the item is chosen by anyone, where that is known: as if five more had been
             seen of each, so that once or never makes no difference
    query    the same two, words and meaning, against what is asked for

Our reconstruction: the paper's frozen model reads the profile and answers; this is what answers without a model.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from afterwit.digest.fold import body
from afterwit.digest.sketch import HALF_LIFE, Sketch, read
from afterwit.digest.terms import Rarity, words
from afterwit.ports import Embedder

Floats = NDArray[np.float64]
_K1, _B = 1.2, 0.75
_PSEUDO = 5.0


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An item to be judged. id: what ties in scores are told apart by; title; text: more about it, if any."""

    id: str
    title: str
    text: str = ""

    @property
    def said(self) -> str:
        return f"{self.title} {self.text}".strip()


@dataclass(frozen=True, kw_only=True)
class AnswerRules:
    """Weights of the score, chosen on users that judge nothing (docs/adr/0008). temperature: τ."""

    words: float = 0.5
    meaning: float = 0.55
    prior: float = 1.0
    query: float = 1.0
    temperature: float = 0.1


@dataclass(frozen=True, kw_only=True, eq=False)
class Answerer:
    """rarity: of words in the catalogue. prior: item id → how often it is chosen by anyone; empty where unknown."""

    embedder: Embedder
    rarity: Rarity = field(default_factory=Rarity)
    prior: Mapping[str, float] = field(default_factory=dict)
    rules: AnswerRules = field(default_factory=AnswerRules)

    def scores(self, profile: str, candidates: Sequence[Candidate], *, query: str = "") -> Floats:
        """Higher is liker, (candidates,). An empty profile and no prior score all alike."""
        if not candidates:
            return np.zeros(0)
        rules, sketch = self.rules, read(body(profile))
        vectors = self.embedder([one.said for one in candidates]).astype(np.float64)
        total = rules.words * standard(self.words_of(interests(sketch), candidates))
        total += rules.meaning * standard(self._meaning(evidence(sketch), vectors))
        if self.prior:
            total += rules.prior * commonness(np.array([self.prior.get(one.id, 0.0) for one in candidates]))
        if query.strip():
            asked = dict.fromkeys(words(query), 1.0)
            total += rules.query * standard(self.words_of(asked, candidates))
            total += rules.query * standard(self._meaning([query], vectors))
        return total

    def rank(self, profile: str, candidates: Sequence[Candidate], *, query: str = "") -> list[Candidate]:
        """Best first; equal scores in the order of ids."""
        scores = self.scores(profile, candidates, query=query)
        return [candidates[i] for i in sorted(range(len(candidates)), key=lambda i: (-scores[i], candidates[i].id))]

    def judge(self, profile: str, candidate: Candidate, others: Sequence[Candidate], *, query: str = "") -> bool:
        """Whether the user would choose it: whether it stands in the better half among others of its kind."""
        scores = self.scores(profile, [candidate, *others], query=query)
        return bool(scores[0] > np.median(scores[1:])) if others else bool(scores[0] > 0)

    def words_of(self, asked: Mapping[str, float], candidates: Sequence[Candidate]) -> Floats:
        """BM25 of each candidate against weighted words, (candidates,)."""
        texts = [words(one.said) for one in candidates]
        mean = sum(map(len, texts)) / len(texts) or 1.0
        found = []
        for text in texts:
            length = _K1 * (1 - _B + _B * len(text) / mean)
            terms = {word: text.count(word) for word in set(text) if word in asked}
            found.append(sum(asked[w] * self.rarity(w) * n * (_K1 + 1) / (n + length) for w, n in terms.items()))
        return np.array(found, dtype=np.float64)

    def _meaning(self, lines: Sequence[str], vectors: Floats) -> Floats:
        if not lines:
            return np.zeros(len(vectors))
        cosines = vectors @ self.embedder(list(lines)).astype(np.float64).T
        fading = 0.5 ** (np.arange(len(lines)) / HALF_LIFE)
        tau = self.rules.temperature
        return np.asarray(tau * np.log((np.exp(cosines / tau) * fading).sum(axis=1)), dtype=np.float64)


def interests(sketch: Sketch) -> dict[str, float]:
    """Word → weight, from tallies; of a text without any, each line's words alike."""
    found: dict[str, float] = {}
    for section in sketch.tallies.values():
        for tally in section.values():
            for word in words(tally.name):
                found[word] = max(found.get(word, 0.0), tally.weight + 0.05 * math.sqrt(tally.times))
    if not found:
        for line in (*sketch.notes, *sketch.evidence):
            found |= dict.fromkeys(words(line), 1.0)
    return found


def evidence(sketch: Sketch) -> list[str]:
    """What the profile says happened, newest first: titles where lines have them, and a person's notes."""
    return [*(_title(line) for line in sketch.evidence), *sketch.notes]


def commonness(chosen: Floats) -> Floats:
    return np.log1p(chosen / _PSEUDO)


def standard(values: Floats) -> Floats:
    """Zero mean and unit deviation; all zero where all are alike."""
    deviation = float(values.std())
    return (values - values.mean()) / deviation if deviation > 1e-12 else np.zeros(len(values))


def _title(line: str) -> str:
    parts = line.split(" · ")
    return parts[2] if len(parts) >= 3 else line
