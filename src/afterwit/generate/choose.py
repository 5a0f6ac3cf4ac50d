"""A frozen generator that chooses among candidates by the recalled cards' joint effects."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from afterwit.decisions.extraction import SHOWS
from afterwit.decisions.mining import MINED
from afterwit.errors import InputError
from afterwit.model import Card, Citation, Decision, Draft, Task, content_hash

Degrees = Callable[[str], Mapping[str, float]]
"""Decision → how much of it a text shows, in (0, 1]."""


def contribution(card: Card) -> float:
    """What a card adds to a candidate that shows its decision: |effect| with the sign of its stance.

    Where effect and stance disagree the stance's sign stands. A card that no evidence has measured yet counts 0.01
    (1 %), so that advice given by hand acts at all.
    """
    if card.stance is None:
        return 0.0
    return card.stance.sign * (abs(card.effect) if card.effect or card.fitness else 0.01)


def scores(candidates: Sequence[str], cards: Sequence[Card], degrees: Degrees) -> NDArray[np.float64]:
    """Sum over the cards of contribution · the degree to which a candidate shows the decision, shape (candidates,).

    Rounded to 12 decimals, so that sums that differ only by floating point tie.
    """
    named = _named(cards)
    return np.round([_sum(named, degrees(text)) for text in candidates], 12)


def score_matrix(effects: Mapping[str, float], names: Sequence[str], matrix: sparse.csr_array) -> NDArray[np.float64]:
    """The same for many candidates at once: matrix (candidates, names) of degrees → (candidates,).

    effects: decision → sum of the contributions of the cards that name it.
    """
    column = np.array([effects.get(name, 0.0) for name in names], dtype=np.float64)
    return np.round(matrix @ column, 12)


class Chooser:
    """The candidate with the highest score; ties go to the smallest content hash.

    A text shows what it shows to a half or more. The draft's decisions are those that some card names:
    ``hook=question`` where the choice shows it and cards prefer it, ``not:hook=question`` where another candidate shows
    it, the choice does not and cards avoid it. Each cites the cards that name it. So a decision leaves the list when
    its only card leaves the prompt, even where the choice stays: whoever asks what a card changed looks at the output,
    with ``shown``, and not at the list.
    """

    def __init__(self, degrees: Degrees) -> None:
        self._degrees = degrees

    def __call__(self, task: Task, cards: Sequence[Card], *, seed: int = 0) -> Draft:
        """Raises InputError for a task without candidates. The seed changes nothing: the choice is deterministic."""
        if not task.candidates:
            raise InputError("the built-in generator chooses among candidates, and this task brought none")
        named = _named(cards)
        degrees = [self._degrees(text) for text in task.candidates]
        shown = [frozenset(key for key, degree in found.items() if degree >= SHOWS) for found in degrees]
        score = np.round([_sum(named, found) for found in degrees], 12)
        best = min(range(len(shown)), key=lambda i: (-score[i], content_hash(task.candidates[i])))
        elsewhere = frozenset[str]().union(*shown) - shown[best]
        decisions, citations = [], []
        for key in sorted(named):
            followed = key if key in shown[best] else f"not:{key}" if key in elsewhere else None
            acting = [c.id for c in named[key] if c.stance is not None and c.stance.followed == followed]
            if followed is not None and acting:
                name, _, value = followed.partition("=")
                mined = name.removeprefix("not:") in MINED
                decisions.append(Decision(name=name, value=value, source="mined" if mined else "vocabulary"))
                citations.append(Citation(decision=followed, cards=tuple(acting)))
        return Draft(output=task.candidates[best], decisions=tuple(decisions), citations=tuple(citations))


def _named(cards: Sequence[Card]) -> dict[str, list[Card]]:
    named: dict[str, list[Card]] = {}
    for card in sorted(cards, key=lambda card: card.content_hash):
        if card.stance is not None:
            named.setdefault(card.stance.decision, []).append(card)
    return named


def _sum(named: Mapping[str, Sequence[Card]], found: Mapping[str, float]) -> float:
    return math.fsum(contribution(card) * found[key] for key in found.keys() & named.keys() for card in named[key])
