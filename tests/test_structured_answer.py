"""Answers of models: read leniently, repaired once, or refused aloud (field reports 8, 10 and 11)."""

import json
from dataclasses import replace
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from afterwit.errors import BudgetSpent, OutputError, ProviderError
from afterwit.model import Ask, Message, Reply
from afterwit.ports import ScriptedChat
from afterwit.structured.answer import LONGEST, answer, read
from afterwit.structured.schema import prompted, schema_of


class Lesson(BaseModel):
    """What a gate might say."""

    stage: Literal["planning", "execution", "both", "neither"]
    percent: int = Field(ge=0, le=100)
    lesson: str | None = Field(default=None, max_length=400)


class Lessons(BaseModel):
    lessons: list[str]


GOOD = '{"stage": "planning", "percent": 80, "lesson": "Check the order first."}'
VALUE = Lesson(stage="planning", percent=80, lesson="Check the order first.")
ASK = Ask(messages=(Message(role="user", content="Which stage failed?"),), max_tokens=100, purpose="gate")
SENTENCE = "The agent must always check the order before it refunds anything. "


def refused(text: str, *, finish: Literal["stop", "length"] = "stop", model: type[BaseModel] = Lesson) -> OutputError:
    with pytest.raises(OutputError) as caught:
        read(Reply(text=text, finish=finish), model)
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Of course! {GOOD} Let me know if I can help.",
        GOOD.replace("}", ",}"),
        GOOD.replace('"planning"', '"Planning"').replace("80", '"eighty percent"'),
        f"[{GOOD}]",
        f'{{"answer": {GOOD}}}',
        f"{GOOD}\n\n{GOOD}",
        f"<think>Maybe {{not}} {GOOD.replace('planning', 'execution')}</think>{GOOD}",
        json.dumps(schema_of(Lesson)) + "\n" + GOOD,
        GOOD.replace("}", ', "remark": "as asked"}'),
        GOOD[:-1] + "\n\t}",
    ],
)
def test_an_answer_is_read_in_whatever_wrapping(text: str) -> None:
    assert read(Reply(text=text), Lesson) == VALUE


def test_raw_newlines_in_a_text_are_kept() -> None:
    assert read(Reply(text=GOOD.replace("the order", "the\norder")), Lesson).lesson == "Check the\norder first."


def test_a_field_with_a_default_may_be_left_out_and_no_other() -> None:
    assert read(Reply(text='{"stage": "both", "percent": 5}'), Lesson).lesson is None
    assert refused('{"stage": "both", "lesson": "x"}').kind == "schema"


