"""The writer without a model for one question over a long text: keeps the sentences that serve it best.

Each sentence is scored by the rare words that it shares with the question and, at less weight, with the best sentences
kept so far, so that what the question only leads to is found as well. The state is its lines, each with its score:

    - [4.31] The film was directed by Ed Wood.

Our reconstruction, deterministic; one pass, a chunk at a time.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from afterwit.digest.chunk import Chunk, Count
from afterwit.digest.constraints import Constraint, kept
from afterwit.digest.terms import Rarity, words

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+|(?<=[。！？])")
_LINE = re.compile(r"^- \[(\d+\.\d\d)\] (.+)$")
_BRIDGE = 0.35  # weight of words that only the best sentences have
_LEADS = 4  # sentences whose words lead on


@dataclass(frozen=True, kw_only=True)
class Focused:
    """rarity: of words at large; where none is known that of the chunk at hand."""

    rarity: Rarity | None = None
    name: str = "focused"

    def __call__(
        self, query: str, text: str, chunk: Chunk, *, budget: int, constraints: Sequence[Constraint], count: Count
    ) -> str:
        lines = [match for line in text.splitlines() if (match := _LINE.match(line.strip()))]
        known = {match[2]: float(match[1]) for match in lines}
        new = dict.fromkeys(
            sentence.strip()
            for interaction in chunk.interactions
            for sentence in _SENTENCE.split(_joined(interaction.title, interaction.text))
            if sentence.strip() and sentence.strip() not in known
        )
        told = {sentence: frozenset(words(sentence)) for sentence in (*known, *new)}
        rarity = self.rarity or Rarity.of(new)
        asked = frozenset(words(query))
        scores = {**known, **{s: _score(told[s], asked, frozenset(), rarity) for s in new}}
        leads = sorted(scores, key=lambda s: (-scores[s], s))[:_LEADS]
        led = frozenset(word for s in leads if scores[s] > 0 for word in told[s]) - asked
        final = {s: max(scores[s], _score(told[s], asked, led, rarity)) for s in told}
        ordered = sorted(final, key=lambda s: (-final[s], s))
        chosen: list[str] = []
        room = budget - count("# Profile\n## Notes\n")
        for line in kept([f"- [{final[s]:.2f}] {s}" for s in ordered if final[s] > 0], constraints):
            size = count(line) + 1
            if size <= room:
                chosen.append(line)
                room -= size
        return "# Profile\n## Notes\n" + "\n".join(chosen) + "\n"


def _score(sentence: frozenset[str], asked: frozenset[str], led: frozenset[str], rarity: Rarity) -> float:
    """Σ rarity of shared words, those that lead on at ``_BRIDGE``, over the fourth root of the length."""
    own = _sum(sentence & asked, rarity) + _BRIDGE * _sum(sentence & led, rarity)
    return own / math.sqrt(math.sqrt(max(len(sentence), 4)))


def _sum(shared: Iterable[str], rarity: Rarity) -> float:
    return sum(rarity(word) for word in shared)


def _joined(title: str, text: str) -> str:
    """Every sentence says what it is about, as it is read apart from its neighbours."""
    if not title:
        return text
    return "\n".join(f"{title}: {sentence}" for sentence in _SENTENCE.split(text) if sentence.strip()) or title
