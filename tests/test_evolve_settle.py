"""Cards expire, duplicates become one card, and of opposite stances the posteriors decide."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterwit.credit.semantic.conditions import Side
from afterwit.credit.semantic.duplicates import Duplicate
from afterwit.credit.semantic.evidence import EvidenceTable
from afterwit.evolve.draft import RoundDraft
from afterwit.evolve.rules import EvolveRules
from afterwit.evolve.settle import expire_past, settle_conflicts, unite_duplicates
from afterwit.model import Card
from evolve_cases import NOW, claim, draft, make_table, said, side, stand, trial

LATER = NOW + timedelta(days=30)
RULES = EvolveRules()


# Duplicates


def test_duplicates_unite_and_the_confirmed_card_is_kept():
    short, long = claim("short", cases=("1",), status="active"), claim("canonical", cases=("2",))
    away = claim("away", prefer=False, cases=("3",))
    groups = {
        "canonical": Duplicate(name="canonical", sign=1),
        "short": Duplicate(name="canonical", sign=1),
        "away": Duplicate(name="canonical", sign=-1),
    }
    held = draft(long, short, away)
    unite_duplicates(held, groups)
    (whole,) = held.live.values()
    assert (whole.id, whole.status, set(whole.cases)) == (short.id, "active", {"1", "2", "3"})
    assert set(whole.provenance.parents) == {short.id, long.id, away.id}
    assert set(whole.provenance.evidence) == {f"evidence of {name}" for name in ("short", "canonical", "away")}
    (edit,) = held.edits
    assert edit.operator == "merge"


def test_among_unconfirmed_duplicates_the_canonical_decision_is_kept():
    held = draft(claim("z"), claim("a"))
    unite_duplicates(held, {name: Duplicate(name="z", sign=1) for name in "az"})
    assert [str(card.stance) for card in held.live.values()] == ["prefer z"]


def test_duplicates_in_other_contexts_or_of_opposite_claims_do_not_unite():
    cards = [claim("a", when="place=web"), claim("b", when="place=mail"), claim("b", prefer=False, when="place=web")]
    held = draft(*cards)
    unite_duplicates(held, {name: Duplicate(name="a", sign=1) for name in "ab"})
    assert (list(held.live.values()), held.edits) == (cards, [])
    more = draft(*cards, claim("a", prefer=False, when="place=mail"), claim("c", when="place=web"))
    unite_duplicates(more, {name: Duplicate(name="a", sign=1) for name in "abc"})
    assert [e.parents for e in more.edits] == [(cards[0].id, "prefer c where place=web")]
    assert len(more.live) == 4


def test_field_report_4_the_same_claim_twice_is_one_card_with_united_provenance():
    first = claim("d", id="first", key="one task", cases=("1",))
    second = claim("d", id="second", key="one task", cases=("2",), provenance=first.provenance)
    held = draft(first, second)
    unite_duplicates(held, {})
    (whole,) = held.live.values()
    assert whole.id in ("first", "second")
    assert set(whole.cases) == {"1", "2"}
    assert set(whole.provenance.parents) == {"first", "second"}
    assert whole.provenance.evidence == first.provenance.evidence


# Conflicts


def settle(table: EvidenceTable, *cards: Card, here: dict[str, Side] | None = None) -> RoundDraft:
    held = draft(*cards)
    standing = {card.id: stand(card, table, (here or {}).get(card.id)) for card in cards}
    settle_conflicts(held, standing, rules=RULES, as_of=LATER)
    return held


@pytest.mark.parametrize("effect", [0.1, -0.1])
@pytest.mark.parametrize("swap", [False, True])
def test_field_report_2_of_opposite_stances_the_posterior_decides(effect: float, swap: bool):
    pair = [claim("d"), claim("d", prefer=False)]
    held = settle(make_table({"d": effect}), *(pair[::-1] if swap else pair))
    (stays,) = held.live.values()
    assert stays.stance is not None
    assert stays.stance.sign == np.sign(effect)
    (edit,) = held.edits
    assert edit.operator == "evict"
    assert edit.evidence
    assert edit.reason.startswith("opposite stances on d")


@pytest.mark.parametrize("prefer", [False, True])
def test_field_report_2_where_the_posterior_cannot_tell_the_newer_stance_stays(prefer: bool):
    old = claim("d", prefer=not prefer)
    new = claim("d", prefer=prefer, created_at=LATER)
    held = settle(make_table({"d": 0.0}), old, new)
    assert list(held.live.values()) == [new]


def test_opposite_stances_in_contexts_that_never_meet_both_stay():
    pair = [claim("d", when="place=web"), claim("d", prefer=False, when="place=mail")]
    held = settle(make_table({"d": 0.3}), *pair, here={pair[0].id: side(0.3), pair[1].id: side(0.3)})
    assert (list(held.live.values()), held.edits) == (pair, [])


@pytest.mark.parametrize(("rule", "exception"), [(0.3, -0.2), (0.2, -0.3)])
@pytest.mark.parametrize("status", ["active", "provisional"])
def test_a_rule_and_its_exception_that_both_stand_are_told_apart(rule: float, exception: float, status: str):
    wide = claim("d", status=status, trial=trial(), guidance="Words of a person.")
    narrow = claim("d", prefer=False, when="place=web", status=status)
    held = settle(make_table({"d": rule}), wide, narrow, here={narrow.id: side(exception)})
    assert said(held.live.values()) == [("avoid d", "place = web"), ("prefer d", "place != web")]
    (edit,) = held.edits
    child = edit.writes[0]
    assert (edit.operator, edit.parents) == ("revise", (wide.id,))
    assert (child.guidance, child.status, child.trial) == (wide.guidance, "provisional", trial(at=LATER))
    assert child.provenance.parents == (wide.id, narrow.id)


@pytest.mark.parametrize("rule", [0.2, 0.3, 0.4])
def test_a_rule_with_several_exceptions_is_narrowed_by_each(rule: float):
    wide = claim("d")
    exceptions = [claim("d", prefer=False, when=when) for when in ("place=web", "tone=dry")]
    held = settle(make_table({"d": rule}), wide, *exceptions, here={card.id: side(-0.3) for card in exceptions})
    assert said(held.live.values()) == [
        ("avoid d", "place = web"),
        ("avoid d", "tone = dry"),
        ("prefer d", "place != web; tone != dry"),
    ]


def test_an_exception_that_leaves_nothing_of_the_rule_meets_it_as_a_rival():
    wide = claim("d", when="place=web")
    narrow = claim("d", prefer=False, when="place=web; place in web|mail")
    held = settle(make_table({"d": 0.2}), wide, narrow, here={narrow.id: side(-0.3)})
    assert list(held.live.values()) == [narrow]
    assert [r.subject for r in held.refused] == [wide.id]


def test_an_exception_that_its_own_context_does_not_bear_out_is_evicted():
    wide, narrow = claim("d"), claim("d", prefer=False, when="place=web")
    held = settle(make_table({"d": 0.3}), wide, narrow, here={narrow.id: side(0.2)})
    assert list(held.live.values()) == [wide]


@settings(max_examples=60, deadline=None)
@given(
    effects=st.lists(st.sampled_from([-0.3, 0.0, 0.05, 0.3]), min_size=1, max_size=3),
    cards=st.sets(
        st.tuples(st.integers(0, 2), st.booleans(), st.sampled_from(["", "place=web", "place=mail", "tone=dry"])),
        max_size=8,
    ),
    turned=st.booleans(),
)
def test_no_two_cards_contradict_each_other_once_conflicts_are_settled(
    effects: list[float], cards: set[tuple[int, bool, str]], turned: bool
):
    table = make_table({f"d{i}": effect for i, effect in enumerate(effects)})
    made = [claim(f"d{d % len(effects)}", prefer=p, when=w) for d, p, w in sorted(cards)]
    unique = list({card.id: card for card in made}.values())
    # Turned: every condition's own evidence is for its card, so that exceptions stand beside rules.
    here = {c.id: side(0.2 * c.stance.sign) for c in unique if turned and c.when.clauses and c.stance}
    held = settle(table, *unique, here=here)
    left = list(held.live.values())
    for i, one in enumerate(left):
        for other in left[i + 1 :]:
            assert one.stance is not None
            assert other.stance is not None
            same = one.stance.decision == other.stance.decision and one.when.overlaps(other.when)
            assert not (same and one.stance.prefer != other.stance.prefer)


# Expiry


def test_cards_past_their_time_or_unused_for_too_long_expire():
    past, future, idle = (
        claim("past", valid_until=LATER),
        claim("future", valid_until=LATER + timedelta(seconds=1)),
        claim("idle"),
    )
    held = draft(past, future, idle)
    expire_past(held, as_of=LATER, idle=frozenset([idle.id, "of another bank"]))
    assert list(held.live.values()) == [future]
    assert [(e.operator, e.parents[0], e.reason) for e in held.edits] == [
        ("expire", past.id, "valid until 2026-01-31"),
        ("expire", idle.id, "no episode recalled it for too long"),
    ]
