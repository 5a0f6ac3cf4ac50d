"""Who made the item."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from afterwit.model.page import TextLine
from afterwit.perceive import words
from afterwit.perceive.amounts import amounts
from afterwit.perceive.title import Region

_LABEL = re.compile(rf"(?:{words.BRAND})\s*[:：]\s*(?P<name>.+)|(?:{words.BRAND})\s*[:：]?", re.IGNORECASE)
_STORE = re.compile(
    r"(?:visit|besuche?n? sie|besuche|visiter|visita|visite|bezoek)\s+(?:the|den|la|le|lo|el|a|de|il)?\s*"
    r"(?:boutique|store|tienda(?: de)?|negozio di)?\s*(?P<name>.+?)[\s-]*(?:store|shop|winkel)?$",
    re.IGNORECASE,
)
_BY = re.compile(r"(?:by|von|par|di|de|da|od|от)\s+(.+)", re.IGNORECASE)
_INNER = re.compile(r"\w-?[A-ZÀ-Þ]")
_MOST_WORDS = 5


@dataclass(frozen=True, kw_only=True)
class Maker:
    """way: how the name was found."""

    name: str
    way: str


def maker(lines: Sequence[TextLine], plain: Sequence[str], item: Region) -> Maker | None:
    """What a label names; else a short line beside the title that the page says again; else the beginning of the
    title where it stands alone elsewhere; else a word of the title that is written as names are."""
    ways = {
        "after a label": _labelled,
        "beside the title": _beside,
        "begins the title": _prefix,
        "in capitals in the title": _capitals,
    }
    found = ((name, way(lines, plain, item)) for name, way in ways.items())
    return next((Maker(name=name, way=way) for way, name in found if name), None)


def _labelled(lines: Sequence[TextLine], plain: Sequence[str], item: Region) -> str | None:
    places = sorted(range(max(0, item.first - 10), item.end), key=lambda at: (abs(at - item.last) > 40, at))
    for at in places:
        text = lines[at].text
        if len(text) > 80:
            continue
        match = _LABEL.fullmatch(text) or _LABEL.fullmatch(plain[at])
        if match is not None:
            name = match["name"] or (lines[at + 1].text if at + 1 < len(lines) else "")
            if match["name"] and match.string is not text:
                name = text[len(text) - len(match["name"]) :]
            if _is_name(name):
                return _once(name)
        elif abs(at - item.last) <= 6 and (store := _STORE.fullmatch(text)) and _is_name(store["name"]):
            return _once(store["name"])
        elif 1 <= at - item.last <= 3 and (by := _BY.fullmatch(text)) and _is_name(by[1]):
            return _once(by[1])
    return None


def _beside(lines: Sequence[TextLine], plain: Sequence[str], item: Region) -> str | None:
    """A line of three words at most next to the title, copies of the title aside, that the title begins with, or a
    heading that the page says again."""
    title = words.folded(item.title)
    near = range(max(0, item.first - 6), min(len(lines), item.last + 7))
    around = [at for at in near if plain[at] not in title or title.startswith(f"{plain[at]} ")]
    before = [at for at in around if at < item.first][-2:][::-1]
    after = [at for at in around if at > item.last][:2]
    for at in (*before[:1], *after[:1], *before[1:], *after[1:]):
        text = plain[at]
        if len(text.split()) > 3 or not _is_name(lines[at].text):
            continue
        if title.startswith(f"{text} ") or (lines[at].heading and plain.count(text) >= 2):
            return _once(lines[at].text)
    return None


def _prefix(lines: Sequence[TextLine], plain: Sequence[str], item: Region) -> str | None:
    alone = set(plain)
    title = item.title.split()
    for count in (3, 2, 1):
        name = " ".join(title[:count])
        if len(title) > count and words.folded(name) in alone and _is_name(name):
            return name
    return None


def _capitals(lines: Sequence[TextLine], plain: Sequence[str], item: Region) -> str | None:
    """One of the first three words, if it has capitals inside and few of the others have: SAMSUNG, TP-Link."""
    title = [word.strip(',.:;()[]«»"') for word in item.title.split()]
    names = [word for word in title if len(word) >= 4 and _INNER.search(word)]
    if not names or len(names) > len(title) / 3 or names[0] not in title[:3]:
        return None
    return names[0] if _is_name(names[0]) and not any(mark.isdigit() for mark in names[0]) else None


def _is_name(text: str) -> bool:
    plain = words.folded(text)
    return (
        1 < len(text) <= 50
        and len(plain.split()) <= _MOST_WORDS
        and any(mark.isalpha() for mark in plain)
        and not amounts(text)
        and not any(pattern.search(plain) for pattern in (words.BUY, words.OUT_OF_STOCK, words.RELATED))
        and not words.MENU.fullmatch(plain)
        and not text.rstrip().endswith((":", "?", "!"))
    )


def _once(name: str) -> str:
    """Without what surrounds it; a name that a link and its picture give twice is given once."""
    text = re.sub(r"^[\s:：•·|-]+|[\s•·|,]+$", "", name)
    half = len(text) // 2
    if len(text) >= 4 and text[:half].strip().casefold() == text[half:].strip().casefold():
        return text[:half].strip()
    return text
