"""Each operator: what it writes, where it says the version comes from, and what it refuses."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit.credit.confirmation.trials import declare_trial
from afterwit.evolve.operators import confirm
from afterwit.evolve.operators.admit import admit, admitted
from afterwit.evolve.operators.merge import merge
from afterwit.evolve.operators.reinforce import refreshed, reinforce
from afterwit.evolve.operators.replace import narrowed_to, replace_card
from afterwit.evolve.operators.restore import rollback
from afterwit.evolve.operators.retire import evict, expire
from afterwit.model import Batch, Card, Clause, Condition, Edit, Posterior, Provenance, Refusal, fold
from evolve_cases import NOW, after, bank, claim, draft, make_table, stand, trial

LATER = NOW + timedelta(days=30)
BATCH = Batch(at=LATER, level=0.02, p_values={"a": 0.001, "b": 0.5}, confirmed=("a",), max_rejections=1)


def written(edit: Edit | Refusal | None) -> dict[str, Card]:
    assert isinstance(edit, Edit)
    return fold([edit])


def test_admit_writes_a_provisional_card_with_its_trial_declared():
    row = make_table({"hook=question": -0.2}).row(0)
    card = admitted(
        row,
        scope="acme/push",
        bank="content",
        key="a question",
        guidance="Avoid a question.",
        when=Condition(),
        prefer=False,
        cases=("item-1", "item-2"),
        round_id="round",
        at=LATER,
    )
    assert (card.status, card.version, str(card.stance)) == ("provisional", 1, "avoid hook=question")
    assert card.provenance == Provenance(operator="admit", evidence=(row.id,), round_id="round")
    assert card.fitness == {"click": Posterior(mean=row.posterior_mean, sd=row.posterior_sd, strata=row.strata)}
    assert card.trial == declare_trial(effect=row.posterior_mean, stratum_variance=row.strata * row.se**2, as_of=LATER)
    assert (card.effect, card.cases, card.created_at, card.valid_from) == (
        row.joint,
        ("item-1", "item-2"),
        LATER,
        LATER,
    )
    edit = admit("edit", card, row)
    assert (edit.operator, edit.parents, edit.evidence) == ("admit", (), (row.id,))
    assert row.reason in edit.reason


def test_reinforce_moves_the_numbers_and_keeps_the_words():
    card = claim("d", prefer=False, provenance=Provenance(operator="admit", parents=("p",), trust="user"))
    found = stand(card, make_table({"d": -0.15}, se=0.1, prior_sd=0.2))
    new = refreshed(card, found, objective="click", effect=-0.1, prior_sd=0.2, used=(2, 1.5), round_id="round")
    # Posterior mean −0.15 · 0.04 / (0.04 + 0.01) = −0.12; −1 · −0.12 / 0.2 = 0.6.
    assert new.value == pytest.approx(0.6)
    assert new.fitness["click"].mean == pytest.approx(-0.12)
    assert (new.effect, new.uses, new.weight, new.version) == (-0.1, 2, 1.5, 2)
    assert new.content_hash == card.content_hash
    assert new.provenance == Provenance(
        operator="reinforce", parents=("p",), evidence=(found.row.id,), round_id="round", trust="user"
    )
    edit = reinforce("edit", {card.id: card}, [new], "numbers")
    assert edit == Edit(
        id="edit", operator="reinforce", writes=(new,), parents=(card.id,), evidence=(found.row.id,), reason="numbers"
    )


@pytest.mark.parametrize(("mean", "prefer", "value"), [(0.9, True, 1.0), (0.9, False, -1.0), (0.0, True, 0.0)])
def test_the_recall_value_is_clipped(mean: float, prefer: bool, value: float):
    card = claim("d", prefer=prefer)
    found = stand(card, make_table({"d": mean}, prior_sd=0.2))
    assert refreshed(card, found, objective="click", effect=None, prior_sd=0.2, round_id="r").value == value
    assert refreshed(card, found, objective="click", effect=None, prior_sd=0.0, round_id="r").value == 0


def test_reinforcing_with_the_same_numbers_writes_nothing():
    card = claim("d")
    found = stand(card, make_table({"d": 0.2}))
    once = refreshed(card, found, objective="click", effect=0.1, prior_sd=0.3, round_id="one")
    assert refreshed(once, found, objective="click", effect=0.1, prior_sd=0.3, round_id="two") is once
    assert refreshed(card, None, objective="click", effect=None, prior_sd=0.3, round_id="two") is card
    assert reinforce("edit", {once.id: once}, [once], "numbers") is None


def test_use_alone_is_written_with_provenance_too():
    card = claim("not examined")
    new = refreshed(card, None, objective="click", effect=None, prior_sd=0.3, used=(1, 0.5), round_id="round")
    assert (new.uses, new.weight, new.version) == (1, 0.5, 2)
    assert (new.provenance.operator, new.provenance.round_id) == ("reinforce", "round")
    assert (new.fitness, new.value, new.provenance.evidence) == (card.fitness, card.value, card.provenance.evidence)


def test_confirm_activates_what_passed_and_keeps_the_rest_provisional():
    passed = confirm.tested(claim("a"), trial(tested_at=LATER, confirmed=True), round_id="round")
    failed = confirm.tested(claim("b"), trial(tested_at=LATER, confirmed=False), round_id="round")
    assert (passed.status, failed.status) == ("active", "provisional")
    assert {c.provenance.operator for c in (passed, failed)} == {"confirm"}
    assert {c.provenance.round_id for c in (passed, failed)} == {"round"}
    edit = confirm.confirm("edit", [passed, failed], BATCH)
    assert edit is not None
    assert (edit.parents, edit.evidence) == ((passed.id, failed.id), ("evidence of a", "evidence of b"))
    assert edit.reason == "1 of 2 confirmed at level 0.0200 (Batch-BH)"
    assert confirm.confirm("edit", [], BATCH) is None


def test_evict_and_expire_retire_and_say_why():
    card = claim("d")
    for edit in (
        evict("edit", card, reason="null", round_id="round", evidence=("e",)),
        expire("edit", card, reason="null", round_id="round"),
    ):
        gone = written(edit)[card.id]
        assert (gone.status, gone.version, gone.guidance) == ("retired", 2, card.guidance)
        assert (gone.provenance.operator, gone.provenance.round_id) == (edit.operator, "round")
        assert (gone.provenance.parents, gone.provenance.evidence) == ((card.id,), edit.evidence)
        assert (edit.parents, edit.reason) == ((card.id,), "null")


def test_merge_unites_provenance_cases_and_use():
    kept = claim("a", status="active", cases=("1", "2"), uses=3, weight=3.0, value=0.6)
    other = claim("b", cases=("2", "3"), uses=2, weight=1.0, value=0.2)
    edit = merge("edit", kept, [other], signs=[1], reason="one hypothesis", round_id="round")
    cards = written(edit)
    whole, gone = cards[kept.id], cards[other.id]
    assert whole.cases == ("1", "2", "3")
    # (3 · 0.6 + 1 · 0.2) / 4
    assert (whole.uses, whole.weight, whole.value) == (5, 4.0, pytest.approx(0.5))
    assert (whole.status, whole.version, whole.guidance) == ("active", 2, kept.guidance)
    assert whole.provenance == Provenance(
        operator="merge",
        parents=(kept.id, other.id),
        evidence=("evidence of a", "evidence of b"),
        round_id="round",
    )
    assert (gone.status, gone.provenance.operator, gone.provenance.parents) == ("retired", "merge", (kept.id,))
    assert isinstance(edit, Edit)
    assert (edit.parents, edit.evidence) == ((kept.id, other.id), whole.provenance.evidence)


def test_merge_turns_a_stance_round_where_one_decision_is_the_absence_of_the_other():
    kept, other = claim("long"), claim("short", prefer=False)
    assert isinstance(merge("edit", kept, [other], signs=[-1], reason="", round_id="r"), Edit)
    assert isinstance(merge("edit", kept, [other], signs=[1], reason="", round_id="r"), Refusal)


@pytest.mark.parametrize(
    ("kept", "other", "reason"),
    [
        (claim("a", when="channel=push"), claim("b", when="channel=mail"), "never both hold"),
        (claim("a"), claim("b", prefer=False), "stances disagree"),
        (claim("a"), claim("b", stance=None), "stances disagree"),
    ],
)
def test_field_report_9_a_merge_that_does_not_stand_deletes_nothing_and_is_named(kept: Card, other: Card, reason: str):
    held = draft(kept, other)
    assert not held.apply(merge("edit", kept, [other], signs=[1], reason="", round_id="round"))
    assert held.live == {kept.id: kept, other.id: other}
    assert held.edits == []
    assert [(r.subject, r.verdict) for r in held.refused] == [(kept.id, "refused")]
    assert reason in held.refused[0].reason


def test_a_replacement_retires_its_parent_in_the_same_edit():
    parent, child = claim("d", cases=("1",)), claim("d", prefer=False)
    edit = replace_card(
        "edit",
        parent,
        [child],
        operator="revise",
        reason="contradicted",
        evidence=("e",),
        round_id="round",
        card_tokens=60,
    )
    cards = written(edit)
    gone = cards[parent.id]
    assert cards[child.id] == replace(child, provenance=replace(child.provenance, operator="revise"))
    assert (gone.status, gone.version) == ("retired", 2)
    assert gone.provenance == Provenance(operator="revise", parents=(child.id,), evidence=("e",), round_id="round")
    assert isinstance(edit, Edit)
    assert (edit.parents, edit.evidence, edit.reason) == ((parent.id,), ("e",), "contradicted")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"guidance": "  "}, "says nothing"),
        ({"guidance": "word " * 61}, "tokens, more than 60"),
        ({"key": ""}, "names no task"),
        ({"when": Condition.parse("age >= 30; age < 20")}, "can never hold"),
        ({"when": Condition.parse("place=web; place=mail")}, "can never hold"),
        ({}, "says the same"),
    ],
)
def test_field_report_3_a_replacement_is_validated_before_its_parent_retires(change: dict[str, object], reason: str):
    parent = claim("d")
    sound = claim("d", when="place=web")
    bad = replace(parent, id="child", **change)  # type: ignore[arg-type]
    held = draft(parent)
    made = replace_card(
        "edit",
        parent,
        [sound, bad],
        operator="split",
        reason="",
        evidence=(),
        round_id="round",
        card_tokens=60,
    )
    assert not held.apply(made)
    assert held.live == {parent.id: parent}
    assert [r.subject for r in held.refused] == [parent.id]
    assert reason in held.refused[0].reason
    assert "the card stays" in held.refused[0].reason


VALUES = st.sampled_from(["web", "mail", "12", "3.5"])
CLAUSES = st.one_of(
    st.builds(Clause, field=st.just("x"), operator=st.sampled_from(["in", "not in"]), values=st.tuples(VALUES, VALUES)),
    st.builds(Clause, field=st.just("x"), operator=st.sampled_from([">=", "<"]), values=st.tuples(st.floats(-5, 20))),
)


@given(clause=CLAUSES, value=st.floats(-10, 25))
def test_a_clause_and_its_complement_share_no_context_and_leave_none_out(clause: Clause, value: float):
    assert clause.holds({"x": value}) != clause.complement.holds({"x": value})
    assert not clause.complement.holds({})
    assert clause.complement.complement == clause
    assert not Condition(clauses=(clause,)).overlaps(Condition(clauses=(clause.complement,)))


def test_a_narrowed_card_keeps_its_words_and_declares_its_test_anew():
    card = claim("d", when="tone=dry", status="active", trial=trial(tested_at=NOW, confirmed=True), cases=("1",))
    clause = Clause(field="place", operator="not in", values=("web",))
    child = narrowed_to(card, clause, parents=(card.id, "other"), round_id="round", at=LATER)
    assert str(child.when) == "place != web; tone = dry"
    assert (child.guidance, child.stance, child.cases) == (card.guidance, card.stance, card.cases)
    assert (child.status, child.version, child.trial) == ("provisional", 1, trial(at=LATER))
    assert child.id != card.id
    assert child.provenance == Provenance(
        operator="revise", parents=(card.id, "other"), evidence=card.provenance.evidence, round_id="round"
    )
    by_hand = claim("d", status="active")
    assert narrowed_to(by_hand, clause, parents=(), round_id="round", at=LATER).status == "active"


def test_restore_puts_cards_back_as_new_versions_and_retires_newcomers():
    kept, changed, gone = claim("kept"), claim("changed"), claim("gone")
    then = bank(kept, changed, gone)
    reworded = changed.changed(guidance="Other words.")
    retired = gone.changed(status="retired")
    newcomer = claim("new")
    now = bank(kept, reworded, newcomer, version=4)
    latest = {c.id: c for c in (kept, reworded, retired, newcomer)}
    (edit,) = rollback(now, then, latest)
    cards = written(edit)
    assert set(cards) == {changed.id, gone.id, newcomer.id}
    assert (cards[changed.id].guidance, cards[changed.id].version) == (changed.guidance, 3)
    assert (cards[gone.id].live, cards[gone.id].version) == (True, 3)
    assert cards[newcomer.id].status == "retired"
    assert {c.provenance.operator for c in cards.values()} == {"restore"}
    assert {c.provenance.round_id for c in cards.values()} == {edit.id}
    assert edit.operator == "restore"
    assert set(edit.parents) == {kept.id, changed.id, gone.id, newcomer.id}
    back = after(now, [edit])
    assert {c.content_hash for c in back.cards} == {c.content_hash for c in then.cards}
    assert rollback(back, then, latest | cards) == ()


def test_restoring_never_makes_a_spent_test_unseen():
    then = bank(claim("d", trial=trial()))
    spent = trial(tested_at=LATER, p_value=0.4, confirmed=False)
    tested_card = then.cards[0].changed(trial=spent)
    gone = tested_card.changed(status="retired")
    (edit,) = rollback(bank(), then, {gone.id: gone})
    back = written(edit)[gone.id]
    assert (back.trial, back.status) == (spent, "provisional")
    assert rollback(bank(back), then, {back.id: back}) == ()


def test_a_draft_numbers_its_edits_and_follows_them():
    held = draft(claim("a"), claim("b"))
    first, second = held.live.values()
    ids = set()
    for card in (first, second):
        ids.add(held.edit_id("evict"))
        assert held.apply(evict(held.edit_id("evict"), card, reason="", round_id="round"))
    assert not held.apply(None)
    assert (len(ids), held.live) == (2, {})
