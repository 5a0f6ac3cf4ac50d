"""The `reasoning-bank` package (ReasoningBank, Ouyang et al., ICLR 2026) as a policy, driven by the same lesson writer.

The package asks a model three things: whether a run succeeded, what it teaches, and how two like memories become one.
Here the scripted agent stands for that model: it judges itself by the absence of tool errors, the lesson writer says
what the run teaches, and like memories are merged by keeping both texts. Store, thresholds, retrieval and the number of
memories recalled (5, the package's default) are the package's own; the embedder is that of every policy.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from afterwit.errors import UsageError
from afterwit.evaluate.chime.policies import MemoryOf, StageMemory, StagePolicy
from afterwit.model import Card, Episode, Provenance, Refusal, Stage
from afterwit.ports import Embedder, Gate

NAME = "reasoning_bank"
ADVICE = "pip install --no-deps reasoning-bank"
_AT = datetime(2000, 1, 1, tzinfo=UTC)


def reasoning_bank(writer: Gate) -> MemoryOf:
    """Raises UsageError, with the command that installs it, where the package is missing."""
    try:
        import reasoning_bank as package
    except ImportError:
        raise UsageError(f"this needs reasoning-bank, which is not installed: {ADVICE}") from None

    def opened(policy: StagePolicy, embedder: Embedder, *, scope: str) -> StageMemory:
        return _Memory(package, embedder, writer, scope)

    return opened


@dataclass(frozen=True)
class _Vectors:
    """The embedder as the package wants it."""

    embedder: Embedder

    def embed(self, texts: list[str]) -> list[list[float]]:
        return [[float(x) for x in row] for row in self.embedder(texts)]


class _Memory:
    def __init__(self, package: Any, embedder: Embedder, writer: Gate, scope: str) -> None:
        from reasoning_bank.stores.inmemory import InMemoryStore

        self.refused: list[Refusal] = []
        self._scope = scope
        self._writer = writer
        self._answers = ""
        self._bank = package.ReasoningBank(
            llm=self._model, store=InMemoryStore(), embedder=_Vectors(embedder), scope=scope
        )
        self._seen: dict[str, Card] = {}

    @property
    def cards(self) -> tuple[Card, ...]:
        return tuple(self._card(item) for item in asyncio.run(self._bank.list(scope=self._scope)))

    def recall(self, stage: Stage, query: str, *, at: datetime) -> Sequence[Card]:
        found = [self._card(item) for item in asyncio.run(self._bank.retrieve(query))]
        self._seen.update({card.id: card for card in found})
        return found

    def closed(self, episode: Episode) -> tuple[Episode, tuple[Card, ...]]:
        cards, self._seen = tuple(self._seen.values()), {}
        return episode, cards

    def learn(self, episode: Episode, cards: Sequence[Card]) -> None:
        judged = bool(episode.steps) and all(step.error is None for step in episode.steps)
        lessons = self._writer(replace(episode, success=judged), cards).lessons.values()
        self._answers = json.dumps(
            [
                {"title": lesson.key[:60], "description": f"When {lesson.condition}", "content": lesson.guidance}
                for lesson in lessons
            ]
        )
        turns = [{"role": "user", "content": episode.task}, {"role": "assistant", "content": episode.plan or "no plan"}]
        turns += [{"role": "tool", "content": f"{s.tool}: {s.error or s.result or 'done'}"} for s in episode.steps]
        asyncio.run(self._bank.ingest_trajectory(turns, episode.task, outcome="success" if judged else "failure"))

    async def _model(self, prompt: str, *, system: str | None = None) -> str:
        """Two like memories become one with both texts; else what the last episode taught."""
        if "# Existing memory" not in prompt:
            return self._answers
        texts = [line.removeprefix("Content: ") for line in prompt.splitlines() if line.startswith("Content: ")]
        united = " ".join(dict.fromkeys(texts))
        return json.dumps({"action": "merge", "merged_title": "", "merged_description": "", "merged_content": united})

    def _card(self, item: Any) -> Card:
        return Card(
            id=item.id,
            scope=self._scope,
            bank="shared",
            key=item.title,
            guidance=item.content,
            provenance=Provenance(operator="admit"),
            created_at=_AT,
            valid_from=_AT,
        )
