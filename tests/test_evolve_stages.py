"""Planning and execution banks: values, lessons, merging, pruning, capacity (design section 8)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from afterwit.evolve.stages.actionable import why_not_actionable
from afterwit.evolve.stages.round import rewards, stage_round
from afterwit.evolve.stages.rules import StageRules
from afterwit.model import Attribution, Bank, Card, Episode, Lesson, Provenance, Round, Stage, StageVerdict, fold
from afterwit.ports import Capacity

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EPISODE = Episode(id="e1", scope="a", task="refund", started_at=NOW, success=False, feedback="the wrong card was paid")
KEYS = {"refund an order": (1, 0, 0), "refund an item": (0.9, 0.43589, 0), "change a flight": (0, 0, 1)}


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.array([KEYS.get(text, (0, 1, 0)) for text in texts], dtype=np.float32)


def lesson(key: str = "refund an order", action: str = "ask which card to pay", stage: Stage = "execution") -> Lesson:
    return Lesson(stage=stage, key=key, condition="an order has two cards", action=action)


def said(
    *lessons: Lesson,
    episode: str = "e1",
    stage: StageVerdict = "execution",
    confidence: float = 0.8,
    success: bool = False,
    helped: tuple[str, ...] = (),
    misleading: tuple[str, ...] = (),
) -> Attribution:
    return Attribution(
        episode_id=episode,
        stage=stage,
        confidence=confidence,
        success=success,
        lessons={one.stage: one for one in lessons},
        helped=helped,
        misleading=misleading,
        reason="step 2 departs from the plan",
    )


def card(id_: str, *, key: str = "refund an order", value: float = 0.0, uses: int = 0, age: int = 0) -> Card:
    at = NOW - timedelta(days=age)
    return Card(
        id=id_,
        scope="a",
        bank="execution",
        key=key,
        guidance=f"When {id_} holds, do {id_}.",
        value=value,
        uses=uses,
        weight=float(uses),
        provenance=Provenance(operator="admit", round_id="r0"),
        created_at=at,
        valid_from=at,
    )


def run(cards: Sequence[Card], *attributions: Attribution, **rules: object) -> Round:
    return stage_round(
        Bank(scope="a", name="execution", version=1, cards=tuple(cards)),
        attributions,
        {a.episode_id: replace(EPISODE, id=a.episode_id) for a in attributions},
        stages=frozenset(("execution",)),
        vectors={c.id: embed([c.key])[0] for c in cards},
        embed=embed,
        as_of=NOW,
        rules=replace(StageRules(), **rules),  # type: ignore[arg-type]
        round_id="r1",
    )


def after(cards: Sequence[Card], round_: Round) -> Mapping[str, Card]:
    return {i: c for i, c in ({c.id: c for c in cards} | fold(round_.edits)).items() if c.live}


def test_a_lesson_becomes_a_card_with_its_episode_as_case() -> None:
    round_ = run([], said(lesson()))
    (made,) = after([], round_).values()
    assert made.guidance == "When an order has two cards, ask which card to pay."
    assert (made.key, made.bank, made.cases, made.value, made.uses) == ("refund an order", "execution", ("e1",), 0, 0)
    assert (made.status, made.provenance.operator, made.provenance.round_id) == ("provisional", "admit", "r1")
    assert run([], said(lesson())) == round_


def test_a_lesson_near_in_key_joins_its_card_and_one_further_off_does_not() -> None:
    """The cosine of the keys is 0.90 for the one, 0 for the other; 0.88 is the bound."""
    kept = card("k", value=0.5, uses=2)
    joined = after([kept], run([kept], said(lesson("refund an item"))))["k"]
    assert joined.guidance == "When k holds, do k. When an order has two cards, ask which card to pay."
    assert (joined.value, joined.uses, joined.cases, joined.provenance.parents) == (0.5, 2, ("e1",), ("k",))
    assert len(after([kept], run([kept], said(lesson("change a flight"))))) == 2


def test_the_same_lesson_again_only_adds_its_case() -> None:
    first = after([], run([], said(lesson())))
    second = after(tuple(first.values()), run(tuple(first.values()), said(lesson(), episode="e2")))
    (made,) = second.values()
    assert made.cases == ("e1", "e2")
    assert made.guidance.count("ask which card") == 1


@pytest.mark.parametrize(("value", "refused"), [(0.4, True), (-0.05, False)])
def test_a_full_card_of_value_keeps_its_text(value: float, refused: bool) -> None:
    kept = card("k", value=value, uses=1)
    room = kept.tokens + 3
    round_ = run([kept], said(lesson(action="ask")), card_tokens=room)
    assert bool(round_.refused) == refused
    assert ("do k" in after([kept], round_)["k"].guidance) == refused


@pytest.mark.parametrize(
    ("attribution", "reason"),
    [
        (said(lesson(), confidence=0.49), "confidence 0.49, 0.5 is needed"),
        (said(lesson(action=" ")), "it names no action"),
        (said(replace(lesson(), condition="")), "it names no condition"),
        (said(lesson(action="the task was not done right")), "its action restates the outcome"),
        (said(lesson(action="an order has two cards")), "its action restates its condition"),
        (said(lesson(action="the wrong card paid")), "its action restates the feedback"),
        (said(lesson(action="ask " * 200)), "longer than 120 tokens"),
    ],
)
def test_a_lesson_that_cannot_be_acted_on_is_refused_aloud(attribution: Attribution, reason: str) -> None:
    round_ = run([], attribution)
    assert [r.reason for r in round_.refused] == [reason]
    assert round_.edits == ()


def test_lessons_of_the_other_stage_stay_out() -> None:
    assert run([], said(lesson(stage="planning"), stage="planning")).edits == ()


def test_a_lesson_in_another_language_is_no_restatement() -> None:
    found = Lesson(stage="execution", key="退款", condition="订单有两张卡", action="先问清退到哪张卡")
    assert why_not_actionable(found, EPISODE) is None


def test_values_by_hand() -> None:
    """v = 0.5, W = 2; helped at c = 0.8: W = 2.8, v = 0.5 + 0.8·0.5/2.8. Then misled at c = 0.6: W = 3.4."""
    kept = card("k", value=0.5, uses=2)
    first = said(episode="e1", success=True, helped=("k",), confidence=0.8)
    second = said(episode="e2", misleading=("k",), confidence=0.6)
    found = after([kept], run([kept], first, second))["k"]
    v = 0.5 + 0.8 * 0.5 / 2.8
    assert found.weight == pytest.approx(3.4)
    assert found.value == pytest.approx(v + 0.6 * (-1 - v) / 3.4)
    assert (found.uses, found.status, found.version) == (4, "active", 2)
    assert found.provenance.evidence == ("e1", "e2")


def test_only_the_stage_that_earned_it_rewards_its_cards() -> None:
    stages: frozenset[Stage] = frozenset(("execution",))
    assert rewards([said(stage="planning", success=True, helped=("k",))], stages) == []
    assert rewards([said(stage="neither", misleading=("k",))], stages) == []
    assert rewards([said(stage="both", success=True, helped=("k",))], stages) == [("k", 1.0, 0.8)]
    assert rewards([said(stage="execution", success=False, helped=("k",))], stages) == []


def test_a_card_that_misleads_is_pruned_after_three_uses() -> None:
    kept = card("k", value=-0.2, uses=2)
    assert "k" in after([kept], run([kept]))
    assert "k" not in after([kept], run([kept], said(misleading=("k",))))


@given(
    values=st.lists(st.tuples(st.floats(-0.1, 1), st.integers(0, 9), st.integers(0, 400)), max_size=12),
    room=st.integers(1, 6),
    tokens=st.integers(10, 200),
)
def test_the_bank_is_within_capacity_after_every_round(
    values: list[tuple[float, int, int]], room: int, tokens: int
) -> None:
    """Law 5, and the cards kept are those of the highest shrunken value where none is provisional."""
    cards = [replace(card(f"c{i}", value=v, uses=n, age=age), status="active") for i, (v, n, age) in enumerate(values)]
    kept = after(cards, run(cards, capacity=Capacity(cards=room, tokens=tokens)))
    assert len(kept) <= room
    assert sum(c.tokens for c in kept.values()) <= tokens
    if tokens >= 200:
        shrunken = sorted((c.value * c.uses / (c.uses + 3) for c in cards), reverse=True)[:room]
        assert sorted((c.value * c.uses / (c.uses + 3) for c in kept.values()), reverse=True) == shrunken


def test_a_person_s_card_and_new_lessons_outlast_proven_ones() -> None:
    mine = replace(card("mine"), provenance=Provenance(operator="add", trust="user"))
    proven = [replace(card(f"p{i}", value=0.9, uses=9), status="active") for i in range(5)]
    kept = after([mine, *proven], run([mine, *proven], said(lesson("change a flight")), capacity=Capacity(cards=5)))
    assert "mine" in kept
    assert sum(c.status == "provisional" for c in kept.values()) == 2
    assert sum(i.startswith("p") for i in kept) == 3
