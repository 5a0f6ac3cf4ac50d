"""What was said in a rollout, as token ids: the unit of the objective."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

Kind = Literal["memory", "answer"]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """One prompt and what the model generated from it. rollout: which rollout of the batch it belongs to."""

    prompt: tuple[int, ...]
    generated: tuple[int, ...]
    kind: Kind
    rollout: int

    @property
    def length(self) -> int:
        return len(self.prompt) + len(self.generated)


def generated_tokens(conversations: Sequence[Conversation]) -> int:
    """N of the objective."""
    return sum(len(one.generated) for one in conversations)


def parts(rows: Sequence[T], size: int) -> list[Sequence[T]]:
    """In order, of at most that size."""
    return [rows[i : i + size] for i in range(0, len(rows), size)]
