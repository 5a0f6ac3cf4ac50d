"""Whole rounds: credit in, edits out, one pure function."""

from dataclasses import replace
from datetime import timedelta

import pytest

from afterwit.credit.responsibility.grants import Grants
from afterwit.errors import LeakageError
from afterwit.evolve.round import plan_round
from afterwit.evolve.rules import EvolveRules
from afterwit.model import Credit
from afterwit.ports import Capacity
from credit_cases import LATE
from evolve_cases import NOW, after, bank, claim, world


def test_a_round_on_a_dependent_effect_keeps_both_sides_with_the_effects_of_their_contexts():
    found = world({"d": (0.5, -0.4), "other": 0.3}, places=("web", "mail"))
    first = found.round(bank())
    held = after(bank(), first.edits)
    by_claim = {(str(c.stance), str(c.when)): c for c in held.cards}
    assert set(by_claim) == {
        ("prefer d", "place = web"),
        ("avoid d", "place != web"),
        ("prefer other", "always"),
    }
    assert by_claim["prefer d", "place = web"].effect == pytest.approx(0.5, abs=0.07)
    assert by_claim["avoid d", "place != web"].effect == pytest.approx(-0.4, abs=0.07)
    assert by_claim["prefer other", "always"].effect == pytest.approx(0.3, abs=0.07)
    again = found.round(held, round_id="again")
    assert {(c.id, c.status) for c in after(held, again.edits).cards} == {(c.id, c.status) for c in held.cards}


def test_a_provisional_card_on_a_dependent_effect_is_split_for_good():
    found = world({"d": (0.5, -0.4), "other": 0.3}, places=("web", "mail"))
    parent = claim("d")
    made = found.round(bank(parent))
    assert [e.operator for e in made.edits] == ["split", "admit", "reinforce"]
    live = after(bank(parent), made.edits).cards
    children = [c for c in live if c.stance and c.stance.decision == "d"]
    assert {(str(c.stance), str(c.when)) for c in children} == {
        ("prefer d", "place = web"),
        ("avoid d", "place != web"),
    }
    assert all(c.provenance.parents == (parent.id,) for c in children)


def test_what_is_narrowed_unites_with_the_card_that_says_the_same_already():
    found = world({"d": (0.5, -0.4), "other": 0.3}, places=("web", "mail"))
    wide, same = claim("d", cases=("1",)), claim("d", when="place=web", cases=("2",))
    made = found.round(bank(wide, same))
    live = after(bank(wide, same), made.edits).cards
    (one,) = [c for c in live if (str(c.stance), str(c.when)) == ("prefer d", "place = web")]
    assert set(one.cases) == {"1", "2"}
    assert len({card.content_hash for card in live}) == len(live)


def test_every_edit_of_a_round_names_parents_operator_round_and_evidence_that_the_round_holds():
    found = world(
        {"a": 0.4, "b": -0.3, "c": 0.0, "d": (0.5, -0.4), "e": 0.4}, places=("web", "mail"), copies={"e": "a"}
    )
    cards = [claim("a"), claim("e"), claim("b"), claim("c"), claim("d"), claim("gone", valid_until=NOW)]
    made = found.round(bank(*cards))
    assert {e.operator for e in made.edits} >= {"merge", "split", "revise", "evict", "expire", "reinforce"}
    held = {row.id for row in made.evidence} | {f"evidence of {c.stance.decision}" for c in cards if c.stance}
    known = {card.id for card in cards} | {c.id for e in made.edits for c in e.writes}
    versions: dict[str, int] = {card.id: card.version for card in cards}
    for edit in made.edits:
        assert set(edit.evidence) <= held
        assert set(edit.parents) <= known
        assert edit.reason
        for card in edit.writes:
            assert card.provenance.round_id == made.id
            assert set(card.provenance.evidence) <= held
            assert card.version == versions.get(card.id, 0) + 1
            versions[card.id] = card.version
    assert len({e.id for e in made.edits}) == len(made.edits)


