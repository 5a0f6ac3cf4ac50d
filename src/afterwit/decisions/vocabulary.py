"""A vocabulary: named decisions and the patterns that show them."""

import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from afterwit.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Entry:
    """name, value: of the decision, ``hook=question``. pattern: found anywhere in the text (Unicode, as written).
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
        path = Path(name_or_path)
        bundled = resources.files("afterwit") / "data" / "vocabularies" / f"{name_or_path}.toml"
        if path.suffix != ".toml" and bundled.is_file():
            text = bundled.read_text(encoding="utf-8")
        elif path.is_file():
            text = path.read_text(encoding="utf-8")
        else:
            raise InputError(f"there is no vocabulary {str(name_or_path)!r}: give a TOML file or 'headlines'")
        try:
            tables = tomllib.loads(text).get("decision", [])
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"vocabulary {name_or_path}: {error}") from None
        entries = tuple(_entry(table, i, str(name_or_path)) for i, table in enumerate(tables, 1))
        keys = [entry.key for entry in entries]
        for key in keys:
            if keys.count(key) > 1:
                raise InputError(f"vocabulary {name_or_path}: {key} stands there twice")
        return Vocabulary(entries=entries)

    def shown(self, text: str) -> frozenset[str]:
        return frozenset(entry.key for entry in self.entries if entry.pattern.search(text))

    def describe(self, key: str) -> str | None:
        return next((entry.description for entry in self.entries if entry.key == key), None)


def _entry(table: dict[str, str], number: int, source: str) -> Entry:
    missing = {"name", "value", "pattern", "description"} - table.keys()
    if missing:
        raise InputError(f"vocabulary {source}: decision {number} lacks {', '.join(sorted(missing))}")
    try:
        pattern = re.compile(table["pattern"])
    except re.error as error:
        raise InputError(f"vocabulary {source}: the pattern of decision {number} does not compile: {error}") from None
    return Entry(name=table["name"], value=table["value"], pattern=pattern, description=table["description"])
