"""Frozen values to JSON and back, from their type hints; one converter per type, built once.

The JSON is canonical: sorted keys, no spaces, UTF-8, every field present, times as ISO 8601 in UTC, floats in their
shortest exact form and non-finite ones as strings (evidence may hold NaN, which JSON lacks). Hence the same value
always gives the same bytes, and reading gives an equal value.
"""

import json
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from operator import index
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from afterwit.errors import InputError

T = TypeVar("T")
Convert = Callable[[Any], Any]

_WRITER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
_NOT_FINITE = {"NaN", "Infinity", "-Infinity"}


def dumps(value: Any) -> str:
    """Canonical JSON of plain JSON values. Raises InputError for what JSON or UTF-8 cannot hold."""
    try:
        text = _WRITER.encode(value)
        text.encode()
    except UnicodeEncodeError:
        raise InputError("a text holds half a surrogate pair, which is no character: mend its encoding") from None
    except (TypeError, ValueError) as error:
        raise InputError(f"a value cannot be kept as JSON: {error}") from None
    return text


def to_json(value: Any) -> str:
    """A frozen value as canonical JSON."""
    return dumps(encoder(cast(Hashable, type(value)))(value))


def from_json(kind: type[T], text: str) -> T:
    """Raises InputError where the text is not JSON of that kind."""
    return decode(kind, loads(text))


def loads(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"not JSON: {error}") from None


def decode(kind: type[T], data: Any) -> T:
    return cast(T, decoder(cast(Hashable, kind))(data))


@cache
def encoder(hint: Hashable) -> Convert:
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        pairs = [(f.name, encoder(hints[f.name])) for f in fields(hint)]
        return lambda value: {name: write(getattr(value, name)) for name, write in pairs}
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple:
        write = encoder(arguments[0])
        return lambda values: [write(value) for value in values]
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        of_value = encoder(arguments[1])
        return lambda values: {key: of_value(value) for key, value in values.items()}
    if (inner := _optional(hint)) is not None:
        of_inner = encoder(inner)
        return lambda value: None if value is None else of_inner(value)
    return _PRIMITIVES.get(hint, _as_it_is)


@cache
def decoder(hint: Hashable) -> Convert:
    if is_dataclass(hint):
        return _dataclass_decoder(cast(type[Any], hint))
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple:
        return _tuple_decoder(decoder(arguments[0]))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping_decoder(decoder(arguments[1]))
    if origin is Literal:
        return _choice_decoder(frozenset(arguments))
    if (inner := _optional(hint)) is not None:
        read = decoder(inner)
        return lambda data: None if data is None else read(data)
    if origin in (Union, UnionType):
        return _typed_decoder(frozenset(arguments), str(hint))
    if hint is datetime:
        return _read_time
    if hint is float:
        return _read_float
    return _as_it_is if hint is Any else _typed_decoder(frozenset([cast(type, hint)]), cast(type, hint).__name__)


def _dataclass_decoder(kind: type[Any]) -> Convert:
    hints = get_type_hints(kind)
    readers = {f.name: decoder(hints[f.name]) for f in fields(kind)}
    required = {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}

    def read(data: Any) -> Any:
        if type(data) is not dict:
            raise InputError(f"{kind.__name__}: expected an object, found {str(data)[:40]!r}")
        try:
            values = {name: readers[name](value) for name, value in data.items()}
        except KeyError as unknown:
            raise InputError(f"{kind.__name__}: unknown field {unknown}") from None
        except InputError as error:
            raise InputError(f"{kind.__name__}: {error}") from None
        if not required <= values.keys():
            raise InputError(f"{kind.__name__}: missing field {min(required - values.keys())!r}")
        return kind(**values)

    return read


def _tuple_decoder(read: Convert) -> Convert:
    def read_all(data: Any) -> Any:
        if type(data) is not list:
            raise InputError(f"expected a list, found {str(data)[:40]!r}")
        return tuple([read(value) for value in data])

    return read_all


def _mapping_decoder(read: Convert) -> Convert:
    def read_all(data: Any) -> Any:
        if type(data) is not dict:
            raise InputError(f"expected an object, found {str(data)[:40]!r}")
        return {key: read(value) for key, value in data.items()}

    return read_all


def _choice_decoder(choices: frozenset[Any]) -> Convert:
    def read(data: Any) -> Any:
        if not isinstance(data, str) or data not in choices:
            raise InputError(f"{str(data)[:40]!r} is none of {', '.join(sorted(choices))}")
        return data

    return read


def _typed_decoder(types: frozenset[type], name: str) -> Convert:
    def read(data: Any) -> Any:
        if type(data) not in types:
            raise InputError(f"expected {name}, found {str(data)[:40]!r}")
        return data

    return read


def _optional(hint: Any) -> Any | None:
    """X of ``X | None``; None for any other hint."""
    if get_origin(hint) not in (Union, UnionType) or NoneType not in get_args(hint):
        return None
    others = [argument for argument in get_args(hint) if argument is not NoneType]
    return others[0] if len(others) == 1 else None


def _as_it_is(value: Any) -> Any:
    return value


def _write_time(value: datetime) -> str:
    if value.tzinfo is None:
        raise InputError(f"the time {value.isoformat()} has no timezone: give one, such as UTC")
    try:
        return value.astimezone(UTC).isoformat()
    except OverflowError:
        raise InputError(f"the time {value.isoformat()} lies outside the years 1 to 9999 in UTC") from None


def _read_time(data: Any) -> datetime:
    try:
        value = datetime.fromisoformat(data)
    except (TypeError, ValueError):
        raise InputError(f"{str(data)[:40]!r} is not a time in ISO 8601") from None
    if value.tzinfo is None:
        raise InputError(f"the time {data} has no timezone")
    return value.astimezone(UTC)


def _write_float(value: float) -> float | str:
    number = float(value)
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _read_float(data: Any) -> float:
    if type(data) in (float, int) or (type(data) is str and data in _NOT_FINITE):
        return float(data)
    raise InputError(f"expected a number, found {str(data)[:40]!r}")


_PRIMITIVES: dict[Any, Convert] = {datetime: _write_time, float: _write_float, int: index, bool: bool}
