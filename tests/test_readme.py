"""What the README says is so: its example runs, its commands and its tree are there."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from afterwit.ports import HashEmbedder

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_the_twenty_lines_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = BLOCKS[0]
    assert len(code.strip().splitlines()) <= 24
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("afterwit.compose.memory.SentenceEncoder", HashEmbedder)
    (tmp_path / "delivery").mkdir()
    now = datetime.now(UTC)
    rows = [
        {
            "event_id": f"e{i}",
            "delivery_id": "creative-1042",
            "kind": kind,
            "at": (now + timedelta(hours=i)).isoformat(),
        }
        for i, kind in enumerate(("impression", "impression", "click"))
    ]
    (tmp_path / "delivery" / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    exec(compile(code, "README.md", "exec"), {})  # the file is ours
    assert capsys.readouterr().out.startswith("round as of ")


def test_the_agent_and_the_profile_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, agent, profile = BLOCKS
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("afterwit.compose.memory.SentenceEncoder", HashEmbedder)
    exec(compile(agent, "README.md", "exec"), {})  # the file is ours
    planning, execution = capsys.readouterr().out.splitlines()
    assert planning.startswith("round as of ")
    assert "1 admit" in execution, "the card number stands nowhere before, so the execution is to blame"
    rows = [{"title": title, "at": f"2026-01-0{i}"} for i, title in enumerate(("Trail shoes", "Health drink"), 1)]
    (tmp_path / "history.jsonl").write_text("\n".join(map(json.dumps, rows)))
    exec(compile(profile, "README.md", "exec"), {})
    out = capsys.readouterr().out
    assert "Trail shoes" in out
    assert "Health drink" not in out.partition("# Profile")[2].partition("[")[0]


def test_make_targets_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"make (\w+)", README))
    assert {"demo", "test"} <= named
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_tree_is_the_tree() -> None:
    (tree,) = re.findall(r"```\nsrc/afterwit/\n(.*?)```", README, re.DOTALL)
    named = {line.split()[0].rstrip("/") for line in tree.splitlines() if line.startswith("  ") and line[2] != " "}
    there = {
        path.name
        for path in (ROOT / "src" / "afterwit").iterdir()
        if not path.name.startswith(("__", ".")) and path.name not in ("data", "py.typed")
    }
    assert named == there


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target
