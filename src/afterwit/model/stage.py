"""What a gate says of an episode: which stage deserves the credit (design section 8; CHIME)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Stage = Literal["planning", "execution"]
StageVerdict = Literal["planning", "execution", "both", "neither"]


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """key: the task it applies to. condition, action: when to do what. guidance: both in one sentence."""

    stage: Stage
    key: str
    condition: str
    action: str

    @property
    def guidance(self) -> str:
        return f"When {self.condition}, {self.action}."


@dataclass(frozen=True, kw_only=True)
class Attribution:
    """stage: whose doing the outcome was; for a success, what earned it. confidence: c in [0, 1]. lessons: at most
    one a stage. helped, misleading: ids of cards among those cited or followed (law 1). reason: one line."""

    episode_id: str
    stage: StageVerdict
    confidence: float
    success: bool
    lessons: Mapping[Stage, Lesson] = field(default_factory=dict)
    helped: tuple[str, ...] = ()
    misleading: tuple[str, ...] = ()
    reason: str = ""

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages that the verdict names."""
        if self.stage == "both":
            return ("planning", "execution")
        return () if self.stage == "neither" else (self.stage,)
