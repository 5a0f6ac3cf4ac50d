"""A page → what is seen of it → item card, kept on disk so that the same page is read once."""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from afterwit.errors import StoreError, UsageError
from afterwit.model.ids import content_hash
from afterwit.model.page import Box, ItemCard, PageText, Screenshot, TextLine, Tile
from afterwit.perceive.card import read
from afterwit.perceive.html import visible, window_title
from afterwit.perceive.layout import page_text
from afterwit.perceive.ports import Browser, Ocr
from afterwit.perceive.reading import Reading
from afterwit.perceive.scripts import language, script


@dataclass(frozen=True, kw_only=True)
class Sight:
    """One page as it was looked at. cached: its text had been read before."""

    screenshot: Screenshot
    text: PageText
    reading: Reading
    cached: bool = False

    @property
    def card(self) -> ItemCard:
        return self.reading.card

    @property
    def crops(self) -> dict[str, bytes]:
        """PNG of the card's pictures, by their references."""
        taken = {picture.reference: picture.png for picture in self.screenshot.pictures if picture.png}
        return {reference: taken[reference] for reference in self.card.images if reference in taken}


def look(source: str, browser: Browser, ocr: Ocr, cache: Path | None = None) -> ItemCard:
    """The item on a page of this machine, by what is seen of it alone. Raises what the browser and the reader raise,
    StoreError for the cache."""
    return see(browser(source), (ocr,), cache).card


def see(shot: Screenshot, readers: Sequence[Ocr], cache: Path | None = None) -> Sight:
    """readers: the first that knows the script of the page reads it. cache: a folder. What a tile says is kept under
    the hash of its picture and the name of the reader: what looks the same is not read again, whatever its address.
    Cards are made anew, as their rules may change. Raises UsageError where no reader knows the script, so that nothing
    is guessed, and what the reader raises."""
    written = script_of(shot.html)
    ocr = next((reader for reader in readers if reader.knows(written)), None)
    if ocr is None:
        asked = ", ".join(reader.name for reader in readers) or "none"
        raise UsageError(f"no reader knows {written} script (asked: {asked}): 'afterwit doctor' says what to install")
    taken = [_read(tile, ocr, cache) for tile in shot.tiles]
    text = page_text([(tile, lines) for tile, (lines, _) in zip(shot.tiles, taken, strict=True)])
    found = read(text.lines, sense="screen", named=window_title(shot.html), pictures=shot.pictures, source=shot.hash)
    return Sight(screenshot=shot, text=text, reading=found, cached=bool(taken) and all(kept for _, kept in taken))


def script_of(html: str) -> str:
    """Of the text of a document; what it says of its language where it has hardly any."""
    return script((line.text for line in visible(html)), language=language(html))


def _read(tile: Tile, ocr: Ocr, cache: Path | None) -> tuple[Sequence[TextLine], bool]:
    """Its lines, and whether they were known."""
    if cache is None:
        return ocr(tile), False
    place = cache / f"{content_hash(ocr.name, tile.png.hex())}.json"
    if (kept := _kept(place)) is not None:
        return kept, True
    lines = ocr(tile)
    _keep(place, lines)
    return lines, False


def _kept(place: Path) -> tuple[TextLine, ...] | None:
    """None for lines that are not there or no longer whole."""
    try:
        rows: Sequence[Mapping[str, Any]] = json.loads(place.read_text(encoding="utf-8"))
        return tuple(TextLine(**{**row, "box": Box(**row["box"])}) for row in rows)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(place: Path, lines: Sequence[TextLine]) -> None:
    """Whole or not at all; only their owner may read what pages said."""
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=place.parent, suffix=".partial")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as out:
                json.dump([asdict(line) for line in lines], out, ensure_ascii=False)
            os.replace(name, place)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"the page cannot be kept in {place.parent}: {error.strerror or error}") from None
