"""A policy's banks while a stream runs: recall from them, learn an episode, freeze by learning no more."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from afterwit.evaluate.chime.policies import StagePolicy
from afterwit.evolve.stages.round import stage_round
from afterwit.model import Attribution, Bank, Card, Episode, Recalled, Refusal, Stage, content_hash
from afterwit.ports import Embedder
from afterwit.recall.index import BankIndex
from afterwit.recall.retrieve import recall


class StreamMemory:
    """The banks of one policy in one domain. Values only: nothing is stored, nothing is shared between streams."""

    def __init__(self, policy: StagePolicy, embedder: Embedder, *, scope: str) -> None:
        self.policy = policy
        self.banks = {name: Bank(scope=scope, name=name, version=0, cards=()) for name in policy.banks.values()}
        self.attributions: list[Attribution] = []
        self.refused: list[Refusal] = []
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._indexes: dict[str, BankIndex] = {}
        self._traces: list[Recalled] = []
        self._seen: dict[str, Card] = {}

    @property
    def cards(self) -> tuple[Card, ...]:
        return tuple(card for bank in self.banks.values() for card in bank.cards)

    def recall(self, stage: Stage, query: str, *, at: datetime) -> Sequence[Card]:
        name = self.policy.banks.get(stage)
        if name is None or not self.banks[name].cards:
            return ()
        found = recall(
            self._index(name), self._vector(query), context={}, now=at, k=self.policy.k, rules=self.policy.recall
        )
        self._traces += [trace for _, trace in found]
        self._seen.update({card.id: card for card, _ in found})
        return [card for card, _ in found]

    def closed(self, episode: Episode) -> tuple[Episode, tuple[Card, ...]]:
        """The episode with what was recalled in it, and those cards; the next episode starts afresh."""
        done = replace(episode, recalled=tuple(self._traces))
        cards = tuple(self._seen.values())
        self._traces, self._seen = [], {}
        return done, cards

    def learn(self, episode: Episode, cards: Sequence[Card]) -> None:
        """One round per bank from one episode."""
        if self.policy.gate is None:
            return
        attribution = self.policy.gate(episode, cards)
        self.attributions.append(attribution)
        for name, bank in self.banks.items():
            stages = frozenset(stage for stage, of in self.policy.banks.items() if of == name)
            round_ = stage_round(
                bank,
                [attribution],
                {episode.id: episode},
                stages=stages,
                vectors={card.id: self._vector(card.key) for card in bank.cards},
                embed=lambda texts: np.stack([self._vector(text) for text in texts]),
                as_of=episode.started_at,
                rules=self.policy.rules,
                round_id=content_hash(name, episode.id)[:32],
            )
            self.refused += round_.refused
            if round_.edits:
                self.banks[name] = _applied(bank, [card for edit in round_.edits for card in edit.writes])

    def _index(self, name: str) -> BankIndex:
        bank, kept = self.banks[name], self._indexes.get(name)
        if kept is None or kept.version != bank.version:
            matrix = np.stack([self._vector(card.key) for card in bank.cards])
            kept = self._indexes[name] = BankIndex.build(bank, [card.id for card in bank.cards], matrix)
        return kept

    def _vector(self, text: str) -> NDArray[np.float32]:
        found = self._vectors.get(text)
        if found is None:
            found = self._vectors[text] = self._embedder([text])[0]
        return found


def _applied(bank: Bank, written: Sequence[Card]) -> Bank:
    cards = {card.id: card for card in (*bank.cards, *written)}
    live = tuple(card for _, card in sorted(cards.items()) if card.live)
    return replace(bank, version=bank.version + 1, cards=live)
