"""Asking for a value: the schema goes along, the answer is read, repaired once, or refused aloud."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from afterwit.errors import OutputError
from afterwit.model import Ask, Message, Reply
from afterwit.model.text import looping
from afterwit.ports import Chat
from afterwit.structured.scan import find_json
from afterwit.structured.schema import instruction, schema_of, with_words
from afterwit.structured.shape import echoes, fit, readings

LONGEST = 100_000
"""Characters of an answer that is looked at at all."""
_QUOTED = 2_000
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)

M = TypeVar("M", bound=BaseModel)


def answer(chat: Chat, ask: Ask, model: type[M]) -> M:
    """The model's answer as a value.

    One request with the schema and, where its answer cannot be used, one more that quotes what was wrong. Raises
    OutputError with the kind of the last fault, and whatever the chat raises. A field that the answer leaves out is
    taken only where the model gives it a default.
    """
    ask = replace(ask, schema=schema_of(model))
    reply = chat(ask)
    try:
        return read(reply, model)
    except OutputError as first:
        again = chat(_repair(ask, reply, first))
    try:
        return read(again, model)
    except OutputError as error:
        what = f"the answer for {ask.purpose}" if ask.purpose else "the answer"
        raise OutputError(error.kind, f"{what} cannot be used, also after one repair: {error}") from None


def read(reply: Reply, model: type[M]) -> M:
    """What a reply says as a value; of several answers in one text the last must be valid, and none may differ.

    Raises OutputError of kind ``empty``, ``too long``, ``cut``, ``looping``, ``schema echo``, ``not json``,
    ``ambiguous`` or ``schema``.
    """
    text = _THOUGHT.sub("", reply.text).strip()
    if not text:
        raise OutputError("cut" if reply.finish == "length" else "empty", "it is empty")
    if len(text) > LONGEST:
        kind = "looping" if looping(text[:LONGEST]) else "too long"
        raise OutputError(kind, f"it has {len(text):,} characters")
    found = find_json(text)
    if found.cut:
        raise _cut_or_looping(text)
    schema = schema_of(model)
    answers: list[M] = []
    fault = ""
    for value in found.values:
        if echoes(value, schema):
            continue
        try:
            valid = _validated(value, schema, model)
        except OutputError as error:
            if error.kind == "looping":
                raise
            fault = str(error)
        else:
            if valid is not None:
                answers.append(valid)
                fault = ""
    if fault:
        raise OutputError("schema", fault)
    if not answers:
        raise _nothing(text, reply, found.problem, values=found.values, schema=schema)
    if any(each != answers[0] for each in answers):
        raise OutputError("ambiguous", "it holds several different answers")
    return answers[0]


def _validated(value: Any, schema: Mapping[str, Any], model: type[M]) -> M | None:
    """The first valid reading of a value, None where it is about something else; raises OutputError."""
    wrong: OutputError | None = None
    for reading in readings(value, schema):
        try:
            fitted = fit(reading, schema)
            # as JSON, since there strict means what it means on the wire: an enum may be a string, true is no number
            valid = model.model_validate_json(json.dumps(fitted, ensure_ascii=False), strict=True)
        except OutputError as error:
            wrong = wrong or error
        except ValidationError as error:
            wrong = wrong or OutputError("schema", _problems(error))
        else:
            if any(looping(text) for text in _texts(fitted)):
                raise OutputError("looping", _LOOPS)
            return valid
    if wrong is not None:
        raise wrong
    return None


_LOOPS = "it says one thing over and over"


def _cut_or_looping(text: str) -> OutputError:
    return OutputError("looping", _LOOPS) if looping(text) else OutputError("cut", "it ends in the middle")


def _nothing(
    text: str, reply: Reply, problem: str, *, values: tuple[Any, ...], schema: Mapping[str, Any]
) -> OutputError:
    if any(echoes(value, schema) for value in values):
        return OutputError("schema echo", "it repeats the schema in place of an answer")
    if looping(text) or reply.finish == "length":
        return _cut_or_looping(text)
    if values:
        return OutputError("schema", "it holds nothing of what was asked for")
    return OutputError("not json", problem or "it holds no JSON")


def _repair(ask: Ask, reply: Reply, error: OutputError) -> Ask:
    """The same request with the answer and what is wrong with it; more room where that had been too little."""
    advice = " Be brief." if error.kind in ("cut", "looping", "too long") else ""
    words = f"This could not be used: {error}.{advice} {instruction(ask.schema or {})}"
    room = 2 * ask.max_tokens if error.kind == "cut" else ask.max_tokens
    said = reply.text.strip()[:_QUOTED]
    if said:
        ask = replace(ask, messages=(*ask.messages, Message(role="assistant", content=said)))
    return replace(with_words(ask, words), max_tokens=room)


def _problems(error: ValidationError) -> str:
    faults = [
        f"{'.'.join(str(step) for step in each['loc']) or 'it'}: {each['msg']}"
        for each in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return "; ".join(faults[:3])[:500]


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value, and the longer texts of a list as one: loops hide in either."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield " ".join(item for item in value if isinstance(item, str) and len(item) > 20)
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
