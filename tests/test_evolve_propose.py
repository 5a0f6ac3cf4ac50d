"""What the evidence demands of each card: the table of evolution, duplicates, conflicts, expiry, admission."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from afterwit.credit.semantic.conditions import Side, Split
from afterwit.credit.semantic.duplicates import Duplicate
from afterwit.credit.semantic.evidence import EvidenceTable
from afterwit.evolve.draft import RoundDraft
from afterwit.evolve.evidenced import on_side, standings
from afterwit.evolve.propose import candidates, judge_claims
from afterwit.evolve.rules import EvolveRules
from afterwit.evolve.settle import expire_past
from afterwit.model import Card, Clause, Refusal
from evolve_cases import NOW, claim, draft, make_table, said, side, stand, trial, world

LATER = NOW + timedelta(days=30)
RULES = EvolveRules()
WEB = Clause(field="place", operator="in", values=("web",))


def split_table(holds: float, fails: float, *, pooled: float = 0.1) -> EvidenceTable:
    found = Split(clause=WEB, holds=side(holds), fails=side(fails), p_value=0.001)
    return make_table({"d": pooled}, verdicts={"d": "conditional"}, splits={"d": found})


def judge(
    card: Card, table: EvidenceTable, *, spared: bool = False, demote: str = "", here: Side | None = None, **rules: int
) -> RoundDraft:
    """The draft once one card was judged on the table, or on one side of it."""
    held = draft(card)
    judge_claims(
        held,
        {card.id: stand(card, table, here)},
        table,
        spared=frozenset([card.id] if spared else []),
        demote={card.id: demote} if demote else {},
        describe=lambda _: None,
        rules=replace(RULES, **rules),
        as_of=LATER,
    )
    return held


# The table of evolution


@pytest.mark.parametrize("status", ["provisional", "active"])
def test_a_supported_card_stays_as_it_is(status: str):
    card = claim("d", status=status)
    held = judge(card, make_table({"d": 0.2}))
    assert (held.live, held.edits, held.refused) == ({card.id: card}, [], [])


@pytest.mark.parametrize(
    ("holds", "fails", "claims"),
    [
        (0.3, 0.01, [("prefer d", "place = web")]),
        (0.01, -0.3, [("avoid d", "place != web")]),
        (0.02, 0.3, [("prefer d", "place != web")]),
    ],
)
def test_a_conditional_claim_evidenced_on_one_side_is_revised_to_it(
    holds: float, fails: float, claims: list[tuple[str, str]]
):
    card = claim("d", cases=("1", "2"))
    held = judge(card, split_table(holds, fails))
    assert said(held.live.values()) == claims
    (edit,) = held.edits
    assert (edit.operator, edit.parents) == ("revise", (card.id,))
    child, gone = edit.writes
    assert (child.status, child.version, child.cases, child.key) == ("provisional", 1, card.cases, card.key)
    assert (child.provenance.parents, child.provenance.evidence) == ((card.id,), edit.evidence)
    assert (gone.status, gone.provenance.parents) == ("retired", (child.id,))


def test_a_conditional_claim_evidenced_on_both_sides_is_split_and_each_side_tests_its_own_direction():
    card = claim("d")
    held = judge(card, split_table(0.4, -0.2))
    assert said(held.live.values()) == [("avoid d", "place != web"), ("prefer d", "place = web")]
    (edit,) = held.edits
    assert (edit.operator, len(edit.writes)) == ("split", 3)
    for child in held.live.values():
        assert child.trial is not None
        assert child.stance is not None
        assert np.sign(child.trial.effect) == child.stance.sign == np.sign(child.fitness["click"].mean)
        assert child.fitness["click"].strata == 20
    needed = {str(c.stance): c.trial.needed for c in held.live.values() if c.trial}
    # 6.183 · 20 · 0.05² / (0.973 · effect / 2)²: four times as many for half the effect.
    assert needed == {"prefer d": 9, "avoid d": 33}


def test_a_conditional_claim_evidenced_on_no_side_is_judged_as_a_whole():
    assert judge(claim("d"), split_table(0.05, -0.05)).edits == []
    (edit,) = judge(claim("d"), split_table(0.05, -0.05, pooled=0.001)).edits
    assert edit.operator == "evict"


def test_a_confirmed_card_is_not_split_but_the_round_says_that_its_effect_depends():
    card = claim("d", status="active")
    held = judge(card, split_table(0.4, -0.2))
    assert (held.live, held.edits) == ({card.id: card}, [])
    assert [(r.subject, r.verdict) for r in held.refused] == [(card.id, "conditional")]


@pytest.mark.parametrize("prefer", [True, False])
def test_a_contradicted_card_becomes_its_opposite(prefer: bool):
    card = claim("d", prefer=prefer, cases=("1",), status="active")
    table = make_table({"d": -0.3 if prefer else 0.3})
    held = judge(card, table)
    (edit,) = held.edits
    child, gone = edit.writes
    assert (edit.operator, child.stance, gone.status) == ("revise", replace(card.stance, prefer=not prefer), "retired")
    assert (child.status, child.provenance.parents) == ("provisional", (card.id,))
    assert child.guidance == f"{'Avoid' if prefer else 'Prefer'} d."
    assert child.trial is not None
    assert child.trial.effect == pytest.approx(table.posterior_mean[0])


def test_a_card_contradicted_where_it_applies_is_turned_there_though_the_whole_supports_it():
    card = claim("d", when="place=web")
    held = judge(card, make_table({"d": 0.3}), here=side(-0.25))
    (child,) = held.live.values()
    assert (str(child.stance), str(child.when)) == ("avoid d", "place = web")
    assert child.trial is not None
    assert child.trial.effect < 0
    assert child.effect < 0


@pytest.mark.parametrize(
    ("card", "effect", "verdict"),
    [
        (claim("d"), 0.0, "null"),
        (claim("d"), 0.02, "insufficient"),
        (claim("d"), -0.08, "insufficient"),
        (claim("d", trial=trial(tested_at=NOW)), 0.05, "null"),
    ],
)
def test_a_provisional_claim_that_is_null_or_no_longer_plausible_is_evicted(card: Card, effect: float, verdict: str):
    held = judge(card, make_table({"d": effect}, verdicts={"d": verdict}))
    (edit,) = held.edits
    assert (edit.operator, edit.parents, held.live) == ("evict", (card.id,), {})
    assert verdict in edit.reason
    assert len(edit.evidence) == 1


def test_a_claim_that_was_not_confirmed_stays_while_its_sign_is_probable():
    card = claim("d", trial=trial(tested_at=NOW))
    assert judge(card, make_table({"d": 0.08}, verdicts={"d": "insufficient"})).live == {card.id: card}
    untested = claim("d", trial=trial())
    assert judge(untested, make_table({"d": 0.05}, verdicts={"d": "null"})).live == {untested.id: untested}


def test_a_confirmed_card_outlives_thin_evidence_but_not_an_always_valid_interval():
    card = claim("d", status="active", trial=trial(tested_at=NOW, confirmed=True))
    thin = make_table({"d": -0.02}, verdicts={"d": "insufficient"})
    assert judge(card, thin).live == {card.id: card}
    for table in (thin, split_table(0.4, -0.2)):
        (edit,) = judge(card, table, demote="against it").edits
        assert (edit.operator, edit.reason) == ("evict", "against it")


@pytest.mark.parametrize(("effect", "demote"), [(-0.3, ""), (0.1, "against it"), (-0.3, "against it")])
def test_a_card_that_replay_spares_stays_and_is_named(effect: float, demote: str):
    card = claim("d", status="active")
    held = judge(card, make_table({"d": effect}), demote=demote, spared=True)
    assert (held.live, held.edits) == ({card.id: card}, [])
    assert [(r.subject, r.verdict) for r in held.refused] == [(card.id, "refused")]
    assert "replay" in held.refused[0].reason


def test_field_report_3_where_the_opposite_does_not_stand_the_card_stays():
    card = claim("d")
    held = judge(card, make_table({"d": -0.3}), card_tokens=1)
    assert (held.live, held.edits) == ({card.id: card}, [])
    assert [r.subject for r in held.refused] == [card.id]
    assert "the card stays" in held.refused[0].reason


def test_a_card_without_evidence_or_stance_is_left_alone():
    bare, unknown = claim("d", stance=None), claim("unknown")
    held = draft(bare, unknown)
    judge_claims(
        held,
        {},
        make_table({"d": -0.3}),
        spared=frozenset(),
        demote={},
        describe=lambda _: None,
        rules=RULES,
        as_of=LATER,
    )
    assert (set(held.live), held.edits) == ({bare.id, unknown.id}, [])


def test_two_strata_where_a_card_applies_support_nothing():
    table = make_table({"d": 0.3})
    for strata, verdict in ((2, "insufficient"), (3, "supported")):
        row = on_side(table.row(0), replace(side(0.3), strata=strata), "place = web", table)
        assert (row.verdict, row.strata, row.df) == (verdict, strata, strata - 1)
    nowhere = world({"d": 0.3}, places=("web", "mail"), strata=20)
    card = claim("d", when="place=nowhere")
    found = nowhere.standing(card)[card.id]
    assert (found.verdict, found.fitness.mean, found.p_sign, found.row.strata) == ("insufficient", 0.0, 0.5, 0)


def test_a_collapsed_prior_contradicts_no_card_that_its_own_context_supports():
    found = world({"d": (0.6, 0.0)}, places=("web", "mail"), strata=60)
    card = claim("d", when="place=web")
    flat = replace(found.table(), prior_sd=0.0)
    held = draft(card)
    standing = standings([card], flat, found.items, found.cells())
    assert (standing[card.id].fitness.mean, standing[card.id].verdict) == (0.0, "supported")
    judge_claims(
        held,
        standing,
        flat,
        spared=frozenset(),
        demote={},
        describe=lambda _: None,
        rules=RULES,
        as_of=LATER,
    )
    assert all(card.stance and card.stance.prefer for card in held.live.values())


# Admission


def admit_from(
    held: RoundDraft, table: EvidenceTable, groups: dict[str, Duplicate] | None = None, **rules: int
) -> tuple[list[Card], list[Refusal]]:
    found = world(dict.fromkeys(table.names, 0.0), places=("web", "mail"), strata=8)
    pairs, refused = candidates(
        held,
        table,
        found.items,
        found.design,
        groups or {},
        scope="acme/push",
        bank="content",
        describe=lambda name: f"words for {name}",
        rules=replace(RULES, **rules),
        as_of=LATER,
    )
    return [card for card, _ in pairs], refused


def test_what_passes_admission_without_a_card_becomes_a_candidate_and_the_rest_is_named():
    table = make_table({"held": 0.3, "up": 0.2, "down": -0.2, "weak": 0.02, "copy": 0.3})
    cards, refused = admit_from(draft(claim("held")), table, {"copy": Duplicate(name="up", sign=1)})
    assert [(str(c.stance), c.key, c.guidance) for c in cards] == [
        ("prefer up", "words for up", "Prefer words for up."),
        ("avoid down", "words for down", "Avoid words for down."),
    ]
    assert all(c.provenance.parents == () and len(c.cases) == RULES.cases for c in cards)
    assert [(r.subject, r.verdict) for r in refused] == [("weak", "insufficient")]


def test_thin_evidence_admits_nothing_however_sure_its_sign():
    table = make_table({"d": 0.5}, enough=np.array([False]))
    cards, refused = admit_from(draft(), table)
    assert (cards, [r.subject for r in refused]) == ([], ["d"])


def test_only_the_most_promising_of_many_refusals_are_listed():
    table = make_table({f"d{i:02}": i * 1e-4 for i in range(40)})
    _, refused = admit_from(draft(), table)
    assert len(refused) == 31
    assert (refused[0].subject, refused[-1].subject) == ("d39", "10 more decisions")


@pytest.mark.parametrize(
    ("holds", "fails", "pooled", "claims"),
    [
        (0.3, 0.01, 0.1, [("prefer d", "place = web")]),
        (0.01, -0.3, -0.1, [("avoid d", "place != web")]),
        (0.3, -0.3, 0.0, [("prefer d", "place = web"), ("avoid d", "place != web")]),
        (0.05, -0.05, 0.1, []),
    ],
)
def test_a_conditional_decision_is_admitted_on_the_sides_that_are_evidenced(
    holds: float, fails: float, pooled: float, claims: list[tuple[str, str]]
):
    cards, refused = admit_from(draft(), split_table(holds, fails, pooled=pooled))
    assert [(str(c.stance), str(c.when)) for c in cards] == claims
    assert all(c.trial and c.stance and np.sign(c.trial.effect) == c.stance.sign for c in cards)
    assert [r.subject for r in refused] == ([] if claims else ["d"])
    place = {f"item-{i}": "web" if i // 4 % 2 == 0 else "mail" for i in range(32)}
    assert all(c.when.holds({"place": place[case]}) for c in cards for case in c.cases)


@pytest.mark.parametrize(
    ("held", "claims"),
    [
        (claim("d", when="place=web"), [("avoid d", "place != web")]),
        (claim("d", prefer=False, when="place!=web"), [("prefer d", "place = web")]),
        (claim("d"), []),
        (claim("d", when="tone=dry"), []),
    ],
)
def test_a_side_is_admitted_beside_a_card_of_the_other_side_alone(held: Card, claims: list[tuple[str, str]]):
    cards, _ = admit_from(draft(held), split_table(0.3, -0.3))
    assert said(cards) == claims


def test_a_card_that_would_be_too_long_is_refused_by_name():
    cards, refused = admit_from(draft(), make_table({"d": 0.3}), card_tokens=3)
    assert (cards, [(r.subject, r.verdict) for r in refused]) == ([], [("d", "refused")])


def test_what_a_round_retires_it_does_not_admit_again_but_the_opposite_may_come():
    card = claim("d")
    held = draft(card)
    expire_past(held, as_of=LATER, idle=frozenset([card.id]))
    assert admit_from(held, make_table({"d": 0.3}))[0] == []
    assert [str(c.stance) for c in admit_from(held, make_table({"d": -0.3}))[0]] == ["avoid d"]
