"""Whole rounds through the public face: planned, approved, as of a moment."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from afterwit import Memory
from afterwit.errors import Conflict, InputError, LeakageError
from round_cases import (
    DAY,
    LATER,
    RIPE,
    START,
    at,
    claims,
    know,
    open_memory,
    says,
    snapshot,
    tell,
    trials,
    without_new_ids,
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Forty tests in which “magic” works are known and ripe; nothing is learned yet."""
    with open_memory(tmp_path, RIPE) as opened:
        know(opened, trials(40))
        yield opened


# Planning


def test_the_same_store_and_moment_give_the_same_round(memory: Memory, tmp_path: Path) -> None:
    memory.add("Say magic.", key="push", prefer="word=magic")
    memory.add("No river.", key="push", avoid="word=river")
    first = memory.evolve(dry_run=True)
    assert first.edits
    assert without_new_ids(memory.evolve(dry_run=True)) == without_new_ids(first)
    with open_memory(tmp_path, RIPE) as other:  # another process has nothing cached
        assert without_new_ids(other.evolve(dry_run=True)) == without_new_ids(first)


def test_the_order_in_which_a_log_was_read_does_not_matter(tmp_path: Path) -> None:
    rows = trials(40, {"magic": 0.6, "tonic": -0.4}, noise=2)
    found = []
    for name, order in (("one", rows), ("two", rows[::-1])):
        folder = tmp_path / name
        folder.mkdir()
        with open_memory(folder, RIPE) as memory:
            tell(memory, order[:50])
            tell(memory, order)
            found.append(without_new_ids(memory.evolve()))
    assert found[0] == found[1]


@pytest.mark.parametrize(("capacity", "final"), [(1, False), (40, True)])
def test_a_second_round_on_the_same_data_changes_nothing(tmp_path: Path, capacity: int, final: bool) -> None:
    with open_memory(tmp_path, RIPE, capacity=capacity) as memory:
        know(memory, trials(40, {"magic": 0.6, "tonic": -0.4}, noise=2))
        memory.evolve()
        know(at(memory, LATER), trials(40, {"magic": 0.6, "tonic": -0.4}, noise=2, first=70))
        memory.evolve(final=final)
        before = memory.cards()
        again = memory.evolve(final=final)
        assert (again.edits, again.batch, again.credits) == ((), None, ())
        assert memory.cards() == before != ()


def test_a_second_round_on_effects_that_depend_on_the_context_changes_nothing(tmp_path: Path) -> None:
    with open_memory(tmp_path, RIPE) as memory:
        know(memory, trials(45, context={"channel": "push"}))
        memory.evolve()
        assert says(memory) == ["Prefer “magic”. provisional"]
        elsewhere = trials(45, {"magic": -0.3}, first=60, context={"channel": "mail"})
        know(at(memory, LATER), elsewhere)
        split = memory.evolve()
        assert "split" in [edit.operator for edit in split.edits]
        assert {(str(c.stance), c.when.holds({"channel": "push"})) for c in memory.cards()} >= {
            ("prefer word=magic", True),
            ("avoid word=magic", False),
        }
        before = memory.cards()
        assert memory.evolve().edits == ()
        assert memory.cards() == before


def test_a_round_admits_no_more_than_the_tokens_left(tmp_path: Path) -> None:
    with open_memory(tmp_path, RIPE, capacity=2) as memory:
        note = memory.add(" ".join(f"w{i}" for i in range(57)), key="push")
        assert note.tokens == 115  # of 120
        know(memory, trials(40))
        made = memory.evolve()
        assert memory.cards() == (note,)
        assert [(refusal.subject, refusal.verdict) for refusal in made.refused] == [("prefer word=magic", "no room")]


def test_a_dry_run_changes_nothing_in_the_store(memory: Memory) -> None:
    memory.add("Say magic.", key="push", prefer="word=magic")
    before = snapshot(memory)
    planned = memory.evolve(dry_run=True)
    assert planned.edits
    assert planned.status == "proposed"
    assert snapshot(memory) == before
    assert len(memory.rounds()) == 1  # the card by hand
    memory.evolve(dry_run=True, approval=True, final=True)
    assert snapshot(memory) == before


