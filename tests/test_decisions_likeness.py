"""Decisions by meaning, with a small embedder whose geometry is known."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from afterwit.decisions.extraction import Extractor, MiningRules
from afterwit.decisions.likeness import Likeness, _farthest
from afterwit.decisions.mining import description_of


class Circle:
    """Texts ``12 …`` lie on the unit circle at so many degrees."""

    name, dimensions = "circle", 2

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls += 1
        angles = np.radians([float(text.split()[0]) for text in texts])
        return np.column_stack((np.cos(angles), np.sin(angles))).astype(np.float32)


def texts(count: int) -> list[str]:
    return [f"{360 * i / count:.3f} degrees" for i in range(count)]


def test_farthest_first_by_hand() -> None:
    vectors = Circle()(["0", "10", "90", "180", "200"])
    assert _farthest(vectors, 3) == [0, 3, 2]


def test_nothing_is_chosen_before_there_are_enough_texts_and_then_once() -> None:
    likeness = Likeness(embed=Circle())
    likeness.choose(texts(1499))
    assert likeness.generation == 0
    likeness.choose(texts(1500))
    likeness.choose(texts(1600))
    assert likeness.generation == 1
    assert all(95 <= len(keys) <= 105 for keys in likeness.shown(texts(7)))  # a fifth of 500, all round alike


def test_a_card_made_elsewhere_is_followed_with_its_own_cut() -> None:
    likeness = Likeness(embed=Circle(), mine=False)
    likeness.choose(texts(1500))
    assert likeness.shown(["0 x"]) == [[]]
    key = "like=0.866|90 degrees"
    likeness.follow([key, "word=x", key])
    assert likeness.shown(["61 x", "59 x", "119 x", "270 x"]) == [[key], [], [key], []]


def test_each_text_is_embedded_once() -> None:
    embed = Circle()
    extractor = Extractor(likeness=Likeness(embed=embed), rules=MiningRules(support=1))
    strata = np.repeat(np.arange(800), 2)
    names, matrix = extractor.design(texts(1600), strata)
    calls = embed.calls
    again, same = extractor.design(texts(1600), strata)
    assert embed.calls == calls
    assert names == again
    assert (matrix != same).nnz == 0
    assert sum(name.startswith("like=") for name in names) == 500


def test_the_name_of_an_exemplar_is_short() -> None:
    assert description_of("like=0.231|Ask | me") == "texts like “Ask | me”"
    assert len(description_of("like=0.231|" + "long " * 40)) < 80
