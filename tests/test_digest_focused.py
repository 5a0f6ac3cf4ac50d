"""The writer for one question, and the long-context benchmark on texts of the tests' own."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from afterwit.benchmarks.longcontext.run import f1, load, normal, run
from afterwit.digest.chunk import ChunkRules, chunks
from afterwit.digest.constraints import Constraint
from afterwit.digest.focused import Focused
from afterwit.digest.fold import Folding, body, folded
from afterwit.errors import InputError, OutputError
from afterwit.model import Interaction, Profile, count_tokens

DAY = datetime(2026, 1, 1, tzinfo=UTC)
NOISE = [f"The harbour of town {i} was dredged in {1800 + i}. Gulls nest on its {i} piers." for i in range(200)]


def read(texts: list[str], question: str, *, budget: int = 200) -> Profile:
    state = Profile(
        scope="s",
        user="u",
        version=0,
        text="",
        tokens=0,
        budget=budget,
        writer="",
        operator="fold",
        at=DAY,
        query=question,
    )
    history = (Interaction(item=str(i), title="", text=text) for i, text in enumerate(texts))
    folding = Folding(writer=Focused(), clock=lambda: DAY)
    *_, last = folded(folding, state, chunks(history, rules=ChunkRules(tokens=400, short=0)))
    return last


def test_what_serves_the_question_is_kept_wherever_it_stands() -> None:
    fact = "The violin of Ana Petrov was built by Luthier Marchetti."
    for place in (0, 100, 200):
        texts = [*NOISE[:place], fact, *NOISE[place:]]
        found = read(texts, "Who built the violin of Ana Petrov?")
        assert fact in found.text
        assert found.tokens <= 200


def test_what_the_question_only_leads_to_is_kept_too() -> None:
    texts = [
        *NOISE,
        "The violin of Ana Petrov was built by Marchetti.",
        *NOISE[:50],
        "Marchetti came from Cremona.",
        *NOISE[50:99],
    ]
    assert "Marchetti came from Cremona." in read(texts, "Where did the builder of Ana Petrov's violin come from?").text


def test_nothing_is_kept_of_a_text_that_has_nothing_to_say() -> None:
    assert "[" not in body(read(NOISE[:20], "Quantum zebra?").text)


def test_constraints_hold() -> None:
    (chunk,) = chunks([Interaction(item="1", title="", text="Ana likes tea. Ana takes pills.")])
    told = Focused()(
        "What does Ana do?",
        "",
        chunk,
        budget=99,
        constraints=[Constraint.read("never mention pills")],
        count=count_tokens,
    )
    assert "tea" in told
    assert "pills" not in told


@pytest.fixture
def hotpot(tmp_path: Path) -> Path:
    rows = []
    for i in range(12):
        titles = [f"Instrument {i}", *(f"Harbour {i} {k}" for k in range(4))]
        texts = [
            [f"The violin number {i} was built by luthier Marchetti{i}."],
            *([NOISE[(i * 4 + k) % 200]] for k in range(4)),
        ]
        rows.append(
            {
                "id": str(i),
                "question": f"Who built violin number {i}?",
                "answer": f"luthier Marchetti{i}" if i else "yes",
                "context": {"title": titles, "sentences": texts},
            }
        )
    path = tmp_path / "q.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_ways_of_reading_side_by_side(hotpot: Path) -> None:
    record = run(hotpot, lengths=(500, 3_000), most=6)
    assert len(load(hotpot)) == 11, "yes and no are left out"
    for way, figures in record.policies.items():
        assert figures["kept@500"].value == 1.0, way
    assert record.policies["memory:focused"]["kept@3000"].value == 1.0
    assert record.policies["memory:focused"]["tokens@3000"].value <= 1_024


def test_a_model_answers_from_what_was_read(hotpot: Path) -> None:
    def reader(question: str, text: str) -> str:
        if "number 2" in question:
            raise OutputError("empty", "the answer is empty")
        return "The luthier Marchetti" + question.split("number ")[1].rstrip("?")

    figures = run(hotpot, lengths=(500,), most=4, reader=reader).policies["retrieval:top5"]
    assert figures["exact_match@500"].value == pytest.approx(3 / 4)
    assert figures["f1@500"].value == pytest.approx(3 / 4)


def test_normal_form_and_f1_by_hand() -> None:
    """'the red car' and 'red cars': one word of two and two shared, 2 · 1 / 4 = 0.5."""
    assert normal("The  Red, car!") == "red car"
    assert f1("the red car", "red cars") == 0.5
    assert f1("", "x") == 0.0


@pytest.mark.parametrize("text", ["{", '{"question": "q"}', '{"question": "q", "answer": "a", "context": 3}'])
def test_a_bad_line_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "q.jsonl").write_text(text)
    with pytest.raises(InputError, match="line 1"):
        load(tmp_path / "q.jsonl")
