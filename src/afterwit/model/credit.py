"""What the three credits say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from afterwit.model.condition import Clause

LifecycleVerdict = Literal["ready", "immature", "discontinuous", "thin", "mixed"]
Verdict = Literal["supported", "contradicted", "conditional", "null", "insufficient"]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Effect of one decision on one objective against matched controls (semantic credit).

    effect, se, low, high: log rate ratio of items with the decision over items without it in the same stratum,
    with a 95 % Hartung–Knapp interval on ``df`` degrees of freedom. strata: those with both kinds of items;
    treated, controls: items in them. p_sign: P(effect has the sign of its posterior mean). split: the clause
    on whose two sides the effect differs, where the verdict is conditional. reason: one line for people.
    """

    id: str
    decision: str
    objective: str
    effect: float
    se: float
    low: float
    high: float
    df: int
    strata: int
    treated: int
    controls: int
    posterior_mean: float
    posterior_sd: float
    p_sign: float
    joint: float
    verdict: Verdict
    reason: str
    split: Clause | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Credit:
    """Weight landing on one card of one episode for one decision (responsibility credit).

    weight: in [0, 1], summing to at most 1 per episode and decision. kind: ``sole`` where removing this card
    alone changes the decision, ``joint`` where only a set does, ``none`` with the reason, ``unstable`` where
    the full prompt does not reproduce the decision. utility_change: U(with) − U(without), where known.
    reverses: id of an earlier credit that this compensating entry takes back. outcome: version of the outcome that it
    was granted on; empty where none was asked for.
    """

    id: str
    episode_id: str
    card_id: str
    decision: str
    weight: float
    kind: Literal["sole", "joint", "none", "unstable"]
    reason: str
    utility_change: float | None = None
    reverses: str | None = None
    outcome: str = ""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A figure with its 95 % interval and the number of units behind it."""

    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None

    def as_json(self) -> dict[str, float | int]:
        pairs = {"value": self.value, "low": self.low, "high": self.high, "n": self.n}
        return {name: v for name, v in pairs.items() if v is not None}


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An edit that was considered and not made, and why (law 4)."""

    subject: str
    verdict: str
    reason: str
    figures: Mapping[str, float] = field(default_factory=dict)
