"""A hard budget of calls and tokens."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from afterwit.chat.budget import Budget, Budgeted, Spent, most_tokens
from afterwit.chat.cache import Cached
from afterwit.chat.pool import each
from afterwit.errors import BudgetSpent, ProviderError
from afterwit.model import Ask, Message, Reply
from afterwit.ports import ScriptedChat

ASK = Ask(messages=(Message(role="user", content="one two three"),), max_tokens=50)
MOST = most_tokens(ASK)
REPLY = Reply(text="ok", input_tokens=20, output_tokens=10)


def test_the_call_that_would_exceed_the_calls_is_not_made() -> None:
    inner = ScriptedChat(REPLY)
    chat = Budgeted(inner, Budget(calls=2))
    chat(ASK)
    chat(ASK)
    with pytest.raises(BudgetSpent, match="all 2 calls to models are used up: raise the budget"):
        chat(ASK)
    assert len(inner.asked) == 2


def test_the_call_that_could_exceed_the_tokens_is_not_made() -> None:
    inner = ScriptedChat(REPLY)
    budget = Budget(tokens=60 + MOST - 1)
    chat = Budgeted(inner, budget)
    chat(ASK)
    chat(ASK)
    with pytest.raises(BudgetSpent, match=f"60 of {60 + MOST - 1} tokens are used and the next call may take {MOST}"):
        chat(ASK)
    assert budget.spent == Spent(calls=2, tokens=60)
    assert chat(replace(ASK, max_tokens=49)) == REPLY


def test_what_a_call_may_take_counts_text_schema_and_the_whole_answer() -> None:
    assert MOST > 50 + 3
    assert most_tokens(replace(ASK, max_tokens=51)) == MOST + 1
    assert most_tokens(replace(ASK, schema={"type": "object"})) > MOST
    assert most_tokens(replace(ASK, messages=ASK.messages * 2)) == 2 * (MOST - 50) + 50


def test_a_call_that_fails_counts_as_a_call_and_gives_its_tokens_back() -> None:
    budget = Budget(calls=3, tokens=MOST)
    chat = Budgeted(ScriptedChat(ProviderError("down"), ProviderError("down"), REPLY), budget)
    for _ in range(2):
        with pytest.raises(ProviderError):
            chat(ASK)
    assert chat(ASK) == REPLY
    assert budget.spent == Spent(calls=3, tokens=30)


def test_a_raised_budget_goes_on_where_the_last_one_stopped() -> None:
    first = Budget(calls=1)
    Budgeted(ScriptedChat(REPLY), first)(ASK)
    second = Budget(calls=2, spent=first.spent)
    chat = Budgeted(ScriptedChat(REPLY), second)
    chat(ASK)
    with pytest.raises(BudgetSpent):
        chat(ASK)
    assert second.spent == Spent(calls=2, tokens=60)


def test_several_chats_share_one_budget() -> None:
    budget = Budget(calls=2)
    one, two = (Budgeted(ScriptedChat(REPLY, name=name), budget) for name in ("one", "two"))
    one(ASK)
    two(ASK)
    with pytest.raises(BudgetSpent):
        one(ASK)
    assert (one.name, two.name) == ("one", "two")


def test_many_threads_never_exceed_it_and_use_all_of_it() -> None:
    inner = ScriptedChat(REPLY)
    budget = Budget(calls=25, tokens=25 * 30 + MOST)
    replies = each(Budgeted(inner, budget), [ASK] * 60, workers=8)
    assert len(inner.asked) == 25
    assert budget.spent == Spent(calls=25, tokens=750)
    assert sum(isinstance(reply, BudgetSpent) for reply in replies) == 35


def test_a_call_waits_for_those_under_way_rather_than_refuse_what_there_is_room_for() -> None:
    first_is_in, may_go = threading.Event(), threading.Event()

    class Slow:
        name = "slow"

        def __call__(self, ask: Ask) -> Reply:
            first_is_in.set()
            may_go.wait(10)
            return REPLY

    budget = Budget(tokens=30 + MOST)  # two calls use 60 at most, but both at once might take twice the most
    chat = Budgeted(Slow(), budget)
    replies: list[Reply] = []
    threads = [threading.Thread(target=lambda: replies.append(chat(ASK))) for _ in range(2)]
    threads[0].start()
    first_is_in.wait(10)
    threads[1].start()
    may_go.set()
    for thread in threads:
        thread.join(10)
    assert replies == [REPLY, REPLY]


def test_what_the_cache_holds_is_served_after_the_budget_is_spent(tmp_path: Path) -> None:
    budget = Budget(calls=1)
    chat = Cached(Budgeted(ScriptedChat("ok"), budget), tmp_path)
    chat(ASK)
    assert chat(ASK).cached
    with pytest.raises(BudgetSpent):
        chat(replace(ASK, seed=1))
    assert budget.spent.calls == 1


def test_without_limits_it_only_counts() -> None:
    budget = Budget()
    chat = Budgeted(ScriptedChat(REPLY, replace(REPLY, cached=True)), budget)
    chat(ASK)
    chat(ASK)
    assert budget.spent == Spent(calls=2, tokens=30)
