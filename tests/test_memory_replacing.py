"""Adding to a full bank: what would have to go, and letting it go."""

from pathlib import Path

import pytest

from afterwit.errors import CapacityExceeded
from cli_cases import Shell, shell
from round_cases import DAY, RIPE, START, at, know, open_memory, refolded, snapshot, trials

__all__ = ["shell"]


@pytest.mark.parametrize("capacity", [1, 2, 3, 5, 9])
def test_a_full_bank_says_what_would_go_and_with_replace_it_goes(tmp_path: Path, capacity: int) -> None:
    with open_memory(tmp_path, capacity=capacity) as memory:
        notes = [at(memory, START + n * DAY).add(f"note {n}") for n in range(capacity)]
        before = snapshot(memory)
        with pytest.raises(CapacityExceeded, match=r"add --replace\) “note 0” would go"):
            memory.add("one more")
        assert snapshot(memory) == before
        new = memory.add("one more", replace=True)
        assert {card.id for card in memory.cards()} == {new.id, *(card.id for card in notes[1:])}
        gone = memory.history(notes[0].id)[-1]
        assert (gone.operator, "never used" in gone.reason) == ("evict", True)
        assert memory.add("one more", replace=True) == new  # there already: nothing has to go
        assert len(memory.cards()) == capacity
        assert memory.check() == ()
        assert memory._store.bank(memory.scope, "content") == refolded(memory)


def test_neither_pinned_nor_learned_cards_are_replaced(tmp_path: Path) -> None:
    with open_memory(tmp_path, RIPE) as memory:
        know(memory, trials(60))
        memory.evolve()
        learned = {card.id for card in memory.cards()}
        assert learned
        notes = [memory.add(f"note {n}").id for n in range(5 - len(learned))]
        for id_ in notes[:-1]:
            memory.pin(id_)
        new = memory.add("one more", replace=True)
        assert {card.id for card in memory.cards()} == {*learned, *notes[:-1], new.id}
        memory.pin(new.id)
        before = snapshot(memory)
        for replacing in (False, True):
            with pytest.raises(CapacityExceeded, match="nothing more to replace"):
                memory.add("and another", replace=replacing)
        assert snapshot(memory) == before


def test_many_replace_as_many_as_they_need_or_none(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        for n in range(5):
            at(memory, START + n * DAY).add(f"note {n}")
        with pytest.raises(CapacityExceeded, match="“note 0” and 2 more would go"):
            memory.add_many(["a", "b", "c"])
        memory.add_many(["a", "b", "c", "note 0"], replace=True)
        assert sorted(card.guidance for card in memory.cards()) == ["a", "b", "c", "note 0", "note 4"]
        before = snapshot(memory)
        with pytest.raises(CapacityExceeded):
            memory.add_many([f"more {n}" for n in range(6)], replace=True)
        assert snapshot(memory) == before


def test_a_long_text_replaces_until_its_tokens_fit(tmp_path: Path) -> None:
    with open_memory(tmp_path, capacity=2) as memory:
        room = memory.capacity.tokens
        long = " ".join(f"w{n}" for n in range(room // 5))
        memory.add(long, key="long")
        memory.add("short", key="short")
        new = memory.add(f"{long} and more", key="long", replace=True)
        assert new.id in {card.id for card in memory.cards()}
        assert sum(card.tokens for card in memory.cards()) <= room


def test_replace_from_the_shell(shell: Shell) -> None:
    shell("init", "--capacity", "1")
    shell("add", "--guidance", "Ask first.")
    told = shell("add", "--guidance", "Be brief.")
    assert told.code != 0
    assert "Ask first." in told.err
    assert shell("add", "--guidance", "Be brief.", "--replace").code == 0
    assert [card["guidance"] for card in shell("cards", "--json").json] == ["Be brief."]
