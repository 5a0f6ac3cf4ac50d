"""Lines of a page → item card. Text alone goes in, so that a picture and a document are read by the same rules."""

import re
from collections.abc import Sequence

from afterwit.guard.steering import steers
from afterwit.guard.text import concerns
from afterwit.model.page import Availability, ItemCard, Picture, Sense, TextLine
from afterwit.perceive import words
from afterwit.perceive.amounts import amounts, numbers
from afterwit.perceive.brand import maker
from afterwit.perceive.html import visible, window_title
from afterwit.perceive.price import price, rated
from afterwit.perceive.reading import Quote, Reading
from afterwit.perceive.title import RATING, Region, region

_LONGEST = 1_200
"""Characters of a description."""

_TURNS = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Marks of direction and of nothing, usual on pages that are read from the right, and never part of a word."""

_SENTENCE = re.compile(r"(?<=[.!?。！？…])\s+|(?<=[。！？])|\n+")


def card(lines: Sequence[TextLine], *, pictures: Sequence[Picture] = (), source: str = "") -> ItemCard:
    return read(lines, pictures=pictures, source=source).card


def read(
    lines: Sequence[TextLine],
    *,
    sense: Sense = "text",
    named: str = "",
    pictures: Sequence[Picture] = (),
    source: str = "",
) -> Reading:
    """What the lines, in reading order, say about the item that the page is about. named: the title of the window. What
    would steer whoever reads the card is left out, and said."""
    plain = [words.folded(line.text) for line in lines]
    found = frozenset(value for line in lines for value in numbers(line.text))
    item = region(lines, plain, named)
    if item is None:
        loose = tuple(Quote(value=one.value, currency=one.currency, main=False) for line in lines
                      for one in amounts(line.text))  # fmt: skip
        return Reading(sense=sense, card=ItemCard(title="", source=source), quotes=loose, numbers=found)
    stock = availability(plain, item)
    quotes = rated(lines, plain, item)
    asked = price(quotes, lines, gone=stock == "out of stock")
    held: list[str] = []
    title = safe(item.title, held)
    made = maker(lines, plain, item)
    told = ItemCard(
        title=title,
        price=asked.now if asked else None,
        currency=asked.currency if asked else None,
        was=asked.was if asked else None,
        availability=stock,
        brand=safe(made.name, held) or None if made else None,
        rating=_rating(lines, item),
        description=safe(_description(lines, plain, item), held),
        images=_images(lines, pictures, item),
        source=source,
        concerns=tuple(held),
    )
    quoted = tuple(
        Quote(
            value=one.amount.value,
            currency=one.amount.currency,
            score=one.score,
            old=one.old or one.named_old,
            main=asked is not None and one.amount.value == asked.now,
        )
        for one in quotes
    )
    return Reading(sense=sense, card=told, quotes=quoted, numbers=found, maker=made.way if made else None)


def text(html: str, *, source: str = "") -> Reading:
    """What the text of a document says."""
    return read(visible(html), named=window_title(html), source=source)


def availability(plain: Sequence[str], item: Region) -> Availability | None:
    """The first clear word near the title. A short line that says it is gone outweighs a button, since pages that
    sell nothing keep theirs; in a longer line it may be about a size or a shop."""
    near = range(max(0, item.first - 6), min(item.end, item.last + 80))
    for at in near:
        asks = "?" in plain[at] or "؟" in plain[at]
        if len(plain[at].split()) <= 8 and not asks and words.OUT_OF_STOCK.search(plain[at]):
            return "out of stock"
        if len(plain[at].split()) <= 8 and (words.BUY.search(plain[at]) or words.IN_STOCK.search(plain[at])):
            return "in stock"
    return None


def safe(text: str, held: list[str]) -> str:
    """Without the sentences that command its reader; ``held`` gets the reasons. A text that is unfit as a whole, its
    sentences being fit, goes as a whole."""
    kept: list[str] = []
    for sentence in _SENTENCE.split(_TURNS.sub("", text)):
        reasons = [str(concern) for concern in concerns(sentence)]
        if not reasons and (place := steers(sentence)):
            reasons = [f"it would choose for its reader: {place}"]
        held.extend(reason for reason in reasons if reason not in held)
        if sentence.strip() and not reasons:
            kept.append(sentence.strip())
    whole = " ".join(kept)
    found = concerns(whole)
    held.extend(str(concern) for concern in found if str(concern) not in held)
    return "" if found else whole


def _rating(lines: Sequence[TextLine], item: Region) -> float | None:
    for line in lines[max(0, item.first - 3) : item.end]:
        if len(line.text) <= 80 and (match := RATING.search(line.text)):
            return round(float(match[1].replace(",", ".")), 2)
    return None


def _description(lines: Sequence[TextLine], plain: Sequence[str], item: Region) -> str:
    """Lines of prose below the title; from a heading that announces a description on, points of a list as well."""
    told: list[str] = []
    announced = False
    size = 0
    for at in range(item.last + 1, item.end):
        text = lines[at].text
        if words.ABOUT.match(plain[at]) and len(plain[at].split()) <= 4:
            announced = True
            continue
        prose = (len(text) >= 60 and len(text.split()) >= 8) or (announced and len(text) >= 20)
        dense = len(text) >= 25 and len(text.split()) <= 3 and not text.isascii()  # scripts without spaces
        if (prose or dense) and text not in told:
            told.append(text)
            size += len(text) + 1
        if size >= _LONGEST:
            break
    whole = " ".join(told)
    return whole if len(whole) <= _LONGEST else whole[:_LONGEST].rsplit(" ", 1)[0] + " …"


def _images(lines: Sequence[TextLine], pictures: Sequence[Picture], item: Region) -> tuple[str, ...]:
    """References of the larger pictures whose description is the title, else of those that are level with it."""
    title = set(words.folded(item.title).split())
    top, bottom = lines[item.first].box.top - 400, lines[min(item.end, len(lines)) - 1].box.bottom
    named = [one for one in pictures if len(title & set(words.folded(one.text).split())) >= max(2, len(title) / 2)]
    level = [one for one in pictures if top <= one.box.middle <= bottom and one.box.width * one.box.height >= 150 * 150]
    references = [one.reference for one in (named or level) if one.reference]
    return tuple(dict.fromkeys(references))[:8]
