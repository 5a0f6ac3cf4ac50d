"""From a page to its card with doubles of browser and reader; what was read is read once."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from afterwit.errors import StoreError
from afterwit.model.page import Box, Picture, Screenshot, Tile
from afterwit.perceive.look import look, see
from afterwit.perceive.ports import ScriptedBrowser, ScriptedOcr
from perceive_cases import line, texts

TOP = Tile(png=b"top", box=Box(left=0, top=0, width=800, height=1040))
BOTTOM = Tile(png=b"bottom", box=Box(left=0, top=960, width=800, height=1000))
SHOT = Screenshot(tiles=(TOP, BOTTOM), width=800, height=1960, html="")
LINES = {
    b"top": (
        line("Aster cordless kettle", height=32, band=18),
        line("£39.50", top=60),
        line("Add to basket 😀", top=90),
    ),
    b"bottom": (
        line("A kettle of brushed steel that boils a litre in two minutes.", top=500, band=9),
        line("It keeps quiet while it does so, and it is easy to clean.", top=520, band=9),
    ),
}


def test_a_page_is_seen_read_and_understood() -> None:
    found = see(ScriptedBrowser({"page.html": SHOT})("page.html"), (ScriptedOcr(LINES),))
    assert (found.card.title, found.card.price, found.card.currency) == (
        "Aster cordless kettle",
        Decimal("39.50"),
        "GBP",
    )
    assert (found.card.availability, found.card.source) == ("in stock", SHOT.hash)
    assert found.text.markdown.startswith("# Aster cordless kettle\n")
    assert not found.cached


def test_crops_are_those_of_the_item() -> None:
    box = Box(left=0, top=40, width=300, height=300)
    shown = (
        Picture(source="", text="Aster cordless kettle", box=box, png=b"crop"),
        Picture(source="banner.png", text="Sale", box=box, png=b"banner"),
    )
    found = see(ScriptedBrowser({"page": replace(SHOT, pictures=shown)})("page"), (ScriptedOcr(LINES),))
    (reference,) = found.card.images
    assert reference.startswith("crop:")
    assert found.crops == {reference: b"crop"}


def test_the_same_picture_is_read_once_whatever_its_address(tmp_path: Path) -> None:
    browser, ocr = ScriptedBrowser({"one": SHOT, "two": SHOT}), ScriptedOcr(LINES)
    first = see(browser("one"), (ocr,), tmp_path / "cache")
    again = see(browser("two"), (ocr,), tmp_path / "cache")
    assert again.cached
    assert (again.card, texts(again.text.lines)) == (first.card, texts(first.text.lines))
    assert ocr.read == [TOP, BOTTOM]
    assert look("one", browser, ScriptedOcr({}), tmp_path / "cache") == first.card


def test_another_reader_reads_anew(tmp_path: Path) -> None:
    browser, other = ScriptedBrowser({"one": SHOT}), ScriptedOcr({})
    other.name = "other"
    look("one", browser, ScriptedOcr(LINES), tmp_path)
    assert see(browser("one"), (other,), tmp_path).card.title == ""


def test_a_damaged_cache_is_read_over(tmp_path: Path) -> None:
    browser, ocr = ScriptedBrowser({"one": SHOT}), ScriptedOcr(LINES)
    first = look("one", browser, ocr, tmp_path)
    for file in tmp_path.iterdir():
        file.write_text('[{"text": "cut of')
    assert look("one", browser, ocr, tmp_path) == first
    assert len(ocr.read) == 4


def test_a_cache_that_cannot_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be kept"):
        look("one", ScriptedBrowser({"one": SHOT}), ScriptedOcr(LINES), tmp_path / "file" / "cache")
