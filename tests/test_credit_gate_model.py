"""The model gate: votes, confidence, lessons, and which cards it may name."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from afterwit.credit.gate.model import ModelGate, Reflection
from afterwit.errors import BudgetSpent, OutputError
from afterwit.model import Ask, Card, Citation, Episode, Provenance, Step, content_hash

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EPISODE = Episode(
    id="e1",
    scope="a",
    task="refund the headphones",
    started_at=NOW,
    plan="Find the order. Refund the item.",
    steps=(Step(tool="find", arguments={"id": 7}, result="found"), Step(tool="refund", error="no such card")),
    success=False,
    feedback="the item was not refunded",
    citations=(Citation(decision="plan", cards=("used",)),),
)


def card(id_: str) -> Card:
    return Card(
        id=id_,
        scope="a",
        bank="planning",
        key="refund",
        guidance=f"guidance of {id_}",
        provenance=Provenance(operator="admit"),
        created_at=NOW,
        valid_from=NOW,
    )


def short(id_: str) -> str:
    return content_hash(id_)[:8]


def says(**fields: Any) -> Reflection:
    return Reflection.model_validate({"stage": "execution", "confidence": 80, "reason": "step 2", **fields})


def gate(*answers: Reflection | Exception, votes: int | None = None) -> tuple[ModelGate, list[Ask]]:
    asked: list[Ask] = []
    left = list(answers)

    def answer(ask: Ask) -> Reflection:
        asked.append(ask)
        found = left.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    found: Callable[[Ask], Reflection] = answer
    return ModelGate(answer=found, model="m", votes=votes or len(answers)), asked


def test_one_vote_is_asked_at_temperature_0_and_its_confidence_stands() -> None:
    advice = {"condition": "the order has two cards.", "action": "ask which one"}
    asks, asked = gate(says(execution_lesson=advice, planning_lesson=advice))
    found = asks(EPISODE, [])
    assert (found.stage, found.confidence, found.success) == ("execution", 0.8, False)
    assert set(found.lessons) == {"execution"}, "a stage that is not named teaches nothing"
    assert found.lessons["execution"].guidance == "When the order has two cards, ask which one."
    assert (asked[0].temperature, asked[0].seed, asked[0].purpose) == (0.0, 0, "gate")


def test_votes_differ_by_seed_and_confidence_is_agreement_times_what_is_stated() -> None:
    """2 of 3 say planning with 90 % and 60 %: c = 2/3 · 0.75."""
    asks, asked = gate(says(), says(stage="planning", confidence=90), says(stage="planning", confidence=60))
    found = asks(EPISODE, [])
    assert found.stage == "planning"
    assert found.confidence == pytest.approx(2 / 3 * 0.75)
    assert [(a.temperature, a.seed) for a in asked] == [(0.7, 0), (0.7, 1), (0.7, 2)]


def test_an_answer_that_cannot_be_used_is_a_vote_for_nothing() -> None:
    asks, _ = gate(OutputError("empty", "the answer is empty"), says())
    assert asks(EPISODE, []).confidence == pytest.approx(0.4)
    asks, _ = gate(OutputError("empty", "the answer is empty"), OutputError("cut", "the answer is cut off"))
    with pytest.raises(OutputError, match="cut off"):
        asks(EPISODE, [])


def test_a_spent_budget_is_not_swallowed() -> None:
    asks, _ = gate(says(), BudgetSpent("no calls left"))
    with pytest.raises(BudgetSpent):
        asks(EPISODE, [])


def test_only_cited_cards_are_shown_and_may_be_named() -> None:
    asks, asked = gate(says(helped=[short("used"), short("idle"), "deadbeef"], misleading=[short("idle")]))
    found = asks(EPISODE, [card("used"), card("idle")])
    assert found.helped == ("used",)
    assert found.misleading == ()
    prompt = asked[0].messages[0].content
    assert f"[{short('used')}] guidance of used" in prompt
    assert "guidance of idle" not in prompt


def test_a_card_is_named_by_more_than_half_of_the_agreeing_votes() -> None:
    yes, no = says(misleading=[short("used")]), says()
    assert gate(yes, yes, no)[0](EPISODE, [card("used")]).misleading == ("used",)
    assert gate(yes, no)[0](EPISODE, [card("used")]).misleading == ()


def test_the_prompt_holds_the_record_and_long_results_cut() -> None:
    long = Step(tool="read", result="x" * 5000)
    asks, asked = gate(says())
    asks(Episode(**{**EPISODE.__dict__, "steps": (*EPISODE.steps, long)}), [])
    prompt = asked[0].messages[0].content
    for part in (
        EPISODE.task,
        EPISODE.plan or "",
        "find(id=7) -> found",
        "refund() -> ERROR no such card",
        "failure. the",
    ):
        assert part in prompt
    assert len(prompt) < 3000