def test_the_same_input_gives_the_same_round_whatever_the_order_of_cards():
    found = world({"a": 0.4, "b": -0.3, "c": 0.0})
    cards = [claim("a"), claim("b"), claim("c", status="active")]
    assert found.round(bank(*cards)) == found.round(bank(*cards[::-1]))


def test_a_round_on_nothing_changes_nothing():
    found = world({"d": 0.3}, strata=4).known(NOW - timedelta(days=10_000))
    assert len(found.items) == 0
    card = claim("unseen")
    made = found.round(bank(card))
    assert (made.edits, made.batch, made.evidence) == ((), None, ())


def test_a_round_refuses_what_was_not_available():
    found = world({"d": 0.3}, strata=20)
    before = LATE - timedelta(days=10_000)
    with pytest.raises(LeakageError):
        plan_round(bank(), found.table(LATE), items=found.items, design=found.design, as_of=NOW)
    with pytest.raises(LeakageError):
        plan_round(bank(), found.table(before), items=found.items, design=found.design, as_of=before)


def test_credited_uses_count_and_reversals_take_them_back():
    found = world({"d": 0.3}, strata=20)
    card = claim("d", uses=3, weight=2.0, status="active")
    given_ = Credit(id="1", episode_id="e", card_id=card.id, decision="d", weight=0.5, kind="sole", reason="")
    none = replace(given_, id="2", weight=0.0, kind="none")
    taken = replace(given_, id="3", reverses="0", weight=0.25)
    made = found.round(bank(card), credits=Grants(new=(given_, none)))
    assert [(c.uses, c.weight) for c in after(bank(card), made.edits).cards] == [(4, 2.5)]
    made = found.round(bank(card), credits=Grants(new=(taken,)))
    assert [(c.uses, c.weight) for c in after(bank(card), made.edits).cards] == [(2, 1.75)]


def test_a_card_that_replay_shows_to_help_is_spared_in_the_round():
    found = world({"d": -0.4, "other": 0.3})
    card = claim("d", status="active")
    help_ = Credit(
        id="1", episode_id="e", card_id=card.id, decision="d", weight=1.0, kind="sole", reason="", utility_change=0.1
    )
    spared = found.round(bank(card), credits=Grants(standing=(help_,)))
    assert card.id in {c.id for c in after(bank(card), spared.edits).cards}
    assert card.id in [r.subject for r in spared.refused]
    harmed = found.round(bank(card), credits=Grants(standing=(replace(help_, utility_change=-0.1),)))
    assert "avoid d" in [str(c.stance) for c in after(bank(card), harmed.edits).cards]


def test_cards_without_evidence_take_their_room_first():
    found = world({"a": 0.5, "b": 0.4, "c": 0.3})
    by_hand = [claim("said", stance=None, status="active"), claim("unknown", status="active")]
    rules = EvolveRules(capacity=Capacity(cards=3, tokens=1000))
    made = found.round(bank(*by_hand), rules=rules)
    assert [str(c.stance) for c in after(bank(*by_hand), made.edits).cards[2:]] == ["prefer a"]
    assert {(r.subject, r.verdict) for r in made.refused} == {("prefer b", "no room"), ("prefer c", "no room")}


def test_where_nothing_may_be_admitted_nothing_leaves_to_make_room():
    found = world({"weak": 0.15, "strong": 0.6, "loud": 0.5})
    held = bank(claim("weak", effect=0.15, status="active"), claim("weaker", effect=0.01))
    small = EvolveRules(capacity=Capacity(cards=1, tokens=100))
    shut = EvolveRules(capacity=small.capacity, without=frozenset({"admit", "evict"}))
    one = bank(claim("weak", effect=0.15))
    assert {c.stance.decision for c in after(one, found.round(one, rules=small).edits).cards} == {"strong"}
    made = found.round(one, rules=EvolveRules(capacity=small.capacity, without=frozenset({"admit"})))
    assert not any(e.operator in ("evict", "admit") for e in made.edits)
    full = found.round(one, rules=EvolveRules(capacity=small.capacity, without=frozenset({"evict"})))
    assert not any(e.operator == "admit" for e in full.edits), "a full bank takes nothing"
    assert len(after(held, found.round(held, rules=shut).edits).cards) == 2
