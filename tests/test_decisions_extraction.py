"""From texts to the matrix of decisions that vary inside strata."""

import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterwit.decisions.extraction import Extractor, MiningRules
from afterwit.decisions.mining import mined
from afterwit.decisions.vocabulary import Vocabulary

WORDS = ("this", "video", "is", "so", "free", "you", "won't", "believe", "人工")
sentences = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


def strata(*codes: int) -> np.ndarray:
    return np.array(codes, dtype=np.int64)


def extractor(support: int = 1, **options: object) -> Extractor:
    return Extractor(rules=MiningRules(support=support), **options)  # type: ignore[arg-type]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(sentences, st.integers(0, 4)), max_size=25), st.integers(1, 3))
def test_kept_decisions_are_exactly_those_that_vary_in_enough_strata(rows: list[tuple[str, int]], support: int) -> None:
    texts = [text for text, _ in rows]
    names, matrix = extractor(support).design(texts, strata(*(code for _, code in rows)))
    by_stratum: dict[int, list[frozenset[str]]] = defaultdict(list)
    for text, code in rows:
        by_stratum[code].append(mined(text))
    counts: dict[str, int] = defaultdict(int)
    for shown in by_stratum.values():
        for key in frozenset().union(*shown):
            counts[key] += not all(key in one for one in shown)
    assert names == tuple(sorted(key for key, n in counts.items() if n >= support))
    expected = [[float(name in mined(text)) for name in names] for text in texts]
    assert matrix.toarray().tolist() == expected


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(sentences, st.integers(0, 4)), min_size=2, max_size=20), st.integers(0, 20))
def test_a_growing_table_gives_the_same_matrix_as_a_fresh_one(rows: list[tuple[str, int]], first: int) -> None:
    texts, codes = [text for text, _ in rows], strata(*(code for _, code in rows))
    grown = extractor()
    grown.design(texts[::-1][:first], codes[::-1][:first])
    names, matrix = grown.design(texts, codes)
    fresh_names, fresh = extractor().design(texts, codes)
    assert names == fresh_names
    assert matrix.indptr.tolist() == fresh.indptr.tolist()
    assert matrix.indices.tolist() == fresh.indices.tolist()


def test_the_default_support_is_20_strata() -> None:
    for count, kept in ((19, False), (20, True)):
        texts = ["free now", "now"] * count
        names, _ = Extractor().design(texts, np.repeat(np.arange(count), 2))
        assert ("word=free" in names) is kept


def question_vocabulary(folder: Path) -> Vocabulary:
    path = folder / "v.toml"
    entry = '[[decision]]\nname="{}"\nvalue="{}"\npattern="{}"\ndescription="d"\n'
    path.write_text(entry.format("hook", "question", "[?]$") + entry.format("has", "number", "[0-9]"))
    return Vocabulary.load(path)


def test_declared_beats_vocabulary_of_the_same_name(tmp_path: Path) -> None:
    found = extractor(vocabulary=question_vocabulary(tmp_path))
    assert {"hook=question", "has=number"} <= found.shown("3 more?")
    declared = found.shown("3 more?", ("hook=benefit first",))
    assert {"hook=benefit first", "has=number", "word=more"} <= declared
    assert "hook=question" not in declared


def test_a_declared_word_beats_mined_words_alone() -> None:
    shown = extractor().shown("free video", ("word=gratis",))
    assert shown == {"word=gratis", "pair=free+video"}


def test_a_declared_avoidance_takes_that_decision_out_and_is_none_itself(tmp_path: Path) -> None:
    found = extractor(vocabulary=question_vocabulary(tmp_path))
    shown = found.shown("3 more?", ("not:hook=question",))
    assert shown == found.shown("3 more?") - {"hook=question"}


def test_one_text_declared_differently_gives_different_rows() -> None:
    names, matrix = extractor().design(["a b", "a b"], strata(0, 0), [("hook=x",), ("hook=y",)])
    assert names == ("hook=x", "hook=y")
    assert matrix.toarray().tolist() == [[1, 0], [0, 1]]


def test_nothing_is_mined_where_it_is_switched_off(tmp_path: Path) -> None:
    found = Extractor(vocabulary=question_vocabulary(tmp_path), rules=MiningRules(mine=False))
    assert found.shown("3 more?") == {"hook=question", "has=number"}


def test_no_texts_give_an_empty_matrix() -> None:
    names, matrix = extractor().design([], strata())
    assert (names, matrix.shape) == ((), (0, 0))


@pytest.mark.parametrize("text", ["Cet été, regardez !", "这个视频免费", "شاهد هذا الفيديو", "watch 🎬 now"])
def test_every_script_reaches_the_matrix(text: str) -> None:
    names, matrix = extractor().design([text, "x"], strata(0, 0))
    assert set(names) == mined(text) | mined("x")
    assert matrix.shape == (2, len(names))


def test_a_second_call_on_seventeen_thousand_texts_is_cheap() -> None:
    """Measured against the first call in the same process, as the machine may be busy."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(2000)])
    texts = [" ".join(words[(rng.random(14) ** 3 * 2000).astype(int)]) for _ in range(17_000)]
    codes = np.repeat(np.arange(17_000 // 4), 4)
    found = Extractor()
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        names, _ = found.design(texts, codes)
        times.append(time.perf_counter() - begin)
    assert len(names) > 1000
    assert min(times[1:]) < times[0] / 4
