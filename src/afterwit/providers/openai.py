"""Any endpoint that speaks OpenAI's chat completions: OpenAI, vLLM, llama.cpp, Ollama, gateways."""

import os
from collections.abc import Mapping
from typing import Any

from afterwit.errors import MissingExtra, UsageError
from afterwit.model import Ask, Reply, count_tokens
from afterwit.providers.endpoint import THINKING_ROOM, Endpoint, storable


class OpenAIChat(Endpoint):
    """Where ``max_tokens`` is refused it becomes ``max_completion_tokens``, with room for thinking. Where a model
    takes no temperature or seed, the same ask need not give the same answer: put a cache around it."""

    schema_field = "response_format"
    refusals = {  # noqa: RUF012
        "response_format": r"response_format|schema|grammar|structured output",
        "max_tokens": r"max_tokens",
        "temperature": r"temperature",
        "seed": r"\bseed\b",
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
        """What is not given comes from AFTERWIT_MODEL, AFTERWIT_BASE_URL and AFTERWIT_API_KEY; without a base URL it
        is OpenAI itself, with OPENAI_API_KEY as a last resort. Raises MissingExtra and UsageError."""
        try:
            import openai  # optional, and takes a second
        except ImportError:
            raise MissingExtra("openai", "models") from None
        model = model or os.environ.get("AFTERWIT_MODEL")
        if not model:
            raise UsageError("which model? Name it, as in openai:MODEL, or set AFTERWIT_MODEL")
        base_url = base_url or os.environ.get("AFTERWIT_BASE_URL") or None
        # an endpoint of one's own often wants no key, and must never be sent the one for OpenAI
        fallback = "none" if base_url else os.environ.get("OPENAI_API_KEY")
        key = api_key or os.environ.get("AFTERWIT_API_KEY") or fallback
        if not key:
            raise UsageError("no key for OpenAI: set AFTERWIT_API_KEY, or AFTERWIT_BASE_URL for another endpoint")
        super().__init__(
            openai, "openai", model, base_url=base_url, api_key=key, retries=retries, timeout=timeout, deadline=deadline
        )

    def _client(self) -> Any:
        return self._library.AsyncOpenAI(**self._options)

    async def _send(self, client: Any, request: Mapping[str, Any]) -> Any:
        return await client.chat.completions.create(**request)

    def _request(self, ask: Ask) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in ask.messages],
            "temperature": ask.temperature,
            "seed": ask.seed,
            "max_tokens": ask.max_tokens,
        }
        if "max_tokens" in self._refused:
            request["max_completion_tokens"] = ask.max_tokens + THINKING_ROOM
        if ask.schema is not None:
            schema = {"name": "answer", "schema": dict(ask.schema), "strict": True}
            request["response_format"] = {"type": "json_schema", "json_schema": schema}
        return request

    def _reply(self, ask: Ask, answer: Any) -> Reply:
        choices: Any = getattr(answer, "choices", None)
        message = choices[0].message if choices else None
        if message is None:
            raise self._no_answer()
        finish = choices[0].finish_reason
        if finish == "content_filter" or getattr(message, "refusal", None):
            raise self._declined(message.refusal or "its filter stepped in")
        text, usage = storable(message.content or ""), answer.usage
        return Reply(
            text=text,
            finish="length" if finish == "length" else "stop",
            # an endpoint that does not count is counted for, or a budget would never end
            input_tokens=usage.prompt_tokens if usage else sum(count_tokens(part.content) for part in ask.messages),
            output_tokens=usage.completion_tokens if usage else count_tokens(text),
        )
