"""What goes with what, counted by hand; and how much a feature may say among the candidates at hand."""

import math

import numpy as np
import pytest

from afterwit.digest.answer import Answerer, AnswerRules, Candidate
from afterwit.digest.catalogue import Catalogue
from afterwit.digest.terms import Rarity
from afterwit.digest.together import LONGEST, Together
from afterwit.digest.weighing import open_share, weighed
from afterwit.ports import HashEmbedder

TITLES = {"1": "Tent", "2": "Stove", "3": "Piano", "4": "Violin", "5": "Alpine stove"}
HISTORIES = [("1", "2"), ("1", "2"), ("3", "4"), ("3", "4")]


def test_items_by_hand() -> None:
    """Tent and stove by 2 of 4 users, chance 2 · 2 / 4 = 1: ln(3 / 2). Tent and piano by none: ln(1 / 2)."""
    together = Together.of(TITLES, HISTORIES)
    found = together.by_items(["TENT", "unknown"], ["Stove", "Piano", "nobody's"])
    assert found.tolist() == pytest.approx([math.log(3 / 2), math.log(1 / 2), 0.0])
    older = together.by_items(["unknown", "Tent"], ["Stove"])
    assert older.tolist() == pytest.approx([math.log(3 / 2) * 0.5 ** (1 / 5)]), "older lines count for less"


def test_words_by_hand_and_an_item_that_nobody_chose_has_the_company_of_its_words() -> None:
    """tent and stove: 2 of 8 ordered pairs, margins 2 and 2, chance 4 / 8: ln(5 / 3.5); alpine is never paired: 0."""
    together = Together.of(TITLES, HISTORIES)
    stove, piano, alpine = together.by_words({"tent": 1.0}, ["Stove", "Piano", "Alpine stove"], Rarity())
    assert stove == pytest.approx(math.log(5 / 3.5))
    assert piano == pytest.approx(math.log(3 / 3.5))
    assert alpine == pytest.approx(stove / 2)
    assert together.by_words({}, ["Stove"], Rarity()).tolist() == [0.0]


def test_of_a_long_history_the_newest_count() -> None:
    titles = {str(i): f"item{i}" for i in range(200)}
    together = Together.of(titles, [tuple(titles)])
    assert together.chosen.sum() == LONGEST
    assert together.chosen[-LONGEST:].all()
    assert together.items.nnz == LONGEST * (LONGEST - 1)


def test_how_much_a_feature_may_say() -> None:
    at_random = np.array([0.0, 1.0, 2.0])
    assert open_share(np.array([1.0]), at_random, 2.0) == 1.0, "candidates as at random"
    assert open_share(np.array([2.0]), at_random, 2.0) == 0.5
    assert open_share(np.array([9.0]), at_random, 2.0) == 0.0, "chosen by that feature"
    assert open_share(np.array([9.0]), at_random[:0], 2.0) == 1.0, "nothing known"
    assert weighed(np.array([9.0, 9.5, 0.0, 1.0]), 2, 1.0).tolist() == [0.0, 0.0]


def test_among_popular_candidates_popularity_says_nothing_and_company_decides() -> None:
    titles = {str(i): f"Thing {chr(97 + i % 26)}{i}" for i in range(100)}
    popular = [("0", "1"), ("2", "3")] * 40
    known = Catalogue.of(titles, histories=popular)
    answerer = Answerer(embedder=HashEmbedder(), catalogue=known, rules=AnswerRules(words=0, meaning=0, company=0))
    text = f"# Profile\n## Evidence\n- undated · chose · {titles['0']}\n"
    every = [Candidate(id=i, title=titles[i]) for i in ("1", "3")]
    assert answerer.rank(text, every)[0].id == "1"
    alone = Answerer(
        embedder=HashEmbedder(), catalogue=known, rules=AnswerRules(words=0, meaning=0, company=0, items=0)
    )
    rare = [Candidate(id=str(i), title=titles[str(i)]) for i in range(50, 60)]
    assert alone.scores("", [every[0], *rare])[0] > 0, "among the uncommon it still counts"
    assert alone.scores("", every).tolist() == [0.0, 0.0]
