"""Lines that were read off tiles → one page in reading order, with headings by the size of their type."""

import re
import statistics
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from afterwit.model.page import Box, PageText, TextLine, Tile

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_DENSE = re.compile("[\u0600-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\u9fff\uac00-\ud7af]")
_LETTER = re.compile(r"[^\W\d_]")
_DESCENDS = re.compile(r"[gjpqy,;()\[\]{}|/$€£@Q]")
_ASCENDS = re.compile(r"[A-Z0-9bdfhkltiÀ-ÞĀ-Ž(\[{|/$€£%&!?'\"]")
_LEVELS = ((1.7, 1), (1.35, 2), (1.15, 3))
"""Times the size of plain text → level of heading; browsers draw h1 at 2.0, h2 at 1.5, h3 at 1.17."""


def page_text(read: Iterable[tuple[Tile, Sequence[TextLine]]]) -> PageText:
    """read: each tile with the lines found in it, boxes in pixels of the tile."""
    lines = headed(mended(ordered(joined(read))))
    return PageText(lines=lines, markdown=markdown(lines))


def joined(read: Iterable[tuple[Tile, Sequence[TextLine]]]) -> tuple[TextLine, ...]:
    """All lines in pixels of the page. Tiles overlap: a line belongs to the tile in whose own part its middle lies,
    so that one cut by an edge is taken from where it is whole."""
    tiles = sorted(read, key=lambda one: one[0].box.top)
    lines: list[TextLine] = []
    for place, (tile, found) in enumerate(tiles):
        first = (tile.box.top + tiles[place - 1][0].box.bottom) / 2 if place else float("-inf")
        last = (tiles[place + 1][0].box.top + tile.box.bottom) / 2 if place + 1 < len(tiles) else float("inf")
        for line in found:
            box = line.box.moved(tile.box.top)
            if first <= box.middle < last:
                lines.append(replace(line, box=box))
    return tuple(lines)


def ordered(lines: Sequence[TextLine]) -> tuple[TextLine, ...]:
    """Reading order by cutting the page where it is empty: at the widest gutter between columns, else at the highest
    gap between rows, and so on inside the parts (an XY cut)."""
    if not lines:
        return ()
    height = statistics.median(line.box.height for line in lines)
    done: list[TextLine] = []
    waiting = [list(lines)]
    while waiting:
        part = waiting.pop()
        cut = _columns(part, height) or _rows(part)
        if cut is None:
            leftwards = sum(bool(_RIGHT_TO_LEFT.search(line.text)) for line in part) > len(part) / 2
            done.extend(sorted(part, key=lambda line: -line.box.right if leftwards else line.box.left))
        else:
            waiting.extend(reversed(cut))
    return tuple(done)


def _columns(part: list[TextLine], height: float) -> list[list[TextLine]] | None:
    """Two columns, each of several rows, that a wide gutter parts over their whole height."""
    if len(part) < 4:
        return None
    gaps = _gaps([(line.box.left, line.box.right) for line in part], least=1.5 * height)
    if not gaps:
        return None
    place = max(gaps)[1]
    one = [line for line in part if line.box.right <= place]
    other = [line for line in part if line.box.left >= place]
    if min(_rows_of(one), _rows_of(other)) < 2 or _is_table(one, other):
        return None
    leftwards = sum(bool(_RIGHT_TO_LEFT.search(line.text)) for line in part) > len(part) / 2
    return [other, one] if leftwards else [one, other]


def _is_table(labels: list[TextLine], values: list[TextLine]) -> bool:
    """Short labels, most of them level with a value: read row by row."""
    level = [
        any(abs(label.box.middle - value.box.middle) < 0.4 * label.box.height for value in values) for label in labels
    ]
    return statistics.mean(len(label.text) for label in labels) < 25 and sum(level) >= 0.7 * len(labels)


def _rows(part: list[TextLine]) -> list[list[TextLine]] | None:
    """Cut at the highest gap, and at those nearly as high."""
    # a little is taken off each box, since descenders reach into the row below
    spans = [(line.box.top + 0.2 * line.box.height, line.box.bottom - 0.2 * line.box.height) for line in part]
    gaps = _gaps(spans, least=0.0)
    if not gaps:
        return None
    highest = max(width for width, _ in gaps)
    cuts = [middle for width, middle in gaps if width >= 0.8 * highest]
    rows: list[list[TextLine]] = [[] for _ in range(len(cuts) + 1)]
    for line in part:
        rows[bisect_right(cuts, line.box.middle)].append(line)
    return rows


