"""OpenAI-compatible endpoints over real HTTP: the local model served as such, and servers that misbehave."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from afterwit.chat.pool import each
from afterwit.errors import MissingExtra, ProviderError, UsageError
from afterwit.model import Ask, Message, Reply
from afterwit.providers.local import bundled_weights
from afterwit.providers.openai import OpenAIChat
from afterwit.structured.answer import answer
from wire_cases import breaks_off, drips, hangs_up, is_silent, refuses, says, serving

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
ASK = Ask(
    messages=(Message(role="system", content="Be brief."), Message(role="user", content="Qui? 谁?")),
    schema=SCHEMA,
    temperature=0.7,
    seed=3,
    max_tokens=40,
)


def completion(text: str | None, finish: str = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, **more}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
    }


OK = says(completion("Moi – 我"))
REPLY = Reply(text="Moi – 我", input_tokens=11, output_tokens=5)


def chat_at(url: str, **more: Any) -> OpenAIChat:
    return OpenAIChat("m", base_url=f"{url}/v1", api_key="key", **more)


class Verdict(BaseModel):
    stage: Literal["planning", "execution", "both", "neither"]
    percent: int = Field(ge=0, le=100)


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """SmolLM2 behind llama.cpp's own HTTP server."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(bundled_weights())
    parameters.n_ctx, parameters.n_parallel, parameters.verbosity = 1024, 1, -1
    parameters.warmup = parameters.ui = parameters.fit_params = False
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    yield server.listening_address
    del server


def test_a_model_behind_http_answers_within_the_schema(served: str) -> None:
    chat = OpenAIChat("smollm2", base_url=f"{served}/v1")
    question = "The plan was right, but the wrong card was refunded. Which stage failed, and how sure are you?"
    ask = Ask(messages=(Message(role="user", content=question),), max_tokens=60)
    verdict = answer(chat, ask, Verdict)
    assert verdict == answer(chat, ask, Verdict)
    reply = chat(replace(ask, max_tokens=3))
    assert (reply.finish, reply.output_tokens) == ("length", 3)
    assert reply.input_tokens > 20


def test_a_prompt_longer_than_the_context_is_an_error_of_the_provider(served: str) -> None:
    with pytest.raises(ProviderError, match="exceeds the available context size"):
        OpenAIChat("smollm2", base_url=f"{served}/v1")(
            replace(ASK, messages=(Message(role="user", content="a " * 2000),))
        )


def test_the_request_carries_all_that_was_asked() -> None:
    with serving(OK) as wire:
        assert chat_at(wire.url)(ASK) == REPLY
    (body,) = wire.bodies
    assert wire.paths == ["/v1/chat/completions"]
    assert wire.headers[0]["authorization"] == "Bearer key"
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Qui? 谁?"}],
        "temperature": 0.7,
        "seed": 3,
        "max_tokens": 40,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
        },
    }


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
def test_a_passing_fault_is_tried_again(status: int) -> None:
    with serving(refuses(status, "later"), refuses(status, "later"), OK) as wire:
        assert chat_at(wire.url)(ASK) == REPLY
    assert len(wire.bodies) == 3


@pytest.mark.parametrize("fault", [hangs_up, breaks_off, is_silent])
def test_a_lost_or_silent_connection_is_tried_again(fault: Any) -> None:
    with serving(fault, OK) as wire:
        assert chat_at(wire.url, timeout=0.5)(ASK) == REPLY
    assert len(wire.bodies) == 2


def test_a_fault_that_stays_is_told_after_the_retries() -> None:
    with serving(refuses(500, "out of order")) as wire, pytest.raises(ProviderError, match=r"failed: .*out of order"):
        chat_at(wire.url, retries=2)(ASK)
    assert len(wire.bodies) == 3


def test_an_endpoint_that_keeps_the_connection_alive_by_blanks_meets_the_deadline() -> None:
    with serving(drips) as wire, pytest.raises(ProviderError, match="took too long"):
        chat_at(wire.url, deadline=0.5)(ASK)
    assert len(wire.bodies) == 1


def test_pauses_between_retries_count_towards_the_deadline() -> None:
    busy = says({"error": {"message": "busy"}}, status=429, headers={"retry-after-ms": "60000"})
    with serving(busy) as wire, pytest.raises(ProviderError, match="took too long"):
        chat_at(wire.url, deadline=0.5)(ASK)
    assert len(wire.bodies) == 1


def test_an_attempt_that_times_out_each_time_is_told() -> None:
    with serving(is_silent) as wire, pytest.raises(ProviderError, match="took too long"):
        chat_at(wire.url, timeout=0.1, retries=1)(ASK)
    assert len(wire.bodies) == 2


def test_nobody_there_is_told() -> None:
    with serving(OK) as wire:
        url = wire.url
    with pytest.raises(ProviderError, match=r"openai:m@127.0.0.1:\d+/v1 cannot be reached"):
        chat_at(url, retries=0)(ASK)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_told_at_once_without_the_key(status: int) -> None:
    with serving(refuses(status, "bad key")) as wire, pytest.raises(ProviderError, match="refuses the key") as caught:
        chat_at(wire.url)(ASK)
    assert len(wire.bodies) == 1
    assert "Bearer" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "'response_format.type' must be 'text'"),
        (400, "json_schema is not available for this model"),
        (422, "Unknown field: response_format"),
    ],
)
def test_where_the_schema_is_refused_it_is_put_in_words_from_then_on(status: int, message: str) -> None:
    with serving(refuses(status, message), OK) as wire:
        chat = chat_at(wire.url)
        assert chat(ASK) == REPLY
        assert chat(ASK) == REPLY
    assert ["response_format" in body for body in wire.bodies] == [True, False, False]
    for body in wire.bodies[1:]:
        assert body["messages"][0] == {"role": "system", "content": "Be brief."}
        assert json.dumps(SCHEMA, separators=(",", ":")) in body["messages"][1]["content"]
        assert body["seed"] == 3


