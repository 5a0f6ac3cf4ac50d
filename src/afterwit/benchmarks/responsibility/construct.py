"""Simulated episodes with known responsible cards."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np

from afterwit.benchmarks.responsibility.agent import RuleAgent, Slot
from afterwit.benchmarks.responsibility.motifs import SHARES, Deck, Wired
from afterwit.model import Card, Episode, Provenance, Recalled, Stance, Task

START = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = ("hook", "tone", "length", "offer")

Landing = tuple[str, str, str]
"""(episode id, decision key, card id): one place where credit can land."""


@dataclass(frozen=True, kw_only=True)
class ConstructedSet:
    """episodes: each with its recalled cards, the withheld ones included. agent: the frozen generator.
    truth: where credit belongs. motifs: (episode id, decision key) → name of the motif that built it."""

    episodes: tuple[tuple[Episode, tuple[Card, ...]], ...]
    agent: RuleAgent
    truth: frozenset[Landing]
    motifs: dict[tuple[str, str], str] = field(default_factory=dict)


def construct(*, episodes: int = 300, seed: int = 13) -> ConstructedSet:
    """Episodes of one to four decisions, each built by a motif drawn by `SHARES`, with cards that nothing hangs on,
    cards recalled late and cards withheld by exploration among them."""
    rng = np.random.default_rng(seed)
    motifs = list(SHARES)
    rows: list[tuple[Episode, tuple[Card, ...]]] = []
    slots: dict[str, tuple[Slot, ...]] = {}
    truth: set[Landing] = set()
    built: dict[tuple[str, str], str] = {}
    for number in range(episodes):
        episode_id = f"episode-{number:04d}"
        deck = Deck(rng=rng, make=_CardMaker(episode_id))
        wired: list[Wired] = []
        for name in NAMES[: int(rng.integers(1, len(NAMES) + 1))]:
            motif = motifs[int(rng.choice(len(motifs), p=list(SHARES.values())))]
            made = motif(deck, name)
            wired.append(made)
            deck.earlier.extend(sorted(made.responsible))
            key = _logged_key(made, deck)
            truth |= {(episode_id, key, card) for card in made.responsible}
            built[episode_id, key] = motif.__name__
        task = f"Write the push of campaign {number}"
        slots[task] = tuple(made.slot for made in wired)
        rows.append(_episode(episode_id, task, deck, wired, at=START + timedelta(hours=number)))
    return ConstructedSet(episodes=tuple(rows), agent=RuleAgent(slots=slots), truth=frozenset(truth), motifs=built)


def _logged_key(made: Wired, deck: Deck) -> str:
    slot = made.logged or made.slot
    return f"{slot.name}={slot.value(frozenset(card.id for card in deck.cards))}"


def _episode(
    episode_id: str, task: str, deck: Deck, wired: list[Wired], *, at: datetime
) -> tuple[Episode, tuple[Card, ...]]:
    """The log: what the agent (or whoever overrode it) showed and cited with the given cards."""
    rng = deck.rng
    given = list(deck.cards)
    for name in NAMES[: len(wired)]:
        deck.deal(f"{name}=advised", int(rng.integers(0, 2)), named=0.7)
    withheld = {card.id for card in deck.cards[len(given) :] if rng.random() < 0.3}
    cards = [deck.cards[place] for place in rng.permutation(len(deck.cards))]
    # The second recall comes later in the episode; its ranks start anew.
    late = int(rng.integers(len(cards) // 2, len(cards) + 1))
    recalled = tuple(
        Recalled(
            card_id=card.id,
            version=card.version,
            bank=card.bank,
            rank=place + 1 if place < late else place + 1 - late,
            similarity=round(float(rng.uniform(0.2, 0.9)), 3),
            score=0.0,
            withheld=card.id in withheld,
            propensity=0.1,
        )
        for place, card in enumerate(cards)
    )
    past = RuleAgent(slots={task: tuple(made.logged or made.slot for made in wired)})
    draft = past(Task(text=task), [card for card in cards if card.id not in withheld])
    episode = Episode(
        id=episode_id,
        scope="simulated/responsibility",
        task=task,
        started_at=at,
        recalled=recalled,
        decisions=draft.decisions,
        citations=draft.citations,
        output=draft.output,
    )
    return episode, tuple(cards)


@dataclass(kw_only=False)
class _CardMaker:
    episode_id: str
    made: int = 0

    def __call__(self, stance: Stance | None) -> Card:
        self.made += 1
        return Card(
            id=f"{self.episode_id}/card-{self.made:02d}",
            scope="simulated/responsibility",
            key="write a push",
            guidance=f"{stance or 'advice in words alone'}, note {self.made}",
            stance=stance,
            provenance=Provenance(operator="add", trust="user"),
            created_at=START,
            valid_from=START,
        )
