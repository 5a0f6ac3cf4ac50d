"""A value bent into the shape that was asked for, where only one reading is possible.

Nothing is added and no text is changed: letter case of enums and keys, digits and English words for numbers, a list or
an answer one level too high or too deep. What remains wrong is for the validator to refuse.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from afterwit.errors import OutputError

_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_UNITS += " seventeen eighteen nineteen"
_DECADES = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_UNITS.split())}
_TENS = {word: 10 * value for value, word in enumerate(_DECADES.split(), start=2)}
_WHOLE = re.compile(r"[+-]?(?:\d{1,18}|\d{1,3}(?:,\d{3}){1,5})")
_REAL = re.compile(r"[+-]?\d{1,18}(?:\.\d{1,18})?(?:[eE][+-]?\d{1,2})?")
_PERCENT = re.compile(r"\s*(?:%|per\s?cent)\s*$", re.IGNORECASE)
_ECHO_KEYS = frozenset({"$defs", "$schema", "definitions"})

Schema = Mapping[str, Any]


def readings(value: Any, schema: Schema) -> Iterator[Any]:
    """What of a value may be the answer, the likeliest first; none where nothing of what was asked is in it."""
    root = _resolve(schema, schema)
    properties = root.get("properties", {})
    only = next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else None
    if root.get("type") == "array":
        if isinstance(value, list):
            yield value
        elif isinstance(only, list):
            yield only
    elif isinstance(value, dict):
        if _named(value, properties):
            yield value
        elif isinstance(only, dict) and _named(only, properties):
            yield only
    elif isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], dict) and _named(value[0], properties):
            yield value[0]
        lists = [name for name, part in properties.items() if _resolve(part, schema).get("type") == "array"]
        if len(lists) == 1:
            yield {lists[0]: value}


def fit(value: Any, schema: Schema) -> Any:
    """The value bent. Raises OutputError for a key that nobody asked for beside one that is missing: it may be that
    one, misspelt."""
    return _fit(value, schema, schema)


def echoes(value: Any, schema: Schema) -> bool:
    """Whether the schema came back instead of an answer: as it is, or with types where values belong."""
    asked = _resolve(schema, schema).get("properties", {})
    if not isinstance(value, dict):
        return False
    if any(key in value and key not in asked for key in _ECHO_KEYS):
        return True
    if "properties" not in asked and isinstance(value.get("properties"), dict):
        return True
    parts = [(item, _resolve(asked[key], schema)) for key, item in value.items() if key in asked]
    return any(_is_schema(item, part) for item, part in parts)


def number(text: str) -> int | float | None:
    """The number that a text is, in digits or in English words below a million; None if it is none.

    A comma is taken between thousands only.
    """
    plain = text.strip().casefold()
    if _WHOLE.fullmatch(plain):
        return int(plain.replace(",", ""))
    return float(plain) if _REAL.fullmatch(plain) else _in_words(plain)


def _in_words(text: str) -> int | None:
    words = [word for word in re.split(r"[\s-]+", text) if word]
    if len(words) > 1 and words[0] in ("a", "an") and words[1] in ("hundred", "thousand"):
        words[0] = "one"
    total = part = 0
    last = "start"
    for word in words:
        if word in _SMALL and (last in ("start", "scale") or (last == "tens" and 0 < _SMALL[word] < 10)):
            part += _SMALL[word]
            last = "small"
        elif word in _TENS and last in ("start", "scale"):
            part += _TENS[word]
            last = "tens"
        elif word == "hundred" and 0 < part < 10 and last == "small":
            part *= 100
            last = "scale"
        elif word == "thousand" and 0 < part < 1000 and total == 0:
            total, part, last = 1000 * part, 0, "scale"
        elif word == "and" and last == "scale":
            continue
        else:
            return None
    return total + part if words and words[-1] != "and" and last != "start" else None


def _fit(value: Any, schema: Schema, root: Schema) -> Any:
    schema = _resolve(schema, root)
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return _fit_one(value, [_resolve(choice, root) for choice in choices], root)
    allowed = schema.get("enum") or ([schema["const"]] if "const" in schema else None)
    if allowed is not None:
        return _member(value, allowed)
    kind = schema.get("type")
    if kind == "object" and isinstance(value, dict):
        return _fit_object(value, schema, root)
    if kind == "array" and isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        return [_fit(item, schema["items"], root) for item in value]
    if kind in ("integer", "number"):
        return _fit_number(value, whole=kind == "integer")
    return value


def _fit_number(value: Any, *, whole: bool) -> Any:
    """A percent sign goes behind whole numbers only: as a real number 75 % may mean 75 or 0.75."""
    if isinstance(value, str):
        found = number(_PERCENT.sub("", value) if whole else value)
        value = value if found is None else found
    return int(value) if whole and isinstance(value, float) and value.is_integer() else value


def _fit_one(value: Any, choices: list[Schema], root: Schema) -> Any:
    """Of alternatives the only one that can take this kind of value; else the value stays and is judged as it is."""
    if isinstance(value, dict | list):
        able = [
            choice for choice in choices if choice.get("type") == ("object" if isinstance(value, dict) else "array")
        ]
        return _fit(value, able[0], root) if len(able) == 1 else value
    if not isinstance(value, str):
        return value
    fitted = [_fit(value, choice, root) for choice in choices if choice.get("type") != "null"]
    changed = [each for each in fitted if each != value]
    free = any(choice.get("type") == "string" and not choice.keys() & {"enum", "const"} for choice in choices)
    if value.strip().casefold() in ("null", "none") and not changed and len(fitted) < len(choices):
        return None
    return changed[0] if len(changed) == 1 and not free else value


def _fit_object(value: Mapping[str, Any], schema: Schema, root: Schema) -> dict[str, Any]:
    properties = schema.get("properties", {})
    free = schema.get("additionalProperties")
    fitted: dict[str, Any] = {}
    for key, item in value.items():
        name = key if key in properties else _alike(key, [n for n in properties if n not in value])
        if name is None or name in fitted:
            fitted[key] = _fit(item, free, root) if isinstance(free, Mapping) else item
        else:
            fitted[name] = _fit(item, properties[name], root)
    unasked = [key for key in fitted if key not in properties] if free in (None, False) else []
    missing = [name for name in properties if name not in fitted]
    if unasked and missing:
        raise OutputError("schema", f"it has {unasked[0][:40]!r}, which was not asked for, and lacks {missing[0]!r}")
    return {key: item for key, item in fitted.items() if key not in unasked}


def _named(value: Mapping[str, Any], properties: Mapping[str, Any]) -> bool:
    return any(key in properties or _alike(key, list(properties)) is not None for key in value)


def _member(value: Any, allowed: list[Any]) -> Any:
    if value in allowed or not isinstance(value, str):
        return value
    alike = _alike(value, [each for each in allowed if isinstance(each, str)])
    if alike is not None:
        return alike
    found = number(value)
    return found if found is not None and found in allowed else value


def _alike(text: str, names: list[str]) -> str | None:
    """The one name that differs from the text in letter case, blanks, hyphens or quotes at most."""
    alike = [name for name in names if _folded(name) == _folded(text)]
    return alike[0] if len(alike) == 1 and _folded(text) else None


def _folded(text: str) -> str:
    return re.sub(r"[\s_.\-\"'`]+", "", text.casefold())


def _is_schema(item: Any, part: Schema) -> bool:
    if isinstance(item, dict) and part.get("type") != "object" and "anyOf" not in part:
        return bool(item.keys() & {"type", "enum", "anyOf", "$ref", "items", "description"})
    return item == "string" and any(choice.get("type") == "string" for choice in (part, *part.get("anyOf", ())))


def _resolve(part: Any, root: Schema) -> Schema:
    for _ in range(20):  # a schema that refers to itself only is no schema
        if not isinstance(part, Mapping):
            return {}
        reference = part.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            single = part.get("allOf")
            if isinstance(single, list) and len(single) == 1:
                part = single[0]
                continue
            return part
        part = root
        for step in reference[2:].split("/"):
            part = part.get(step) if isinstance(part, Mapping) else None
    return {}