def test_a_round_on_an_empty_memory_says_that_nothing_is_known(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        made = memory.evolve()
        assert made.edits == ()
        assert [refusal.subject for refusal in made.refused] == ["0 ripe items"]


def test_an_objective_without_events_is_insufficient_and_said_so(tmp_path: Path) -> None:
    with open_memory(tmp_path, RIPE, objective="conversion") as memory:
        know(memory, trials(40))
        made = memory.evolve()
        assert made.edits == ()
        assert "objective conversion" in [refusal.subject for refusal in made.refused]


# Approval


def test_a_proposed_round_changes_nothing_until_it_is_approved(memory: Memory) -> None:
    proposed = memory.evolve(approval=True)
    assert proposed.status == "proposed"
    assert memory.cards() == ()
    assert [round_.status for round_ in memory.rounds()] == ["proposed"]
    approved = memory.approve(proposed.id)
    assert approved.status == "applied"
    assert approved.edits == proposed.edits
    assert claims(memory.cards()) == claims([c for e in proposed.edits for c in e.writes if c.live])
    assert memory.search("magic", k=1)
    assert memory.evolve().edits == ()
    assert memory.approve(proposed.id).status == "applied"  # once is enough


def test_a_rejected_round_leaves_no_card_and_stays_rejected(memory: Memory) -> None:
    proposed = memory.evolve(approval=True)
    assert memory.approve(proposed.id, reject=True).status == "rejected"
    assert memory.cards() == ()
    with pytest.raises(Conflict, match="rejected already"):
        memory.approve(proposed.id)
    memory.evolve()
    assert says(memory) == ["Prefer “magic”. provisional"]


def test_approving_after_the_bank_moved_is_a_conflict_and_leaves_it(memory: Memory) -> None:
    proposed = memory.evolve(approval=True)
    memory.add("Be kind.", key="push")
    before = snapshot(memory)
    with pytest.raises(Conflict, match="plan it again"):
        memory.approve(proposed.id)
    assert snapshot(memory) == before
    assert memory.approve(proposed.id, reject=True).status == "rejected"


def test_of_two_proposals_only_the_first_approved_applies(memory: Memory) -> None:
    one, two = memory.evolve(approval=True), memory.evolve(approval=True)
    memory.approve(two.id)
    with pytest.raises(Conflict):
        memory.approve(one.id)
    assert says(memory) == ["Prefer “magic”. provisional"]


# As of a moment


def test_as_of_uses_nothing_that_became_available_later(memory: Memory, tmp_path: Path) -> None:
    then = START + 40 * DAY  # tests begun in the last week were not ripe yet
    planned = memory.evolve(as_of=then, dry_run=True)
    assert planned.figures["items"] == 2 * 34
    assert any("still open" in refusal.reason for refusal in planned.refused)
    folder = tmp_path / "then"
    folder.mkdir()
    with open_memory(folder, then) as ignorant:
        know(ignorant, [row for row in trials(40) if row["created_at"] <= then.isoformat()])
        assert without_new_ids(ignorant.evolve()) == without_new_ids(planned).replace("proposed", "applied")


def test_late_data_changes_later_rounds_alone(memory: Memory) -> None:
    memory.evolve()
    before = says(memory)
    know(at(memory, LATER), trials(60, {"magic": -0.9}, first=60, views=4000))
    assert says(memory) == before
    memory.evolve()
    assert "Prefer “magic”. provisional" not in says(memory)
    assert [c.guidance for c in memory.cards(as_of=RIPE)] == ["Prefer “magic”."]


def test_a_round_as_of_earlier_than_what_the_bank_knows_is_refused(memory: Memory) -> None:
    memory.evolve()
    before = snapshot(memory)
    for dry_run in (False, True):
        with pytest.raises(LeakageError, match="roll back"):
            memory.evolve(as_of=START + 50 * DAY, dry_run=dry_run)
    assert snapshot(memory) == before
    memory.rollback(to=START + 50 * DAY)
    memory.evolve(as_of=START + 50 * DAY)
    assert says(memory) == ["Prefer “magic”. provisional"]


def test_a_moment_without_timezone_is_refused(memory: Memory) -> None:
    naive = RIPE.replace(tzinfo=None)
    for call in (
        lambda: memory.evolve(as_of=naive),
        lambda: memory.rollback(to=naive),
        lambda: memory.cards(as_of=naive),
        lambda: memory.diff(naive),
    ):
        with pytest.raises(InputError, match="no timezone"):
            call()