def test_a_schema_that_is_refused_says_nothing_of_another() -> None:
    with serving(refuses(400, "Invalid schema for response_format"), OK) as wire:
        chat = chat_at(wire.url)
        chat(ASK)
        chat(replace(ASK, schema={"type": "object"}))
    assert ["response_format" in body for body in wire.bodies] == [True, False, True]


def test_other_fields_that_are_refused_are_left_out_and_the_limit_renamed() -> None:
    acts = (
        refuses(400, "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
        refuses(400, "Unsupported value: 'temperature' does not support 0.7 with this model."),
        refuses(422, "seed: Extra inputs are not permitted"),
        OK,
    )
    with serving(*acts) as wire:
        chat = chat_at(wire.url)
        assert chat(ASK) == REPLY
        chat(ASK)
    for body in wire.bodies[3:]:
        assert not body.keys() & {"max_tokens", "temperature", "seed"}
        assert body["max_completion_tokens"] > 40
        assert "response_format" in body


def test_a_limit_that_is_exceeded_is_no_refusal_of_the_field() -> None:
    acts = (refuses(400, "max_tokens is too large: 40. The context length is 30."), OK)
    with serving(*acts) as wire, pytest.raises(ProviderError, match="too large"):
        chat_at(wire.url)(ASK)
    assert len(wire.bodies) == 1


@pytest.mark.parametrize(
    ("value", "reply"),
    [
        (completion("cut", "length"), Reply(text="cut", finish="length", input_tokens=11, output_tokens=5)),
        (completion(None, "length"), Reply(text="", finish="length", input_tokens=11, output_tokens=5)),
        (completion("half \ud83d"), Reply(text="half ?", input_tokens=11, output_tokens=5)),
        (
            completion("uncounted words") | {"usage": None},
            Reply(text="uncounted words", input_tokens=7, output_tokens=3),
        ),
    ],
)
def test_replies_are_taken_as_they_are(value: Any, reply: Reply) -> None:
    with serving(says(value)) as wire:
        assert chat_at(wire.url)(ASK) == reply


@pytest.mark.parametrize(
    ("value", "match"),
    [
        ({"choices": []}, "without an answer"),
        ({"choices": None, "error": "x"}, "without an answer"),
        ([], "without an answer"),
        (b"<html>hello</html>", "failed"),
        (b"", "failed"),
        (completion(None, refusal="I cannot help with that."), "declined to answer: I cannot help"),
        (completion("x", "content_filter"), "declined to answer"),
    ],
)
def test_what_is_no_answer_is_an_error(value: Any, match: str) -> None:
    with serving(says(value)) as wire, pytest.raises(ProviderError, match=match) as caught:
        chat_at(wire.url)(ASK)
    assert "\n" not in str(caught.value)


def test_a_text_that_cannot_be_sent_is_an_error_and_no_crash() -> None:
    with serving(OK) as wire, pytest.raises(ProviderError):
        chat_at(wire.url)(replace(ASK, messages=(Message(role="user", content="\ud83d"),)))


def test_many_threads_share_one_chat() -> None:
    with serving(refuses(429, "later"), refuses(503, "later"), OK) as wire:
        replies = each(chat_at(wire.url), [replace(ASK, seed=i) for i in range(12)], workers=6)
    assert replies == (REPLY,) * 12
    assert {body["seed"] for body in wire.bodies} == set(range(12))


def test_it_works_where_an_event_loop_is_running_already_as_in_a_notebook() -> None:
    async def cell() -> Reply:
        return chat_at(wire.url)(ASK)

    with serving(OK) as wire:
        assert asyncio.run(cell()) == REPLY


def test_address_key_and_model_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(OK) as wire:
        monkeypatch.setenv("AFTERWIT_BASE_URL", f"{wire.url}/v1/")
        monkeypatch.setenv("AFTERWIT_API_KEY", "from the environment")
        monkeypatch.setenv("AFTERWIT_MODEL", "named")
        chat = OpenAIChat()
        chat(ASK)
    assert wire.bodies[0]["model"] == "named"
    assert wire.headers[0]["authorization"] == "Bearer from the environment"
    assert chat.name == f"openai:named@{wire.url.removeprefix('http://')}/v1"


def test_an_endpoint_of_ones_own_is_never_sent_the_key_for_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.delenv("AFTERWIT_API_KEY", raising=False)
    with serving(OK) as wire:
        OpenAIChat("m", base_url=wire.url)(ASK)
    assert "secret" not in wire.headers[0]["authorization"]


def test_without_model_or_key_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AFTERWIT_MODEL", "AFTERWIT_BASE_URL", "AFTERWIT_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="AFTERWIT_MODEL"):
        OpenAIChat()
    with pytest.raises(UsageError, match="AFTERWIT_API_KEY"):
        OpenAIChat("m")
    assert OpenAIChat("m", api_key="k").name == "openai:m"


def test_a_name_holds_no_password_of_the_address() -> None:
    assert OpenAIChat("m", base_url="https://me:pass@host/v1").name == "openai:m@host/v1"


def test_without_its_package_it_names_the_command() -> None:
    program = (
        "import sys; sys.modules['openai'] = None\n"
        "from afterwit.errors import MissingExtra\n"
        "from afterwit.providers.openai import OpenAIChat\n"
        "try: OpenAIChat('m', api_key='k')\n"
        "except MissingExtra as error: print(error)"
    )
    said = subprocess.check_output([sys.executable, "-c", program], text=True).strip()
    assert said == str(MissingExtra("openai", "models"))
    assert "pip install 'afterwit[models]'" in said
