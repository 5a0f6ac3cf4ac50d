"""What people wrote and what was learned, side by side in a bank that is full."""

from pathlib import Path

import pytest

from round_cases import RIPE, know, open_memory, trials


@pytest.mark.parametrize(("capacity", "effect"), [(5, 0.6), (5, -0.6), (3, 0.8), (8, 0.5), (12, 0.7), (2, 0.6)])
def test_a_full_bank_of_unused_notes_does_not_starve_learning(tmp_path: Path, capacity: int, effect: float) -> None:
    with open_memory(tmp_path, RIPE, capacity=capacity) as memory:
        notes = [memory.add(f"note {number}", key="push").id for number in range(capacity)]
        know(memory, trials(60, {"magic": effect}))
        made = memory.evolve()
        live = {card.id: card for card in memory.cards()}
        learned = [card for card in live.values() if card.provenance.trust == "evidence"]
        assert any(card.stance and card.stance.decision == "word=magic" for card in learned)
        assert len(live) <= capacity
        assert len([id_ for id_ in notes if id_ in live]) >= max(1, capacity // 4)
        gone = [edit for edit in made.edits if edit.operator == "evict"]
        assert gone
        assert all("never used" in edit.reason and "yields its place" in edit.reason for edit in gone)
        assert memory.check() == ()


def test_notes_stay_where_evidence_leaves_room(tmp_path: Path) -> None:
    with open_memory(tmp_path, RIPE, capacity=40) as memory:
        for number in range(30):
            memory.add(f"note {number}", key="push")
        know(memory, trials(60))
        memory.evolve()
        assert sum(card.provenance.trust == "user" for card in memory.cards()) == 30


@pytest.mark.parametrize("capacity", [1, 2, 5, 7, 9])
def test_a_round_without_room_says_what_would_come_what_would_go_and_who_decides(tmp_path: Path, capacity: int) -> None:
    with open_memory(tmp_path, RIPE, capacity=capacity) as memory:
        memory.configure(hand_share=1.0)
        for number in range(capacity):
            memory.add(f"note {number}", key="push")
        know(memory, trials(60))
        made = memory.evolve()
        assert made.edits == ()
        (said,) = [refusal for refusal in made.refused if refusal.subject == "prefer word=magic"]
        assert said.verdict == "no room"
        assert "would be admitted" in said.reason
        assert "would go first" in said.reason
        assert "afterwit settings" in said.reason
