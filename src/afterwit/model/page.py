"""A page as it was seen, and the item that it shows."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from afterwit.model.ids import content_hash

Availability = Literal["in stock", "out of stock"]

Sense = Literal["metadata", "text", "screen"]
"""How a page was taken in: what it says to machines, the text of its HTML, what is seen of it."""


@dataclass(frozen=True, kw_only=True)
class Box:
    """In pixels of the page, from its top left corner."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height

    @property
    def middle(self) -> float:
        """Of its height."""
        return self.top + self.height / 2

    def moved(self, down: float) -> "Box":
        return Box(left=self.left, top=self.top + down, width=self.width, height=self.height)


@dataclass(frozen=True, kw_only=True)
class TextLine:
    """confidence: of the reading, 1 where the text is exact. struck: a line goes through it. band: height of the rows
    where most of its ink is, that is, of small letters, or of digits and capitals alone; 0 where it was not measured.
    heading: its level, 1 the largest, 0 for plain text. label: what its document calls the elements that it stands in,
    innermost first; empty for what was read off a picture."""

    text: str
    box: Box
    confidence: float = 1.0
    struck: bool = False
    band: float = 0.0
    heading: int = 0
    label: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A strip of a screenshot over its whole width. png: its bytes. box: where it lies; neighbours overlap."""

    png: bytes
    box: Box


@dataclass(frozen=True, kw_only=True)
class Picture:
    """An image as the page showed it. source: its address, "" where it has none that is short. text: its description.
    png: the crop, of images that were loaded and are large."""

    source: str
    text: str
    box: Box
    png: bytes = b""

    @property
    def reference(self) -> str:
        """Its address, else ``crop:HASH``, else ""."""
        return self.source or (f"crop:{content_hash(self.png.hex())}" if self.png else "")


@dataclass(frozen=True, kw_only=True)
class Screenshot:
    """tiles: top to bottom. height: of the whole page; cut: it was longer than what is shown. html: of the page after
    it loaded. refused: requests that would have left this machine."""

    tiles: tuple[Tile, ...]
    width: int
    height: int
    html: str
    pictures: tuple[Picture, ...] = ()
    cut: bool = False
    refused: int = 0

    @property
    def hash(self) -> str:
        """Of what is seen."""
        return content_hash(*(tile.png.hex() for tile in self.tiles))


@dataclass(frozen=True, kw_only=True)
class PageText:
    """What a page says. lines: in reading order; markdown: the same with headings and columns kept apart."""

    lines: tuple[TextLine, ...]
    markdown: str


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Why a field of a card says what it says. senses: those that say so. because: what speaks for it, in words.
    confidence: how probable it is that people read the same there, as fitted on pages with known answers; None for
    fields that those do not have. against: what other senses say instead."""

    field: str
    senses: tuple[Sense, ...]
    because: tuple[str, ...] = ()
    confidence: float | None = None
    against: tuple[tuple[Sense, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class ItemCard:
    """The item that a page is about; nothing in it was said by anyone but the page.

    price: what it costs now, in currency (ISO 4217, or the sign as printed where that is all there is); was: a price
    before a reduction. rating: out of five. images: references of pictures. source: hash of the page. concerns: what
    was left out since it would steer whoever reads it. claims: of each field that was found, where more than one sense
    was asked. missing: senses that could not be asked, and why.
    """

    title: str
    price: Decimal | None = None
    currency: str | None = None
    was: Decimal | None = None
    availability: Availability | None = None
    brand: str | None = None
    rating: float | None = None
    description: str = ""
    images: tuple[str, ...] = ()
    source: str = ""
    provenance: Literal["page"] = "page"
    concerns: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    missing: tuple[str, ...] = ()

    def claim(self, field: str) -> Claim | None:
        return next((claim for claim in self.claims if claim.field == field), None)
