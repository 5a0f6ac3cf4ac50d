"""What models cost, by purpose."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from afterwit.chat.meter import Line, Metered, Price, Usage
from afterwit.chat.pool import each
from afterwit.errors import ProviderError
from afterwit.model import Ask, Message, Reply
from afterwit.ports import ScriptedChat

ASK = Ask(messages=(Message(role="user", content="?"),), purpose="gate")
REPLY = Reply(text="ok", input_tokens=1000, output_tokens=200)


def ticking(step: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += step


def test_calls_tokens_seconds_and_cost_are_kept_by_purpose() -> None:
    ticks = ticking(0.5)
    chat = Metered(
        ScriptedChat(REPLY, REPLY, replace(REPLY, cached=True), ProviderError("down")),
        prices={"scripted": Price(input=2.0, output=10.0)},
        clock=lambda: next(ticks),
    )
    chat(ASK)
    chat(replace(ASK, purpose="merge"))
    chat(ASK)
    with pytest.raises(ProviderError):
        chat(ASK)
    cost = (1000 * 2 + 200 * 10) / 1e6
    gate = Line(calls=2, cached=1, failed=1, input_tokens=1000, output_tokens=200, seconds=1.5, cost=cost)
    merge = Line(calls=1, input_tokens=1000, output_tokens=200, seconds=0.5, cost=cost)
    assert chat.usage == Usage(purposes={"gate": gate, "merge": merge}, priced=True)
    assert chat.usage.total == gate + merge


def test_a_model_without_a_price_is_counted_and_not_priced() -> None:
    chat = Metered(ScriptedChat(REPLY), prices={"another": Price(input=1, output=1)})
    chat(ASK)
    assert (chat.usage.priced, chat.usage.total.cost, chat.usage.total.input_tokens) == (False, 0.0, 1000)


def test_a_reading_stays_as_it_was_and_the_next_tells_what_came_since() -> None:
    ticks = ticking(1.0)
    chat = Metered(ScriptedChat(REPLY), clock=lambda: next(ticks))
    chat(ASK)
    before = chat.usage
    chat(replace(ASK, purpose="merge"))
    chat(replace(ASK, purpose="merge"))
    assert before.total.calls == 1
    since = chat.usage.since(before)
    assert since.purposes == {"merge": Line(calls=2, input_tokens=2000, output_tokens=400, seconds=2.0)}


def test_nothing_is_lost_between_threads() -> None:
    chat = Metered(ScriptedChat(REPLY))
    each(chat, [ASK] * 200, workers=8)
    assert chat.usage.total.calls == 200
    assert chat.usage.total.output_tokens == 40_000
