"""Where text stands in a picture that a browser drew, and which of it is struck through.

A detector made for photographs takes seconds a tile. Rendered text is level and sharp, so the edges of its letters,
joined along the line, find it in milliseconds. Our own rules of thumb, in pixels of the page.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterwit.model.page import Box

Image = NDArray[np.uint8]
Ink = NDArray[np.bool_]
"""Where a picture is not of the colour of its ground."""

_EDGE = 28
"""Levels that neighbours along a row must differ by."""

_GAP = 13
"""The widest gap inside a line: more than a space of 40 px type, less than between columns."""

_ROW = 24
_SPACE = 0.55
"""The widest gap between words, of the height of their letters."""

_LOWEST, _TALLEST = 5, 110
_THICKEST = 10
"""Of a strike."""

_RULE = 120
"""Edges that run so far down are borders, not letters."""


@dataclass(frozen=True, kw_only=True)
class Strip:
    """One line of text, or the part of one that is struck or not. band: as in `TextLine`."""

    box: Box
    struck: bool = False
    band: float = 0.0


def strips(image: Image, *, strikes: bool = True) -> list[Strip]:
    """image: rows × columns × 3. strikes: whether to look for them, which scripts whose letters hang together by a line
    rule out. Top to bottom."""
    import cv2  # comes with rapidocr

    edges = _edges(image)
    edges[cv2.morphologyEx(edges, cv2.MORPH_OPEN, np.ones((_RULE, 1), np.uint8)) > 0] = 0
    joined = cv2.morphologyEx(edges, cv2.MORPH_CLOSE, np.ones((3, _GAP), np.uint8))
    found = cv2.connectedComponentsWithStats(joined, connectivity=8)
    places: NDArray[np.int32] = np.asarray(found[2], dtype=np.int32)[1:]
    lines: list[Strip] = []
    for place in sorted(places.tolist(), key=lambda place: (place[1], place[0])):
        left, top, width, height = place[:4]
        if _LOWEST <= height <= 4 * _TALLEST and width >= 3 and width * height >= 30:
            part = slice(top, top + height), slice(left, left + width)
            ink = _ink(image[part], _around(image, left, top, width, height))
            for first, last in _rows(edges[part], ink):
                lines.extend(_line(edges[part], ink, left, top, first, last, strikes))
    return _whole(lines)


def crop(image: Image, box: Box) -> Image:
    """The part of the picture in the box, a little wider, since edges leave out the rounding of letters."""
    pad = 3
    top, bottom = max(0, int(box.top) - pad), min(image.shape[0], int(box.bottom) + pad)
    left, right = max(0, int(box.left) - pad), min(image.shape[1], int(box.right) + pad)
    return image[top:bottom, left:right]


def decoded(png: bytes) -> Image:
    import cv2

    image: Any = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)
    return np.zeros((1, 1, 3), np.uint8) if image is None else np.asarray(image, dtype=np.uint8)


def _whole(strips: list[Strip]) -> list[Strip]:
    """Large type has wider spaces: neighbours on a line, of one size, no farther apart than that, are one strip."""
    found: list[Strip] = []
    rows: dict[int, list[int]] = {}  # so that only strips of about one height are compared
    for strip in sorted(strips, key=lambda one: (one.box.left, one.box.top)):
        box = strip.box
        row = int(box.top + box.height / 2) // _ROW
        for place in (place for near in (row - 1, row, row + 1) for place in rows.get(near, ())):
            if _follows(found[place], strip):
                near = found[place].box
                top, bottom = min(near.top, box.top), max(near.bottom, box.bottom)
                whole = Box(left=near.left, top=top, width=box.right - near.left, height=bottom - top)
                found[place] = Strip(box=whole, band=max(strip.band, found[place].band))
                break
        else:
            rows.setdefault(row, []).append(len(found))
            found.append(strip)
    return sorted(found, key=lambda one: (one.box.top, one.box.left))


def _follows(one: Strip, other: Strip) -> bool:
    first, second = one.box, other.box
    level = min(first.bottom, second.bottom) - max(first.top, second.top) >= 0.8 * max(first.height, second.height)
    gap = second.left - first.right
    return level and not (one.struck or other.struck) and -2 <= gap <= _SPACE * min(first.height, second.height)


def _edges(image: Image) -> Image:
    """Only across the row: rules, underlines and strikes have no such edge but at their ends."""
    steps = np.abs(np.diff(image.astype(np.int16), axis=1)).max(axis=2) > _EDGE
    return np.pad(steps, ((0, 0), (0, 1))).astype(np.uint8)


def _rows(edges: Image, ink: Ink) -> list[tuple[int, int]]:
    """First and last row of each line in what hangs together: the frame of a button, or a letter that reaches down,
    may tie several. Rows with few edges part them, unless a strike runs there; dots and accents stay with their
    letters."""
    counts = edges.sum(axis=1, dtype=np.int64)
    busy = _runs(counts > max(2, 0.1 * counts.max()))
    full = ink.mean(axis=1) > 0.7
    runs: list[list[int]] = []
    for first, last in busy:
        if runs:
            gap = range(runs[-1][1], first)
            small = len(gap) <= 3 and min(last - first, runs[-1][1] - runs[-1][0]) < _LOWEST
            if small or (len(gap) <= _THICKEST and full[gap].mean() >= 0.5):
                runs[-1][1] = last
                continue
        runs.append([first, last])
    tall = [(first, last) for first, last in runs if last - first >= _LOWEST]
    if not tall:
        return []
    between = [0, *((one[1] + other[0]) // 2 for one, other in pairwise(tall)), len(counts)]
    return [
        (max(low, first - (last - first) // 3), min(high, last + (last - first) // 3))
        for (first, last), low, high in zip(tall, between[:-1], between[1:], strict=True)
    ]


def _line(edges: Image, ink: Ink, left: int, top: int, first: int, last: int, strikes: bool) -> list[Strip]:
    """What these rows of a part hold; left, top: of the part."""
    across = np.flatnonzero(edges[first:last].any(axis=0))
    band = _band(edges[first:last])
    if not len(across) or not _LOWEST <= last - first <= _TALLEST or band < 3:
        return []
    start, end = int(across[0]), int(across[-1]) + 1
    box = Box(left=left + start, top=top + first, width=end - start, height=last - first)
    found = _split(ink[first:last, start:end], box) if strikes else [Strip(box=box)]
    return [replace(strip, band=band) for strip in found]


def _band(part: Image) -> float:
    """Rows with at least half as many edges as the busiest: neither the sides of a button nor bullets, ascenders and
    descenders are among them."""
    counts = part.sum(axis=1, dtype=np.int64)
    return float((counts >= counts.max() / 2).sum())


def _split(ink: Ink, box: Box) -> list[Strip]:
    """The line, cut where a strike begins or ends."""
    run = strike(ink)
    if run is None:
        return [Strip(box=box)]
    first, last = run
    cuts = [(0, first, False), (first, last, True), (last, ink.shape[1], False)]
    return [
        Strip(box=replace(box, left=box.left + start, width=end - start), struck=struck)
        for start, end, struck in cuts
        if end - start >= max(_LOWEST, ink.shape[0] // 2)
    ]


def strike(ink: Ink) -> tuple[int, int] | None:
    """Where a line goes through the text: first and last column. It runs through the middle of the height, is longer
    than the text is high, and has letters above and below it."""
    height, width = ink.shape
    if height < 7 or width < 12:
        return None
    best: tuple[int, int] | None = None
    for row in range(int(height * 0.3), int(height * 0.75) + 1):
        if row >= height:
            break
        for first, last in _runs(ink[row]):
            if last - first >= max(16, 1.2 * height) and (best is None or last - first > best[1] - best[0]):
                above, below = ink[: max(1, row - 2), first:last], ink[row + 3 :, first:last]
                crossed = above.any(axis=0).mean() > 0.3 and below.size > 0 and below.any(axis=0).mean() > 0.3
                if crossed and above.mean() < 0.7 and below.mean() < 0.7:
                    best = (first, last)
    return best


def _around(image: Image, left: int, top: int, width: int, height: int) -> NDArray[np.float64]:
    """The colour of the ground, of which most of a frame around the part is."""
    outer = image[max(0, top - 2) : top + height + 2, max(0, left - 2) : left + width + 2]
    frame = np.concatenate([outer[:2].reshape(-1, 3), outer[-2:].reshape(-1, 3), outer[:, 0], outer[:, -1]])
    return np.asarray(np.median(frame, axis=0))


def _ink(image: Image, ground: NDArray[np.float64]) -> Ink:
    return np.asarray(np.abs(image.astype(np.int16) - ground).max(axis=2) > 40)


def _runs(row: NDArray[np.bool_]) -> list[tuple[int, int]]:
    turns = np.flatnonzero(np.diff(np.concatenate(([False], row, [False])).astype(np.int8)))
    return [(int(first), int(last)) for first, last in zip(turns[::2], turns[1::2], strict=True)]
