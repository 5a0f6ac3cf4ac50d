"""What perception asks of the world: eyes and a reader. Each port has a double here."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from afterwit.model.page import Screenshot, TextLine, Tile


class Browser(Protocol):
    """Shows pages of this machine, and only those. name: changes with what it shows of the same page."""

    @property
    def name(self) -> str: ...

    def __call__(self, source: str) -> Screenshot:
        """source: the path of an HTML file, a ``file:`` URL or one of a loopback address. Raises Refused where the page
        is or leads elsewhere, InputError where it is no page or does not come in time."""


class Ocr(Protocol):
    """Reads text off a picture. name: changes with the model."""

    @property
    def name(self) -> str: ...

    def knows(self, script: str) -> bool:
        """Whether it can read a script, by the names that `perceive.scripts.script` gives."""

    def __call__(self, tile: Tile) -> Sequence[TextLine]:
        """Lines in any order, boxes in pixels of the tile. Raises ModelError."""


class ScriptedBrowser:
    """A double of Browser: shows the screenshots that it was given, by source; ``shown`` keeps what was asked for."""

    name = "scripted"

    def __init__(self, pages: Mapping[str, Screenshot]) -> None:
        self._pages = pages
        self.shown: list[str] = []

    def __call__(self, source: str) -> Screenshot:
        self.shown.append(source)
        return self._pages[source]


class ScriptedOcr:
    """A double of Ocr: reads the lines that it was given for each tile, by the bytes of its picture."""

    name = "scripted"

    def __init__(self, lines: Mapping[bytes, Sequence[TextLine]]) -> None:
        self._lines = lines
        self.read: list[Tile] = []

    def knows(self, script: str) -> bool:
        return True

    def __call__(self, tile: Tile) -> Sequence[TextLine]:
        self.read.append(tile)
        return self._lines.get(tile.png, ())
