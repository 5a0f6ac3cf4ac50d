"""RapidOCR: PP-OCR in onnxruntime, with the models inside its wheel."""

import threading
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

from afterwit.errors import MissingExtra, ProviderError
from afterwit.model.ids import content_hash
from afterwit.model.page import Box, TextLine, Tile
from afterwit.providers.ocr.lines import Image, Strip, crop, decoded, strips

_SCRIPTS = frozenset({"Latin", "Han", "Kana"})
"""Of the models in its wheel."""

_LEAST = 0.5
"""Confidence under which a reading is noise: icons, textures."""


class RapidOcr:
    """Downloads nothing. Latin, Chinese and Japanese script and the signs of currencies; for Cyrillic, Arabic, Korean,
    Thai and Devanagari its models are elsewhere: name a vision model, or Tesseract with that language.

    A line that looks the same as one before is read once, so menus that repeat cost nothing.
    """

    def __init__(self, *, threads: int = 1, detect: Literal["drawn", "model"] = "drawn") -> None:
        """threads: of onnxruntime. detect: ``drawn`` finds text that a browser drew, in milliseconds; ``model`` also
        text in photographs, in seconds a tile. Raises MissingExtra."""
        for package in ("rapidocr", "onnxruntime"):
            if find_spec(package) is None:
                raise MissingExtra(package, "ocr")
        self._threads, self._detect = threads, detect
        self._known: dict[str, tuple[str, float]] = {}
        self.name = f"rapidocr-{version('rapidocr')}:{detect}"

    def knows(self, script: str) -> bool:
        return script in _SCRIPTS

    def __call__(self, tile: Tile) -> Sequence[TextLine]:
        engine = _engine(self._threads)
        image = decoded(tile.png)
        try:
            with engine.lock:
                found = strips(image) if self._detect == "drawn" else engine.detect(image)
                texts = self._read(engine, [crop(image, strip.box) for strip in found])
        except (RuntimeError, ValueError, MemoryError) as error:
            raise ProviderError(f"{self.name} failed: {' '.join(str(error).split())[:200]}") from None
        return tuple(
            TextLine(text=" ".join(text.split()), box=strip.box, confidence=score, struck=strip.struck, band=strip.band)
            for strip, (text, score) in zip(found, texts, strict=True)
            if text.strip() and score >= _LEAST
        )

    def _read(self, engine: "_Engine", crops: Sequence[Image]) -> list[tuple[str, float]]:
        keys = [content_hash(str(part.shape), part.tobytes().hex()) for part in crops]
        new = {key: part for key, part in zip(keys, crops, strict=True) if key not in self._known}
        if len(self._known) > 20_000:
            self._known.clear()
            new = dict(zip(keys, crops, strict=True))
        if new:
            self._known |= zip(new, engine.read(list(new.values())), strict=True)
        return [self._known[key] for key in keys]


class _Engine:
    """The models, loaded when first needed; one caller at a time."""

    def __init__(self, threads: int) -> None:
        from rapidocr import RapidOCR  # optional, and takes a second

        self.lock = threading.Lock()
        models = Path(str(find_spec("rapidocr").origin)).parent / "models"  # type: ignore[union-attr]
        if not any(models.glob("*rec*.onnx")):
            raise ProviderError(f"this rapidocr has no models in {models}: install one of its wheels from 3.0 on")
        self._rapid: Any = RapidOCR(
            params={
                "Global.use_cls": False,  # nothing on a page stands on its head
                "Global.log_level": "error",
                "EngineConfig.onnxruntime.intra_op_num_threads": threads,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )

    def read(self, crops: Sequence[Image]) -> list[tuple[str, float]]:
        found = self._rapid.recognize_txt(list(crops))
        return [(str(text), float(score)) for text, score in zip(found.txts, found.scores, strict=True)]

    def detect(self, image: Image) -> list[Strip]:
        found = self._rapid(image, use_det=True, use_rec=False)
        boxes = () if found.boxes is None else np.asarray(found.boxes)
        return [
            Strip(box=Box(left=float(left), top=float(top), width=float(right - left), height=float(bottom - top)))
            for (left, top), (right, bottom) in ((box.min(axis=0), box.max(axis=0)) for box in boxes)
        ]


_loading = threading.Lock()


def _engine(threads: int) -> _Engine:
    with _loading:
        return _loaded(threads)


@cache
def _loaded(threads: int) -> _Engine:
    return _Engine(threads)
