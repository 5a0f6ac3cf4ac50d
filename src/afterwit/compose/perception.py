"""Eyes and a reader for pages."""

from pathlib import Path

from afterwit.errors import UsageError
from afterwit.model import Interaction
from afterwit.model.page import ItemCard
from afterwit.perceive.look import look
from afterwit.perceive.ports import Browser, Ocr

READERS = ("rapid", "tesseract", "vision")


def open_browser(*, deadline: float = 60.0, scripts: bool = True) -> Browser:
    """Raises MissingExtra without playwright, UsageError without a Chromium."""
    from afterwit.providers.browser import Chromium  # each provider's packages are optional

    return Chromium(deadline=deadline, scripts=scripts)


def open_ocr(spec: str = "rapid") -> Ocr:
    """``rapid``, ``tesseract`` or ``tesseract:LANGUAGES``, ``vision`` or ``vision:MODEL``. Raises UsageError."""
    kind, _, rest = spec.partition(":")
    if kind == "rapid":
        from afterwit.providers.ocr.rapid import RapidOcr

        return RapidOcr()
    if kind == "tesseract":
        from afterwit.providers.ocr.tesseract import TesseractOcr

        return TesseractOcr(languages=rest or "eng")
    if kind == "vision":
        from afterwit.providers.ocr.vision import VisionOcr

        return VisionOcr(rest or None)
    raise UsageError(f"there is no reader {spec!r}: name {', '.join(READERS)}")


def perceive(source: str, *, reader: str = "rapid", cache: Path | None = None) -> ItemCard:
    """The item on a page of this machine, as it is seen. Raises what browser and reader raise."""
    return look(source, open_browser(), open_ocr(reader), cache)


def seen(card: ItemCard, **told: object) -> Interaction:
    """An interaction with the item of a page, for a profile: its card as attributes. told: at, kind and id."""
    attributes = {
        name: value
        for name, value in (
            ("brand", card.brand),
            ("price", float(card.price) if card.price is not None else None),
            ("currency", card.currency),
            ("rating", card.rating),
            ("availability", card.availability),
        )
        if value is not None
    }
    return Interaction(
        item=card.source or card.title,
        title=card.title,
        attributes=attributes,
        text=card.description,
        **told,  # type: ignore[arg-type]
    )
