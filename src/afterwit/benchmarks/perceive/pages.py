"""Saved pages with what people read on them, as in Zyte's product extraction benchmark (MIT)."""

import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from afterwit.errors import InputError

Half = Literal["develop", "held_out"]
Values = Mapping[str, Sequence[str]]
"""Field → values that are all right; a field that is not there has none."""

_TRUTHS = ("ground_truth.json", "ground-truth.json")


@dataclass(frozen=True, kw_only=True)
class Page:
    """name: its file without endings. truth: fields ``price``, ``currency``, ``brand``, ``availability`` and others."""

    name: str
    path: Path
    truth: Values

    @property
    def half(self) -> Half:
        """By a hash of the name: rules were made on one half, and the other shows what they are worth."""
        return "held_out" if hashlib.sha256(self.name.encode()).digest()[0] % 2 else "develop"

    def html(self) -> str:
        """Raises InputError."""
        try:
            return gzip.decompress(self.path.read_bytes()).decode("utf-8", "replace")
        except (OSError, EOFError) as error:
            raise InputError(f"{self.path} cannot be read: {error}") from None


def pages(folder: Path) -> tuple[Page, ...]:
    """By name. folder: ``ground_truth.json`` and ``html/NAME.html.gz``. Raises InputError."""
    place = truth_file(folder)
    try:
        told = json.loads(place.read_text(encoding="utf-8"))
        truths = {
            str(name): {key: [str(one) for one in values] for key, values in fields.items() if isinstance(values, list)}
            for name, fields in told.items()
        }
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{place} is not the ground truth of pages: {error}") from None
    found = [
        Page(name=name, path=path, truth=truth)
        for name, truth in sorted(truths.items())
        if (path := folder / "html" / f"{name}.html.gz").is_file()
    ]
    if not found:
        raise InputError(f"{folder}/html holds none of the pages that {place.name} names")
    return tuple(found)


def truth_file(folder: Path) -> Path:
    return next((place for name in _TRUTHS if (place := folder / name).is_file()), folder / _TRUTHS[0])


def references(folder: Path) -> dict[str, dict[str, dict[str, str]]]:
    """What other systems read, where the folder has ``output/SYSTEM.json``: system → page → field → value."""
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted((folder / "output").glob("*.json"))
    }
