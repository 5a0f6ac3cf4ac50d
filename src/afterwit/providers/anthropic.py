"""Claude through Anthropic's API."""

import os
from collections.abc import Mapping
from typing import Any

from afterwit.errors import MissingExtra, UsageError
from afterwit.model import Ask, Reply
from afterwit.providers.endpoint import THINKING_ROOM, Endpoint, storable


class AnthropicChat(Endpoint):
    """The API takes no temperature and no seed (since its version 2026-10-21), so the same ask need not give the same
    answer: put a cache around it, which keeps answers apart by both. Thinking is switched off, since ``max_tokens`` is
    meant for the answer; a model that will not do without it gets room for it."""

    schema_field = "output_config"
    refusals = {  # noqa: RUF012
        "output_config": r"output_config|output_format|schema|structured output",
        "thinking": r"thinking",
    }

    def __init__(
        self,
        model: str | None = None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        retries: int = 4,
        timeout: float = 60.0,
        deadline: float = 180.0,
    ) -> None:
        """What is not given comes from AFTERWIT_MODEL, ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY.

        Raises MissingExtra and UsageError."""
        try:
            import anthropic  # optional, and takes a second
        except ImportError:
            raise MissingExtra("anthropic", "models") from None
        model = model or os.environ.get("AFTERWIT_MODEL")
        if not model:
            raise UsageError("which model? Name it, as in anthropic:MODEL, or set AFTERWIT_MODEL")
        base_url = base_url or os.environ.get("ANTHROPIC_BASE_URL") or None
        key = api_key or os.environ.get("ANTHROPIC_API_KEY")
        if not key:
            raise UsageError("no key for Anthropic: set ANTHROPIC_API_KEY")
        super().__init__(
            anthropic,
            "anthropic",
            model,
            base_url=base_url,
            api_key=key,
            retries=retries,
            timeout=timeout,
            deadline=deadline,
        )

    def _client(self) -> Any:
        return self._library.AsyncAnthropic(**self._options)

    async def _send(self, client: Any, request: Mapping[str, Any]) -> Any:
        return await client.messages.create(**request)

    def _request(self, ask: Ask) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.content} for m in ask.messages if m.role != "system"],
            "max_tokens": ask.max_tokens + (THINKING_ROOM if "thinking" in self._refused else 0),
            "thinking": {"type": "disabled"},
        }
        if system := "\n\n".join(message.content for message in ask.messages if message.role == "system"):
            request["system"] = system
        if ask.schema is not None:
            schema = self._library.transform_schema(dict(ask.schema))  # what the API cannot enforce becomes words
            request["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        return request

    def _reply(self, ask: Ask, answer: Any) -> Reply:
        blocks = getattr(answer, "content", None)
        if blocks is None:
            raise self._no_answer()
        if answer.stop_reason == "refusal":
            raise self._declined("it refuses")
        usage = answer.usage
        cached = (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)
        return Reply(
            text=storable("".join(block.text for block in blocks if block.type == "text")),
            finish="length" if answer.stop_reason in ("max_tokens", "model_context_window_exceeded") else "stop",
            input_tokens=usage.input_tokens + cached,
            output_tokens=usage.output_tokens,
        )
