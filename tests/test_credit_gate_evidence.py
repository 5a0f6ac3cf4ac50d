"""The evidence gate: every verdict from a record worked out by hand."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from afterwit.credit.gate.evidence import EvidenceGate, Replayed
from afterwit.credit.gate.record import departures, external_faults, unsupported
from afterwit.evolve.stages.actionable import why_not_actionable
from afterwit.model import Card, Citation, Episode, Provenance, Stage, StageVerdict, Step

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GOOD = (
    Step(tool="find_order", arguments={"order_id": "W23"}, result="order W23, card 4242"),
    Step(tool="refund_order", arguments={"order_id": "W23", "card": "4242"}, result="done"),
)
EPISODE = Episode(
    id="e",
    scope="a",
    task="Refund order W23. Then send the customer a written apology by email.",
    started_at=NOW,
    plan="Find the order. Refund the order to its card.",
    steps=GOOD,
    success=False,
    feedback="the database is not as it should be",
)
WRONG = (GOOD[0], Step(tool="refund_order", arguments={"order_id": "W23", "card": "9999"}, result="done"))
OUTSIDE = (GOOD[0], replace(GOOD[1], result=None, error="503 service unavailable"))


def said(steps: tuple[Step, ...], *, plan: str | None = EPISODE.plan, success: bool = False) -> StageVerdict:
    return EvidenceGate()(replace(EPISODE, steps=steps, plan=plan, success=success), []).stage


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        (GOOD, "planning"),
        (WRONG, "execution"),
        (OUTSIDE, "neither"),
        ((*OUTSIDE, GOOD[1]), "planning"),
        ((*GOOD, Step(tool="cancel_flight", arguments={"order_id": "W23"})), "execution"),
        ((GOOD[0], replace(GOOD[1], error="the card does not belong to the order")), "execution"),
        ((), "execution"),
    ],
)
def test_a_failure_is_told_by_elimination(steps: tuple[Step, ...], verdict: StageVerdict) -> None:
    assert said(steps) == verdict


def test_a_success_is_credited_to_what_earned_it() -> None:
    assert said(GOOD, success=True) == "both"
    assert said(GOOD, plan=None, success=True) == "execution"
    assert said((*GOOD, Step(tool="cancel_flight")), success=True) == "execution"


@pytest.mark.parametrize(
    ("works", "steps", "verdict", "confidence"),
    [
        (False, GOOD, "planning", 0.9),
        (False, WRONG, "both", 0.9),
        (True, WRONG, "execution", 0.9),
        (True, OUTSIDE, "neither", 0.9),
        (True, GOOD, "execution", 0.5),
    ],
)
def test_a_faithful_replay_separates_planning_from_the_rest(
    works: bool, steps: tuple[Step, ...], verdict: StageVerdict, confidence: float
) -> None:
    gate = EvidenceGate(replay=lambda _: Replayed(success=works, steps=GOOD))
    found = gate(replace(EPISODE, steps=steps), [])
    assert (found.stage, found.confidence) == (verdict, confidence)


def test_without_a_fresh_copy_the_record_decides() -> None:
    gate = EvidenceGate(replay=lambda _: None)
    assert (gate.name, gate(replace(EPISODE, steps=WRONG), []).confidence) == ("evidence+replay", 0.7)


def test_an_external_fault_that_was_made_good_is_none() -> None:
    assert external_faults(replace(EPISODE, steps=(*OUTSIDE, GOOD[1]))) == []
    assert external_faults(replace(EPISODE, steps=(replace(GOOD[0], error="order W5023 not found"),))) == []


def test_arguments_may_come_from_the_task_its_context_or_an_earlier_result() -> None:
    assert unsupported(EPISODE) == []
    (found,) = unsupported(replace(EPISODE, steps=WRONG))
    assert (found.step, found.tool, found.argument, found.told) == (2, "refund_order", "card", "9999")
    nested = Step(tool="refund_order", arguments={"items": [{"sku": "A-77"}], "fast": True, "n": 1})
    assert [f.argument for f in unsupported(replace(EPISODE, steps=(nested,)))] == ["sku"]
    assert unsupported(replace(EPISODE, steps=(nested,), context={"sku": "A-77"})) == []


def test_steps_and_sentences_that_do_not_meet() -> None:
    assert departures(EPISODE) == []
    assert [
        f.kind for f in departures(replace(EPISODE, steps=GOOD[:1], plan="Find the order. Upgrade the cabin."))
    ] == ["undone"]
    assert departures(replace(EPISODE, plan=None)) == []


def test_the_cards_of_the_stage_that_is_to_blame_misled_and_law_1_leaves_out_the_others() -> None:
    def card(id_: str, bank: Stage) -> Card:
        origin = Provenance(operator="admit")
        return Card(
            id=id_, scope="a", bank=bank, key="k", guidance="g", provenance=origin, created_at=NOW, valid_from=NOW
        )

    cards = [card("p", "planning"), card("x", "execution"), card("idle", "execution")]
    cited = (Citation(decision="plan", cards=("p",)), Citation(decision="step 2", cards=("x",)))
    failed = EvidenceGate()(replace(EPISODE, steps=WRONG, citations=cited), cards)
    assert (failed.helped, failed.misleading) == ((), ("x",))
    worked = EvidenceGate()(replace(EPISODE, success=True, citations=cited), cards)
    assert (worked.helped, worked.misleading) == (("p", "x"), ())


def test_lessons_name_a_condition_and_an_action_and_nothing_of_this_task_alone() -> None:
    one = EvidenceGate()(replace(EPISODE, steps=WRONG), [])
    lesson = one.lessons["execution"]
    assert lesson.key == "refund order: card"
    assert "9999" not in lesson.guidance
    assert "W23" not in lesson.guidance
    assert why_not_actionable(lesson, EPISODE) is None
    planning = EvidenceGate()(EPISODE, []).lessons["planning"]
    assert planning.key == "Then send the customer a written apology by email"
    assert why_not_actionable(planning, EPISODE) is None


def test_a_record_that_says_nothing_teaches_nothing() -> None:
    found = EvidenceGate()(replace(EPISODE, task="Refund order W23."), [])
    assert (found.stage, dict(found.lessons)) == ("planning", {})
