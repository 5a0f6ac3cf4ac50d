"""Cards added, reworded and deleted by people."""

from datetime import UTC, datetime

import pytest

from afterwit.errors import InputError
from afterwit.evolve import by_hand
from afterwit.evolve.compare import diff
from afterwit.model import Bank, Card, Condition, Edit, Note, fold

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def bank(*cards: Card) -> Bank:
    return Bank(scope="a/b", name="content", version=1, cards=cards)


def add(to: Bank, text: str, **changes: object) -> tuple[Card, Edit | None]:
    note = Note(guidance=text, **({"key": "k"} | changes))  # type: ignore[arg-type]
    return by_hand.add(to, note, round_id="r", at=NOW)


def after(edit: Edit | None) -> dict[str, Card]:
    assert edit is not None
    return {i: c for i, c in fold([edit]).items() if c.live}


def test_the_same_card_twice_is_one() -> None:
    first, _ = add(bank(), "Ask a question.")
    again, edit = add(bank(first), "ask  a question.")
    assert again == first
    assert edit is None


def test_the_newer_statement_on_a_topic_replaces_the_older_in_one_edit() -> None:
    old, _ = add(bank(), "works at A", topic="employer")
    new, edit = add(bank(old), "works at B", topic="employer")
    assert set(after(edit)) == {new.id}
    assert edit is not None
    assert {c.id for c in edit.writes} == {new.id, old.id}


def test_a_liking_then_its_opposite_leaves_the_opposite() -> None:
    liking, _ = add(bank(), "Loves olives.", prefer="food=olives")
    dislike, edit = add(bank(liking), "Hates olives.", avoid="food=olives")
    assert set(after(edit)) == {dislike.id}


def test_other_contexts_do_not_conflict() -> None:
    push, _ = add(bank(), "x", topic="tone", when=Condition.parse("channel=push"))
    _, edit = add(bank(push), "y", topic="tone", when=Condition.parse("channel=mail"))
    assert edit is not None
    assert len(edit.writes) == 1


@pytest.mark.parametrize(
    "text", ["", "  ", "x" * 5000, "buy now " * 40, "very very very very very very very very very"]
)
def test_text_that_no_memory_should_hold_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        add(bank(), text)


def test_update_and_delete_name_their_parent() -> None:
    card, _ = add(bank(), "Ask a question.")
    for edit in (by_hand.update(card, "Ask one question.", at=NOW), by_hand.delete(card)):
        assert edit.parents == (card.id,)
        assert edit.writes[0].version == 2
        assert edit.writes[0].provenance.round_id == edit.id


def test_diff_names_both_sides() -> None:
    one, _ = add(bank(), "one")
    two, _ = add(bank(), "two")
    changed = one.changed(effect=0.1)
    found = diff(bank(one), bank(changed, two))
    assert found.added == (two,)
    assert found.changed == ((one, changed),)
    assert not found.removed
    assert diff(bank(one), bank(one)).empty
