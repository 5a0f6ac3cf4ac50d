"""Multi-memory GRPO (ReMem): what a batch of rollouts teaches.

    A_i = R_i − mean R of the query's G rollouts, as an option divided by their standard deviation + 1e-4
    r_t = p(token t | its own conversation before it) / the same before the update
    J_t = min(r_t · A, clip(r_t, 1 − ε, 1 + ε) · A)
    k3_t = exp(d_t) − d_t − 1,  d_t = ln p_reference − ln p                         (Schulman 2020)
    L = −(Σ_answer J + λ · Σ_memory J) / N + β · Σ k3 / N,  N = all generated tokens of the batch

Every conversation of a rollout has the rollout's advantage, and every probability is conditioned on that conversation
alone. β is the paper's; ε, λ and G are ours. Without memory conversations this is GRPO with a mean over tokens (TRL's
``loss_type="bnpo"`` with ``use_bias_correction_kl=False``: its newer default multiplies k3 by the ratio).
"""

import math
from dataclasses import dataclass

from afterwit.errors import InputError
from afterwit.train.libraries import torch


@dataclass(frozen=True, kw_only=True)
class ObjectiveRules:
    """clip: ε. kl: β, 0 for no reference. memory: λ, what memory conversations count beside answers. scaled: divide
    advantages by the standard deviation."""

    clip: float = 0.2
    kl: float = 0.04
    memory: float = 1.0
    scaled: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.clip < 1 or not 0 <= self.kl < math.inf or not 0 <= self.memory < math.inf:
            raise InputError(
                f"clip {self.clip}, kl {self.kl}, memory {self.memory}: give a clip between 0 and 1, the others from 0"
            )


@dataclass(frozen=True, kw_only=True)
class Terms:
    """loss: to be minimised. kl: Σ k3, clipped: tokens whose ratio was cut; sums over the tokens of this part."""

    loss: torch.Tensor
    kl: float
    clipped: float


def advantages(rewards: torch.Tensor, *, scaled: bool = False) -> torch.Tensor:
    """(queries, G) → (queries, G). A row of equal rewards teaches nothing: exactly 0."""
    away = rewards - rewards.mean(dim=1, keepdim=True)
    if scaled and rewards.shape[1] > 1:
        away = away / (rewards.std(dim=1, keepdim=True) + 1e-4)
    return away.masked_fill(flat(rewards)[:, None], 0.0)


def flat(rewards: torch.Tensor) -> torch.Tensor:
    """(queries, G) → (queries,): whether all rewards are equal."""
    return rewards.amax(dim=1) == rewards.amin(dim=1)


def objective(
    now: torch.Tensor,
    before: torch.Tensor,
    reference: torch.Tensor | None,
    mask: torch.Tensor,
    advantage: torch.Tensor,
    memory: torch.Tensor,
    *,
    tokens: int,
    rules: ObjectiveRules = ObjectiveRules(),
) -> Terms:
    """The share that these conversations have in L: parts of a batch add up to it.

    now, before, reference: ln p of the generated tokens, (conversations, longest). mask: 1 where there is one.
    advantage: (conversations,). memory: 1 for memory conversations, (conversations,). tokens: N of the whole batch.
    """
    ratio = torch.exp(now - before)
    cut = ratio.clamp(1 - rules.clip, 1 + rules.clip)
    gain = torch.minimum(ratio * advantage[:, None], cut * advantage[:, None])
    weight = torch.where(memory.bool(), rules.memory, 1.0).to(now.dtype)
    loss = -(gain * weight[:, None] * mask).sum() / tokens
    away = 0.0
    if reference is not None and rules.kl:
        difference = reference - now
        k3 = ((torch.exp(difference) - difference - 1) * mask).sum()
        loss = loss + rules.kl * k3 / tokens
        away = float(k3.detach())
    clipped = ((cut * advantage[:, None] < ratio * advantage[:, None]) & mask.bool()).sum()
    return Terms(loss=loss, kl=away, clipped=float(clipped))
