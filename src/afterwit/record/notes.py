"""Notes from a file: JSON Lines, CSV or a Markdown list."""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from afterwit.errors import ConditionError, InputError
from afterwit.model import Condition, Note

_FIELDS = ("guidance", "key", "when", "prefer", "avoid", "topic")
_ITEM = re.compile(r"^(\s*)(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(.*\S)\s*$")


def read_notes(path: Path) -> tuple[Note, ...]:
    """In order. ``.jsonl`` and ``.csv`` hold ``guidance`` and, where wanted, key, when, prefer, avoid and topic; of any
    other text file the items of its lists are notes. Raises InputError naming file and row."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    readers = {".jsonl": _json_lines, ".ndjson": _json_lines, ".csv": _csv}
    found = []
    for row, values in readers.get(path.suffix.lower(), _markdown)(text, path):
        try:
            found.append(_note(values))
        except (InputError, ConditionError) as error:
            raise InputError(f"{path}, row {row}: {error}") from None
    if not found:
        raise InputError(f"{path} holds no notes: give JSON Lines or CSV with 'guidance', or a Markdown list")
    return tuple(found)


def _note(values: Mapping[str, Any]) -> Note:
    given = {name: value for name, value in values.items() if value not in (None, "")}
    for name in sorted(given.keys() - set(_FIELDS)):
        raise InputError(f"unknown field {name!r}: a note has {', '.join(_FIELDS)}")
    if not isinstance(given.get("guidance"), str):
        raise InputError("guidance is missing or is no text")
    when = Condition.of(given.pop("when", None))
    for name in given:
        if not isinstance(given[name], str):
            raise InputError(f"{name} is no text: {given[name]!r}")
    return Note(when=when, **given)


def _json_lines(text: str, path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for row, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                values = json.loads(line)
            except ValueError as error:
                raise InputError(f"{path}, row {row}: not JSON: {error}") from None
            yield row, {"guidance": values} if isinstance(values, str) else _object(values, row, path)


def _object(values: Any, row: int, path: Path) -> Mapping[str, Any]:
    if not isinstance(values, dict):
        raise InputError(f"{path}, row {row}: expected an object or a text, found {str(values)[:40]!r}")
    return values


def _csv(text: str, path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    table = csv.DictReader(StringIO(text, newline=""), strict=True)
    try:
        if "guidance" not in (table.fieldnames or ()):
            raise InputError(f"{path}: the header has no column 'guidance'")
        for row, values in enumerate(table, start=1):
            if None in values:
                raise InputError(f"{path}, row {row}: more cells than the header names")
            yield row, {name: (value or "").strip() for name, value in values.items()}
    except csv.Error as error:
        raise InputError(f"{path}: {error}") from None


def _markdown(text: str, path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """An indented line goes on with the item before it; an indented item is one of its own."""
    item: list[str] = []
    began = 0
    for row, line in enumerate([*text.split("\n"), ""], start=1):
        found = _ITEM.match(line)
        if item and (found or not line.strip() or not line.startswith((" ", "\t"))):
            yield began, {"guidance": " ".join(item)}
            item = []
        if found:
            item, began = [found[2]], row
        elif item:
            item.append(line.strip())
