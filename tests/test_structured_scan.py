"""JSON in the text of answers."""

import json
from typing import Any

import pytest

from afterwit.errors import OutputError
from afterwit.structured.scan import find_json, read_json


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('```json\n{"a": 1}\n```', [{"a": 1}]),
        ('```\n{"a": 1}\n```\nI hope this helps {as always}!', [{"a": 1}]),
        ('Sure! Here it is: {"a": {"b": [1, 2]}} – as asked.', [{"a": {"b": [1, 2]}}]),
        ('{"a": 1}\n{"a": 2}', [{"a": 1}, {"a": 2}]),
        ('[{"a": 1}, {"a": 2}]', [[{"a": 1}, {"a": 2}]]),
        ('```json\n["x"]\n```', [["x"]]),
        ('The list:\n["x", "y"]\nThat is all.', [["x", "y"]]),
        ('{"a": 1,}', [{"a": 1}]),
        ('{"a": [1, 2 , ], }', [{"a": [1, 2]}]),
        ('{"a": "one\ntwo\tthree"}', [{"a": "one\ntwo\tthree"}]),
        ('{"a": "braces } ] { and a comma ,}"}', [{"a": "braces } ] { and a comma ,}"}]),
        (r'{"a": "a quote \" and a backslash \\"}', [{"a": 'a quote " and a backslash \\'}]),
        ("Use {placeholder} and [brackets] freely.", []),
        ("no JSON at all", []),
    ],
)
def test_json_is_found_wherever_models_put_it(text: str, values: list[Any]) -> None:
    found = find_json(text)
    assert (list(found.values), found.cut) == (values, False)


@pytest.mark.parametrize(
    "text", ["As shown in [1], nothing helps.", "[1] Smith et al., 2020", "See [2]", "x = [3]; done"]
)
def test_a_citation_in_prose_is_no_list(text: str) -> None:
    assert find_json(text).values == ()


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "the sentence that nev',
        '{"a": 1, "b": {"a": 2}',
        '[{"a": 1}, {"a": 2}',
        '{"a": {"a": 1}, "b": "unfinished',
        "{",
        '```json\n{"a": [1, 2',
        "{stage: {'x': 1}, other: ",
    ],
)
def test_what_stands_inside_a_value_that_is_cut_off_is_not_taken_for_the_answer(text: str) -> None:
    assert find_json(text) == find_json(text).__class__(values=(), cut=True)


def test_what_stands_inside_a_broken_object_is_not_taken_for_the_answer() -> None:
    found = find_json('{stage: planning, detail: {"stage": "execution"}}')
    assert (found.values, found.cut) == ((), False)
    assert "no JSON" in found.problem


def test_a_value_before_the_cut_is_kept_and_the_cut_is_told() -> None:
    found = find_json('{"a": 1}\nOn second thought: {"a": ')
    assert (found.values, found.cut) == (({"a": 1},), True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "a": 2}', "comes twice"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "Infinity"),
        ('{"a": 1e999}', "1e999"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "no JSON"),
        ("{'a': 1}", "character 1"),
        ('{"a": [1}', "no JSON"),
    ],
)
def test_what_leaves_open_what_is_meant_is_refused(text: str, reason: str) -> None:
    with pytest.raises(OutputError, match=reason) as caught:
        read_json(text)
    assert caught.value.kind == "not json"


def test_the_same_key_twice_with_the_same_value_says_one_thing() -> None:
    assert read_json('{"a": 1, "a": 1}') == {"a": 1}


def test_half_a_character_becomes_the_sign_for_it_so_that_it_can_be_stored() -> None:
    value = read_json(r'{"a": ["cut \ud83d", "whole \ud83d\ude00", "nul \u0000"]}')
    assert value == {"a": ["cut \ufffd", "whole 😀", "nul \ufffd"]}
    json.dumps(value, ensure_ascii=False).encode()


@pytest.mark.parametrize("piece", ["[a ", '{"', "{x ", "[[", '{"a":'])
def test_a_hundred_thousand_openings_are_looked_through_once(piece: str) -> None:
    assert find_json(piece * (100_000 // len(piece))).values == ()
