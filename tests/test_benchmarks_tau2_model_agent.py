"""A model as the agent: it is shown tools, notes and results, its calls are run, and what it follows is cited."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from afterwit import models
from afterwit.benchmarks.tau2.environment import Call, Ran, Tau2Task, Tool
from afterwit.benchmarks.tau2.learning import model_learning
from afterwit.benchmarks.tau2.model_agent import ModelAgent, Next, Planned, Speaker
from afterwit.credit.gate.evidence import EvidenceGate
from afterwit.errors import BudgetSpent
from afterwit.evaluate.chime.protocol import ChimeRules
from afterwit.model import Ask, Card, Provenance, Reply, Stage, Step
from afterwit.ports import Chat, HashEmbedder, ScriptedChat

TASKS = tuple(
    Tau2Task(
        id=str(n),
        said=f"Refund order W{n}.",
        calls=(Call(by="assistant", tool="refund_order", arguments={"order_id": f"W{n}"}),),
    )
    for n in range(10)
)
REFUND = '{"done": false, "tool": "refund_order", "arguments": {"order_id": "W0"}, "followed": ["%s"]}'
DONE = '{"done": true}'
PLAN = '{"plan": "Refund the order.", "followed": ["%s"]}'


class Shop:
    """One tool, and a verifier that wants exactly the order that was asked for."""

    def tasks(self, domain: str) -> tuple[Tau2Task, ...]:
        return TASKS

    def tools(self, domain: str) -> tuple[Tool, ...]:
        schema = {"order_id": {"type": "string"}}
        return (Tool(by="assistant", name="refund_order", required=("order_id",), about="Refunds.", parameters=schema),)

    def run(self, domain: str, task: str, calls: Sequence[Call]) -> Ran:
        steps = tuple(
            Step(tool=c.tool, arguments=c.arguments, result="refunded")
            if c.tool == "refund_order"
            else Step(tool=c.tool, arguments=c.arguments, error=f"no tool {c.tool}")
            for c in calls
        )
        return Ran(steps=steps, success=[c.arguments for c in calls] == [{"order_id": f"W{task}"}])


NOW = datetime(2026, 1, 1, tzinfo=UTC)
NOTE = Card(
    id="0123456789abcdef",
    scope="a",
    bank="execution",
    key="refund",
    guidance="When a step calls refund order, take its order id from the task.",
    provenance=Provenance(operator="admit"),
    created_at=NOW,
    valid_from=NOW,
)


def agent(chat: Chat, *, most: int | None = None, steps: int = 30) -> ModelAgent:
    speaker = Speaker(
        planned=models.asking(chat, Planned), next_call=models.asking(chat, Next), model=chat.name, steps=steps
    )
    return ModelAgent(Shop(), speaker, ["shop"], most=most)


def recall(stage: Stage, query: str) -> Sequence[Card]:
    return (NOTE,) if stage == "execution" else ()


def test_it_plans_calls_and_stops_and_cites_the_notes_that_it_followed() -> None:
    chat = ScriptedChat(PLAN % "unknown", REFUND % NOTE.id[:8], DONE)
    episode = agent(chat).serve("shop", "0", recall, seed=3)
    assert (episode.success, episode.plan) == (True, "Refund the order.")
    assert [(c.decision, c.cards) for c in episode.citations] == [("step 1", (NOTE.id,))]
    plan, first, second = (ask.messages[-1].content for ask in chat.asked)
    assert "refund_order (assistant): Refunds." in plan
    assert NOTE.guidance in first
    assert '{"order_id": {"type": "string"}}' in first
    assert 'refund_order({"order_id": "W0"}) -> refunded' in second
    assert {ask.seed for ask in chat.asked} == {3}


def test_a_wrong_call_fails_and_a_tool_that_is_not_there_answers_with_an_error() -> None:
    wrong = '{"done": false, "tool": "fly", "arguments": {}}'
    chat = ScriptedChat(PLAN % "", wrong, DONE)
    episode = agent(chat).serve("shop", "0", recall, seed=0)
    assert (episode.success, episode.steps[0].error) == (False, "no tool fly")
    assert "ERROR no tool fly" in chat.asked[-1].messages[-1].content


def test_an_agent_that_never_ends_is_stopped() -> None:
    episode = agent(ScriptedChat(PLAN % "", REFUND % ""), steps=4).serve("shop", "0", recall, seed=0)
    assert len(episode.steps) == 4


def test_answers_that_cannot_be_used_end_the_task_and_say_so_but_a_spent_budget_ends_the_run() -> None:
    episode = agent(ScriptedChat(PLAN % "", "", "")).serve("shop", "0", recall, seed=0)
    assert (episode.success, episode.steps) == (False, ())
    assert "gave no usable answer" in (episode.feedback or "")
    with pytest.raises(BudgetSpent):
        agent(ScriptedChat(BudgetSpent("no calls are left"))).serve("shop", "0", recall, seed=0)


def test_the_whole_protocol_runs_on_a_model() -> None:
    class Echo:
        """Plans, refunds W0 whatever is asked, and stops: right for one task in ten."""

        name = "echo"

        def __call__(self, ask: Ask) -> Reply:
            text = ask.messages[-1].content
            reply = PLAN % "" if "Write a plan" in text else DONE if "-> refunded" in text else REFUND % ""
            return Reply(text=reply, input_tokens=1, output_tokens=1)

    made = agent(Echo(), most=7)
    gate = EvidenceGate(replay=made.replay)
    record = model_learning(made, HashEmbedder(), gate, rules=ChimeRules(orders=1))
    assert set(record.policies) >= {"none", "chime", "outcome_only", "self_judged", "chime:no_attribution"}
    assert record.data["agent"] == "tau2:echo"
    assert json.dumps(record.to_json())