def _rows_of(part: list[TextLine]) -> int:
    count, bottom = 0, float("-inf")
    for line in sorted(part, key=lambda line: line.box.top):
        if line.box.middle > bottom:
            count, bottom = count + 1, line.box.bottom
    return count


def _gaps(spans: list[tuple[float, float]], *, least: float) -> list[tuple[float, float]]:
    """Width and middle of each gap wider than ``least`` that no span covers, in order."""
    found: list[tuple[float, float]] = []
    reach: float | None = None
    for first, last in sorted(spans):
        if reach is not None and first - reach > least:
            found.append((first - reach, (first + reach) / 2))
        reach = last if reach is None else max(reach, last)
    return found


def mended(lines: Sequence[TextLine]) -> tuple[TextLine, ...]:
    """Pieces of one line put together: large type leaves gaps that a reader takes for those between columns."""
    done: list[TextLine] = []
    for line in lines:
        if done and _goes_on(done[-1], line):
            last = done[-1]
            top, bottom = min(last.box.top, line.box.top), max(last.box.bottom, line.box.bottom)
            width = line.box.right - last.box.left
            done[-1] = replace(
                last,
                text=f"{last.text} {line.text}",
                box=Box(left=last.box.left, top=top, width=width, height=bottom - top),
                confidence=min(last.confidence, line.confidence),
                band=max(last.band, line.band),
            )
        else:
            done.append(line)
    return tuple(done)


def _goes_on(one: TextLine, other: TextLine) -> bool:
    size = type_size(one)
    gap = other.box.left - one.box.right
    alike = one.struck == other.struck and abs(type_size(other) - size) <= 0.15 * size
    return alike and -2 <= gap <= 0.6 * size and _beside(one.box, other.box)


def headed(lines: Sequence[TextLine]) -> tuple[TextLine, ...]:
    """Levels of headings from the size of the type, against what most of the page is set in."""
    sizes = [type_size(line) for line in lines]
    letters = [(size, len(line.text)) for size, line in zip(sizes, lines, strict=True)]
    plain = _weighted_median(letters)
    return tuple(
        replace(line, heading=_level(line, size / plain) if plain else 0)
        for line, size in zip(lines, sizes, strict=True)
    )


def _level(line: TextLine, ratio: float) -> int:
    """None for what is higher than type of its size is: a picture, or lines that ran together."""
    if line.box.height > 1.6 * type_size(line) or not _LETTER.search(line.text):
        return 0
    return next((level for least, level in _LEVELS if ratio >= least), 0)


def type_size(line: TextLine) -> float:
    """Of the type in pixels, by the shares that common sans-serif type has of it: from the band of small letters where
    it was measured, else from the height of the box, which is lower without ascenders or descenders."""
    text = line.text
    letters = [mark for mark in text if mark.isalnum()]
    if not letters or _DENSE.search(text):
        return (line.band or line.box.height) / 0.85
    small = sum(mark.islower() for mark in letters) / len(letters)
    if line.band and small >= 0.3:
        return line.band / 0.54
    if line.band and line.box.height > 2 * line.band:  # more than the line itself is in the box
        return line.band / 0.72
    share = 0.54 + (0.18 if small < 0.3 or _ASCENDS.search(text) else 0.0) + (0.2 if _DESCENDS.search(text) else 0.0)
    return line.box.height / share


def _weighted_median(values: Sequence[tuple[float, int]]) -> float:
    half = sum(weight for _, weight in values) / 2
    seen = 0
    for value, weight in sorted(values):
        seen += weight
        if seen >= half:
            return value
    return 0.0


def markdown(lines: Sequence[TextLine]) -> str:
    """Headings marked, what is struck in ~~, an empty line where the page leaves one; cells of a row on one line."""
    parts: list[str] = []
    last: Box | None = None
    for line in lines:
        text = f"~~{line.text}~~" if line.struck else line.text
        if line.heading and _LETTER.search(line.text):
            text = f"{'#' * line.heading} {text}"
        if last is None:
            parts.append(text)
        elif _beside(last, line.box) and not line.heading:
            parts.append(f" | {text}")
        else:
            apart = line.box.top - last.bottom > max(line.box.height, last.height) or line.heading
            parts.append(f"\n\n{text}" if apart else f"\n{text}")
        last = line.box
    return "".join(parts)


def _beside(one: Box, other: Box) -> bool:
    return min(one.bottom, other.bottom) - max(one.top, other.top) > 0.5 * min(one.height, other.height)
