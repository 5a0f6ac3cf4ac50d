"""Anthropic's wire format over real HTTP, against servers that behave and misbehave."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from afterwit.errors import MissingExtra, ProviderError, UsageError
from afterwit.model import Ask, Message, Reply
from afterwit.providers.anthropic import AnthropicChat
from wire_cases import breaks_off, drips, hangs_up, refuses, says, serving

SCHEMA = {
    "type": "object",
    "properties": {"percent": {"type": "integer", "minimum": 0, "maximum": 100}},
    "required": ["percent"],
    "additionalProperties": False,
}
ASK = Ask(
    messages=(
        Message(role="system", content="Be brief."),
        Message(role="user", content="Qui?"),
        Message(role="assistant", content="Moi"),
        Message(role="user", content="谁?"),
    ),
    schema=SCHEMA,
    seed=3,
    max_tokens=40,
)


def message(*texts: str, stop: str = "end_turn", **usage: int) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "thinking", "thinking": "hm", "signature": "s"}]
    return {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": blocks + [{"type": "text", "text": text} for text in texts],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 5, **usage},
    }


OK = says(message("Moi – ", "我"))
REPLY = Reply(text="Moi – 我", input_tokens=11, output_tokens=5)


def chat_at(url: str, **more: Any) -> AnthropicChat:
    return AnthropicChat("m", base_url=url, api_key="key", **more)


def test_the_request_carries_what_the_api_takes() -> None:
    with serving(OK) as wire:
        assert chat_at(wire.url)(ASK) == REPLY
    (body,) = wire.bodies
    schema = body.pop("output_config")["format"]["schema"]
    assert wire.paths == ["/v1/messages"]
    assert "key" in (wire.headers[0].get("authorization") or wire.headers[0].get("x-api-key") or "")
    assert body == {
        "model": "m",
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Qui?"},
            {"role": "assistant", "content": "Moi"},
            {"role": "user", "content": "谁?"},
        ],
        "max_tokens": 40,
        "thinking": {"type": "disabled"},
    }
    assert schema["required"] == ["percent"]
    assert "maximum: 100" in schema["properties"]["percent"]["description"]


@pytest.mark.parametrize("status", [429, 500, 529])
def test_a_passing_fault_is_tried_again(status: int) -> None:
    with serving(refuses(status, "later"), OK) as wire:
        assert chat_at(wire.url)(ASK) == REPLY
    assert len(wire.bodies) == 2


@pytest.mark.parametrize("fault", [hangs_up, breaks_off])
def test_a_lost_connection_is_tried_again(fault: Any) -> None:
    with serving(fault, OK) as wire:
        assert chat_at(wire.url)(ASK) == REPLY


def test_a_fault_that_stays_is_told() -> None:
    with serving(refuses(529, "Overloaded")) as wire, pytest.raises(ProviderError, match=r"anthropic:m.* failed"):
        chat_at(wire.url, retries=1)(ASK)
    assert len(wire.bodies) == 2


def test_the_deadline_holds_whatever_arrives() -> None:
    with serving(drips) as wire, pytest.raises(ProviderError, match="took too long"):
        chat_at(wire.url, deadline=0.5)(ASK)


def test_a_refused_key_and_an_empty_account_are_told_at_once() -> None:
    with serving(refuses(401, "bad key")) as wire, pytest.raises(ProviderError, match="refuses the key"):
        chat_at(wire.url)(ASK)
    with serving(refuses(400, "Your credit balance is too low")) as wire, pytest.raises(ProviderError, match="credit"):
        chat_at(wire.url)(ASK)
    assert len(wire.bodies) == 1


def test_nobody_there_is_told() -> None:
    with serving(OK) as wire:
        url = wire.url
    with pytest.raises(ProviderError, match="cannot be reached"):
        chat_at(url, retries=0)(ASK)


def test_where_the_schema_is_refused_it_is_put_in_words() -> None:
    with serving(refuses(400, "output_config: Extra inputs are not permitted"), OK) as wire:
        assert chat_at(wire.url)(ASK) == REPLY
    assert "output_config" not in wire.bodies[1]
    assert '"percent"' in wire.bodies[1]["messages"][-1]["content"]


def test_a_model_that_must_think_gets_room_for_it() -> None:
    with serving(refuses(400, "thinking: disabled is not supported for this model"), OK) as wire:
        assert chat_at(wire.url)(ASK) == REPLY
    assert "thinking" not in wire.bodies[1]
    assert wire.bodies[1]["max_tokens"] > 40


def test_how_it_ended_and_what_it_took_are_told() -> None:
    cached = message("x", stop="max_tokens", cache_read_input_tokens=100, cache_creation_input_tokens=10)
    with serving(says(cached), says(message(stop="end_turn")), says(message("x", stop="refusal"))) as wire:
        chat = chat_at(wire.url)
        assert chat(ASK) == Reply(text="x", finish="length", input_tokens=121, output_tokens=5)
        assert chat(ASK).text == ""
        with pytest.raises(ProviderError, match="declined"):
            chat(ASK)


@pytest.mark.parametrize("value", [{"content": None}, b"<html>", [], b""])
def test_what_is_no_answer_is_an_error(value: Any) -> None:
    with serving(says(value)) as wire, pytest.raises(ProviderError):
        chat_at(wire.url)(replace(ASK, schema=None))


def test_without_model_or_key_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AFTERWIT_MODEL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="AFTERWIT_MODEL"):
        AnthropicChat(api_key="k")
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        AnthropicChat("m")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert AnthropicChat("m").name == "anthropic:m"


def test_without_its_package_it_names_the_command() -> None:
    program = (
        "import sys; sys.modules['anthropic'] = None\n"
        "from afterwit.errors import MissingExtra\n"
        "from afterwit.providers.anthropic import AnthropicChat\n"
        "try: AnthropicChat('m', api_key='k')\n"
        "except MissingExtra as error: print(error)"
    )
    said = subprocess.check_output([sys.executable, "-c", program], text=True).strip()
    assert said == str(MissingExtra("anthropic", "models"))
