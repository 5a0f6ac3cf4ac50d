"""Without memory conversations the loss and its gradients are TRL's, on a batch that TRL itself drew and judged."""

from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from train_cases import model, tokenizer
from trl import GRPOConfig, GRPOTrainer

from afterwit.train.conversation import Conversation, generated_tokens, parts
from afterwit.train.likelihood import Batch, log_likelihood
from afterwit.train.objective import ObjectiveRules, advantages, objective


def worth(completions: list[str], **_: Any) -> list[float]:
    return [text.count("a") + 0.31 * text.count("b") - 0.17 * len(text.split()) for text in completions]


def trainer(folder: Path, *, scaled: bool) -> Any:
    prompts = Dataset.from_list([{"prompt": text} for text in ("a b c", "d", "e f g h i", "k l")])
    settings = GRPOConfig(
        output_dir=str(folder),
        use_cpu=True,
        bf16=False,
        loss_type="bnpo",
        scale_rewards="group" if scaled else "none",
        beta=0.04,
        use_bias_correction_kl=False,  # the k3 of the paper; TRL by default weights it with the ratio as well
        epsilon=0.2,
        num_generations=4,
        per_device_train_batch_size=16,
        num_iterations=2,
        max_completion_length=9,
        temperature=1.0,
        report_to=[],
        save_strategy="no",
        seed=3,
        gradient_checkpointing=False,
    )
    start = folder / "start"  # from a folder, as it reads the reference from there again
    model(5).save_pretrained(start)
    return GRPOTrainer(
        str(start), reward_funcs=worth, args=settings, train_dataset=prompts, processing_class=tokenizer()
    )


@pytest.mark.parametrize("scaled", [False, True])
def test_loss_and_gradients(tmp_path: Path, scaled: bool) -> None:
    theirs = trainer(tmp_path, scaled=scaled)
    batch = theirs._prepare_inputs([{"prompt": text} for text in ("a b c", "d", "e f g h i", "k l") for _ in range(4)])
    # Some steps away from what drew the batch and from the reference, so that ratios, clip and KL all count.
    draw = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in theirs.model.parameters():
            parameter.add_(0.02 * torch.randn(parameter.shape, generator=draw))
        batch["ref_per_token_logps"] = batch["ref_per_token_logps"] + 0.3 * torch.randn(
            batch["ref_per_token_logps"].shape, generator=draw
        )
    theirs.current_gradient_accumulation_steps = 1
    theirs.model.train()
    theirs.model.zero_grad()
    wanted = theirs._compute_loss(theirs.model, batch)
    wanted.backward()
    gradients = [parameter.grad.clone() for parameter in theirs.model.parameters()]

    said, columns = [], []
    for row in range(16):
        prompt = batch["prompt_ids"][row][batch["prompt_mask"][row].bool()]
        written = batch["completion_mask"][row].bool()
        said.append(
            Conversation(
                prompt=tuple(prompt.tolist()),
                generated=tuple(batch["completion_ids"][row][written].tolist()),
                kind="answer",
                rollout=row,
            )
        )
        columns.append(written)
    texts = tokenizer().batch_decode([one.generated for one in said], skip_special_tokens=True)
    share = advantages(torch.tensor(worth(texts), dtype=torch.float64).view(4, 4), scaled=scaled).flatten().float()
    assert torch.allclose(share, batch["advantages"].float(), atol=1e-5), "the advantages are TRL's too"

    net = model(0)
    net.load_state_dict(theirs.model.state_dict())
    value = 0.0
    for part in parts(range(16), 6):
        ours = Batch.of([said[row] for row in part], pad=0)
        terms = objective(
            log_likelihood(net, ours),
            right_aligned(batch["old_per_token_logps"], columns, part, ours),
            right_aligned(batch["ref_per_token_logps"], columns, part, ours),
            ours.generated,
            share[ours.rollout],
            ours.memory,
            tokens=generated_tokens(said),
            rules=ObjectiveRules(clip=0.2, kl=0.04, scaled=scaled),
        )
        terms.loss.backward()
        value += float(terms.loss)
    assert value == pytest.approx(float(wanted), abs=1e-5)
    largest = 0.0
    for parameter, gradient in zip(net.parameters(), gradients, strict=True):
        assert float((parameter.grad - gradient).abs().max()) <= 1e-5
        largest = max(largest, float(gradient.abs().max()))
    assert largest > 1e-2, "a gradient of nothing proves nothing"


def right_aligned(values: torch.Tensor, columns: list[torch.Tensor], rows: range, batch: Batch) -> torch.Tensor:
    """TRL pads what was generated on the right, we on the left."""
    found = torch.zeros(batch.generated.shape)
    for i, row in enumerate(rows):
        kept = values[row][columns[row]]
        found[i, found.shape[1] - len(kept) :] = kept
    return found
