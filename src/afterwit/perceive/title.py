"""Which line names the item, and where on the page the item ends and other things begin."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from afterwit.model.page import TextLine
from afterwit.perceive import words
from afterwit.perceive.amounts import amounts

_WORD = re.compile(r"[^\W_]+")
_FOR_HEADING = {1: 3.0, 2: 1.5, 3: 0.7, 0: 0.0}
_FOR_WINDOW = 3.0
RATING = re.compile(
    r"(?<![\d.,])([0-5](?:[.,]\d+)?)\s*(?:/|out of|von|sur|de|su|van|z|ze|av|af|из|共)\s*5(?![\d.,])",
    re.IGNORECASE,
)
"""Stars of five."""

_LABEL = re.compile(rf"(?:{words.BRAND})\s?:\s.+")
_REACH = 40
"""Lines after a title in which its price or its button is looked for."""


@dataclass(frozen=True, kw_only=True)
class Region:
    """title: the words. first, last: its lines. end: the line at which the item's part of the page is over."""

    title: str
    first: int
    last: int
    end: int


def region(lines: Sequence[TextLine], plain: Sequence[str], named: str = "") -> Region | None:
    """plain: the lines, folded. named: the title of the window. None where no line can be a title. Our own weights: the
    size of its type and its likeness to the window's title first, then a price or a button that follows, and that a
    page repeats what it is about."""
    window = frozenset(_WORD.findall(words.folded(named)))
    anchors = [_anchors(line, text) for line, text in zip(lines, plain, strict=True)]
    seen = Counter(plain)
    body = Counter(word for text in set(plain) for word in set(_WORD.findall(text)))
    best: tuple[float, int, int] | None = None
    reached = -1
    for place in range(len(lines)):
        last = _continued(lines, place)
        if place <= reached:
            continue  # the middle of a heading that began above
        reached = last
        score = _score(lines, plain, anchors, seen, body, window, place, last)
        if score is not None and (best is None or score > best[0]):
            best = (score, place, last)
    if best is None:
        return None
    _, first, last = best
    title = " ".join(line.text for line in lines[first : last + 1]).lstrip("•·▪■ ")
    end = next((at for at in range(last + 3, len(lines)) if leaves(lines[at], plain[at])), len(lines))
    return Region(title=title, first=first, last=last, end=end)


def _anchors(line: TextLine, plain: str) -> bool:
    """Whether it is what stands below the name of an item: a price, a button, or that it is gone."""
    said = words.BUY.search(plain) or (len(plain.split()) <= 8 and words.OUT_OF_STOCK.search(plain))
    return bool(said) or bool(amounts(line.text))


def leaves(line: TextLine, plain: str) -> bool:
    """Whether what follows the line is about other items: a short line that says so."""
    return len(plain.split()) <= 9 and bool(words.RELATED.match(plain))


def _score(
    lines: Sequence[TextLine],
    plain: Sequence[str],
    anchors: Sequence[bool],
    seen: Counter[str],
    body: Counter[str],
    window: frozenset[str],
    place: int,
    last: int,
) -> float | None:
    text = " ".join(plain[place : last + 1])
    found = _WORD.findall(text)
    letters = sum(mark.isalpha() for mark in text)
    if letters < 3 or len(text) > 300 or amounts(lines[place].text):
        return None
    if (
        words.RELATED.match(text)
        or words.BUY.fullmatch(text)
        or (words.ABOUT.match(text) and len(found) <= 3)
        or words.MENU.fullmatch(text)
    ):
        return None
    if RATING.search(text) or _LABEL.fullmatch(text):
        return None
    score = _FOR_HEADING[lines[place].heading]
    score += 0.0 if len(text) >= 10 and len(found) >= 2 else -1.2
    score += 0.5 if len(found) >= 4 else 0.0
    score -= 1.5 if len(text) > 180 else 0.0
    score -= 1.0 if len(found) <= 4 and words.CARRIAGE.search(text) else 0.0
    score -= 1.5 if text.endswith((".", ":", "?", "!", "…")) else 0.0
    near = next((at - last for at in range(last + 1, min(len(lines), last + _REACH)) if anchors[at]), None)
    score += -1.0 if near is None else 1.5 * (1 - near / _REACH)
    score -= 4 * (1 - min(line.confidence for line in lines[place : last + 1]))
    score += min(1.5, 0.5 * (seen[text] - 1)) if len(found) >= 2 else 0.0
    if len(found) >= 2:  # what a page is about comes back in it: breadcrumbs, descriptions of pictures, reviews
        score += min(1.5, sum(body[word] > 1 for word in set(found)) / len(set(found)) * 1.5)
    score += _FOR_WINDOW * _likeness(frozenset(found), window) if len(found) >= 2 or len(window) <= 3 else 0.0
    return score - 1.0 * place / max(len(lines), 40)


def _likeness(words: frozenset[str], window: frozenset[str]) -> float:
    """Of two sets of words, 0 to 1: the harmonic mean of the shares that they have in common."""
    return 2 * len(words & window) / max(len(words) + len(window), 1)


def _continued(lines: Sequence[TextLine], place: int) -> int:
    """The last line of a heading that is broken over several."""
    last = place
    for at, (one, other) in enumerate(pairwise(lines[place : place + 4])):
        gap = other.box.top - one.box.bottom
        alike = one.heading and one.heading == other.heading and one.struck == other.struck and one.text != other.text
        if not alike or not -0.5 * one.box.height < gap < 0.7 * one.box.height or amounts(other.text):
            break
        if abs(one.box.left - other.box.left) > one.box.height or one.box.width < 0.4 * other.box.width:
            break
        last = place + at + 1
    return last
