"""What the protocol asks of an environment, and what it lends to the agent in it."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from afterwit.model import Card, Episode, Stage


class StageRecall(Protocol):
    def __call__(self, stage: Stage, query: str) -> Sequence[Card]:
        """The cards for a plan or for the step at hand; recorded."""


class World(Protocol):
    """An environment and the agent that works in it. domains: name → task ids in stream order."""

    name: str
    domains: Mapping[str, tuple[str, ...]]

    def serve(self, domain: str, task: str, recall: StageRecall, *, seed: int) -> Episode:
        """One task, planned after a planning recall and done step by step, each after an execution recall; judged by
        the environment's own verifier. The same arguments and cards give the same episode. ``recalled`` stays empty:
        the protocol fills it."""

    def true(self, card: Card) -> bool | None:
        """Whether a card's advice is right in this world, for the quality of memories; None where it cannot say."""
