"""Decisions by meaning, with a small embedder whose geometry is known."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from afterwit.credit.items import showing
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
    assert len(likeness.keys) == 200
    (whole,) = (key for key in likeness.keys if key.endswith("|0.000 degrees"))
    low, high = (float(number) for number in whole.removeprefix("like=").partition("|")[0].split(":"))
    # A twentieth of all directions lies within 9 degrees of any, and another beyond 171.
    assert high == pytest.approx(np.cos(np.radians(9)), abs=0.002)
    assert low == pytest.approx(-high, abs=0.002)


def test_a_card_made_elsewhere_is_followed_with_its_own_range() -> None:
    likeness = Likeness(embed=Circle(), mine=False)
    likeness.choose(texts(1500))
    assert likeness.degrees(["0 x"]).shape == (1, 0)
    key = "like=0:0.866|90 degrees"
    likeness.follow([key, "word=x", key])
    assert likeness.keys == (key,)
    found = likeness.degrees(["61 x", "30 x", "15 x", "200 x"])[:, 0]
    assert found.tolist() == [1, pytest.approx(0.577, abs=1e-3), pytest.approx(0.299, abs=1e-3), 0]


def test_a_cut_is_a_step() -> None:
    likeness = Likeness(embed=Circle(), mine=False)
    likeness.follow(["like=0.866|90 degrees"])
    assert likeness.degrees(["61 x", "59 x", "119 x", "270 x"]).ravel().tolist() == [1, 0, 1, 0]


def test_a_text_shows_what_it_shows_to_a_half() -> None:
    key = "like=0:1|90 degrees"
    extractor = Extractor(likeness=Likeness(embed=Circle(), mine=False), rules=MiningRules(mine=False))
    extractor.follow([key])
    assert extractor.degrees("20 x") == {key: 0.342}
    assert extractor.shown("20 x") == frozenset()
    assert extractor.shown("40 x") == {key}
    assert extractor.degrees("200 x") == {}
    names, matrix = extractor.design(["20 x", "40 x", "200 x"] * 20, np.repeat(np.arange(20), 3))
    assert names == (key,)
    assert matrix.toarray()[:3, 0].tolist() == [0.342, 0.643, 0]
    assert showing(matrix.tocsc(), 0).tolist() == list(range(1, 60, 3))


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
    assert sum(name.startswith("like=") for name in names) == 200


def test_the_name_of_an_exemplar_is_short() -> None:
    assert description_of("like=0.231|Ask | me") == "texts like “Ask | me”"
    assert len(description_of("like=0.231|" + "long " * 40)) < 80
