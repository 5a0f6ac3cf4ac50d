"""A model and a tokenizer small enough to be counted through by hand."""

from collections.abc import Sequence
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from afterwit.train.conversation import Conversation

torch.set_num_threads(1)
WORDS = ("<pad>", "<end>", "<unk>", "user", "says", *"abcdefghijklmnop")
TEMPLATE = "{% for m in messages %}{{ m['role'] + ' ' + m['content'] + ' ' }}{% endfor %}says"


def tokenizer(words: Sequence[str] = WORDS) -> Any:
    """A token a word."""
    inner = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<end>", pad_token="<pad>", unk_token="<unk>", padding_side="left"
    )
    made.chat_template = TEMPLATE
    return made


def model(seed: int = 0, *, words: int = len(WORDS), window: int = 128, size: int = 32, spread: float = 0.3) -> Any:
    """A LLaMA of two layers; weights are spread wide, so that its choices are far from even."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=words,
        hidden_size=size,
        intermediate_size=2 * size,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=window,
        initializer_range=spread,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config).eval()


def conversations(seed: int, *, memories: Sequence[int], vocabulary: int = len(WORDS)) -> list[Conversation]:
    """Random ids; memories: how many memory conversations each rollout has."""
    draw = torch.Generator().manual_seed(seed)

    def ids(low: int, high: int) -> tuple[int, ...]:
        n = int(torch.randint(low, high, (1,), generator=draw))
        return tuple(torch.randint(2, vocabulary, (n,), generator=draw).tolist())

    return [
        Conversation(prompt=ids(2, 9), generated=ids(1, 7), kind=kind, rollout=rollout)
        for rollout, n in enumerate(memories)
        for kind in (*("memory",) * n, "answer")
    ]