def test_an_empty_list_that_was_said_is_an_answer() -> None:
    assert read(Reply(text="[]"), Lessons) == Lessons(lessons=[])
    assert read(Reply(text='{"lessons": []}'), Lessons) == Lessons(lessons=[])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("<think>hm</think>", "empty"),
        ("{}", "schema"),
        ("null", "not json"),
        ("planning, I think", "not json"),
        ('{"stage": "planning", "percent": 80, "lesson": "Check th', "cut"),
        ('{"stage": "planning"', "cut"),
        (f'{GOOD} No, rather: {{"stage": "exec', "cut"),
        (json.dumps(schema_of(Lesson)), "schema echo"),
        (json.dumps(Lesson.model_json_schema()), "schema echo"),
        ('{"stage": "planning", "percent": 80, "lesson": "string"}', "schema echo"),
        ('{"stage": "perhaps", "percent": 80}', "schema"),
        ('{"stage": "planning", "percent": 800}', "schema"),
        ('{"stage": "planning", "percent": true}', "schema"),
        ('{"stage": "planning", "percent": 79.5}', "schema"),
        ('{"stage": "planning", "percent": "rather sure"}', "schema"),
        ('{"stage": "planning", "percent": 80, "leson": "Check."}', "schema"),
        (GOOD + GOOD.replace("planning", "execution"), "ambiguous"),
        (f'For example {GOOD}. My answer: {{"stage": "perhaps", "percent": 1}}', "schema"),
        (SENTENCE * 40, "looping"),
        ('{"stage": "planning", "percent": 80, "lesson": "' + "Check it. " * 30, "looping"),
        ('{"stage": "planning", "percent": 80, "lesson": "' + "Check it. " * 30 + '"}', "looping"),
        ("x " * LONGEST, "looping"),
        ("".join(f"{i * i:x}" for i in range(LONGEST)), "too long"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_kind(text: str, kind: str) -> None:
    assert refused(text).kind == kind


def test_an_empty_answer_that_used_up_its_tokens_was_cut_off() -> None:
    assert refused("", finish="length").kind == "cut"
    assert refused("Let me think about this", finish="length").kind == "cut"


def test_a_looping_list_is_refused_and_a_varied_one_is_not() -> None:
    assert refused(json.dumps({"lessons": [SENTENCE] * 9}), model=Lessons).kind == "looping"
    texts = ["Check the order first.", "Ask for the postcode.", "Refund to the card that was used, never another."]
    assert read(Reply(text=json.dumps({"lessons": texts})), Lessons).lessons == texts


def test_valid_json_holding_a_looping_sentence_of_many_kilobytes_is_refused() -> None:
    class Loose(BaseModel):
        lesson: str

    assert refused(json.dumps({"lesson": SENTENCE * 200}), model=Loose).kind == "looping"


def test_a_model_with_defaults_alone_is_never_filled_from_nothing() -> None:
    class Optional(BaseModel):
        lessons: list[str] = []
        note: str = ""

    for text in ("{}", "[{}]", '{"x": 1}', "nothing to report", '{"lessons": {"type": "array"}}'):
        refused(text, model=Optional)


def test_the_schema_goes_along_and_a_good_answer_takes_one_call() -> None:
    chat = ScriptedChat(GOOD)
    assert answer(chat, ASK, Lesson) == VALUE
    assert [ask.schema for ask in chat.asked] == [schema_of(Lesson)]
    assert chat.asked[0].messages == ASK.messages


def test_a_bad_answer_is_quoted_with_its_fault_once() -> None:
    chat = ScriptedChat('{"stage": "perhaps", "percent": 80}', GOOD)
    assert answer(chat, ASK, Lesson) == VALUE
    question, said, complaint = chat.asked[1].messages
    assert question == ASK.messages[0]
    assert said == Message(role="assistant", content='{"stage": "perhaps", "percent": 80}')
    assert "stage: Input should be 'planning'" in complaint.content
    assert json.dumps(schema_of(Lesson), separators=(",", ":")) in complaint.content


def test_after_one_repair_it_is_over_and_the_last_fault_is_told() -> None:
    chat = ScriptedChat("no idea", '{"stage": "planning", "perc', GOOD)
    with pytest.raises(
        OutputError, match="the answer for gate cannot be used, also after one repair: it ends"
    ) as caught:
        answer(chat, ASK, Lesson)
    assert (caught.value.kind, len(chat.asked)) == ("cut", 2)
    assert "\n" not in str(caught.value)


def test_a_model_that_echoes_the_schema_is_told_so_once() -> None:
    chat = ScriptedChat(json.dumps(schema_of(Lesson)), GOOD)
    assert answer(chat, ASK, Lesson) == VALUE
    assert "repeats the schema" in chat.asked[1].messages[-1].content


def test_a_cut_answer_gets_twice_the_room() -> None:
    chat = ScriptedChat(Reply(text='{"stage": "plan', finish="length"), GOOD)
    answer(chat, ASK, Lesson)
    assert [ask.max_tokens for ask in chat.asked] == [100, 200]


def test_after_silence_the_question_is_put_again_in_one_turn() -> None:
    chat = ScriptedChat("", GOOD)
    answer(chat, ASK, Lesson)
    (message,) = chat.asked[1].messages
    assert message.content.startswith("Which stage failed?\n\nThis could not be used: it is empty.")


def test_a_loop_is_not_sent_back_whole() -> None:
    chat = ScriptedChat(SENTENCE * 1000, GOOD)
    answer(chat, ASK, Lesson)
    assert len(chat.asked[1].messages[1].content) <= 2000


@pytest.mark.parametrize("error", [ProviderError("down"), BudgetSpent("spent")])
def test_what_the_chat_raises_is_passed_on(error: Exception) -> None:
    with pytest.raises(type(error)):
        answer(ScriptedChat(error), ASK, Lesson)
    with pytest.raises(type(error)):
        answer(ScriptedChat("no idea", error), ASK, Lesson)


def test_for_an_endpoint_without_schemas_the_schema_is_put_in_words() -> None:
    plain = prompted(replace(ASK, schema=schema_of(Lesson)))
    assert plain.schema is None
    assert plain.messages[0].content.startswith("Which stage failed?\n\nAnswer with one JSON value")
    assert prompted(ASK) is ASK
    last = Message(role="assistant", content="Well")
    assert [m.role for m in prompted(replace(ASK, messages=(last,), schema={})).messages] == ["assistant", "user"]


def test_text_of_any_script_comes_through_as_it_is() -> None:
    text = "先に注文を確認 – vérifie d'abord 🙂 é"
    assert read(Reply(text=json.dumps({"stage": "both", "percent": 1, "lesson": text})), Lesson).lesson == text
    assert (
        read(Reply(text=json.dumps({"stage": "both", "percent": 1, "lesson": text}, ensure_ascii=False)), Lesson).lesson
        == text
    )
