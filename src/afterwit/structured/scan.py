"""JSON values in the text of an answer: fenced, inside prose, with trailing commas or raw newlines in strings."""

import json
import math
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from afterwit.errors import OutputError

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|["{}\[\]]', re.DOTALL)
_STRING_OR_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
_BEGINS_JSON = re.compile(r"""[{\[]\s*(?:["'{\[]|[\w$]+\s*:|$)""")
_PAIRS = {"{": "}", "[": "]"}
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")
_MOST_OPEN = 20


@dataclass(frozen=True, kw_only=True)
class Found:
    """values: the outermost JSON values in order; cut: the text ends inside another one; problem: of the last stretch
    in brackets that is no JSON, if any."""

    values: tuple[Any, ...] = ()
    cut: bool = False
    problem: str = ""


def find_json(text: str) -> Found:
    """The outermost objects, and the lists that stand alone on their lines: a ``[1]`` in prose is a citation.

    What stands inside a value that is cut off or broken is never taken for the answer.
    """
    values: list[Any] = []
    problem = ""
    at = left_open = 0
    while left_open < _MOST_OPEN and (start := _next(text, at)) >= 0:
        end = _end(text, start)
        if end is None:
            if _BEGINS_JSON.match(text, start):
                return Found(values=tuple(values), cut=True, problem=problem)
            left_open += 1
            at = start + 1
            continue
        at = end
        if text[start] == "[" and not _stands_alone(text, start, end):
            continue
        try:
            values.append(read_json(text[start:end]))
        except OutputError as error:
            problem = str(error)
    return Found(values=tuple(values), problem=problem)


def read_json(text: str) -> Any:
    """One JSON value, trailing commas and raw control characters in strings allowed; raises OutputError.

    A key that comes twice with different values, NaN and infinities are refused: either reading would be a guess.
    """
    without = _STRING_OR_COMMA.sub(lambda match: match[1] or "", text)
    try:
        value = json.loads(
            without, strict=False, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:
        raise OutputError("not json", f"this is no JSON: {_reason(error)}") from None
    return _whole(value)


def _next(text: str, at: int) -> int:
    places = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
    return min(places, default=-1)


def _end(text: str, start: int) -> int | None:
    """Just behind the bracket that closes the one at start; None where the text ends before it."""
    open_: list[str] = []
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if mark in _PAIRS:
            open_.append(_PAIRS[mark])
        elif mark == '"':
            return None
        elif mark in ("}", "]"):
            open_.pop()  # which of the two it is the reader will see
            if not open_:
                return token.end()
    return None


def _stands_alone(text: str, start: int, end: int) -> bool:
    before = text[text.rfind("\n", 0, start) + 1 : start]
    newline = text.find("\n", end)
    after = text[end : newline if newline >= 0 else len(text)]
    return before.strip(" \t`") in ("", "json") and after.strip(" \t`.") == ""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value and value[key] != item:
            raise ValueError(f"the key {key[:40]!r} comes twice with different values")
        value[key] = item
    return value


def _whole(value: Any) -> Any:
    """Half of a character that was cut in two cannot be stored, nor can NUL everywhere: the sign for that instead."""
    if isinstance(value, str):
        return _NOT_STORABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return {_whole(key): _whole(item) for key, item in value.items()} if isinstance(value, dict) else value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_constant(text[:40])


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
