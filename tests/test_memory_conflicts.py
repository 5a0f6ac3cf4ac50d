"""Corrections: what cannot both be right is paired; what can, never."""

from pathlib import Path

import pytest

from afterwit.errors import InputError, NotFound
from cli_cases import Shell, shell
from round_cases import DAY, START, at, open_memory, refolded

__all__ = ["shell"]

COMPATIBLE = [
    ("Device A is a NAS.", "Device A is a server."),
    ("Device A is a Synology NAS.", "Device A is a quiet NAS."),
    ("Device A is a Synology NAS.", "Device A is a Synology."),
    ("Device A is a Synology NAS.", "Device B is a Fnos NAS."),
    ("Device A is a Synology NAS.", "Device A is a synology NAS!"),
    ("Ana is a doctor.", "Ana is a mother."),
    ("Ana is Spanish.", "Ana is German."),
    ("Ana likes tea.", "Ana likes coffee."),
    ("Ana speaks French.", "Ana speaks Dutch."),
    ("Ana lives in Berlin.", "Ana lives in Germany."),
    ("Ana lives in Berlin.", "Ana lives in Kreuzberg."),
    ("Ana works at Aster.", "Ana works at Aster Robotics."),
    ("Ana works at Aster.", "Ana works at home."),
    ("The manager is Ana.", "The manager is Ana Lopez."),
    ("The manager is Ana.", "The manager is Spanish."),
    ("The manager is Ana.", "The owner is Bob."),
    ("The price is 5 euros.", "The price is 5.0 euros."),
    ("The price is 5 euros.", "The price is 6 dollars."),
    ("The price is 1,000 euros.", "The price is 1000 euros."),
    ("The price is 5 euros in Rome.", "The price is 6 euros in Oslo."),
    ("The price is over 5 euros.", "The price is over 6 euros."),
    ("Keep it under 40 characters.", "Keep it under 60 characters."),
    ("The box has 3 cats.", "The box has 4 dogs."),
    ("Roses are red.", "Roses are white."),
    ("A rose is red.", "A rose is white."),
    ("It is red.", "It is blue."),
    ("The flag is red and white.", "The flag is red and blue."),
    ("The shop is open on Monday.", "The shop is closed on Sunday."),
    ("Yoga is on Monday.", "Yoga is on Tuesday."),
    ("If the mail is not read, call.", "If the mail is read, call."),
    ("Ask a question first.", "Start with a question."),
    ("Ask first.", "Always ask first."),
    ("Ask first.", "Please ask first."),
    ("Never ask first.", "Don't ask first."),
    ("Prefer long titles.", "Use long titles."),
    ("Ana does not like tea.", "Ana likes coffee."),
    ("Why not ask first?", "Why ask first?"),
    ("Das Gerät ist ein Server.", "Das Gerät ist ein Speicher."),
    ("Das Gerät ist leise.", "Das Gerät ist schnell."),
]
CONFLICTING = [
    ("Device A is a Synology NAS.", "Device A is a Fnos NAS."),
    ("The printer is a Brother model.", "The printer is an Epson model."),
    ("The manager is Ana.", "The manager is Bob."),
    ("The capital of Kazakhstan is Astana.", "The capital of Kazakhstan is Almaty."),
    ("Ana works at Aster.", "Ana works at Borage."),
    ("The price is 5 euros.", "The price is 7 euros."),
    ("Ana has 2 children.", "Ana has 3 children."),
    ("The door is red.", "The door is blue."),
    ("The light is on.", "The light is off."),
    ("The shop is open on Sunday.", "The shop is closed on Sunday."),
    ("Ask first.", "Never ask first."),
    ("Ask first.", "Do not ask first!"),
    ("Always ask first.", "Don't ask first."),
    ("The server isn't ready.", "The server is ready."),
    ("Prefer long titles.", "Avoid long titles."),
    ("Das Gerät ist ein Synology NAS.", "Das Gerät ist ein Fnos NAS."),
    ("Das Licht ist an.", "Das Licht ist aus."),
    ("Zuerst fragen.", "Nie zuerst fragen."),
]


