"""The bundled sentence encoder."""

import subprocess
import sys
import unicodedata

import numpy as np
import pytest

from afterwit.providers.embedder import SentenceEncoder


@pytest.fixture(scope="module")
def encode() -> SentenceEncoder:
    return SentenceEncoder()


def test_unit_vectors_of_the_stated_size(encode: SentenceEncoder) -> None:
    rows = encode(["Open with a question", "用问句开头", "", "🎬", "Open with a question"])
    assert (rows.shape, rows.dtype) == ((5, encode.dimensions), np.float32)
    assert np.isfinite(rows).all()
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
    assert (rows[0] == rows[4]).all()
    assert encode([]).shape == (0, encode.dimensions)
    assert encode.name == "usem3-512"


@pytest.mark.parametrize(
    ("text", "same", "other"),
    [
        ("the cat sleeps on the sofa", "le chat dort sur le canapé", "quarterly tax declaration"),
        ("电影会员半价", "half price film membership", "the dog barks at night"),
        ("اشتراك السينما بنصف السعر", "half price cinema membership", "the dog barks at night"),
    ],
)
def test_meaning_crosses_languages(encode: SentenceEncoder, text: str, same: str, other: str) -> None:
    rows = encode([text, same, other])
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2


def test_alone_or_in_a_batch_a_text_means_the_same(encode: SentenceEncoder) -> None:
    alone = encode(["half price"])[0]
    batch = encode(["half price", "a much longer text that makes the batch wider than it was before"])[0]
    assert alone == pytest.approx(batch, abs=1e-4)


def test_composed_and_decomposed_text_mean_the_same(encode: SentenceEncoder) -> None:
    text = "l'été prolongé à la forêt"
    rows = encode([text, unicodedata.normalize("NFD", text)])
    assert rows[0] @ rows[1] > 0.999


def test_the_weights_are_loaded_on_the_first_call_and_not_before() -> None:
    program = (
        "import sys; from afterwit.providers.embedder import SentenceEncoder; one = SentenceEncoder()\n"
        "assert 'usem3' not in sys.modules; one(['a']); assert 'usem3' in sys.modules; print('late')"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "late"
