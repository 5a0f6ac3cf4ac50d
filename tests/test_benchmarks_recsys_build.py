"""A review log becomes data: what is kept, in which order, with which candidates and pages."""

import json
from pathlib import Path

import pytest

from afterwit.benchmarks.recsys.build import BuildRules, build
from afterwit.benchmarks.recsys.data import load
from afterwit.benchmarks.recsys.run import run
from afterwit.errors import InputError
from afterwit.ports import HashEmbedder

CATEGORIES = {"books": "novel story crime", "garden": "rake hose spade", "music": "violin string bow"}
RULES = BuildRules(core=2, candidates=9)


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def shop(folder: Path, words: str) -> tuple[Path, Path]:
    items = [
        {"item": f"i{n}", "title": f"{words.split()[n % 3]} number {n}", "price": 5.0 + n, "brand": f"Brand{n % 4}"}
        for n in range(30)
    ]
    reviews = [
        {"user": f"u{u}", "item": f"i{(u + 2 * k) % 30}", "rating": 5, "at": 1_000_000 + 100 * k}
        for u in range(20)
        for k in range(6)
    ]
    return write(folder / "reviews.jsonl", reviews), write(folder / "items.jsonl", items)


@pytest.mark.parametrize("category", CATEGORIES)
def test_three_categories_become_data_that_the_benchmark_reads(tmp_path: Path, category: str) -> None:
    reviews, items = shop(tmp_path, CATEGORIES[category])
    built = build(reviews, items, tmp_path / "out", HashEmbedder(), rules=RULES)
    assert (built.reviews, built.liked, built.users, built.pages) == (120, 120, 20, built.items)
    for kind in ("random", "popular", "hard"):
        found = load(tmp_path / "out", candidates=kind, negatives=9)
        assert len(found.users) == 20
        for user in found.users:
            assert len(user.history) in (4, 5)  # who chose what nobody else did has lost it
            assert not set(user.candidates) & set(user.history)
            assert len(set(user.candidates)) == 10
    hard = {u.id: u for u in load(tmp_path / "out", candidates="hard", negatives=3).users}
    titles = {id_: item.title for id_, item in load(tmp_path / "out", candidates="hard", negatives=3).items.items()}
    same = [titles[c].split()[0] == titles[u.target].split()[0] for u in hard.values() for c in u.candidates]
    assert sum(same) / len(same) > 0.7, "hard candidates are of the target's own kind"
    assert run(tmp_path / "out", HashEmbedder(), negatives=9).policies["bm25"]["hr@5"].n == 20


def test_low_ratings_second_reviews_and_thin_users_and_items_are_left_out_by_hand(tmp_path: Path) -> None:
    """a and b choose x, y, z; c chooses x and w, which nobody else does; b's y was rated 3; a's x came twice."""
    told = [("a", "x", 5, 3), ("a", "x", 4, 9), ("a", "y", 5, 1), ("a", "z", 4, 5), ("b", "x", 5, 1), ("b", "y", 3, 2)]
    told += [("b", "z", 5, 3), ("c", "x", 5, 1), ("c", "w", 5, 2)]
    reviews = write(
        tmp_path / "r.jsonl", [dict(zip(("user", "item", "rating", "at"), row, strict=True)) for row in told]
    )
    items = write(tmp_path / "i.jsonl", [{"item": i, "title": f"title {i}"} for i in "xyzw"])
    built = build(reviews, items, tmp_path / "out", HashEmbedder(), rules=BuildRules(core=2, candidates=1), pages=False)
    assert (built.reviews, built.liked, built.users, built.items) == (9, 7, 2, 2)
    rows = (tmp_path / "out" / "histories.tsv").read_text().splitlines()[1:]
    assert rows == ["a\tx\tz", "b\tx\tz"], "in the order of the first time"


def test_the_same_log_gives_the_same_bytes_and_pages_hold_item_and_marked_advertisements(tmp_path: Path) -> None:
    reviews, items = shop(tmp_path, "oak lamp chair")
    for name in ("one", "two"):
        build(reviews, items, tmp_path / name, HashEmbedder(), rules=RULES)
    one, two = (
        {p.relative_to(tmp_path / n): p.read_bytes() for p in (tmp_path / n).rglob("*") if p.is_file()}
        for n in ("one", "two")
    )
    assert one == two
    page = (tmp_path / "one" / "pages" / "i3.html").read_text(encoding="utf-8")
    assert "oak number 3" in page
    assert "$8.00" in page
    assert page.count("Sponsored") == 3


def test_names_of_published_exports_and_their_times_are_understood(tmp_path: Path) -> None:
    rows = [
        {"user_id": f"u{u}", "parent_asin": f"B{k}", "rating": 5.0, "timestamp": 1_700_000_000_000 + k}
        for u in range(3)
        for k in range(3)
    ]
    items = write(tmp_path / "i.jsonl", [{"parent_asin": f"B{k}", "title": f"t{k}"} for k in range(6)])
    built = build(write(tmp_path / "r.jsonl", rows), items, tmp_path / "out", HashEmbedder(), rules=BuildRules(core=3))
    assert (built.users, built.items) == (3, 3)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ('{"user": "u"}', "line 1: user, item, rating and at are needed"),
        ('{"user": "u", "item": "i", "rating": "five", "at": 1}', "line 1: could not convert"),
        ('{"user": "a b", "item": "i", "rating": 5, "at": 1}', "holds a space"),
        ('{"user": "u", "item": "i", "rating": 5, "at": "soon"}', "line 1: Invalid isoformat"),
        ("[1]", "line 1: not an object"),
        ("{", "not JSON Lines"),
    ],
)
def test_a_bad_log_gives_one_line_and_leaves_nothing(tmp_path: Path, row: str, says: str) -> None:
    _, items = shop(tmp_path, "a b c")
    (tmp_path / "bad.jsonl").write_text(row)
    with pytest.raises(InputError, match=says):
        build(tmp_path / "bad.jsonl", items, tmp_path / "out", HashEmbedder())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.jsonl", "items.jsonl", "reviews.jsonl"]


def test_a_core_that_leaves_nobody_and_a_folder_that_is_there_are_refused(tmp_path: Path) -> None:
    reviews, items = shop(tmp_path, "a b c")
    with pytest.raises(InputError, match="nobody is left"):
        build(reviews, items, tmp_path / "out", HashEmbedder(), rules=BuildRules(core=9))
    (tmp_path / "there").mkdir()
    with pytest.raises(InputError, match="there already"):
        build(reviews, items, tmp_path / "there", HashEmbedder(), rules=RULES)
    assert not list(tmp_path.glob(".recsys-*"))