@pytest.mark.parametrize("key", ["home", None])
@pytest.mark.parametrize(("one", "other"), COMPATIBLE)
def test_compatible_facts_and_paraphrases_are_never_paired(
    tmp_path: Path, one: str, other: str, key: str | None
) -> None:
    with open_memory(tmp_path) as memory:
        memory.add(one, key=key)
        memory.add(other, key=key)
        assert memory.conflicts() == ()


@pytest.mark.parametrize("key", ["home", None])
@pytest.mark.parametrize(("one", "other"), CONFLICTING)
@pytest.mark.parametrize("turned", [False, True])
def test_of_two_that_say_different_things_the_newer_comes_first_and_both_are_marked(
    tmp_path: Path, one: str, other: str, key: str | None, turned: bool
) -> None:
    first, second = (other, one) if turned else (one, other)
    with open_memory(tmp_path) as memory:
        older = memory.add(first, key=key)
        newer = at(memory, START + DAY).add(second, key=key)
        (pair,) = memory.conflicts()
        assert (pair.newer, pair.older) == (newer, older)
        task = key or first  # nearest to the older one
        found = memory.search(task, k=3)
        assert [card.id for card, _ in found] == [newer.id, older.id]
        assert [trace.rank for _, trace in found] == [1, 2]
        assert [card.id for card, _ in memory.search(task, k=1)] == [newer.id]
        lines = memory.render([card for card, _ in found]).splitlines()[2:-1]
        assert "newer" in lines[0]
        assert "older" in lines[1]


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ({"key": "home"}, {"key": "office"}),
        ({"when": "channel = push"}, {"when": "channel = mail"}),
        ({"when": "size < 5"}, {"when": "size >= 5"}),
        ({"valid_until": START + DAY}, {}),
        ({"bank": "planning"}, {}),
    ],
)
def test_other_tasks_conditions_times_and_banks_do_not_meet(tmp_path: Path, mine: dict, theirs: dict) -> None:
    with open_memory(tmp_path) as memory:
        memory.add("The light is on.", **({"key": "home"} | mine))
        at(memory, START + 2 * DAY).add("The light is off.", **({"key": "home"} | theirs))
        assert memory.conflicts() == ()
        assert "newer" not in memory.render(memory.cards())


def test_a_pair_is_settled_by_keeping_one_narrowing_or_finding_both_right(tmp_path: Path) -> None:
    with open_memory(tmp_path, capacity=9) as memory:
        on = memory.add("The light is on.", key="home")
        off = memory.add("The light is off.", key="home")
        memory.settle(on.id, off.id)
        assert memory.conflicts() == ()
        memory.update(off.id, "The light is off!")  # other words are another statement
        assert len(memory.conflicts()) == 1
        memory.narrow(on.id, "time = night")
        memory.narrow(off.id, "time = day")
        assert memory.conflicts() == ()
        assert memory.check() == ()
        assert memory._store.bank(memory.scope, "content") == refolded(memory)
        assert [edit.reason for edit in memory.history(on.id)][1:] == ["both are right, by hand", "narrowed by hand"]
        with pytest.raises(InputError, match="never hold"):
            memory.narrow(on.id, "time = day")
        with pytest.raises(NotFound):
            memory.settle(on.id, "0" * 32)


def test_conflicts_from_the_shell(shell: Shell) -> None:
    shell("init")
    ids = [
        shell("add", "--key", "home", "--guidance", f"Device {d} is a {make} NAS.", "--json").json[0]["card"]["id"]
        for d in "ABC"
        for make in ("Synology", "Fnos")
    ]
    assert len(shell("conflicts", "--json").json) == 3
    assert "contradicts" in shell("cards").out
    assert shell("conflicts", "--keep", ids[1][-8:]).code == 0
    assert shell("conflicts", "--beside", ids[3]).code == 0
    assert shell("conflicts", "--narrow", ids[5], "--when", "floor = 2").code == 0
    left = shell("conflicts", "--json").json
    assert [pair["older"]["id"] for pair in left] == [ids[4]]
    assert shell("conflicts", "--narrow", ids[4], "--when", "floor = 1").code == 0
    assert shell("conflicts", "--json").json == []
    assert "nothing to settle" in shell("conflicts").out
    assert ids[0] not in [card["id"] for card in shell("cards", "--json").json]
    assert shell("conflicts", "--narrow", ids[4]).code == 2
