"""Pins: a card that must stay, whatever rounds find."""

from datetime import timedelta
from pathlib import Path

import pytest

from afterwit.errors import CapacityExceeded, Conflict, NotFound
from afterwit.evolve.draft import RoundDraft
from afterwit.evolve.operators.retire import evict
from cli_cases import Shell, shell
from round_cases import DAY, LATER, RIPE, START, at, know, open_memory, refolded, trials

__all__ = ["shell"]


@pytest.mark.parametrize("capacity", [2, 3, 5, 8, 12])
@pytest.mark.parametrize("share", [0.0, 0.25])
def test_no_pinned_note_is_lost_to_evidence_and_the_unpinned_yield(tmp_path: Path, capacity: int, share: float) -> None:
    with open_memory(tmp_path, RIPE, capacity=capacity) as memory:
        memory.configure(hand_share=share)
        notes = [memory.add(f"note {number}", key="push") for number in range(capacity)]
        kept = {memory.pin(card.id).id for card in notes[: capacity - 1]}  # the oldest, which would go first
        know(memory, trials(60))
        memory.evolve()
        live = {card.id: card for card in memory.cards()}
        assert kept <= live.keys()
        assert notes[-1].id not in live
        assert any(card.provenance.trust == "evidence" for card in live.values())
        assert memory.check() == ()
        assert memory._store.bank(memory.scope, "content") == refolded(memory)


def test_a_bank_of_pins_admits_nothing_and_says_which_command_decides(tmp_path: Path) -> None:
    with open_memory(tmp_path, RIPE) as memory:
        for number in range(5):
            memory.pin(memory.add(f"note {number}", key="push").id)
        know(memory, trials(60))
        made = memory.evolve()
        assert made.edits == ()
        (said,) = [refusal for refusal in made.refused if refusal.verdict == "no room"]
        assert "all 5 cards" in said.reason
        assert "afterwit unpin" in said.reason
        memory.unpin(memory.cards()[0].id)
        assert any(edit.operator == "admit" for edit in memory.evolve().edits)


@pytest.mark.parametrize("wanted", ["word=magic", "word=anchor"])
def test_a_pinned_card_that_evidence_contradicts_stays_and_the_round_says_so(tmp_path: Path, wanted: str) -> None:
    with open_memory(tmp_path, RIPE) as memory:
        card = memory.pin(memory.add("Never magic.", key="push", avoid=wanted).id)
        know(memory, trials(60, {wanted.removeprefix("word="): 0.8}))
        made = memory.evolve()
        assert memory.get(card.id).live
        assert memory.get(card.id).guidance == "Never magic."
        assert [r.verdict for r in made.refused if r.subject == card.id] == ["pinned"]
        memory.unpin(card.id)
        memory.evolve()
        assert not memory.get(card.id).live


def test_a_lowered_capacity_is_met_by_the_unpinned_and_never_below_the_pins(tmp_path: Path) -> None:
    with open_memory(tmp_path, RIPE, capacity=9) as memory:
        notes = [memory.add(f"note {number}", key="push") for number in range(8)]
        notes.insert(0, memory.add("Say magic.", key="push", prefer="word=magic"))
        pinned = {memory.pin(card.id).id for card in notes[:4]}
        know(memory, trials(60))
        memory.configure(capacity=2)
        memory.evolve()
        assert {card.id for card in memory.cards()} == pinned
        with pytest.raises(CapacityExceeded):
            memory.add("one more")


def test_of_near_duplicates_the_pinned_one_is_kept_and_two_pinned_ones_stay(tmp_path: Path) -> None:
    with open_memory(tmp_path, capacity=9) as memory:
        texts = ("Ask a question.", "Ask the question.", "Please ask a question.")
        cards = [memory.add(text, key="push") for text in texts]
        memory.pin(cards[1].id)
        memory.pin(cards[2].id)
        memory.evolve()
        assert {card.id for card in memory.cards()} == {cards[1].id, cards[2].id}


@pytest.mark.parametrize("bank", ["planning", "execution"])
def test_stage_banks_keep_pins_when_the_capacity_is_lowered(tmp_path: Path, bank: str) -> None:
    with open_memory(tmp_path) as memory:
        notes = [at(memory, START + n * DAY).add(f"note {n}", bank=bank) for n in range(6)]
        memory.pin(notes[0].id)
        memory.configure(bank=bank, capacity=2)
        memory.evolve(bank=bank)
        assert {card.id for card in memory.cards(bank=bank)} == {notes[0].id, notes[5].id}


def test_a_pin_ends_with_the_cards_own_time(tmp_path: Path) -> None:
    with open_memory(tmp_path, RIPE) as memory:
        card = memory.add("Until autumn.", key="push", valid_until=RIPE + DAY)
        memory.pin(card.id)
        at(memory, LATER).evolve()
        assert not memory.get(card.id).live


def test_pinning_is_an_edit_in_the_history_that_says_nothing_new(tmp_path: Path) -> None:
    with open_memory(tmp_path, RIPE) as memory:
        card = memory.add("Ask first.")
        at(memory, RIPE + timedelta(hours=1)).pin(card.id)
        pinned = memory.pin(card.id)  # again: nothing to do
        assert [edit.reason for edit in memory.history(card.id)] == ["added by hand", "pinned by hand"]
        assert (pinned.pinned, pinned.version, pinned.provenance) == (True, 2, card.provenance)
        memory.rollback(to=RIPE)
        assert not memory.get(card.id).pinned
        memory.delete(card.id)
        with pytest.raises(Conflict, match="retired"):
            memory.pin(card.id)
        with pytest.raises(NotFound):
            memory.pin("0" * 32)


def test_no_operator_retires_a_pinned_card(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        card = memory.pin(memory.add("Ask first.").id)
    draft = RoundDraft(round_id="r", live={card.id: card})
    assert not draft.apply(evict("e", card, reason="harms", round_id="r"))
    assert (draft.edits, list(draft.live)) == ([], [card.id])
    assert "harms" in draft.refused[0].reason


def test_pin_and_unpin_from_the_shell(shell: Shell) -> None:
    shell("init")
    card = shell("add", "--guidance", "Ask first.", "--json").json[0]["card"]
    assert shell("pin", card["id"][-8:]).out == "pinned: Ask first.\n"
    assert "pinned" in shell("cards").out
    assert shell("cards", "--json").json[0]["pinned"] is True
    assert shell("unpin", card["id"], "--json").json["pinned"] is False
    assert shell("pin", "nothing").code == 2
