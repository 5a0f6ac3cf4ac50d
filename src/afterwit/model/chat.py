"""What is asked of a model, and what it answered."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from afterwit.model.ids import content_hash


@dataclass(frozen=True, kw_only=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Ask:
    """One request. schema: the JSON schema that the answer must satisfy, None for prose. seed: part of the request,
    so that votes differ and repeats agree. purpose: what it is for, such as ``merge``; accounting groups by it."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 512
    purpose: str = ""

    def key(self, model: str) -> str:
        """Content address: the same request to the same model has the same key, whatever it is for."""
        texts = [part for message in self.messages for part in (message.role, message.content)]
        schema = json.dumps(self.schema, sort_keys=True, ensure_ascii=False)
        return content_hash(model, schema, repr(self.temperature), str(self.seed), str(self.max_tokens), *texts)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """finish: ``length`` where the answer was cut off. Tokens as the provider counted them; cached: it cost nothing."""

    text: str
    finish: Literal["stop", "length"] = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    cached: bool = False
