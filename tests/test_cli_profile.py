"""`afterwit profile`, for people and for programs."""

import json
from pathlib import Path

import pytest

from cli_cases import Shell, shell

__all__ = ["shell"]


@pytest.fixture
def told(shell: Shell, tmp_path: Path) -> Shell:
    assert shell("init").code == 0
    rows = [
        {
            "item": str(i),
            "title": title,
            "at": f"2026-01-0{i + 1}",
            "brand": "Asics",
            "price": 10 + i,
            "currency": "EUR",
        }
        for i, title in enumerate(("Running shoes", "Running socks", "Vitamin pills", "Headlamp"))
    ]
    (tmp_path / "history.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert shell("profile", "read", "u1", tmp_path / "history.jsonl").code == 0
    return shell


def test_a_history_becomes_a_profile_once(told: Shell, tmp_path: Path) -> None:
    again = told("profile", "read", "u1", tmp_path / "history.jsonl")
    assert again.out.startswith("version 3 of u1: 4 interactions in ")
    shown = told("profile", "show", "u1")
    assert "- Asics: 4 times" in shown.out
    assert shown.out.startswith("# Profile\n")
    assert told("profile", "show", "u1", "--json").json["interactions"] == 4
    assert told("profile", "list", "--json").json[0]["user"] == "u1"
    assert "u1" in told("profile", "list").out
    assert "nothing is remembered of nobody" in told("profile", "show", "nobody").out


def test_a_person_may_constrain_edit_and_go_back(told: Shell, tmp_path: Path) -> None:
    bound = told("profile", "constrain", "u1", "never mention pills")
    assert "lines broke a constraint" in bound.out
    assert "-- 2026-01-03 · chose · Vitamin pills" in told("profile", "diff", "u1", "3").out
    (tmp_path / "own.md").write_text("# Profile\n## Notes\n- size 43\n", encoding="utf-8")
    assert told("profile", "edit", "u1", tmp_path / "own.md").code == 0
    assert "- size 43" in told("profile", "show", "u1").out
    back = told("profile", "rollback", "u1", "3", "--json").json
    assert (back["operator"], "pills" in back["text"].partition("# Profile")[2]) == ("rollback", False)
    assert [row["operator"] for row in told("profile", "log", "u1", "--json").json][:3] == [
        "rollback",
        "edit",
        "constrain",
    ]
    assert "rollback" in told("profile", "log", "u1").out
    assert told("profile", "constrain", "u1", "never mention pills", "--release", "--json").json["constraints"] == []


def test_candidates_are_ranked(told: Shell, tmp_path: Path) -> None:
    rows = [{"item": "a", "title": "Office chair"}, {"item": "b", "title": "Running shorts"}]
    (tmp_path / "candidates.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    asked = ("profile", "rank", "u1", tmp_path / "candidates.jsonl")
    assert [row["id"] for row in told(*asked, "--json").json] == ["b", "a"]
    assert "Running shorts" in told(*asked).out


def test_a_user_can_be_forgotten(told: Shell) -> None:
    assert told("forget", "--user", "u1", "--yes").out.strip().endswith("3 profiles")
    assert told("profile", "list", "--json").json == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nonsense", "line 1: not JSON"),
        ("[1]", "line 1: an interaction is an object"),
        ('{"title": "a"}\n{"brand": "b"}', "line 2: an interaction is an object"),
        ('{"title": "a", "at": "soon"}', "'at' is 'soon'"),
        ('{"title": "a", "at": true}', "'at' is True"),
        ('{"title": "a", "brand": ["b"]}', "attribute 'brand'"),
        ('{"title": "a", "kind": 3}', "'kind' is 3"),
    ],
)
def test_a_bad_history_gives_one_line_and_leaves_nothing(shell: Shell, tmp_path: Path, text: str, says: str) -> None:
    shell("init")
    path = tmp_path / "bad.jsonl"
    path.write_text(text, encoding="utf-8")
    told = shell("profile", "read", "u1", path)
    assert (told.code, says in told.err, told.err.count("\n")) == (2, True, 1), told.err


def test_other_bad_input_gives_one_line(told: Shell, tmp_path: Path) -> None:
    for arguments, says in (
        (("read", "u1", tmp_path / "absent.jsonl"), "cannot be read"),
        (("constrain", "u1", "be nice"), "cannot be checked"),
        (("rollback", "u1", "99"), "has no version 99"),
        (("edit", "u1", tmp_path / "absent.md"), "cannot be read"),
        (("read", "u1", tmp_path / "history.jsonl", "--budget", "5"), "at least 50 tokens"),
    ):
        found = told("profile", *arguments)
        assert (found.code in (1, 2), says in found.err) == (True, True), (arguments, found.err)
