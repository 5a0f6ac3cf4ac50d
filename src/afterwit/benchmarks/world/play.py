"""Serving tasks in a world: real recall, the frozen agent, and what the truth says of its message."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from afterwit.benchmarks.world.agent import Agent, Choice
from afterwit.benchmarks.world.truth import Truth, parts
from afterwit.credit.items import Floats
from afterwit.credit.responsibility.grants import Grants, grants
from afterwit.credit.responsibility.removal import ReplayRules
from afterwit.credit.responsibility.replay import responsibilities
from afterwit.model import Bank, Card, Credit, Draft, Episode, Recalled, Task, content_hash, count_tokens
from afterwit.ports import Embedder
from afterwit.recall.index import BankIndex
from afterwit.recall.retrieve import recall

_ONE_AT_A_TIME = ReplayRules(workers=1)


@dataclass(frozen=True, kw_only=True)
class Job:
    """One task: text, the place of its context in the truth."""

    text: str
    context: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Served:
    """compliance: how far the conversion rate lies between the worst and the best message there; format: 1 without a
    choice that the channel does not take; efficiency: 1 within the prompt's free tokens, less in proportion above."""

    episode: Episode
    cards: tuple[Card, ...]
    choices: tuple[Choice, ...]
    compliance: float
    format: float
    efficiency: float
    tokens: int

    @property
    def utility(self) -> float:
        return (self.compliance + self.format + self.efficiency) / 3


@dataclass(kw_only=True, eq=False)
class Desk:
    """Where tasks are served. Vectors of keys are kept, as every policy has the same retriever."""

    truth: Truth
    agent: Agent
    embedder: Embedder
    _vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict, repr=False)

    def jobs(self, round_: int, seed: int) -> tuple[Job, ...]:
        """The tasks of a round, the same for every policy."""
        rng = np.random.default_rng([seed, 5, round_ + 1000])
        drawn = rng.choice(len(self.truth.contexts), size=self.truth.parameters.memory.tasks, p=self.truth.mix(round_))
        return tuple(self.job(int(c), f"r{round_}t{i}") for i, c in enumerate(drawn))

    def job(self, context: int, name: str) -> Job:
        channel, benefit, audience = self.truth.contexts[context]
        return Job(text=f"a {channel} message about {benefit} for {audience} readers, task {name}", context=context)

    def serve(
        self, cards: Sequence[Card], jobs: Sequence[Job], *, era: int, now: datetime, scope: str
    ) -> tuple[Served, ...]:
        """Every valid card is in reach: K is what the bank may hold."""
        bank = Bank(scope=scope, name="content", version=0, cards=tuple(cards))
        vectors = self.vectors([card.key for card in cards] + [job.text for job in jobs])
        index = BankIndex.build(bank, [card.id for card in cards], vectors[: len(cards)])
        return tuple(self._served(index, job, vectors[len(cards) + i], era, now, scope) for i, job in enumerate(jobs))

    def _served(
        self, index: BankIndex, job: Job, query: NDArray[np.float32], era: int, now: datetime, scope: str
    ) -> Served:
        context = self.truth.context(job.context)
        found = recall(
            index,
            query,
            context=context,
            now=now,
            k=max(len(index.cards), 1),
            candidates=self.agent.menu,
            shown=lambda text: frozenset((text,)),
        )
        cards = tuple(card for card, _ in found)
        task = Task(text=job.text, context=context, candidates=self.agent.menu)
        draft = self.agent(task, cards)
        choices = tuple(self.agent.choose(task, cards))
        tokens = sum(count_tokens(card.guidance) for card in cards)
        low, high = self.truth.bounds(job.context, era)
        chosen = np.array([_value(choice) for choice in choices], dtype=np.int64)
        rate = self.truth.rate(job.context, chosen, era)
        free = self.truth.parameters.memory.prompt
        return Served(
            episode=_episode(job, context, now, scope, tuple(trace for _, trace in found), draft),
            cards=cards,
            choices=choices,
            compliance=(rate - low) / (high - low) if high > low else 1.0,
            format=float(self.truth.breaks(job.context, chosen) == 0),
            efficiency=min(1.0, free / tokens) if tokens else 1.0,
            tokens=tokens,
        )

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, (n, dimensions)."""
        new = sorted(set(texts) - self._vectors.keys())
        if new:
            self._vectors.update(zip(new, self.embedder(new), strict=True))
        if not texts:
            return np.zeros((0, self.embedder.dimensions), dtype=np.float32)
        return np.stack([self._vectors[text] for text in texts])


@dataclass(kw_only=True, eq=False)
class Crediting:
    """Responsibility in the episodes of one policy, known one update after they were served."""

    agent: Agent
    entries: list[Credit] = field(default_factory=list)
    _seen: dict[str, Served] = field(default_factory=dict, repr=False)

    def add(self, served: Sequence[Served]) -> None:
        self._seen |= {each.episode.id: each for each in served}

    def __call__(self) -> Grants:
        def grant(wanted: Sequence[str]) -> Sequence[Credit]:
            asked = ((self._seen[id_].episode, self._seen[id_].cards) for id_ in wanted)
            return list(responsibilities(asked, self.agent, rules=_ONE_AT_A_TIME))

        found = grants(self.entries, dict.fromkeys(self._seen, "served"), grant)
        self.entries.extend(found.new)
        return found


def joint_pass(served: Served, compliance: float) -> bool:
    """All three of compliance, format and efficiency pass."""
    return served.compliance >= compliance and served.format == 1 and served.efficiency == 1


def responsible(served: Served) -> set[tuple[str, str]]:
    """What the truth says: (decision, card) that the agent's choice hung on."""
    return {(choice.named, card) for choice in served.choices if choice.named for card in choice.behind}


def columns(served: Sequence[Served]) -> Mapping[str, Floats]:
    """The figures of many tasks, (n,) each."""
    return {
        name: np.array([getattr(each, name) for each in served], dtype=np.float64)
        for name in ("utility", "compliance", "format", "efficiency", "tokens")
    }


def _value(choice: Choice) -> int:
    return -1 if choice.value is None else parts(f"{choice.slot}={choice.value}")[1]


def _episode(
    job: Job,
    context: dict[str, str],
    now: datetime,
    scope: str,
    recalled: tuple[Recalled, ...],
    draft: Draft,
) -> Episode:
    return Episode(
        id=content_hash("episode", scope, job.text, now.isoformat(), *(t.card_id for t in recalled))[:32],
        scope=scope,
        task=job.text,
        context=context,
        started_at=now,
        recalled=recalled,
        decisions=draft.decisions,
        citations=draft.citations,
        output=draft.output,
        success=True,
        ended_at=now,
    )
