"""What shops say about prices, stock and makers, in some twenty languages: the wordings of words.txt, matched on
`folded` text. Our own list."""

import re
import unicodedata
from functools import cache
from importlib.resources import files

_DENSE = re.compile(r"[\u0600-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\u9fff\uac00-\ud7af]")
_MARKS = re.compile("[\u0300-\u036f\u200b-\u200f\u00ad\ufeff]")


def folded(text: str) -> str:
    """Lower case without accents, spaces single."""
    return " ".join(_bare(text.casefold()).split())


def _bare(text: str) -> str:
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", text)).replace("ł", "l").replace("ø", "o")
    return unicodedata.normalize("NFC", plain)


@cache
def _sections() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    name = ""
    for line in files("afterwit.perceive").joinpath("words.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
        elif line and not line.startswith("#"):
            found.setdefault(name, []).extend(_bare(line).split(" | "))
    return found


def _any(name: str) -> re.Pattern[str]:
    """Words of alphabets stand alone; those of scripts without spaces may stand anywhere."""
    wordings = _sections()[name]
    alone = "|".join(wording for wording in wordings if not _DENSE.search(wording))
    anywhere = [wording for wording in wordings if _DENSE.search(wording)]
    return re.compile("|".join([rf"(?<!\w)(?:{alone})(?!\w)", *anywhere]))


WAS = _any("was")
"""A price before a reduction."""

SAVED = _any("saved")
"""What is taken off, given back or earned."""

CARRIAGE = _any("carriage")
"""Delivery, and what must be spent to get it free."""

INSTALMENT = _any("instalment")
"""Parts of a price, and insurance."""

UNIT = _any("unit")
"""Prices by weight, length or piece."""

UNTAXED = _any("untaxed")

BASKET = _any("basket")
"""What is in the buyer's basket already."""

OTHERS = _any("others")
"""Other sellers, editions and bundles."""

NOW = _any("now")
"""Labels of a price."""

BUY = _any("buy")
"""Buttons."""

IN_STOCK = _any("in_stock")

OUT_OF_STOCK = _any("out_of_stock")

BRAND = "|".join(_sections()["brand"])
"""Labels of the maker, before a colon or alone in a cell: alternatives of a pattern."""

RELATED = _any("related")
"""Headings of other items, and of advertisements."""

ABOUT = _any("about")
"""Headings of a description."""

MENU = _any("menu")
"""What stands alone in menus and beside titles, and is no maker."""
