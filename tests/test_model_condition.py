"""Conditions: grammar, truth and overlap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit.errors import ConditionError
from afterwit.model import Clause, Condition

FIELDS = st.sampled_from(["channel", "benefit"])
MEMBERS = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=2, unique=True).map(tuple)
CLAUSES = st.one_of(
    st.builds(
        lambda f, o, v: Clause(field=f, operator=o, values=v), FIELDS, st.sampled_from(["in", "not in"]), MEMBERS
    ),
    st.builds(
        lambda o, v: Clause(field="hour", operator=o, values=(float(v),)),
        st.sampled_from([">=", "<"]),
        st.integers(0, 4),
    ),
)
CONDITIONS = st.lists(CLAUSES, max_size=3).map(lambda c: Condition(clauses=tuple(sorted(set(c), key=str))))
CONTEXTS = [{"channel": c, "benefit": b, "hour": h} for c in "abcd" for b in "abcd" for h in (-1, 0, 1, 2, 3, 4)]


@given(CONDITIONS)
def test_text_form_reads_back(condition: Condition) -> None:
    text = "" if str(condition) == "always" else str(condition)
    assert Condition.parse(text) == condition


@given(CONDITIONS, CONDITIONS)
def test_overlap_agrees_with_trying_every_context(one: Condition, other: Condition) -> None:
    if any(one.holds(c) and other.holds(c) for c in CONTEXTS):
        assert one.overlaps(other)
    elif any(map(one.holds, CONTEXTS)) and any(map(other.holds, CONTEXTS)):
        assert not one.overlaps(other)


@given(CONDITIONS, CLAUSES)
def test_narrowing_never_widens(condition: Condition, clause: Clause) -> None:
    narrowed = condition.narrowed(clause)
    assert all(condition.holds(c) for c in CONTEXTS if narrowed.holds(c))


def test_a_missing_field_never_satisfies() -> None:
    assert not Condition.parse("channel != push").holds({})
    assert Condition().holds({})


@pytest.mark.parametrize("text", ["channel", "= push", "hour >= soon", "channel ~ push"])
def test_bad_text_is_one_clear_line(text: str) -> None:
    with pytest.raises(ConditionError) as caught:
        Condition.parse(text)
    assert "\n" not in str(caught.value)
    assert text.split(" ")[-1] in str(caught.value)


def test_mapping_text_and_condition_agree() -> None:
    assert Condition.of({"channel": "push", "benefit": ["a", "b"]}) == Condition.parse("channel=push; benefit in a|b")
    assert Condition.of(None) == Condition()
