"""The memory policies that are compared: CHIME, its ablations and its baselines, as settings of one machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from afterwit.evolve.stages.rules import StageRules
from afterwit.model import Attribution, Card, Episode, Refusal, Stage
from afterwit.ports import Capacity, Embedder, Gate
from afterwit.recall.retrieve import RecallRules

_APART: Mapping[Stage, str] = {"planning": "planning", "execution": "execution"}
_SHARED: Mapping[Stage, str] = {"planning": "shared", "execution": "shared"}
_UNBOUNDED = StageRules(merge=2.0, prune_uses=10**9, capacity=Capacity(cards=10**6, tokens=10**9), card_tokens=10**6)


class StageMemory(Protocol):
    """What one policy remembers while a stream runs."""

    refused: list[Refusal]

    @property
    def cards(self) -> tuple[Card, ...]: ...

    def recall(self, stage: Stage, query: str, *, at: datetime) -> Sequence[Card]: ...

    def closed(self, episode: Episode) -> tuple[Episode, tuple[Card, ...]]:
        """The episode with what was recalled in it, and those cards; the next episode starts afresh."""

    def learn(self, episode: Episode, cards: Sequence[Card]) -> None: ...


class MemoryOf(Protocol):
    def __call__(self, policy: "StagePolicy", embedder: Embedder, *, scope: str) -> StageMemory: ...


@dataclass(frozen=True, kw_only=True)
class StagePolicy:
    """gate: None learns nothing. banks: stage → the bank that it recalls from and writes to; a stage left out has no
    memory. kind: for the table. memory: of another make than ours, as a package has it."""

    name: str
    gate: Gate | None
    banks: Mapping[Stage, str] = field(default_factory=lambda: dict(_APART))
    rules: StageRules = field(default_factory=StageRules)
    recall: RecallRules = field(default_factory=RecallRules)
    k: int = 3
    kind: str = "ablation"
    memory: MemoryOf | None = None


@dataclass(frozen=True)
class Everywhere:
    """No attribution: every outcome is credited to both stages and to every card that was cited.

    writer: the gate whose lessons are written, asked for both stages; its verdict is not used.
    """

    writer: Gate
    name: str = "everywhere"

    def __call__(self, episode: Episode, cards: Sequence[Card]) -> Attribution:
        cited = tuple(dict.fromkeys(card for citation in episode.citations for card in citation.cards))
        good = bool(episode.success)
        return replace(
            self.writer(episode, cards),
            stage="both",
            confidence=1.0,
            helped=cited if good else (),
            misleading=() if good else cited,
        )


@dataclass(frozen=True)
class SelfJudged:
    """Success as the agent itself would judge it, from the absence of tool errors, in place of the verifier's."""

    gate: Gate
    name: str = "self-judged"

    def __call__(self, episode: Episode, cards: Sequence[Card]) -> Attribution:
        judged = bool(episode.steps) and all(step.error is None for step in episode.steps)
        return replace(self.gate(replace(episode, success=judged), cards), helped=(), misleading=())


@dataclass(frozen=True)
class Unvalued:
    """A gate whose verdicts move no values."""

    gate: Gate
    name: str = "unvalued"

    def __call__(self, episode: Episode, cards: Sequence[Card]) -> Attribution:
        return replace(self.gate(episode, cards), helped=(), misleading=())


def policies(gate: Gate, writer: Gate, recorder: Gate) -> tuple[StagePolicy, ...]:
    """gate: attributes. writer: lessons for both stages whatever the cause, in the same words for every policy.
    recorder: the same, and of an episode that teaches a stage nothing the episode itself, for the bank that appends."""
    both = Everywhere(writer)
    plain = RecallRules(value=0.0)
    chime = StagePolicy(name="chime", gate=gate, kind="chime")
    return (
        StagePolicy(name="none", gate=None, kind="baseline"),
        StagePolicy(
            name="outcome_only",
            gate=Unvalued(Everywhere(recorder)),
            banks=_SHARED,
            rules=_UNBOUNDED,
            recall=plain,
            kind="baseline",
        ),
        StagePolicy(
            name="self_judged", gate=SelfJudged(both), banks=_SHARED, rules=_UNBOUNDED, recall=plain, kind="baseline"
        ),
        chime,
        replace(chime, name="chime:no_planning", banks={"execution": "execution"}, kind="ablation"),
        replace(chime, name="chime:no_execution", banks={"planning": "planning"}, kind="ablation"),
        replace(chime, name="chime:one_bank", banks=_SHARED, kind="ablation"),
        replace(chime, name="chime:no_attribution", gate=both, kind="ablation"),
        replace(chime, name="chime:no_rerank", recall=plain, kind="ablation"),
        replace(chime, name="chime:no_evolution", gate=Unvalued(gate), rules=_UNBOUNDED, kind="ablation"),
    )
