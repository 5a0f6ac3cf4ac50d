"""Settings live with the memory: openings and commands read them, changes are kept with their history."""

from pathlib import Path

import pytest

from afterwit import Memory
from afterwit.compose import import_file
from afterwit.errors import CapacityExceeded, InputError
from afterwit.model import Settings
from afterwit.ports import FixedClock, HashEmbedder
from cli_cases import Shell, deliveries, shell
from round_cases import RIPE, SCOPE, know, open_memory, trials
from store_cases import aged

__all__ = ["shell"]

VOCABULARY = """[[decision]]
name = "hook"
value = "magic"
pattern = "magic"
description = "the word magic"
"""


def reopened(folder: Path, **given: object) -> Memory:
    """As a caller who repeats nothing."""
    return Memory(
        folder / "memory.db",
        scope=SCOPE,
        embedder=HashEmbedder(),
        clock=FixedClock(RIPE),
        **given,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(("made", "cards"), [(200, 120), (81, 81), (100, 90), (300, 300), (1000, 85)])
def test_a_bank_larger_than_the_default_evolves_without_repeating_its_capacity(
    tmp_path: Path, made: int, cards: int
) -> None:
    with open_memory(tmp_path, capacity=made) as memory:
        for number in range(cards):
            memory.add(f"note {number}", key="push")
    with reopened(tmp_path) as memory:
        assert memory.capacity.cards == made
        assert memory.evolve().status == "applied"
        assert len(memory.cards()) == cards


@pytest.mark.parametrize("lowered", [1, 2, 5, 9, 11])
def test_a_lowered_capacity_is_met_by_the_next_round_each_eviction_with_its_reason(
    tmp_path: Path, lowered: int
) -> None:
    with open_memory(tmp_path, RIPE, capacity=20) as memory:
        for number in range(12):
            memory.add(f"note {number}", key="push")
        know(memory, trials(40))
        memory.configure(capacity=lowered)
        assert "the next round evicts them" in memory.notices()[0]
        assert len(memory.cards()) == 12
        with pytest.raises(CapacityExceeded):
            memory.add("one more", key="push")
        memory.delete(memory.cards()[0].id)  # what makes it smaller is no harm, though it is still above
        assert memory.check() == ()
        made = memory.evolve()
        assert len(memory.cards()) <= lowered
        gone = [edit for edit in made.edits if edit.operator == "evict"]
        assert len(gone) >= 11 - lowered
        assert all("never used" in edit.reason for edit in gone)
        assert memory.notices() == ()
        assert memory.check() == ()


def test_a_bank_of_learned_cards_shrinks_to_a_lowered_capacity_too(tmp_path: Path) -> None:
    with open_memory(tmp_path, RIPE, capacity=20) as memory:
        know(memory, trials(60, {"magic": 0.6, "tonic": -0.4, "lunar": 0.5}))
        memory.evolve()
        assert len(memory.cards()) >= 3
    with reopened(tmp_path, capacity=2) as memory:
        memory.evolve()
        assert len(memory.cards()) == 2
        assert memory.check() == ()


def test_stage_banks_have_their_own_capacity(tmp_path: Path) -> None:
    with open_memory(tmp_path, capacity=3) as memory:
        assert memory.settings(bank="planning").capacity == 200
        memory.configure(bank="planning", capacity=2)
        memory.add("a", key="push", bank="planning")
        memory.add("b", key="push", bank="planning")
        with pytest.raises(CapacityExceeded):
            memory.add("c", key="push", bank="planning")
        assert memory.settings(bank="notes") == memory.settings()  # a bank of one's own is run as content is
    with reopened(tmp_path) as memory:
        assert [memory.settings(bank=name).capacity for name in ("content", "planning", "execution")] == [3, 2, 200]


def test_an_explicit_other_value_is_a_recorded_change_and_the_same_value_is_none(tmp_path: Path) -> None:
    reopened(tmp_path).close()
    with reopened(tmp_path) as memory:
        assert memory.settings() == Settings()
        assert memory.settings_history() == ()
    reopened(tmp_path, capacity=200, objective="conversion").close()
    reopened(tmp_path, capacity=200).close()
    with reopened(tmp_path, meaning=True) as memory:
        assert memory.settings() == Settings(capacity=200, objective="conversion", meaning=True)
        assert [change.reason for change in memory.settings_history()] == [
            "meaning no → yes",
            "capacity 80 → 200, objective click → conversion",
        ]
        assert memory.settings_history()[0].at == RIPE
    with reopened(tmp_path, capacity=7, keep=False) as memory:
        assert memory.capacity.cards == 7
    with reopened(tmp_path) as memory:
        assert memory.capacity.cards == 200


@pytest.mark.parametrize("given", [{"capacity": 0}, {"capacity": -3}, {"objective": " "}, {"vocabulary": "absent"}])
def test_a_value_that_no_bank_can_be_run_with_changes_nothing(tmp_path: Path, given: dict[str, object]) -> None:
    with reopened(tmp_path) as memory:
        with pytest.raises(InputError):
            memory.configure(**given)  # type: ignore[arg-type]
        assert memory.settings_history() == ()


def test_a_vocabulary_is_kept_by_content_and_a_changed_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "words.toml"
    path.write_text(VOCABULARY)
    reopened(tmp_path, vocabulary=path).close()
    path.write_text(VOCABULARY.replace('value = "magic"', 'value = "spell"'))
    with reopened(tmp_path) as memory:
        assert "has changed since" in memory.notices()[0]
        know(memory, trials(40, {"magic": 0.6}))
        memory.evolve()
        assert "Prefer the word magic." in [card.guidance for card in memory.cards()]  # by what was kept
    with reopened(tmp_path, vocabulary=path) as memory:
        assert memory.notices() == ()
        assert len(memory.settings_history()) == 2
    path.unlink()
    with reopened(tmp_path) as memory:  # a file that is gone is no harm: the text is kept
        assert memory.settings().vocabulary is not None
        assert memory.notices() == ()
    with reopened(tmp_path, vocabulary="") as memory:
        assert memory.settings().vocabulary is None


def test_settings_travel_with_an_export(tmp_path: Path) -> None:
    with open_memory(tmp_path, capacity=200, vocabulary="headlines") as memory:
        memory.configure(bank="execution", capacity=9)
        memory.export(tmp_path / "one.jsonl")
        kept = memory.settings()
    (tmp_path / "copy").mkdir()
    import_file(tmp_path / "copy" / "memory.db", tmp_path / "one.jsonl")
    with reopened(tmp_path / "copy") as memory:
        assert memory.settings() == kept
        assert memory.settings(bank="execution").capacity == 9
        memory.export(tmp_path / "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_a_ledger_from_before_settings_keeps_the_capacity_that_it_was_made_with(tmp_path: Path) -> None:
    with open_memory(tmp_path, capacity=200) as memory:
        for number in range(120):
            memory.add(f"note {number}", key="push")
        memory.add("look twice", key="push", bank="planning")
    older = aged(tmp_path / "memory.db", "0002")
    older.commit()
    older.close()
    with reopened(tmp_path) as memory:
        assert memory.capacity.cards == 200
        assert memory.settings(bank="planning").capacity == 200
        assert memory.settings_history()[0].reason == "kept from before settings were"
        memory.evolve()
        assert len(memory.cards()) == 120
        assert memory.check() == ()


def test_commands_read_what_init_kept(shell: Shell, tmp_path: Path) -> None:
    assert shell("init", "--capacity", "2", "--vocabulary", "headlines", "--meaning").code == 0
    told = shell("settings", "--json").json
    assert (told["capacity"], told["vocabulary"]["name"], told["meaning"]) == (2, "headlines", True)
    shell("ingest", deliveries(tmp_path, tests=40))
    assert shell("evolve", "--dry-run", "--capacity", "1", "--json").json["status"] == "proposed"
    assert shell("settings", "--json").json["capacity"] == 2  # a dry run changes nothing
    assert shell("evolve", "--no-meaning").code == 0
    assert len(shell("cards", "--json").json) <= 2
    told = shell("settings", "--capacity", "9", "--history")
    assert "capacity 2 → 9" in told.out
    assert "meaning yes → no" in told.out
    assert shell("settings", "--capacity", "0").code == 2
    assert shell("init", "--bank", "planning", "--capacity", "5").code == 0
    assert shell("settings", "--bank", "planning", "--json").json["capacity"] == 5
    assert shell("settings", "--vocabulary", "", "--json").json["vocabulary"] is None


def test_another_process_sees_a_change_at_its_next_round(tmp_path: Path) -> None:
    with reopened(tmp_path, capacity=3) as mine, reopened(tmp_path) as other:
        other.configure(capacity=1)
        mine.add("one", key="push")
        with pytest.raises(CapacityExceeded):
            mine.add("two", key="push")


@pytest.mark.parametrize("capacity", [0, -1, 10**6 + 1, 2**63, 99999999999999999999])
def test_a_capacity_that_no_ledger_can_hold_is_refused_before_it_is_kept(capacity: int):
    with pytest.raises(InputError, match="capacity is"):
        Settings(capacity=capacity)
    assert Settings(capacity=10**6).capacity == 10**6
