"""A page as it is seen."""

from pathlib import Path
from typing import Annotated

import typer

from afterwit.cli import screen


def perceive(
    page: Annotated[str, typer.Argument(help="An HTML file, or a URL of this machine.")],
    reader: Annotated[str, typer.Option(help="Who reads: rapid, tesseract[:LANGUAGES], vision[:MODEL].")] = "rapid",
    cache: Annotated[Path | None, typer.Option(help="Folder in which what was read is kept.")] = None,
    as_json: screen.AsJson = False,
) -> None:
    """Look at a page in Chromium, read it off the screen, and tell the item that it is about."""
    from afterwit.compose.perception import perceive as look  # heavy, and `--help` does without it

    card = look(page, reader=reader, cache=cache)
    if as_json:
        screen.print_json({**screen.as_data(card), "price": _plain(card.price), "was": _plain(card.was)})
        return
    rows = [(name, value) for name, value in screen.as_data(card).items() if value not in (None, "", [])]
    screen.table(card.title or "no item was found", ("field", "value"), rows)


def _plain(value: object) -> str | None:
    return None if value is None else str(value)
