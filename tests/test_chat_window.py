"""A conversation cut to fit (field report 22)."""

from hypothesis import given
from hypothesis import strategies as st

from afterwit.chat.window import within
from afterwit.model import Message, count_tokens

SYSTEM = Message(role="system", content="Be brief.")
TASK = Message(role="user", content="Refund the order.")


def exchange(number: int) -> tuple[Message, Message]:
    return (
        Message(role="assistant", content=f"call {number}: look up the order"),
        Message(role="user", content=f"result {number}: the order was delivered"),
    )


def tokens(*messages: Message) -> int:
    return sum(count_tokens(message.content) for message in messages)


TALK = (SYSTEM, TASK, *exchange(1), *exchange(2), *exchange(3))


def test_what_fits_stays_whole() -> None:
    assert within(TALK, tokens(*TALK)) == TALK


def test_the_oldest_exchange_goes_first_and_takes_its_result_along() -> None:
    assert within(TALK, tokens(*TALK) - 1) == (SYSTEM, TASK, *exchange(2), *exchange(3))
    assert within(TALK, tokens(*TALK) - tokens(*exchange(1)) - 1) == (SYSTEM, TASK, *exchange(3))


def test_the_task_and_the_newest_exchange_stay_though_they_are_too_long() -> None:
    assert within(TALK, 1) == (SYSTEM, TASK, *exchange(3))
    assert within((SYSTEM, TASK), 1) == (SYSTEM, TASK)


@given(
    st.lists(st.tuples(st.sampled_from(["assistant", "user"]), st.text("ab ", max_size=30)), max_size=20),
    st.integers(0, 60),
)
def test_no_result_is_ever_without_its_call(parts: list[tuple[str, str]], limit: int) -> None:
    messages = [Message(role=role, content=f"{i} {text}") for i, (role, text) in enumerate(parts)]  # type: ignore[arg-type]
    kept = within(messages, limit)
    opening = next((i for i, message in enumerate(messages) if message.role == "assistant"), len(messages))
    tail = kept[opening:]
    assert kept[:opening] == tuple(messages[:opening])
    assert list(tail) == messages[len(messages) - len(tail) :]
    assert not tail or tail[0].role == "assistant"
