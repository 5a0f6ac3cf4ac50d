"""Eyes and a reader for pages."""

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from afterwit.errors import InputError, MissingExtra, UsageError
from afterwit.model import Interaction
from afterwit.model.ids import content_hash
from afterwit.model.page import ItemCard, Sense
from afterwit.perceive.card import text
from afterwit.perceive.fusion import fused
from afterwit.perceive.look import see
from afterwit.perceive.metadata.card import read as metadata
from afterwit.perceive.ports import Browser, Ocr
from afterwit.perceive.reading import Reading
from afterwit.providers.address import written

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


def open_readers(spec: str = "auto") -> tuple[Ocr, ...]:
    """``auto`` is rapidocr where it is installed, and Tesseract with the languages that this machine has, for each
    script; anything else is one reader, as `open_ocr` has it. Raises UsageError where there is none."""
    if spec != "auto":
        return (open_ocr(spec),)
    from afterwit.providers.ocr import tesseract

    rapid: list[Ocr] = []
    with suppress(MissingExtra):
        rapid.append(open_ocr("rapid"))
    languages = tesseract.installed()
    others = [reader for script in tesseract.LANGUAGES if (reader := tesseract.for_script(script, languages))]
    if not (readers := (*rapid, *others)):
        raise UsageError(
            "no reader of pictures is installed: pip install 'afterwit[ocr]' or apt-get install tesseract-ocr"
        )
    return readers


@dataclass(frozen=True, kw_only=True)
class ScriptReader:
    """by: the name of the reader that a page in the script gets, None where there is none. command: installs one."""

    by: str | None
    command: str


def scripts_read() -> dict[str, ScriptReader]:
    """For each script that some reader could know here."""
    from afterwit.providers.ocr import tesseract

    try:
        readers = open_readers()
    except UsageError:
        readers = ()
    found: dict[str, ScriptReader] = {}
    for script, languages in tesseract.LANGUAGES.items():
        by = next((reader.name for reader in readers if reader.knows(script)), None)
        command = f"apt-get install tesseract-ocr {tesseract.package(languages[0])}"
        found[script] = ScriptReader(by=by, command=command)
    return found


def perceive(
    source: str, *, reader: str = "auto", cache: Path | None = None, sense: Sense | Literal["fused"] = "fused"
) -> ItemCard:
    """The item on a page of this machine: by one sense, or by all that can be had, with what settled each field; those
    that cannot be had are named in ``missing``. Raises what browser and reader raise where the sense was asked for."""
    shot, missing = None, []
    if sense in ("screen", "fused"):
        try:
            shot = open_browser()(source)
        except UsageError as error:
            if sense == "screen" or isinstance(error, InputError):
                raise
            missing.append(f"screen: {error}")
    html = written(source) if shot is None else shot.html
    readings: list[Reading] = []
    if sense in ("metadata", "fused"):
        readings.append(metadata(html, source=content_hash(html)))
    if sense in ("text", "fused"):
        readings.append(text(html, source=content_hash(html)))
    if shot is not None:
        try:
            readings.append(see(shot, open_readers(reader), cache).reading)
        except UsageError as error:
            if sense == "screen":
                raise
            missing.append(f"screen: {error}")
    card = fused(readings) if sense == "fused" else readings[0].card
    return replace(card, missing=tuple(missing))


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
