"""The card: one memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

from afterwit.model.condition import Condition
from afterwit.model.ids import content_hash
from afterwit.model.text import count_tokens, normalised

Status = Literal["provisional", "active", "retired"]
OperatorName = Literal[
    "reinforce", "revise", "merge", "split", "evict", "admit", "expire", "restore", "confirm", "add", "update"
]


@dataclass(frozen=True, kw_only=True)
class Stance:
    """For or against one named decision, such as ``hook=question``."""

    decision: str
    prefer: bool

    @property
    def sign(self) -> int:
        return 1 if self.prefer else -1

    @property
    def followed(self) -> str:
        """The decision key that an output shows when it follows this stance: ``not:`` marks avoidance."""
        return self.decision if self.prefer else f"not:{self.decision}"

    def __str__(self) -> str:
        return f"{'prefer' if self.prefer else 'avoid'} {self.decision}"


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """A normal posterior of an effect on the log rate ratio, for the decision (not for the stance).

    mean, sd: of the effect. strata: how many matched strata stand behind it.
    """

    mean: float
    sd: float
    strata: int


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The one confirmation test of a card version, declared when it was admitted (design section 6).

    admitted_at: only items first delivered after this count. needed: discordant strata that give 80 % power
    at half the admission effect, at most 200. effect: the admission effect, whose sign is tested.
    tested_at: when the test was spent, with its one-sided p-value and online-FDR verdict.
    post_effect, post_sd: the effect on the later items alone.
    """

    admitted_at: datetime
    needed: int
    effect: float
    tested_at: datetime | None = None
    p_value: float | None = None
    confirmed: bool = False
    post_effect: float | None = None
    post_sd: float | None = None


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a version comes from (law 2).

    operator: what wrote it. parents: card ids. evidence: ids of the evidence rows. round_id: its round, or
    None for cards added by hand. trust: who is behind the text.
    """

    operator: OperatorName
    parents: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    round_id: str | None = None
    trust: Literal["evidence", "user", "model", "page"] = "evidence"


@dataclass(frozen=True, kw_only=True)
class Card:
    """One memory (design section 2).

    key: the task it applies to, which recall compares by meaning. when: typed condition over the context.
    guidance: what to do, one decision. stance: for or against a named decision. effect: joint effect of the
    decision on the log rate ratio, used for choosing. value: the recall value before shrinkage by uses.
    uses: credited reuses n; weight: their summed confidence W. fitness: posterior per objective.
    cases: ids of the source episodes or items that evidence it. valid_from, valid_until: its time. pinned: somebody
    wants it kept: no round retires it before its own time is over. beside: ids of
    cards that seem to contradict it and are right as well, as somebody found; it counts where each names the other.
    """

    id: str
    version: int = 1
    scope: str
    bank: str = "content"
    key: str
    guidance: str
    when: Condition = field(default_factory=Condition)
    stance: Stance | None = None
    effect: float = 0.0
    value: float = 0.0
    uses: int = 0
    weight: float = 0.0
    fitness: Mapping[str, Posterior] = field(default_factory=dict)
    status: Status = "provisional"
    trial: Trial | None = None
    provenance: Provenance
    cases: tuple[str, ...] = ()
    created_at: datetime
    valid_from: datetime
    valid_until: datetime | None = None
    pinned: bool = False
    beside: tuple[str, ...] = ()

    @property
    def content_hash(self) -> str:
        """Of what the card says and where, not of its numbers: the same text twice is one card."""
        stance = str(self.stance) if self.stance else ""
        return _content(self.scope, self.bank, self.key, self.guidance, str(self.when), stance)

    @property
    def tokens(self) -> int:
        return _tokens(self.key, self.guidance)

    @property
    def live(self) -> bool:
        return self.status != "retired"

    def changed(self, **changes: Any) -> "Card":
        """The next version of this card with some fields replaced."""
        return replace(self, version=self.version + 1, **changes)


# A round asks both of every card some twenty times, and all but the numbers of a card outlive its versions.
@lru_cache(maxsize=10_000)
def _content(scope: str, bank: str, key: str, guidance: str, when: str, stance: str) -> str:
    return content_hash(scope, bank, normalised(key), normalised(guidance), when, stance)


@lru_cache(maxsize=10_000)
def _tokens(key: str, guidance: str) -> int:
    return count_tokens(key) + count_tokens(guidance)
