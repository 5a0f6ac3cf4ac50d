"""A user's history from a file: JSON Lines, one interaction a line, read as a stream.

    {"item": "B07", "title": "Running shoes", "at": "2026-05-01", "kind": "bought", "brand": "Asics", "price": 99.5,
     "currency": "EUR", "rating": 5, "text": "fit well"}

``item`` or ``title`` is needed; every other field that is a text, a number or a truth value is an attribute.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from afterwit.errors import InputError
from afterwit.model import Interaction, Value

_OWN = ("item", "title", "at", "kind", "text", "id")


def read_history(path: str | Path) -> Iterator[Interaction]:
    """Raises InputError, naming file and line."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    try:
                        yield interaction(json.loads(line))
                    except ValueError as error:
                        raise InputError(f"{path}, line {number}: not JSON: {error}") from None
                    except InputError as error:
                        raise InputError(f"{path}, line {number}: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None


def interaction(row: Any) -> Interaction:
    """Raises InputError for a row that is none."""
    if not isinstance(row, dict) or not (row.get("item") or row.get("title")):
        raise InputError("an interaction is an object with an 'item' or a 'title'")
    texts = {name: row[name] for name in ("kind", "text", "id") if row.get(name) is not None}
    if wrong := sorted(name for name, value in texts.items() if not isinstance(value, str)):
        raise InputError(f"{wrong[0]!r} is {texts[wrong[0]]!r}: give a text")
    attributes: dict[str, Value] = {}
    for name, value in row.items():
        if name not in _OWN and value is not None:
            if not isinstance(value, str | int | float | bool):
                raise InputError(f"attribute {name!r} is {value!r}: give a text, a number or a truth value")
            attributes[name] = value
    title = str(row.get("title") or row["item"])
    return Interaction(
        item=str(row.get("item") or title), title=title, at=_at(row.get("at")), attributes=attributes, **texts
    )


def _at(value: Any) -> datetime | None:
    if value is None:
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError
        found = datetime.fromisoformat(value) if isinstance(value, str) else datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        raise InputError(f"'at' is {value!r}: give an ISO date or time, or seconds since 1970") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
