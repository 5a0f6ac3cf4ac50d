"""Recommendation: data in three layouts, ranks and metrics by hand, and all comparators on a small shop."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit.benchmarks.recsys.data import load
from afterwit.benchmarks.recsys.run import hits, ndcg, rank, run
from afterwit.errors import InputError, OutputError
from afterwit.ports import HashEmbedder

KINDS = ("lamp oak", "tent alpine", "piano concert", "kettle steel")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Everybody buys of two kinds, the later one lately; the next item is of that one."""
    items = [f"{kind} model {n}" for kind in KINDS for n in range(15)]
    users = []
    for u in range(40):
        early, late = (u % 4) * 15, ((u + 1) % 4) * 15
        history = [early + (u + i) % 15 for i in range(4)] + [late + (u + i) % 15 for i in range(4)]
        users.append((u, history, late + (u + 4) % 15))
    (tmp_path / "items.tsv").write_text(
        "id\ttitle\n" + "".join(f"{i}\t{title}\n" for i, title in enumerate(items)), encoding="utf-8"
    )
    (tmp_path / "histories.tsv").write_text(
        "u\th\tt\n" + "".join(f"{u}\t{' '.join(map(str, h))}\t{t}\n" for u, h, t in users), encoding="utf-8"
    )
    (tmp_path / "candidates_hard.tsv").write_text(
        "".join(f"{u}\t{' '.join(str((t + 7 * k) % 60) for k in range(40))}\n" for u, _, t in users), encoding="utf-8"
    )
    return tmp_path


def test_ranks_and_metrics_by_hand() -> None:
    """Scores 3, 5, 3, 1, target first: one above, one equal, so rank 2.5: NDCG@3 = 1 / log2(3.5) = 0.553."""
    assert rank(np.array([3.0, 5.0, 3.0, 1.0]), 0) == 2.5
    ranks = np.array([2.5, 1.0, 4.0])
    assert hits(ranks, 3).tolist() == [1, 1, 0]
    assert ndcg(ranks, 3).tolist() == pytest.approx([0.5533, 1.0, 0.0], abs=1e-4)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.data())
def test_a_rank_is_the_mean_over_all_orders_of_the_tied(scores: list[int], data: st.DataObject) -> None:
    target = data.draw(st.integers(0, len(scores) - 1))
    above = sum(score > scores[target] for score in scores)
    tied = sum(score == scores[target] for score in scores)
    assert rank(np.array(scores, float), target) == above + (1 + tied) / 2


def test_a_candidate_file_gives_the_first_negatives_that_are_neither_target_nor_history(shop: Path) -> None:
    found = load(shop, candidates="hard", negatives=9)
    assert len(found.users) == 40
    for user in found.users:
        assert len(user.candidates) == 10
        assert user.target in user.candidates
        assert not set(user.candidates) & set(user.history)


@pytest.mark.parametrize("kind", ["random", "popular"])
def test_candidates_are_drawn_the_same_each_time_and_the_target_stands_anywhere(shop: Path, kind: str) -> None:
    found = load(shop, candidates=kind, negatives=19)
    assert found == load(shop, candidates=kind, negatives=19)
    assert len({user.candidates.index(user.target) for user in found.users}) > 8
    assert len(load(shop, candidates=kind, negatives=19, most=7).users) == 7


def test_what_is_commonly_chosen_knows_no_target(shop: Path) -> None:
    found = load(shop, candidates="random", negatives=5)
    assert sum(len(history) for history in found.known) == 40 * 8


def test_all_comparators_in_one_record(shop: Path) -> None:
    record = run(shop, HashEmbedder(), negatives=19, windows=True)
    figures = record.policies
    assert figures["profile:extractive"]["ndcg@5"].value > figures["popularity"]["ndcg@5"].value
    assert figures["profile:extractive"]["ndcg@5"].value > figures["mean_embedding"]["ndcg@5"].value
    assert figures["profile:extractive"]["hr@1"].value <= figures["profile:extractive"]["hr@5"].value
    assert figures["popularity"]["tokens"].value == 0
    assert {f"profile:extractive:W{n}" for n in (1, 2, 4, 5)} < figures.keys()
    gain = figures["profile:extractive"]["gain@popularity"]
    difference = figures["profile:extractive"]["ndcg@5"].value - figures["popularity"]["ndcg@5"].value
    assert gain.value == pytest.approx(difference)
    assert record.to_json()["policies"]["bm25"]["ndcg@5"]["n"] == 40
    assert record.data["items.tsv"].startswith("sha256:")


def test_a_writer_that_fails_leaves_what_was_folded(shop: Path) -> None:
    class Failing:
        name = "failing"

        def __call__(self, *_: object, **__: object) -> str:
            raise OutputError("empty", "the answer is empty")

    record = run(shop, HashEmbedder(), negatives=9, most=5, writers={"failing": Failing()})
    assert record.policies["profile:failing"]["tokens"].value == 0


def test_item_cards_and_reviews_are_read_too(tmp_path: Path) -> None:
    cards, reviews = tmp_path / "cards", tmp_path / "reviews"
    cards.mkdir()
    reviews.mkdir()
    (cards / "Office.item.json").write_text(
        json.dumps({str(i): {"title": f"Pen {i}", "brand": "Bic", "categories": "Office, Pens"} for i in range(30)})
    )
    rows = ["user_id,history_item_title,item_title,history_item_id,item_id", 'u,"[]",t,"[1]",2', 'u,"[]",t,"[1, 2]",3']
    (cards / "Office_valid.csv").write_text("\n".join(rows))
    (user,) = load(cards, candidates="random", negatives=5).users
    assert (user.history, user.target) == (("1", "2"), "3"), "each user once, on the last item"

    def review(item: str) -> dict[str, object]:
        product = {"title": f"Soap {item}", "brand": None, "price": 3.5}
        return {"parent_asin": item, "rating": 5.0, "timestamp_ms": 1_700_000_000_000, "product": product}

    lines = [
        {"user_id": f"u{i}", "category": "All_Beauty", "history": [review(f"a{i}")], "heldout": review(f"b{i}")}
        for i in range(9)
    ]
    (reviews / "training.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = load(reviews, candidates="random", negatives=5)
    (first,) = list(found.interactions(found.users[0]))
    assert (first.attributes["price"], first.attributes["category"], first.at is not None) == (3.5, "All Beauty", True)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("items.tsv", "id\ttitle\n1\n", "line 2: 1 columns, 2 are wanted"),
        ("histories.tsv", "u\th\tt\n1\t77\t78\n", "item 77 is not in items.tsv"),
        ("candidates_hard.tsv", "nobody\t1 2 3\n", "user nobody is not in histories.tsv"),
        ("items.tsv", None, "cannot be read"),
    ],
)
def test_a_bad_file_gives_one_line_that_says_where(shop: Path, name: str, text: str | None, says: str) -> None:
    if text is None:
        (shop / name).unlink()
    else:
        (shop / name).write_text(text)
    with pytest.raises(InputError, match=says):
        load(shop, candidates="hard", negatives=5)


def test_what_is_not_there_is_said(shop: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no candidates_sasrec\.tsv"):
        load(shop, candidates="sasrec", negatives=5)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds none of"):
        load(tmp_path / "empty", candidates="random", negatives=5)
    with pytest.raises(InputError, match="at least 1"):
        load(shop, candidates="random", negatives=0)
