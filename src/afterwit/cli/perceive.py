"""A page as it is seen."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterwit.cli import screen

if TYPE_CHECKING:
    from afterwit.model.page import Claim


class Sense(StrEnum):
    FUSED = "fused"
    METADATA = "metadata"
    TEXT = "text"
    SCREEN = "screen"


def perceive(
    page: Annotated[str, typer.Argument(help="An HTML file, or a URL of this machine.")],
    sense: Annotated[Sense, typer.Option(help="What to go by.")] = Sense.FUSED,
    reader: Annotated[
        str, typer.Option(help="Who reads the screen: auto, rapid, tesseract[:LANGUAGES], vision[:MODEL].")
    ] = "auto",
    cache: Annotated[Path | None, typer.Option(help="Folder in which what was read is kept.")] = None,
    as_json: screen.AsJson = False,
) -> None:
    """Tell the item that a page is about, by its metadata, its text and how it looks in Chromium; each field with who
    says so and how likely it is right."""
    from afterwit.compose.perception import perceive as take_in  # heavy, and `--help` does without it

    card = take_in(page, reader=reader, cache=cache, sense=sense.value)
    if as_json:
        screen.print_json({**screen.as_data(card), "price": _plain(card.price), "was": _plain(card.was)})
        return
    rows = [
        (name, value, *_evidence(card.claim(name)))
        for name, value in screen.as_data(card).items()
        if value not in (None, "", []) and name not in ("claims", "missing")
    ]
    screen.table(card.title or "no item was found", ("field", "value", "says", "sure", "against"), rows)
    for why in card.missing:
        screen.say(f"not asked: {why}")


def _evidence(claim: "Claim | None") -> tuple[str, str, str]:
    if claim is None:
        return "", "", ""
    sure = "" if claim.confidence is None else f"{claim.confidence:.0%}"
    against = "; ".join(f"{sense}: {value}" for sense, value in claim.against)
    return ", ".join(claim.senses) or "; ".join(claim.because), sure, against


def _plain(value: object) -> str | None:
    return None if value is None else str(value)
