"""BrowseComp-ZH: read in memory, judged by a model or by equality. The sheets here are made by the tests."""

import json
import os
from pathlib import Path

import pytest

from afterwit import models
from afterwit.benchmarks.browsecomp_zh.data import Question, decrypted, encrypted, load
from afterwit.benchmarks.browsecomp_zh.score import Judgement, calibration, same, score
from afterwit.errors import BudgetSpent, InputError
from afterwit.ports import ScriptedChat

openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: pip install 'afterwit[sheets]'")

ROWS = [("地理", "哪座城市?", "北京"), ("体育", "第几轮?", "1轮"), ("art", "who?", "Li Bai")]


def sheet(
    path: Path, rows: list[tuple[str, ...]], header: tuple[str, ...] = ("Topic", "Question", "Answer", "canary")
) -> Path:
    book = openpyxl.Workbook()
    book.active.append(header)
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def locked(canary: str = "my canary") -> list[tuple[str, ...]]:
    return [(*(encrypted(text, canary) for text in row), canary) for row in ROWS]


def judgement(correct: bool, confidence: int = 100) -> str:
    return json.dumps({"extracted": "x", "reasoning": "r", "correct": correct, "confidence": confidence})


def test_questions_are_decrypted_in_memory_and_do_not_show_when_printed(tmp_path: Path) -> None:
    found = load(sheet(tmp_path / "q.xlsx", locked()))
    assert [(q.topic, q.question, q.answer) for q in found] == ROWS
    assert "北京" not in repr(found)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["q.xlsx"]
    assert decrypted(encrypted("é 汉字", "k"), "k") == "é 汉字"


@pytest.mark.parametrize(
    ("rows", "header", "says"),
    [
        (locked()[:1], ("Topic", "Question", "Answer", "key"), "the first row must be"),
        (
            [(*locked()[0][:3], "another canary")],
            ("Topic", "Question", "Answer", "canary"),
            "row 2: it cannot be decrypted",
        ),
        (
            [("not base64!", *locked()[0][1:])],
            ("Topic", "Question", "Answer", "canary"),
            "row 2: it cannot be decrypted",
        ),
    ],
)
def test_a_sheet_of_another_kind_is_refused_in_one_line(
    tmp_path: Path, rows: list[tuple[str, ...]], header: tuple[str, ...], says: str
) -> None:
    with pytest.raises(InputError, match=says) as caught:
        load(sheet(tmp_path / "q.xlsx", rows, header))
    assert "\n" not in str(caught.value)


def test_what_is_no_sheet_is_refused(tmp_path: Path) -> None:
    (tmp_path / "q.xlsx").write_bytes(b"PK not a zip")
    for path in (tmp_path / "q.xlsx", tmp_path / "absent.xlsx"):
        with pytest.raises(InputError, match="cannot be read as a sheet"):
            load(path)


def test_a_model_judges_what_was_answered_and_what_it_cannot_judge_is_counted() -> None:
    questions = [Question(i, *row) for i, row in enumerate(ROWS, 1)]
    chat = ScriptedChat(judgement(True, 80), "", "")
    figures = score(questions, {1: "北京。", 2: "不知道"}, models.asking(chat, Judgement)).policies["agent"]
    assert (figures["accuracy"].value, figures["accuracy"].n) == (pytest.approx(1 / 3), 3)
    assert figures["exact_match"].value == pytest.approx(1 / 3)
    assert figures["refused"].value == 1
    assert figures["calibration_error"].value == pytest.approx(0.2)
    assert "北京" in chat.asked[0].messages[0].content
    with pytest.raises(BudgetSpent):
        score(questions, {1: "a"}, models.asking(ScriptedChat(BudgetSpent("none left")), Judgement))


def test_equality_forgives_case_space_and_punctuation_and_nothing_else() -> None:
    assert same(" li  BAI. ", "Li Bai")
    assert same("《北京》", "北京")
    assert not same("", "")
    assert not same("Li Bo", "Li Bai")


def test_calibration_by_hand() -> None:
    """0.9 right, 0.9 wrong, 0.3 right: 2/3 · |0.9 − 0.5| + 1/3 · |0.3 − 1| = 0.5."""
    assert calibration([0.9, 0.9, 0.3], [True, False, True]) == pytest.approx(0.5)
    assert calibration([], []) == 0.0


@pytest.mark.skipif(not os.environ.get("AFTERWIT_BROWSECOMP_ZH"), reason="AFTERWIT_BROWSECOMP_ZH names no sheet")
def test_every_published_answer_equals_itself() -> None:
    questions = load(Path(os.environ["AFTERWIT_BROWSECOMP_ZH"]))
    assert len(questions) == 289
    assert score(questions, {q.number: q.answer for q in questions}).policies["agent"]["exact_match"].value == 1.0
