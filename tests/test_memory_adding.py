"""Adding: one card for one thing said, many at once or none, at what the addition costs."""

import time
from pathlib import Path

import pytest

from afterwit import Memory
from afterwit.errors import CapacityExceeded, InputError
from afterwit.model import Note
from afterwit.ports import HashEmbedder
from cli_cases import Shell, shell
from round_cases import open_memory, refolded, snapshot
from test_model_said import SAME, TWO

__all__ = ["shell"]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_guidance_returns_the_card_that_is_there(tmp_path: Path, one: str, other: str) -> None:
    with open_memory(tmp_path) as memory:
        card = memory.add(one, key="push")
        assert memory.add(other, key="Push!") == card
        (again,) = memory.add_many([Note(guidance=other, key="push")])
        assert (again.card, again.new) == (card, False)
        assert len(memory.rounds()) == 1
        assert memory.add(other, key="another task").id != card.id
        assert memory.add(other, key="push", when="channel = mail").id != card.id


@pytest.mark.parametrize(("one", "other"), TWO)
def test_what_differs_in_more_than_spelling_stays_two_through_a_round(tmp_path: Path, one: str, other: str) -> None:
    with open_memory(tmp_path) as memory:
        assert memory.add(one, key="push").id != memory.add(other, key="push").id
        memory.evolve()
        assert len(memory.cards()) == 2


def test_six_additions_that_differ_in_trailing_dots_are_one_card(tmp_path: Path) -> None:
    with open_memory(tmp_path, capacity=9) as memory:
        found = {memory.add(f"Ask a question first{'.' * dots}").id for dots in range(6)}
        assert len(found) == 1


@pytest.mark.parametrize("bank", ["content", "planning", "execution"])
@pytest.mark.parametrize(
    "texts",
    [
        ("Ask a question first.", "Ask the question first", "Please ask a question first!"),
        ("The price comes first.", "Price comes first"),
        ("Use an offer", "use the offer…"),
    ],
)
def test_near_duplicates_are_united_by_the_round_the_older_kept_lineage_shown(
    tmp_path: Path, texts: tuple[str, ...], bank: str
) -> None:
    with open_memory(tmp_path) as memory:
        first, *rest = [memory.add(text, key="push", bank=bank) for text in texts]
        assert len(memory.cards(bank=bank)) == len(texts)
        memory.evolve(bank=bank)
        (kept,) = memory.cards(bank=bank)
        assert (kept.id, kept.guidance) == (first.id, first.guidance)
        assert set(kept.provenance.parents) == {first.id, *(card.id for card in rest)}
        assert all(memory.get(card.id).provenance.parents == (first.id,) for card in rest)
        assert memory.check() == ()


def test_near_duplicates_under_other_conditions_or_stances_stay(tmp_path: Path) -> None:
    with open_memory(tmp_path, capacity=9) as memory:
        memory.add("Ask a question.", key="push")
        memory.add("Ask the question.", key="mail")
        memory.add("Ask the question.", key="push", when="channel = mail")
        memory.add("Ask the question.", key="push", prefer="hook=question")
        memory.evolve()
        assert len(memory.cards()) == 4


def test_many_are_added_at_once_or_not_at_all(tmp_path: Path) -> None:
    calls = []

    class Counting(HashEmbedder):
        def __call__(self, texts):  # type: ignore[no-untyped-def]
            calls.append(len(texts))
            return super().__call__(texts)

    with open_memory(tmp_path, capacity=60, embedder=Counting()) as memory:
        added = memory.add_many([f"note {number}" for number in range(50)] + ["Note 7."])
        assert calls == [50]
        assert [a.new for a in added] == [True] * 50 + [False]
        assert added[-1].card == added[7].card
        assert len(memory.rounds()) == 1
        before = snapshot(memory)
        with pytest.raises(InputError, match="note 2 of 3: the text of a card is empty"):
            memory.add_many(["one more", " ", "another"])
        with pytest.raises(CapacityExceeded):
            memory.add_many([f"more {number}" for number in range(11)])
        assert snapshot(memory) == before
        assert memory.check() == ()
        assert memory._store.bank(memory.scope, "content") == refolded(memory)


def test_a_later_note_of_a_batch_replaces_an_earlier_on_its_topic(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        where = [Note(guidance=f"Ana works at {place}.", topic="employer") for place in ("Aster", "Borage")]
        old, new = memory.add_many(where)
        assert [card.id for card in memory.cards()] == [new.card.id]
        assert memory.get(old.card.id).provenance.parents == (new.card.id,)
        assert memory.check() == ()


FILES = {
    "notes.jsonl": '{"guidance": "Ask first.", "key": "push", "prefer": "hook=question"}\n\n"Be brief."\n',
    "notes.csv": "\ufeffguidance,key,prefer\r\nAsk first.,push,hook=question\r\nBe brief.,,\r\n",
    "notes.md": "# Notes\n\nSome words.\n\n- Ask first.\n* Be brief.\n",
    "notes.txt": "1. Ask\n   first.\n2) Be brief.\n",
    "tasks.md": "- [ ] Ask first.\n- [x] Be brief.\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_notes_is_added_and_again_changes_nothing(shell: Shell, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    shell("init")
    told = shell("add", name, "--json").json
    assert [(row["card"]["guidance"], row["new"]) for row in told] == [("Ask first.", True), ("Be brief.", True)]
    assert shell("add", name).out.startswith("0 added, 2 there already")
    assert len(shell("cards", "--json").json) == 2


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.jsonl", '"fine"\n{"guidance": 5}', "row 2: guidance is missing or is no text"),
        ("a.jsonl", '"fine"\nnot json', "row 2: not JSON"),
        ("a.jsonl", '{"guidance": "x", "colour": "red"}', "row 1: unknown field 'colour'"),
        ("a.jsonl", '{"guidance": "x", "prefer": "a=b", "avoid": "a=c"}', "for or against"),
        ("a.csv", "text\nfine\n", "no column 'guidance'"),
        ("a.csv", "guidance\nfine,more\n", "row 1: more cells"),
        ("a.md", "Only prose.\n", "holds no notes"),
        ("absent.md", None, "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_as_notes_is_one_line_and_adds_nothing(
    shell: Shell, tmp_path: Path, name: str, text: str | None, why: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    shell("init")
    told = shell("add", name)
    assert told.code == 2
    assert why in " ".join(told.err.split())
    assert shell("cards", "--json").json == []


def test_one_card_from_the_shell_says_whether_it_was_there(shell: Shell) -> None:
    shell("init")
    assert shell("add", "--guidance", "Ask first.", "--key", "push", "--prefer", "hook=question").out == (
        "1 added, 0 there already\n"
    )
    assert (
        "0 added, 1 there already"
        in shell("add", "--guidance", "ask first", "--key", "push", "--prefer", "hook=question").out
    )
    assert shell("add").code == 2


def test_one_addition_costs_the_same_in_a_small_and_a_large_bank(tmp_path: Path) -> None:
    """The benchmark measures it closely; here a cost that grows with the bank would be tens of times as much."""

    def least(memory: Memory, name: str) -> float:
        found = []
        for number in range(25):
            start = time.perf_counter()
            memory.add(f"{name} {number}", key="push")
            found.append(time.perf_counter() - start)
        return min(found)

    with open_memory(tmp_path, capacity=5000) as memory:
        small = least(memory, "small")
        memory.add_many([f"note {number} of many" for number in range(3000)])
        assert least(memory, "large") < 3 * small
