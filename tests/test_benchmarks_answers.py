"""Answers and runs from files, and the commands that judge them."""

import json
from pathlib import Path

import pytest

from afterwit.benchmarks.answers import read_responses, read_runs
from afterwit.errors import InputError
from cli_cases import Shell, shell

__all__ = ["shell"]


def write(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_runs_and_responses_are_read(tmp_path: Path) -> None:
    assert read_responses(write(tmp_path / "a", {"number": 2, "response": "x"})) == {2: "x"}
    row = {"task": 7, "steps": [{"tool": "t", "arguments": {"a": 1}, "result": {"b": 2}}], "output": "done"}
    run = read_runs(write(tmp_path / "b", row))["7"]
    assert (run.steps[0].result, run.output) == ('{"b": 2}', "done")


@pytest.mark.parametrize(
    ("read", "rows", "says"),
    [
        (read_responses, [{"number": "1", "response": "x"}], "line 1: a number"),
        (read_responses, [{"number": 1, "response": "x"}] * 2, "line 2: question 1 was answered before"),
        (read_runs, [{"steps": []}], "line 1: KeyError"),
        (read_runs, [{"task": "a"}, {"task": "a"}], "line 2: task a was run before"),
        (read_runs, [{"task": "a", "steps": [{}]}], "line 1: KeyError"),
        (read_runs, ["x"], "line 1: not an object"),
    ],
)
def test_a_bad_file_gives_one_line(tmp_path: Path, read: object, rows: list[object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        read(write(tmp_path / "f", *rows))  # type: ignore[operator]


def test_the_commands_judge_what_needs_no_model_and_say_what_is_wrong(shell: Shell, tmp_path: Path) -> None:
    criteria = {
        "expected_states": [{"required_orders": [{"store_id": "S1", "products": []}]}],
        "overall_rubrics": ["It is noodles"],
    }
    task = {
        "id": "7",
        "domain": "delivery",
        "instructions": "Noodles.",
        "user_scenario": {"user_profile": {}},
        "environment": {},
        "evaluation_criteria": criteria,
    }
    tasks = tmp_path / "tasks.json"
    tasks.write_text(json.dumps([task]))
    runs = write(tmp_path / "runs.jsonl", {"task": "7", "steps": [{"tool": "order", "arguments": {"store": "S1"}}]})
    asked = ("evaluate", "vitabench", "--tasks", tasks, "--runs", runs)
    assert shell(*asked, "--json").json["policies"]["agent"]["orders_named"]["value"] == 1.0
    assert "orders_named" in shell(*asked).out
    told = shell("evaluate", "browsecomp-zh", "--questions", tasks, "--answers", runs)
    assert (told.code, told.err.count("\n")) == (2, 1)
