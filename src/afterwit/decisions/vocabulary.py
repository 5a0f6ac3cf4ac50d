"""A vocabulary: named decisions and the patterns that show them."""

import re
import tomllib
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from afterwit.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Entry:
    """name, value: of the decision, ``hook=question``. pattern: found anywhere in the text (NFC, case as written).
    description: what a card says of it, such as 'a question as hook'."""

    name: str
    value: str
    pattern: re.Pattern[str]
    description: str

    @property
    def key(self) -> str:
        return f"{self.name}={self.value}"


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    entries: tuple[Entry, ...]

    @staticmethod
    def load(name_or_path: str | Path) -> "Vocabulary":
        """A bundled vocabulary by name (``headlines``), or a TOML file of ``[[decision]]`` tables with name, value,
        pattern and description. Raises InputError that names file and entry."""
        return Vocabulary.parse(Vocabulary.text_of(name_or_path), str(name_or_path))

    @staticmethod
    def text_of(name_or_path: str | Path) -> str:
        """The TOML, as it stands there now. Raises InputError where there is none."""
        path = Path(name_or_path)
        bundled = resources.files("afterwit") / "data" / "vocabularies" / f"{name_or_path}.toml"
        found = bundled if path.suffix != ".toml" and bundled.is_file() else path
        if not found.is_file():
            raise InputError(f"there is no vocabulary {str(name_or_path)!r}: give a TOML file or 'headlines'")
        try:
            return found.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"vocabulary {name_or_path}: {error}") from None
        except OSError as error:
            raise InputError(f"vocabulary {name_or_path} cannot be read: {error.strerror}") from None

    @staticmethod
    def parse(text: str, source: str) -> "Vocabulary":
        """source: what errors call it. Raises InputError that names the entry."""
        try:
            tables = tomllib.loads(text).get("decision")
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"vocabulary {source}: {error}") from None
        if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
            raise InputError(f"vocabulary {source} holds no [[decision]] tables: see the bundled headlines.toml")
        entries = tuple(_entry(table, i, source) for i, table in enumerate(tables, 1))
        for key, times in Counter(entry.key for entry in entries).items():
            if times > 1:
                raise InputError(f"vocabulary {source}: {key} stands there {times} times")
        return Vocabulary(entries=entries)

    def shown(self, text: str) -> frozenset[str]:
        composed = unicodedata.normalize("NFC", text)
        return frozenset(key for key, entry in self._keyed if entry.pattern.search(composed))

    def describe(self, key: str) -> str | None:
        return self._described.get(key)

    @cached_property
    def _keyed(self) -> tuple[tuple[str, Entry], ...]:
        return tuple((entry.key, entry) for entry in self.entries)

    @cached_property
    def _described(self) -> dict[str, str]:
        return {entry.key: entry.description for entry in self.entries}


def _entry(table: dict[str, Any], number: int, source: str) -> Entry:
    fields = ("name", "value", "pattern", "description")
    which = f"vocabulary {source}, decision {number} ({table.get('name')}={table.get('value')})"
    for field in fields:
        if not isinstance(table.get(field), str) or not table[field].strip():
            raise InputError(f"{which}: {field} is missing or is no text")
    if extra := sorted(table.keys() - set(fields)):
        raise InputError(f"{which}: unknown key {extra[0]!r}: give {', '.join(fields)}")
    if not re.fullmatch(r"[^=:]+", table["name"]):
        raise InputError(f"{which}: a name has no '=' and no ':'")
    try:
        pattern = re.compile(unicodedata.normalize("NFC", table["pattern"]))
    except re.error as error:
        raise InputError(f"{which}: the pattern does not compile: {error}") from None
    return Entry(name=table["name"], value=table["value"], pattern=pattern, description=table["description"])
