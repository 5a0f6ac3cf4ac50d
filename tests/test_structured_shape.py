"""Values bent into the shape that was asked for, where only one reading is possible."""

from enum import StrEnum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, RootModel

from afterwit.errors import OutputError
from afterwit.structured.schema import schema_of
from afterwit.structured.shape import echoes, fit, number, readings


class Stage(StrEnum):
    PLANNING = "planning"
    EXECUTION = "execution"
    TOOL_ERROR = "tool error"


class Lesson(BaseModel):
    bank: Literal["planning", "execution"]
    text: str


class Verdict(BaseModel):
    stage: Stage
    percent: int = Field(ge=0, le=100)
    weight: float | None = None
    sure: bool = True
    lessons: list[Lesson] = []
    note: str | None = None


class Many(BaseModel):
    items: list[str]


class Names(RootModel[list[str]]):
    pass


def bent(value: Any, model: type[BaseModel] = Verdict) -> list[Any]:
    schema = schema_of(model)
    return [fit(reading, schema) for reading in readings(value, schema)]


@pytest.mark.parametrize(
    ("given", "fitted"),
    [
        ({"stage": "Planning"}, {"stage": "planning"}),
        ({"stage": " EXECUTION "}, {"stage": "execution"}),
        ({"stage": "tool_error"}, {"stage": "tool error"}),
        ({"stage": "Tool-Error"}, {"stage": "tool error"}),
        ({"stage": "plan"}, {"stage": "plan"}),
        ({"Stage": "planning"}, {"stage": "planning"}),
        ({"percent": "75"}, {"percent": 75}),
        ({"percent": "75 %"}, {"percent": 75}),
        ({"percent": "seventy-five percent"}, {"percent": 75}),
        ({"percent": 75.0}, {"percent": 75}),
        ({"percent": "75.0"}, {"percent": 75}),
        ({"percent": True}, {"percent": True}),
        ({"percent": "about 75"}, {"percent": "about 75"}),
        ({"weight": "0.5"}, {"weight": 0.5}),
        ({"weight": "two"}, {"weight": 2}),
        ({"weight": "75%"}, {"weight": "75%"}),
        ({"weight": "0,5"}, {"weight": "0,5"}),
        ({"weight": "null"}, {"weight": None}),
        ({"note": "None"}, {"note": None}),
        ({"note": "75"}, {"note": "75"}),
        ({"lessons": [{"bank": "PLANNING", "text": "TEXT"}]}, {"lessons": [{"bank": "planning", "text": "TEXT"}]}),
        ({"verdict": {"stage": "planning"}}, {"stage": "planning"}),
    ],
)
def test_only_what_has_one_reading_is_changed(given: Any, fitted: dict[str, Any]) -> None:
    assert fitted in bent(given)


def test_a_list_of_one_answer_is_that_answer_or_else_the_list_that_was_asked() -> None:
    assert list(readings([{"stage": 1}], schema_of(Verdict))) == [{"stage": 1}, {"lessons": [{"stage": 1}]}]


def test_a_list_where_an_object_with_one_list_was_asked_is_that_list() -> None:
    assert bent(["a", "b"], Many) == [{"items": ["a", "b"]}]
    assert bent([], Many) == [{"items": []}]


def test_an_object_around_a_list_that_was_asked_gives_way() -> None:
    assert bent({"names": ["a"]}, Names) == [["a"]]
    assert bent(["a"], Names) == [["a"]]


@pytest.mark.parametrize("given", [{}, {"other": 1}, {"a": {"b": 1}}, {"a": {"stage": 1}, "b": 2}, "planning", 7, None])
def test_what_holds_nothing_of_what_was_asked_has_no_reading(given: Any) -> None:
    assert bent(given) == []


def test_a_key_that_nobody_asked_for_may_be_a_misspelt_one() -> None:
    with pytest.raises(OutputError, match=r"'leson'.*lacks 'lessons'"):
        bent({"stage": "planning", "percent": 1, "weight": None, "sure": True, "note": None, "leson": []})


def test_a_key_beside_all_that_was_asked_is_a_remark_and_goes() -> None:
    assert bent({"items": ["a"], "explanation": "because"}, Many) == [{"items": ["a"]}]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("seven", 7),
        ("Seventy five", 75),
        ("ninety-nine", 99),
        ("one hundred", 100),
        ("a hundred and five", 105),
        ("two thousand three hundred and four", 2304),
        ("zero", 0),
        ("-3", -3),
        ("1,234", 1234),
        ("1e3", 1000.0),
        (".5", None),
        ("1,23", None),
        ("five two", None),
        ("twenty twelve", None),
        ("hundred", None),
        ("half", None),
        ("ten or so", None),
        ("and", None),
        ("", None),
        ("٧٥", 75),
        ("９０", 90),
    ],
)
def test_numbers_in_words_and_digits(text: str, value: float | None) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    "value",
    [
        schema_of(Verdict),
        Verdict.model_json_schema(),
        {"type": "object", "properties": {"stage": {"type": "string"}}},
        {"properties": {"stage": "planning"}},
        {"stage": {"type": "string", "enum": ["planning"]}, "percent": {"type": "integer"}},
        {"stage": "planning", "percent": 5, "lessons": {"type": "array", "items": {}}},
    ],
)
def test_a_schema_that_comes_back_is_an_echo(value: Any) -> None:
    assert echoes(value, schema_of(Verdict))


def test_types_in_place_of_texts_are_an_echo() -> None:
    assert echoes({"bank": "planning", "text": "string"}, schema_of(Lesson))


def test_an_answer_is_no_echo_even_where_it_has_a_field_named_as_schemas_have() -> None:
    class Named(BaseModel):
        title: str
        properties: dict[str, str]
        type: str

    assert not echoes({"title": "A", "type": "object", "properties": {"a": "b"}}, schema_of(Named))
    assert not echoes({"stage": "planning", "percent": 5, "lessons": []}, schema_of(Verdict))


def test_the_schema_sent_is_closed_and_asks_for_every_field_without_titles_and_defaults() -> None:
    schema = schema_of(Verdict)
    assert schema["required"] == list(Verdict.model_fields)
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Lesson"]["additionalProperties"] is False
    assert "title" not in schema
    assert "default" not in schema["properties"]["note"]


def test_a_field_named_title_or_default_stays_in_the_schema() -> None:
    class Odd(BaseModel):
        title: str
        default: int = 3

    assert set(schema_of(Odd)["properties"]) == {"title", "default"}
