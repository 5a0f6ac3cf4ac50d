"""Gradients against a computation that is written from the formula alone, a token at a time."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from train_cases import conversations, model

from afterwit.errors import InputError
from afterwit.train.conversation import Conversation, generated_tokens, parts
from afterwit.train.likelihood import Batch, log_likelihood
from afterwit.train.objective import ObjectiveRules, advantages, flat, objective

MEMORIES = (0, 1, 3, 2, 0, 1, 4, 1)
ADVANTAGE = torch.tensor([0.7, -0.2, 0.4, -0.9, 0.1, 1.3, -0.6, -0.8])
RULES = ObjectiveRules(clip=0.2, kl=0.04, memory=0.7)


def gradients(
    net: Any,
    said: Sequence[Conversation],
    *,
    before: Any,
    reference: Any,
    rules: ObjectiveRules = RULES,
    advantage: torch.Tensor = ADVANTAGE,
    size: int = 5,
) -> tuple[float, list[torch.Tensor]]:
    net.zero_grad()
    value = 0.0
    for part in parts(said, size):
        batch = Batch.of(part, pad=0)
        with torch.no_grad():
            then, frozen = log_likelihood(before, batch), log_likelihood(reference, batch)
        terms = objective(
            log_likelihood(net, batch),
            then,
            frozen,
            batch.generated,
            advantage[batch.rollout],
            batch.memory,
            tokens=generated_tokens(said),
            rules=rules,
        )
        terms.loss.backward()
        value += float(terms.loss)
    return value, [parameter.grad.clone() for parameter in net.parameters()]


def by_hand(
    net: Any, said: Sequence[Conversation], *, before: Any, reference: Any, rules: ObjectiveRules = RULES
) -> tuple[float, list[torch.Tensor]]:
    """L = −(Σ_answer J + λ Σ_memory J) / N + β Σ k3 / N: one prefix, one token, no padding, no batch."""

    def log_p(of: Any, prefix: tuple[int, ...], token: int) -> torch.Tensor:
        return torch.log_softmax(of(torch.tensor([prefix])).logits[0, -1], dim=-1)[token]

    net.zero_grad()
    n = sum(len(one.generated) for one in said)
    loss = torch.tensor(0.0)
    for one in said:
        a = float(ADVANTAGE[one.rollout])
        for t, token in enumerate(one.generated):
            prefix = one.prompt + one.generated[:t]
            now = log_p(net, prefix, token)
            with torch.no_grad():
                then, frozen = log_p(before, prefix, token), log_p(reference, prefix, token)
            ratio = torch.exp(now - then)
            low, high = 1 - rules.clip, 1 + rules.clip
            bounded = ratio if low <= float(ratio) <= high else torch.tensor(min(max(float(ratio), low), high))
            gain = ratio * a if float(ratio) * a <= float(bounded) * a else bounded * a
            d = frozen - now
            loss = loss - (rules.memory if one.kind == "memory" else 1.0) * gain / n
            loss = loss + rules.kl * (torch.exp(d) - d - 1) / n
    loss.backward()
    return float(loss), [parameter.grad.clone() for parameter in net.parameters()]


def nearby(net: Any, seed: int, by: float = 0.02) -> Any:
    """Another model whose ratios to the first lie on both sides of the clip."""
    other = model(0)
    other.load_state_dict(net.state_dict())
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(by * torch.randn(parameter.shape, generator=draw))
    return other


@pytest.fixture(scope="module")
def nets() -> tuple[Any, Any, Any]:
    net = model(1)
    return net, nearby(net, 2), nearby(net, 3)


def same(one: Sequence[torch.Tensor], other: Sequence[torch.Tensor], most: float = 1e-5) -> bool:
    return all(torch.allclose(a, b, atol=most, rtol=0) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_those_of_the_formula(nets: tuple[Any, Any, Any], seed: int) -> None:
    net, before, reference = nets
    said = conversations(seed, memories=MEMORIES)
    value, ours = gradients(net, said, before=before, reference=reference)
    wanted, theirs = by_hand(net, said, before=before, reference=reference)
    assert value == pytest.approx(wanted, abs=1e-6)
    assert same(ours, theirs)
    assert max(float(gradient.abs().max()) for gradient in theirs) > 1e-2, "a gradient of nothing proves nothing"


def test_the_clip_is_reached_on_both_sides(nets: tuple[Any, Any, Any]) -> None:
    net, before, _ = nets
    batch = Batch.of(conversations(0, memories=MEMORIES), pad=0)
    ratio = torch.exp(log_likelihood(net, batch) - log_likelihood(before, batch))[batch.generated.bool()]
    assert float(ratio.min()) < 0.8
    assert float(ratio.max()) > 1.2


def test_the_order_of_conversations_changes_nothing(nets: tuple[Any, Any, Any]) -> None:
    net, before, reference = nets
    said = conversations(0, memories=MEMORIES)
    _, ours = gradients(net, said, before=before, reference=reference)
    for seed in range(3):
        moved = list(said)
        random.Random(seed).shuffle(moved)
        _, theirs = gradients(net, moved, before=before, reference=reference)
        assert same(ours, theirs, 1e-6)


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_padding_and_parts_change_nothing(nets: tuple[Any, Any, Any], size: int) -> None:
    net, before, reference = nets
    said = conversations(4, memories=MEMORIES)
    _, ours = gradients(net, said, before=before, reference=reference, size=size)
    _, theirs = gradients(net, said, before=before, reference=reference, size=3)
    assert same(ours, theirs, 1e-6)


def test_credit_stays_in_its_rollout(nets: tuple[Any, Any, Any]) -> None:
    """With an advantage for one rollout alone, only its conversations matter, however the others read."""
    net, before, reference = nets
    rules = replace(RULES, kl=0.0)
    said = conversations(0, memories=MEMORIES)
    for mine in (2, 4, 6):
        advantage = torch.zeros(len(MEMORIES))
        advantage[mine] = 1.0
        _, whole = gradients(net, said, before=before, reference=reference, rules=rules, advantage=advantage)
        others = [
            replace(one, generated=tuple(reversed(one.generated)), prompt=one.prompt[1:])
            if one.rollout != mine
            else one
            for one in said
        ]
        _, changed = gradients(net, others, before=before, reference=reference, rules=rules, advantage=advantage)
        assert same(whole, changed, 1e-6)
        own = [one for one in said if one.rollout == mine]
        _, alone = gradients(net, own, before=before, reference=reference, rules=rules, advantage=advantage)
        share = generated_tokens(own) / generated_tokens(said)
        assert same(whole, [share * gradient for gradient in alone], 1e-6)


def test_memory_weight(nets: tuple[Any, Any, Any]) -> None:
    """λ = 0 leaves what memory conversations say without any credit, but for the KL."""
    net, before, reference = nets
    rules = ObjectiveRules(memory=0.0, kl=0.0)
    said = conversations(0, memories=MEMORIES)
    _, ours = gradients(net, said, before=before, reference=reference, rules=rules)
    answers = [one for one in said if one.kind == "answer"]
    _, alone = gradients(net, answers, before=before, reference=reference, rules=rules)
    share = generated_tokens(answers) / generated_tokens(said)
    assert same(ours, [share * gradient for gradient in alone], 1e-6)


def test_advantages_by_hand() -> None:
    rewards = torch.tensor([[1.0, 0.0, 2.0, 1.0], [0.3, 0.3, 0.3, 0.3]], dtype=torch.float64)
    assert advantages(rewards).tolist() == [[0.0, -1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    deviation = math.sqrt(2 / 3)
    wanted = [0.0, -1 / (deviation + 1e-4), 1 / (deviation + 1e-4), 0.0]
    assert advantages(rewards, scaled=True)[0].tolist() == pytest.approx(wanted)
    assert advantages(rewards, scaled=True)[1].tolist() == [0.0] * 4
    assert flat(rewards).tolist() == [False, True]


def test_a_token_by_hand() -> None:
    """An answer token, r = 1.5, A = 2, ε = 0.2: J = 2.4; a memory token, r = 0.5, A = −1: J = −0.8, λ = 0.5, N = 2."""
    now = torch.log(torch.tensor([[0.6], [0.2]]))
    before = torch.log(torch.tensor([[0.4], [0.4]]))
    reference = torch.log(torch.tensor([[0.3], [0.2]]))
    terms = objective(
        now,
        before,
        reference,
        torch.ones(2, 1),
        torch.tensor([2.0, -1.0]),
        torch.tensor([0, 1]),
        tokens=2,
        rules=ObjectiveRules(memory=0.5, kl=0.1),
    )
    k3 = 0.5 - math.log(0.5) - 1
    assert float(terms.loss) == pytest.approx(-(2.4 + 0.5 * -0.8) / 2 + 0.1 * k3 / 2)
    assert terms.kl == pytest.approx(k3)
    assert terms.clipped == 2


@pytest.mark.parametrize("wrong", [{"clip": 0.0}, {"kl": -1.0}, {"memory": math.nan}])
def test_rules_that_make_no_sense(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="give a clip"):
        ObjectiveRules(**wrong)


def test_temperature_is_that_of_the_drawing(nets: tuple[Any, Any, Any]) -> None:
    net, _, _ = nets
    (one, *_) = conversations(0, memories=(0,))
    batch = Batch.of([one], pad=0)
    last = [net(torch.tensor([one.prompt + one.generated[:t]])).logits[0, -1] for t in range(len(one.generated))]
    wanted = [float(torch.log_softmax(scores / 0.5, dim=-1)[one.generated[t]]) for t, scores in enumerate(last)]
    assert log_likelihood(net, batch, temperature=0.5)[0].tolist() == pytest.approx(wanted, abs=1e-5)
