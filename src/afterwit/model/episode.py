"""One task served, and how the world saw it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from afterwit.model.condition import Context


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """A card in one recall, in full (design section 4, point 6).

    withheld: exploration kept it from the agent, with this logged probability ``propensity``.
    """

    card_id: str
    version: int
    bank: str
    rank: int
    similarity: float
    score: float
    withheld: bool = False
    propensity: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A named choice visible in the output, ``name=value``; ``source`` says who named it."""

    name: str
    value: str
    source: Literal["declared", "vocabulary", "mined"] = "declared"

    @property
    def key(self) -> str:
        return f"{self.name}={self.value}"

    def __str__(self) -> str:
        return self.key


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a generator is asked: the task, its context, and candidates where it is to choose."""

    text: str
    context: Context = field(default_factory=dict)
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Citation:
    """'These cards are why I decided that.'"""

    decision: str
    cards: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a generator answers: the output, the decisions it shows and the cards it cites for them."""

    output: str
    decisions: tuple[Decision, ...] = ()
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Step:
    """One tool call of an agent with a plan."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: str | None = None
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class Episode:
    """One task served; frozen once closed.

    candidates: the outputs the generator could choose from, where the task brought them. outcome: the verdict
    given at the end, where there is one. delivery_ids: the ids under which the world saw the output. ended_at: when it
    was closed, and so when its verdict could be known.
    """

    id: str
    scope: str
    task: str
    context: Context = field(default_factory=dict)
    started_at: datetime
    recalled: tuple[Recalled, ...] = ()
    decisions: tuple[Decision, ...] = ()
    citations: tuple[Citation, ...] = ()
    candidates: tuple[str, ...] = ()
    plan: str | None = None
    steps: tuple[Step, ...] = ()
    output: str | None = None
    success: bool | None = None
    feedback: str | None = None
    delivery_ids: tuple[str, ...] = ()
    ended_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """The id under which the world saw an output: one item of the delivery log.

    experiment: id of the randomised test it was an arm of, if any. context: fields that stratify and
    condition. policy, placement, audience: how it was shown; propensity: the logged chance of being shown.
    text: what was shown, from which decisions are extracted; decisions: those that the agent declared.
    episode_id: the episode that made it, if it was ours.
    """

    id: str
    scope: str
    created_at: datetime
    text: str = ""
    context: Context = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()
    experiment: str | None = None
    placement: str | None = None
    audience: str | None = None
    policy: str | None = None
    propensity: float | None = None
    episode_id: str | None = None
