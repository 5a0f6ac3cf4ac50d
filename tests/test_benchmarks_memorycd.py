"""Late labels: the stream, what may be known when, errors by hand, and a small folder of reviews."""

import json
from pathlib import Path

import numpy as np
import pytest

from afterwit.benchmarks.memorycd.data import Task, load
from afterwit.benchmarks.memorycd.run import errors, run
from afterwit.benchmarks.memorycd.stream import at, items_of, predicted, shape
from afterwit.errors import InputError
from afterwit.evaluate.replay import ItemStream
from cli_cases import Shell, shell

__all__ = ["shell"]


def row(user: str, history: list[float], rating: float, when: int, category: str = "Toys") -> dict[str, object]:
    product = {"title": f"thing {when}", "brand": None}
    target = {"rating": rating, "timestamp_ms": when, "product": product, "review_title": f"{rating} stars!"}
    return {"user_id": user, "category": category, "history": [{"rating": r} for r in history], "heldout": target}


def task(history: tuple[float, ...], rating: float = 3.0) -> Task:
    return Task(user="u", category="Toys", history=history, title="t", rating=rating, at=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Toys get two stars less than their buyers' histories say; 600 tasks of 200 users, in no order."""
    rng, made = np.random.default_rng(4), tmp_path_factory.mktemp("reviews")
    rows = []
    for k in range(600):
        toys = bool(rng.random() < 0.5)
        history = [float(r) for r in rng.choice([4, 5], size=4)]
        rating = float(rng.choice([2, 3]) if toys else rng.choice([4, 5]))
        rows.append(row(f"u{k % 200}", history, rating, k * 1000, "Toys" if toys else "Tools"))
    order = rng.permutation(600)
    (made / "training.jsonl").write_text("\n".join(json.dumps(rows[k]) for k in order) + "\n")
    (made / "training_personas.jsonl").write_text('{"user_id": "u1", "persona": "likes toys"}\n')
    return made


def test_one_stream_by_time_and_the_targets_own_words_are_not_read(folder: Path) -> None:
    tasks = load(folder)
    assert [one.at for one in tasks] == sorted(one.at for one in tasks)
    assert not any("stars" in repr(one) for one in tasks)


@pytest.mark.parametrize(("delay", "known"), [(0, 20), (1, 19), (5, 15), (10, 10)])
def test_a_label_is_known_when_so_many_later_tasks_have_been_predicted(delay: int, known: int) -> None:
    """Before task 20 is predicted, 20 tasks have been; of the last δ of them the labels are still out."""
    items = items_of([task((4.0,))] * 40, delay)
    assert len(ItemStream(items=items).known(at(20))) == known


def test_shifts_are_log_rates_of_points() -> None:
    """(3 − 1)·e^{log 1.5} = 3 points: 4 stars; nothing is above 5."""
    got = predicted(np.array([3.0, 3.0, 5.0]), np.array([0.0, np.log(1.5), 1.0]))
    assert got.tolist() == pytest.approx([3.0, 4.0, 5.0])


def test_errors_by_hand() -> None:
    """History 5, 5, 2: median 5, mean 4; the rating is 3: |5 − 3| and (4 − 3)²; halves round up."""
    absolute, squared = errors([task((5.0, 5.0, 2.0)), task((4.0, 5.0), 4.0)], np.zeros(2))
    assert absolute.tolist() == [2.0, 1.0]
    assert squared.tolist() == pytest.approx([1.0, 0.25])


def test_shape_tells_the_history_and_never_the_target() -> None:
    assert shape(task((5.0, 5.0, 5.0), 1.0)) == ("category=Toys", "history=five", "last=even")
    assert shape(task((4.0, 1.0))) == ("category=Toys", "history=low", "last=below")


def test_what_holds_is_learned_and_late_labels_cost(folder: Path) -> None:
    record = run(folder)
    tide, none = record.policies["tide"], record.policies["none"]
    assert record.counts["scored"] == 120
    gap = tide["mae@none"]
    assert gap.value == pytest.approx(tide["mae"].value - none["mae"].value)
    assert gap.high is not None
    assert gap.high < 0
    assert tide["meg"].value == pytest.approx(-gap.value)
    assert none["meg"].value == none["degradation:10"].value == 0
    assert tide["degradation:10"].value == pytest.approx(tide["mae:10"].value - tide["mae:0"].value)
    assert none["rmse"].value == pytest.approx(np.sqrt(errors(load(folder)[480:], np.zeros(120))[1].mean()))
    assert record.policies["tide"]["negative_transfer"].n == record.counts["users_with_two"]


def test_the_command_prints_plain_figures_and_is_repeatable(folder: Path, shell: Shell, tmp_path: Path) -> None:
    told = shell("evaluate", "memorycd", "--data", folder, "--out", tmp_path / "out")
    assert (told.code, "append_only" in told.out) == (0, True)
    again = shell("evaluate", "memorycd", "--data", folder, "--json").json
    kept = json.loads((tmp_path / "out" / "record.json").read_text(encoding="utf-8"))
    assert again["policies"] == kept["policies"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no", "line 1 is no JSON"),
        (json.dumps(row("u", [9.0], 1.0, 1)), "line 1: history.0.rating"),
        (json.dumps(row("u", [4.0], 1.0, 1)), "holds 1 tasks: at least 50"),
    ],
)
def test_a_bad_folder_gives_one_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "training.jsonl").write_text(text)
    with pytest.raises(InputError, match=says) as told:
        run(tmp_path)
    assert "\n" not in str(told.value)
    with pytest.raises(InputError, match="holds no reviews"):
        load(tmp_path / "nowhere")
