"""Answers from a profile's text alone: rank candidates, search a catalogue, judge one item.

score = Σ_f w_f · g_f · f + query terms; words and meaning standardised over the candidates. The two kinds of company
are not: pulled to chance where little was counted, they say by their size how much is known.

    words    BM25 (k1 = 1.2, b = 0.75) of the candidate's words, weighted by the profile's tallies, or by the lines
             that hold them where a text has no tallies
    meaning  τ · ln Σ_l h_l · exp(cos(candidate, line) / τ) over evidence lines, newest first, h_l = 0.5^(place / 5)
    items    what the candidate's title goes with in other users' histories, words: what its words go with (together.py)
    prior    ln(1 + n / 5), n how often the item is chosen by anyone, where that is known: as if five more had been
             seen of each, so that once or never makes no difference
    query    the first two, words and meaning, against what is asked for

g_f in [0, 1] is what a feature can still tell among these candidates (weighing.py): where something else chose them by
that very feature, popular ones only, say, it tells nothing.

Our reconstruction: the paper's frozen model reads the profile and answers; this is what answers without a model.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from afterwit.digest.catalogue import Catalogue
from afterwit.digest.fold import body
from afterwit.digest.sketch import HALF_LIFE, Sketch, read
from afterwit.digest.terms import words
from afterwit.digest.weighing import Floats, commonness, open_share, standard, weighed
from afterwit.ports import Embedder

_K1, _B = 1.2, 0.75
_OTHERS = 5.0  # interactions that what everybody chooses counts as, beside the user's own


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
    """Weights of the score, chosen on users that judge nothing (docs/adr). temperature: τ. typical_*: by how much what
    users choose is above items at random: deviations of these for words and meaning, plain units for company.
    weighing: whether the candidates decide how much each feature may say."""

    words: float = 0.3
    meaning: float = 0.25
    items: float = 0.6
    company: float = 4.0
    prior: float = 1.4
    query: float = 1.0
    temperature: float = 0.1
    typical_words: float = 4.0
    typical_meaning: float = 4.0
    typical_items: float = 1.4
    typical_company: float = 0.38
    weighing: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class Answerer:
    """catalogue: what is known of items beside the user; empty where nothing is."""

    embedder: Embedder
    catalogue: Catalogue = field(default_factory=Catalogue)
    rules: AnswerRules = field(default_factory=AnswerRules)

    def scores(self, profile: str, candidates: Sequence[Candidate], *, query: str = "") -> Floats:
        """Higher is liker, (candidates,). An empty profile and no prior score all alike."""
        if not candidates:
            return np.zeros(0)
        rules, sketch = self.rules, read(body(profile))
        at_random = self.catalogue.sample if rules.weighing else ()
        every = [*candidates, *(Candidate(id=id_, title=title) for id_, title in at_random)]
        n, lines, liked = len(candidates), evidence(sketch), interests(sketch)
        vectors = self.embedder([one.said for one in every]).astype(np.float64)
        total = rules.words * weighed(self.words_of(liked, every), n, rules.typical_words)
        total += rules.meaning * weighed(self._meaning(lines, vectors), n, rules.typical_meaning)
        if (together := self.catalogue.together) is not None:
            titles = [one.title for one in every]
            items = together.by_items(lines, titles)
            company = together.by_words(liked, titles, self.catalogue.rarity)
            total += rules.items * open_share(items[:n], items[n:], rules.typical_items) * items[:n]
            total += rules.company * open_share(company[:n], company[n:], rules.typical_company) * company[:n]
        if self.catalogue.chosen:
            total += rules.prior * self._prior(lines, every, n)
        if query.strip():
            asked = dict.fromkeys(words(query), 1.0)
            total += rules.query * standard(self.words_of(asked, candidates))
            total += rules.query * standard(self._meaning([query], vectors[:n]))
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
            found.append(
                sum(asked[w] * self.catalogue.rarity(w) * n * (_K1 + 1) / (n + length) for w, n in terms.items())
            )
        return np.array(found, dtype=np.float64)

    def _prior(self, lines: Sequence[str], every: Sequence[Candidate], n: int) -> Floats:
        """Of the first ``n``. What the user is used to is what was chosen before, and everybody's as five more."""
        chosen = self.catalogue.chosen
        values = commonness(np.array([chosen.get(one.id, 0.0) for one in every]))
        if not self.rules.weighing or len(every) == n:
            return values[:n]
        own = commonness(np.array([self.catalogue.times(line) for line in lines]))
        usual = (own.sum() + _OTHERS * self.catalogue.usual) / (len(own) + _OTHERS)
        return open_share(values[:n], values[n:], usual - float(values[n:].mean())) * values[:n]

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


def _title(line: str) -> str:
    parts = line.split(" · ")
    return parts[2] if len(parts) >= 3 else line
