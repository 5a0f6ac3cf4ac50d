"""The real small model: in this process, and behind HTTP through the vendors' real clients."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from afterwit.chat.pool import each
from afterwit.errors import ProviderError
from afterwit.model import Ask, Message, Reply
from afterwit.providers.anthropic import AnthropicChat
from afterwit.providers.local import LocalChat
from afterwit.providers.openai import OpenAIChat
from afterwit.structured.answer import answer, read
from afterwit.structured.schema import schema_of
from wire_cases import Act, says, serving


class Verdict(BaseModel):
    stage: Literal["planning", "execution", "both", "neither"]
    percent: int = Field(ge=0, le=100)


QUESTION = "The plan was right, but the wrong flight was cancelled. Which stage failed? How sure are you?"
ASK = Ask(messages=(Message(role="user", content=QUESTION),), temperature=0.8, seed=3, max_tokens=16)
PLAIN = Ask(messages=(Message(role="user", content="Say hello."),), max_tokens=6)


@pytest.fixture(scope="module")
def local() -> LocalChat:
    return LocalChat()


def test_it_answers_counts_its_tokens_and_stops_at_the_limit(local: LocalChat) -> None:
    reply = local(PLAIN)
    assert reply.text.strip()
    assert (reply.finish, reply.output_tokens, reply.cached) == ("length", 6, False)
    assert reply.input_tokens > 6


def test_the_same_ask_gives_the_same_answer_whatever_came_between(local: LocalChat) -> None:
    warm = replace(PLAIN, temperature=1.5)
    first = local(warm)
    local(replace(warm, seed=1))
    assert LocalChat()(warm) == first


def test_another_seed_gives_another_answer_where_the_temperature_allows_it(local: LocalChat) -> None:
    warm = replace(PLAIN, temperature=1.5)
    assert len({local(replace(warm, seed=seed)).text for seed in range(2)}) == 2
    assert local(PLAIN).text == local(replace(PLAIN, seed=1)).text


def test_its_answer_follows_a_schema(local: LocalChat) -> None:
    reply = local(replace(ASK, schema=schema_of(Verdict), max_tokens=60))
    assert read(reply, Verdict).stage in json.loads(reply.text).values()


def test_threads_take_turns_and_get_what_they_would_get_alone(local: LocalChat) -> None:
    words = ("yes", "no", "tea")
    asks = [replace(PLAIN, messages=(Message(role="user", content=f"Say {word}."),), max_tokens=4) for word in words]
    alone = [local(ask) for ask in asks]
    assert list(each(local, asks, workers=3)) == alone


def test_text_of_any_script_goes_in(local: LocalChat) -> None:
    text = "先に注文を確認 – vérifie l'été 🙂 \u0627\u0644\u0637\u0644\u0628"
    assert isinstance(local(Ask(messages=(Message(role="user", content=text),), max_tokens=4)), Reply)


def test_a_prompt_beyond_its_context_is_a_typed_error_and_it_goes_on(local: LocalChat) -> None:
    long = Ask(messages=(Message(role="user", content="one two three " * 4000),), max_tokens=4)
    with pytest.raises(ProviderError, match=r"local:SmolLM2.* failed"):
        local(long)
    assert local(PLAIN).text


def test_a_schema_that_it_cannot_follow_is_a_typed_error(local: LocalChat) -> None:
    with pytest.raises(ProviderError, match="failed"):
        local(replace(PLAIN, schema={"$ref": "#/$defs/Missing"}))


def test_weights_that_are_not_there_are_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="failed"):
        LocalChat(tmp_path / "none.gguf")(PLAIN)


def test_its_name_tells_the_weights_and_the_engine() -> None:
    assert LocalChat().name.startswith("local:SmolLM2-135M-Instruct.Q4_1@xllamacpp-")


def in_openai_words(chat: LocalChat) -> Act:
    """Serves a chat as an OpenAI-compatible endpoint does."""

    def act(handler: Any) -> None:
        body = handler.body
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
        reply = chat(
            Ask(
                messages=tuple(Message(role=m["role"], content=m["content"]) for m in body["messages"]),
                schema=schema,
                temperature=body["temperature"],
                seed=body["seed"],
                max_tokens=body["max_tokens"],
            )
        )
        choice = {"index": 0, "finish_reason": reply.finish, "message": {"role": "assistant", "content": reply.text}}
        usage = {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens, "total_tokens": 0}
        value = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        says({**value, "usage": usage})(handler)

    return act


def in_anthropic_words(chat: LocalChat) -> Act:
    def act(handler: Any) -> None:
        body = handler.body
        schema = body.get("output_config", {}).get("format", {}).get("schema")
        messages = tuple(Message(role=m["role"], content=m["content"]) for m in body["messages"])
        reply = chat(Ask(messages=messages, schema=schema, max_tokens=body["max_tokens"]))
        value = {
            "id": "1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "text", "text": reply.text}],
            "stop_reason": "max_tokens" if reply.finish == "length" else "end_turn",
            "usage": {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens},
        }
        says(value)(handler)

    return act


def test_behind_http_the_openai_client_gets_the_very_answer_that_the_model_gives_here(local: LocalChat) -> None:
    with serving(in_openai_words(local)) as wire:
        remote = OpenAIChat("smollm2", base_url=f"{wire.url}/v1")
        assert remote(PLAIN) == local(PLAIN)
        ask = replace(ASK, max_tokens=60)
        assert answer(remote, ask, Verdict) == answer(local, ask, Verdict)
    assert wire.bodies[-1]["response_format"]["json_schema"]["schema"]["required"] == ["stage", "percent"]


def test_behind_http_several_threads_ask_through_one_client(local: LocalChat) -> None:
    asks = [replace(PLAIN, temperature=1.5, seed=seed) for seed in range(3)]
    with serving(in_openai_words(local)) as wire:
        remote = OpenAIChat("smollm2", base_url=wire.url)
        assert list(each(remote, asks, workers=3)) == [local(ask) for ask in asks]


def test_behind_http_the_anthropic_client_gets_the_very_answer_that_the_model_gives_here(local: LocalChat) -> None:
    cold = replace(PLAIN, schema=schema_of(Verdict), max_tokens=6)
    with serving(in_anthropic_words(local)) as wire:
        remote = AnthropicChat("smollm2", base_url=wire.url, api_key="k")
        assert remote(cold) == local(cold)
    assert wire.bodies[0]["output_config"]["format"]["schema"]["required"] == ["stage", "percent"]


def test_enums_patterns_and_whole_bounds_hold(local: LocalChat) -> None:
    class Code(BaseModel):
        code: str = Field(pattern="^[A-Z]{2}-[0-9]{2}$")
        percent: int = Field(ge=0, le=100)

    ask = Ask(messages=(Message(role="user", content="Code?"),), schema=schema_of(Code), temperature=1.0, max_tokens=40)
    read(local(ask), Code)
