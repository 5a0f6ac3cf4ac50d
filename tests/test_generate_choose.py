"""The frozen chooser."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from afterwit.errors import InputError
from afterwit.generate.choose import Chooser, contribution, score_matrix, scores
from afterwit.model import Card, Citation, Decision, Task, content_hash
from recall_cases import card, measured

WORDS = ("free", "now", "you", "why", "video", "人")


def words(text: str) -> dict[str, float]:
    return {f"word={word}": 1.0 for word in text.split()}


def choose(cards: list[Card], *candidates: str, seed: int = 0):  # type: ignore[no-untyped-def]
    return Chooser(words)(Task(text="pick", candidates=candidates), cards, seed=seed)


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True).map(" ".join)
banks = st.lists(
    st.builds(
        lambda i, word, effect, prefer: measured(i, effect, **{"prefer" if prefer else "avoid": f"word={word}"}),
        st.uuids().map(str),
        st.sampled_from(WORDS),
        st.floats(-0.5, 0.5),
        st.booleans(),
    ),
    max_size=8,
    unique_by=lambda c: c.id,
)


@pytest.mark.parametrize(
    ("one", "adds"),
    [
        (measured("a", 0.2, prefer="word=free"), 0.2),
        (measured("a", -0.2, avoid="word=free"), -0.2),
        (measured("a", -0.2, prefer="word=free"), 0.2),
        (measured("a", 0.2, avoid="word=free"), -0.2),
        (measured("a", 0.0, prefer="word=free"), 0.0),
        (card("a", prefer="word=free", effect=0.3), 0.3),
        (card("a", prefer="word=free"), 0.01),
        (card("a", avoid="word=free"), -0.01),
        (card("a", effect=0.3), 0.0),
    ],
)
def test_what_a_card_adds(one: Card, adds: float) -> None:
    assert contribution(one) == adds


def test_a_choice_by_hand() -> None:
    cards = [
        measured("free", 0.30, prefer="word=free"),
        measured("now", 0.10, prefer="word=now"),
        measured("why", -0.25, avoid="word=why"),
        measured("absent", 0.90, prefer="word=absent"),
    ]
    # free why: 0.30 − 0.25 = 0.05; now: 0.10; you: 0
    draft = choose(cards, "free why", "now", "you")
    assert draft.output == "now"
    assert draft.decisions == (
        Decision(name="word", value="now", source="mined"),
        Decision(name="not:word", value="why", source="mined"),
    )
    assert draft.citations == (
        Citation(decision="word=now", cards=("now",)),
        Citation(decision="not:word=why", cards=("why",)),
    )
    assert scores(["free why", "now", "you"], cards, words).tolist() == [0.05, 0.1, 0.0]


def test_removing_the_card_that_acted_changes_the_choice_and_removing_another_does_not() -> None:
    free, now = measured("free", 0.30, prefer="word=free"), measured("now", 0.10, prefer="word=now")
    assert choose([free, now], "free", "now").output == "free"
    assert choose([now], "free", "now").output == "now"
    assert choose([free], "free", "now").output == "free"


def test_nobody_avoids_what_no_candidate_shows() -> None:
    draft = choose([measured("why", -0.25, avoid="word=why")], "free", "now")
    assert (draft.decisions, draft.citations) == ((), ())


def test_a_card_that_lost_is_not_cited() -> None:
    cards = [measured("free", 0.3, prefer="word=free"), measured("against", -0.1, avoid="word=free")]
    draft = choose(cards, "free", "now")
    assert draft.output == "free"
    assert draft.citations == (Citation(decision="word=free", cards=("free",)),)


def test_a_vocabulary_decision_is_named_as_such() -> None:
    one = measured("q", 0.3, prefer="hook=question")
    chooser = Chooser(lambda text: {"hook=question": 1.0} if text.endswith("?") else {})
    draft = chooser(Task(text="pick", candidates=("so", "so?")), [one])
    assert draft.decisions == (Decision(name="hook", value="question", source="vocabulary"),)


@given(texts=st.lists(texts, min_size=1, max_size=5), cards=banks, order=st.randoms(), seed=st.integers())
@settings(max_examples=120, deadline=None)
def test_the_order_of_cards_and_candidates_and_the_seed_change_nothing(
    texts: list[str], cards: list[Card], order: object, seed: int
) -> None:
    draft = choose(cards, *texts)
    shuffled_texts, shuffled_cards = list(texts), list(cards)
    order.shuffle(shuffled_texts)  # type: ignore[attr-defined]
    order.shuffle(shuffled_cards)  # type: ignore[attr-defined]
    again = choose(shuffled_cards, *shuffled_texts, seed=seed)
    assert again == draft
    got = dict(zip(texts, scores(texts, cards, words).tolist(), strict=True))
    top = [text for text in texts if got[text] == max(got.values())]
    assert draft.output == min(top, key=content_hash)


@given(texts=st.lists(texts, min_size=1, max_size=6), cards=banks)
@settings(max_examples=80, deadline=None)
def test_the_matrix_scores_as_the_chooser_does(texts: list[str], cards: list[Card]) -> None:
    names = [f"word={word}" for word in WORDS]
    design = sparse.csr_array(np.array([[float(name in words(text)) for name in names] for text in texts]))
    effects: dict[str, float] = {}
    for one in cards:
        assert one.stance is not None
        effects[one.stance.decision] = effects.get(one.stance.decision, 0.0) + contribution(one)
    assert score_matrix(effects, names, design) == pytest.approx(scores(texts, cards, words), abs=2e-12)


def test_sums_that_differ_by_rounding_alone_tie() -> None:
    split = [measured("a", 0.1, prefer="word=free"), measured("b", 0.2, prefer="word=now")]
    whole = measured("c", 0.3, prefer="word=you")
    assert 0.1 + 0.2 != 0.3
    assert choose([*split, whole], "free now", "you").output == min("free now", "you", key=content_hash)


@given(texts=st.lists(texts, min_size=2, max_size=5), cards=banks, rise=st.floats(0, 1))
@settings(max_examples=80, deadline=None)
def test_a_stronger_preference_never_turns_the_choice_away_from_its_decision(
    texts: list[str], cards: list[Card], rise: float
) -> None:
    one = measured("one", 0.1, prefer="word=free")
    before = choose([*cards, one], *texts).output
    after = choose([*cards, replace(one, effect=0.1 + rise)], *texts).output
    assert "word=free" not in words(before) or "word=free" in words(after)


def test_without_cards_the_hash_chooses_and_without_candidates_it_is_an_error() -> None:
    assert choose([], "b", "a").output == min("a", "b", key=content_hash)
    with pytest.raises(InputError, match="chooses among candidates"):
        choose([])


def test_degrees_weigh_what_a_card_adds() -> None:
    degrees = {"a": {"like=0:1|b": 0.4}, "b": {"like=0:1|b": 1.0}, "c": {"like=0:1|b": 0.9, "word=c": 1.0}}
    cards = [measured(1, 0.5, prefer="like=0:1|b"), measured(2, -0.1, avoid="word=c")]
    assert scores(("a", "b", "c"), cards, degrees.__getitem__).tolist() == pytest.approx([0.2, 0.5, 0.35])
    draft = Chooser(degrees.__getitem__)(Task(text="pick", candidates=("a", "b", "c")), cards)
    assert draft.output == "b"
    assert [d.key for d in draft.decisions] == ["like=0:1|b", "not:word=c"]
