"""The lines of a picture, one below the other on a white sheet, for readers made for pages of a book: nothing is left
for them to lay out, and type is as large as in a scan."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from afterwit.providers.ocr.lines import Image, Strip, crop

SCALE = 2.0
_GAP = 24
_MARGIN = 20


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """png: of the sheet. tops: where each of the strips begins on it, in pixels of the sheet."""

    png: bytes
    tops: tuple[int, ...]

    def place(self, middle: float) -> int:
        """Which strip is at a height."""
        return max(0, bisect_right(self.tops, middle) - 1)


def stacked(image: Image, strips: Sequence[Strip]) -> Sheet:
    """Dark on light, whatever they were; strips: at least one."""
    import cv2  # comes with rapidocr

    parts: list[Image] = []
    for strip in strips:
        gray = cv2.cvtColor(crop(image, strip.box), cv2.COLOR_BGR2GRAY)
        plain = gray if np.median(gray) >= 128 else 255 - gray
        parts.append(
            np.asarray(cv2.resize(plain, None, fx=SCALE, fy=SCALE, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
        )
    tops = np.cumsum([_MARGIN, *(part.shape[0] + _GAP for part in parts)])
    sheet = np.full((int(tops[-1]) + _MARGIN, max(part.shape[1] for part in parts) + 2 * _MARGIN), 255, np.uint8)
    for top, part in zip(tops, parts, strict=False):
        sheet[top : top + part.shape[0], _MARGIN : _MARGIN + part.shape[1]] = part
    png = cv2.imencode(".png", sheet)[1].tobytes()
    return Sheet(png=png, tops=tuple(int(top) - _GAP // 2 for top in tops[:-1]))
