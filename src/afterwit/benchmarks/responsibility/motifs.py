"""The ways in which cards can and cannot be behind a decision. Each states its truth as it is built.

Truth is written down by the builder of each motif from how it wires the agent, never computed by replay: a card is
responsible for a decision iff it was recalled, cited for it, and is part of what the decision hangs on. The last
three motifs ask more than our method can give: they are kept so that the set has no ceiling of 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from afterwit.benchmarks.responsibility.agent import Slot
from afterwit.model import Card, Stance


@dataclass(frozen=True, kw_only=True)
class Wired:
    """One decision of one episode. slot: what the agent does on replay. responsible: the truth. logged: the slot
    that wrote the log, where that was another than the agent's."""

    slot: Slot
    responsible: frozenset[str]
    logged: Slot | None = None


@dataclass(kw_only=True)
class Deck:
    """Deals the cards of one episode. earlier: cards that other decisions of the episode hang on."""

    rng: np.random.Generator
    make: Callable[[Stance | None], Card]
    cards: list[Card] = field(default_factory=list)
    earlier: list[str] = field(default_factory=list)

    def deal(self, decision: str, count: int, *, named: float = 0.5, prefer: bool = True) -> list[str]:
        """New recalled cards, whose stance names the decision with chance ``named``; their ids."""
        fresh = []
        for _ in range(count):
            says = Stance(decision=decision, prefer=prefer) if self.rng.random() < named else None
            fresh.append(self.make(says))
        self.cards.extend(fresh)
        return [card.id for card in fresh]

    def idle(self, decision: str, most: int = 2) -> list[str]:
        """Cards that do nothing for the decision, yet may be cited for it: new ones, and causes of other decisions."""
        new = self.deal(decision, int(self.rng.integers(0, most + 1)), named=0.6)
        borrowed = [self.earlier[int(self.rng.integers(len(self.earlier)))]] if self.earlier else []
        return new + (borrowed if self.rng.random() < 0.5 else [])


Motif = Callable[[Deck, str], Wired]


def _voted(
    deck: Deck, name: str, votes: Sequence[int], threshold: int, behind: Sequence[int], *, prefer: bool = True
) -> Wired:
    """Cards with these votes, all cited, beside idle ones; ``behind`` are the places of the responsible cards."""
    advised = "advised"
    decision = f"{name}={advised}"
    if not prefer:
        # Advice to avoid makes the output show ``not:name=…``, the key that an avoiding stance follows.
        name = f"not:{name}"
    ids = deck.deal(decision, len(votes), prefer=prefer)
    slot = Slot(
        name=name,
        usual="usual",
        advised=advised,
        votes=dict(zip(ids, votes, strict=True)),
        threshold=threshold,
        cites=(*ids, *deck.idle(decision)),
    )
    return Wired(slot=slot, responsible=frozenset(ids[place] for place in behind))


def sole(deck: Deck, name: str) -> Wired:
    return _voted(deck, name, [2], 2, [0])


def avoided(deck: Deck, name: str) -> Wired:
    return _voted(deck, name, [2], 2, [0], prefer=False)


def avoided_twice(deck: Deck, name: str) -> Wired:
    return _voted(deck, name, [1, 1], 1, [0, 1], prefer=False)


def both_needed(deck: Deck, name: str) -> Wired:
    return _voted(deck, name, [1, 1], 2, [0, 1])


def outvoted(deck: Deck, name: str) -> Wired:
    """The second card says the same, too weakly to matter either way."""
    return _voted(deck, name, [2, 1], 2, [0])


def redundant_pair(deck: Deck, name: str) -> Wired:
    return _voted(deck, name, [1, 1], 1, [0, 1])


def redundant_triple(deck: Deck, name: str) -> Wired:
    return _voted(deck, name, [1, 1, 1], 1, [0, 1, 2])


def two_of_three(deck: Deck, name: str) -> Wired:
    return _voted(deck, name, [1, 1, 1], 2, [0, 1, 2])


