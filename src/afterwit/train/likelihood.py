"""How probable a model finds what was said: conversations side by side, padded on the left."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from afterwit.train.conversation import Conversation
from afterwit.train.libraries import torch


@dataclass(frozen=True, kw_only=True)
class Batch:
    """ids, seen: (conversations, longest), seen 0 where it is padding. generated: (conversations, last), 1 for tokens
    that the model wrote; these are the last ``last`` columns of ids. memory, rollout: (conversations,)."""

    ids: torch.Tensor
    seen: torch.Tensor
    generated: torch.Tensor
    memory: torch.Tensor
    rollout: torch.Tensor

    @staticmethod
    def of(conversations: Sequence[Conversation], *, pad: int, device: Any = "cpu") -> "Batch":
        """All end in the last column, so that what was generated stands in the last columns of each."""
        last = max(len(one.generated) for one in conversations)
        ids, seen = padded([one.prompt + one.generated for one in conversations], pad=pad, device=device)
        written = [[0] * (last - len(one.generated)) + [1] * len(one.generated) for one in conversations]
        return Batch(
            ids=ids,
            seen=seen,
            generated=torch.tensor(written, device=device),
            memory=torch.tensor([int(one.kind == "memory") for one in conversations], device=device),
            rollout=torch.tensor([one.rollout for one in conversations], device=device),
        )


def padded(rows: Sequence[Sequence[int]], *, pad: int, device: Any = "cpu") -> tuple[torch.Tensor, torch.Tensor]:
    """(ids, seen), both (rows, longest), padding on the left."""
    longest = max(map(len, rows))
    ids = torch.tensor([[pad] * (longest - len(row)) + list(row) for row in rows], device=device)
    seen = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows], device=device)
    return ids, seen


def log_likelihood(model: Any, batch: Batch, *, temperature: float = 1.0) -> torch.Tensor:
    """ln p of each generated token given its own conversation before it, at the temperature it was drawn with;
    (conversations, last), 0 where ``batch.generated`` is 0."""
    last = batch.generated.shape[1]
    # Rows are numbered from their first token, whatever stands left of it, so that company changes nothing.
    places = (batch.seen.cumsum(dim=1) - 1).clamp(min=0)
    said = model(
        input_ids=batch.ids, attention_mask=batch.seen, position_ids=places, logits_to_keep=last + 1, use_cache=False
    )
    logits = said.logits[:, -last - 1 : -1].float() / temperature
    chosen = logits.gather(-1, batch.ids[:, -last:, None]).squeeze(-1)
    return (chosen - logits.logsumexp(dim=-1)).masked_fill(batch.generated == 0, 0.0)
