"""VitaBench: tasks as published, rubrics judged window by window, orders checked without a model."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from afterwit import models
from afterwit.benchmarks.vitabench.data import load
from afterwit.benchmarks.vitabench.score import Checked, judged, ordered, score, windows
from afterwit.errors import InputError, OutputError
from afterwit.model import Episode, Step
from afterwit.ports import ScriptedChat

ORDER = {"store_id": "S1", "products": [{"product_id": "P1", "quantity": 1}]}
ROW: dict[str, Any] = {
    "id": 7,
    "domain": "delivery",
    "instructions": "Noodles, please.",
    "user_scenario": {"user_profile": {"residence": "Kunming"}},
    "environment": {"time": "2025-06-21 11:20:00"},
    "evaluation_criteria": {
        "expected_states": [{"required_orders": [ORDER], "optional_orders": []}],
        "overall_rubrics": ["It is noodles", "It is not fried"],
    },
}


def write(path: Path, rows: object) -> Path:
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def episode(*steps: Step) -> Episode:
    return Episode(
        id="e", scope="a", task="t", started_at=datetime(2026, 1, 1, tzinfo=UTC), steps=steps, output="Done."
    )


def answer(*holds: bool) -> str:
    return json.dumps({"rubrics": [{"reasoning": "r", "holds": h} for h in holds]})


def test_tasks_are_read_as_published(tmp_path: Path) -> None:
    (task,) = load(write(tmp_path / "t.json", [ROW]))
    assert (task.id, task.said, task.rubrics) == ("7", "Noodles, please.", ("It is noodles", "It is not fried"))
    assert task.orders == ((ORDER,),)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ({}, "a list of tasks"),
        ([ROW, {**ROW, "evaluation_criteria": {"overall_rubrics": []}}], "task 2: ValueError: it has no rubric"),
        ([{**ROW, "user_scenario": None}], "task 1: TypeError"),
        ([{}], "task 1: KeyError"),
    ],
)
def test_a_bad_file_gives_one_line(tmp_path: Path, rows: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        load(write(tmp_path / "t.json", rows))
    (tmp_path / "cut.json").write_text('[{"id"')
    with pytest.raises(InputError, match="is not JSON"):
        load(tmp_path / "cut.json")


@pytest.mark.parametrize(("n", "sizes"), [(0, []), (1, [1]), (10, [10]), (11, [10, 3]), (20, [10, 10, 4])])
def test_windows_overlap_by_two(n: int, sizes: list[int]) -> None:
    lines = [str(i) for i in range(n)]
    found = windows(lines)
    assert [len(part) for part in found] == sizes
    assert [part[:2] for part in found[1:]] == [part[-2:] for part in found[:-1]]
    assert sorted({line for part in found for line in part}, key=int) == lines


def test_what_holds_is_carried_from_window_to_window_and_the_last_word_counts(tmp_path: Path) -> None:
    (task,) = load(write(tmp_path / "t.json", [ROW]))
    chat = ScriptedChat(answer(True, False), answer(True, True))
    long = episode(*(Step(tool="search", arguments={"n": i}, result="shop") for i in range(12)))
    assert judged(task, long, models.asking(chat, Checked)) == (True, True)
    first, second = (ask.messages[0].content for ask in chat.asked)
    assert "1. [open] It is noodles" in first
    assert "1. [holds] It is noodles\n2. [open] It is not fried" in second
    assert "To the user: Done." in second


def test_another_number_of_rubrics_is_refused_and_counted(tmp_path: Path) -> None:
    (task,) = load(write(tmp_path / "t.json", [ROW]))
    judge = models.asking(ScriptedChat(answer(True)), Checked)
    with pytest.raises(OutputError, match="1 rubrics were judged, 2 are wanted"):
        judged(task, episode(), judge)
    figures = score([task], {"7": episode()}, judge).policies["agent"]
    assert (figures["refused"].value, figures["success"].value) == (1, 0)


def test_success_needs_every_rubric_and_a_task_without_a_run_has_failed(tmp_path: Path) -> None:
    tasks = load(write(tmp_path / "t.json", [ROW, {**ROW, "id": 8}, {**ROW, "id": 9}]))
    chat = ScriptedChat(answer(True, True), answer(True, False))
    figures = score(tasks, {"7": episode(), "8": episode()}, models.asking(chat, Checked)).policies["agent"]
    assert figures["success"].value == pytest.approx(1 / 3)
    assert figures["rubrics"].value == pytest.approx((1 + 0.5) / 3)


def test_orders_are_named_by_store_and_product_in_a_call_that_went_through(tmp_path: Path) -> None:
    (task,) = load(write(tmp_path / "t.json", [ROW]))
    good = Step(tool="order", arguments={"store": "S1", "items": [{"id": "P1"}]}, result="ok")
    assert ordered(task, episode(good))
    assert not ordered(task, episode(Step(tool="order", arguments={"store": "S1"}, result="ok")))
    assert not ordered(task, episode(Step(tool="order", arguments=good.arguments, error="closed")))
    assert score([task], {"7": episode(good)}).policies["agent"]["orders_named"].value == 1.0


@pytest.mark.skipif(not os.environ.get("AFTERWIT_VITABENCH"), reason="AFTERWIT_VITABENCH names no folder")
def test_the_published_files_are_read() -> None:
    folder = Path(os.environ["AFTERWIT_VITABENCH"])
    counts = {path.relative_to(folder).as_posix(): len(load(path)) for path in sorted(folder.rglob("tasks*.json"))}
    assert counts == {"delivery/tasks.json": 100, "delivery/tasks_en.json": 100, "instore/tasks_en.json": 100}