def habit(deck: Deck, name: str) -> Wired:
    """The agent would do it anyway, and cites cards out of politeness."""
    return _voted(deck, name, [1, 1], 0, [])


def ranked(deck: Deck, name: str) -> Wired:
    """The first card decides, the second would decide otherwise; both are cited."""
    first, second = deck.deal(f"{name}=advised", 2)
    ranks = ((first, "advised"), (second, "second best"))
    slot = Slot(name=name, usual="usual", advised="advised", ranks=ranks, cites=(first, second))
    return Wired(slot=slot, responsible=frozenset({first}))


def ranked_pair(deck: Deck, name: str) -> Wired:
    """Two cards in order of priority say the same, a third below them would decide otherwise."""
    one, two, below = deck.deal(f"{name}=advised", 3)
    ranks = ((one, "advised"), (two, "advised"), (below, "second best"))
    slot = Slot(name=name, usual="usual", advised="advised", ranks=ranks, cites=(one, two, below))
    return Wired(slot=slot, responsible=frozenset({one, two}))


def uncited_cause(deck: Deck, name: str) -> Wired:
    """Two cards are needed and one is cited: the other, new or behind another decision, is not responsible here."""
    (cited,) = deck.deal(f"{name}=advised", 1)
    if deck.earlier and deck.rng.random() < 0.7:
        silent = deck.earlier[int(deck.rng.integers(len(deck.earlier)))]
    else:
        (silent,) = deck.deal(f"{name}=advised", 1)
    slot = Slot(
        name=name,
        usual="usual",
        advised="advised",
        votes={cited: 1, silent: 1},
        threshold=2,
        cites=(cited,),
    )
    return Wired(slot=slot, responsible=frozenset({cited}))


def nothing_cited(deck: Deck, name: str) -> Wired:
    """Without citations the stances speak: redundant cards that name the decision, and one that does no more."""
    decision = f"{name}=advised"
    one, two = deck.deal(decision, 2, named=1.0)
    deck.deal(decision, 1, named=1.0)
    slot = Slot(name=name, usual="usual", advised="advised", votes={one: 1, two: 1}, threshold=1)
    return Wired(slot=slot, responsible=frozenset({one, two}))


def overridden(deck: Deck, name: str) -> Wired:
    """A person decided otherwise and left the citations as they were: no card is behind the decision."""
    wired = _voted(deck, name, [2], 2, [0])
    logged = Slot(name=name, usual="by hand", advised="by hand", cites=wired.slot.cites)
    return Wired(slot=wired.slot, responsible=frozenset(), logged=logged)


def four_redundant(deck: Deck, name: str) -> Wired:
    """Beyond the largest set that is searched."""
    return _voted(deck, name, [1, 1, 1, 1], 1, [0, 1, 2, 3])


def sole_beside_pair(deck: Deck, name: str) -> Wired:
    """One card is needed, and either of two others. A sole responsible ends the search before the pair is found."""
    return _voted(deck, name, [3, 1, 1], 4, [0, 1, 2])


def drifted(deck: Deck, name: str) -> Wired:
    """The agent was replaced since: what it decided then cannot be replayed."""
    wired = _voted(deck, name, [2], 2, [0])
    now = Slot(name=name, usual="usual", advised="reworded", cites=wired.slot.cites)
    return Wired(slot=now, responsible=wired.responsible, logged=wired.slot)


SHARES: dict[Motif, float] = {
    sole: 0.11,
    avoided: 0.05,
    avoided_twice: 0.05,
    both_needed: 0.06,
    outvoted: 0.07,
    redundant_pair: 0.08,
    redundant_triple: 0.05,
    two_of_three: 0.07,
    habit: 0.13,
    ranked: 0.07,
    ranked_pair: 0.06,
    uncited_cause: 0.06,
    nothing_cited: 0.05,
    overridden: 0.06,
    four_redundant: 0.01,
    sole_beside_pair: 0.01,
    drifted: 0.01,
}
"""Share of decisions built by each motif; they sum to 1."""
