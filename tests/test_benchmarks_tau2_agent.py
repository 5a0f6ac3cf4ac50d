"""The learning agent on a hand-made shop: what it forgets and gives wrongly, and which cards prevent it."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from afterwit.benchmarks.tau2.agent import LearningAgent, Mix, forgotten, habits, misgiven
from afterwit.benchmarks.tau2.environment import Call, Ran, Tau2Task, Tool
from afterwit.benchmarks.tau2.learning import learning
from afterwit.benchmarks.tau2.reasoning_bank import reasoning_bank
from afterwit.credit.gate.evidence import EvidenceGate
from afterwit.credit.gate.writer import Writer
from afterwit.evaluate.chime.policies import StagePolicy
from afterwit.evaluate.chime.protocol import ChimeRules
from afterwit.model import Card, Episode, Provenance, Stage, Step
from afterwit.ports import HashEmbedder

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TOOLS = (
    Tool(by="assistant", name="find_order", required=("order_id",), changes=False),
    Tool(by="assistant", name="cancel_order", required=("order_id", "reason")),
    Tool(by="assistant", name="refund_order", required=("order_id", "card_id")),
    Tool(by="assistant", name="exchange_order_items", required=("order_id",)),
)
ALWAYS = Mix(planning=1, execution=1, outside=0, kinds=1)
NEVER = Mix(planning=0, execution=0, outside=0)


def call(tool: str, **arguments: str) -> Call:
    return Call(by="assistant", tool=tool, arguments=arguments)


def task(number: int) -> Tau2Task:
    """Cancelled orders with a refund that the customer asks for, and every third one is for an exchange."""
    order = f"W{number + 100}"
    if number % 3 == 2:
        calls = (call("find_order", order_id=order), call("exchange_order_items", order_id=order))
        return Tau2Task(id=str(number), said=f"Exchange the items of order {order}.", calls=calls)
    calls = (
        call("find_order", order_id=order),
        call("cancel_order", order_id=order, reason="late"),
        call("refund_order", order_id=order, card_id=f"card{number}"),
    )
    said = f"Cancel order {order}, it is late. Refund the order to card{number}."
    return Tau2Task(id=str(number), said=said, calls=calls)


class Shop:
    """A verifier that wants exactly the right changes."""

    def tasks(self, domain: str) -> tuple[Tau2Task, ...]:
        return tuple(task(number) for number in range(30))

    def tools(self, domain: str) -> tuple[Tool, ...]:
        return TOOLS

    def run(self, domain: str, task_id: str, calls: Sequence[Call]) -> Ran:
        steps = tuple(
            Step(tool=c.tool, arguments=c.arguments, result=None if c.fault else "done", error=c.fault) for c in calls
        )
        changes = [(c.tool, dict(c.arguments)) for c in calls if c.tool != "find_order" and not c.fault]
        right = [(c.tool, dict(c.arguments)) for c in task(int(task_id)).calls if c.tool != "find_order"]
        return Ran(steps=steps, success=sorted(map(str, changes)) == sorted(map(str, right)))


def card(bank: str, guidance: str) -> Card:
    return Card(
        id=guidance,
        scope="tau2-agent/shop/0",
        bank=bank,
        key="k",
        guidance=guidance,
        provenance=Provenance(operator="admit"),
        created_at=NOW,
        valid_from=NOW,
    )


CANCEL = card("planning", "When the task speaks of cancel, give cancel order a step of its own in the plan.")
EXCHANGE = card("planning", "When the task speaks of order, give exchange order items a step of its own in the plan.")
REASON = card("execution", "When a step calls cancel order, check its reason against what the task asks.")
OTHER = card("execution", "When a step calls refund order, take its card id word for word from the task.")


def served(*cards: Card, mix: Mix = ALWAYS, number: str = "0") -> Episode:
    def recall(stage: Stage, query: str) -> Sequence[Card]:
        return [one for one in cards if one.bank == stage]

    return LearningAgent(Shop(), ["shop"], mix=mix).serve("shop", number, recall, seed=0)


def tools_of(episode: Episode) -> list[str]:
    return [step.tool for step in episode.steps]


def test_what_cards_say_is_read_from_their_sentences() -> None:
    assert forgotten(CANCEL, "Please CANCEL it") == {"cancel_order"}
    assert forgotten(CANCEL, "Please refund it") == frozenset()
    assert misgiven(REASON) == {("cancel_order", "reason")}
    assert misgiven(CANCEL) == forgotten(REASON, "a step calls cancel order") == frozenset()
    both = card("shared", f"{CANCEL.guidance} {REASON.guidance}")
    assert (forgotten(both, "cancel"), misgiven(both)) == ({"cancel_order"}, {("cancel_order", "reason")})


def test_habits_are_the_commonest_occasions() -> None:
    found = habits(Shop().tasks("shop"), TOOLS, 1)
    assert found.forgets == ("cancel_order",)
    assert found.misgives == (("cancel_order", "reason"),)


def test_without_mistakes_it_succeeds_and_cites_nothing() -> None:
    episode = served(CANCEL, REASON, mix=NEVER)
    assert episode.success
    assert episode.citations == ()
    assert episode.recalled == ()


def test_only_cards_of_both_stages_prevent_both_mistakes() -> None:
    assert tools_of(served()) == ["find_order", "refund_order"]
    assert not served().success
    assert tools_of(served(CANCEL)) == ["find_order", "cancel_order", "refund_order"]
    assert not served(CANCEL).success
    assert not served(REASON).success
    assert not served(CANCEL, OTHER).success
    good = served(CANCEL, REASON)
    assert good.success
    assert [(c.decision, c.cards) for c in good.citations] == [("plan", (CANCEL.id,)), ("step 2", (REASON.id,))]


def test_a_planning_card_with_a_wrong_cue_brings_in_what_nobody_asked_for() -> None:
    episode = served(EXCHANGE, mix=NEVER)
    assert tools_of(episode)[-1] == "exchange_order_items"
    assert not episode.success
    assert [c.cards for c in episode.citations] == [(EXCHANGE.id,)]
    gate = EvidenceGate(replay=LearningAgent(Shop(), ["shop"], mix=NEVER).replay)
    found = gate(episode, [EXCHANGE])
    assert (found.stage, found.misleading) == ("planning", (EXCHANGE.id,))


@pytest.mark.parametrize(
    ("mix", "cards", "verdict"),
    [
        (Mix(planning=1, execution=0, outside=0, kinds=1), (), "planning"),
        (ALWAYS, (CANCEL,), "execution"),
        (Mix(planning=0, execution=0, outside=1), (), "neither"),
    ],
)
def test_the_gate_names_the_cause_of_its_mistakes(mix: Mix, cards: tuple[Card, ...], verdict: str) -> None:
    gate = EvidenceGate(replay=LearningAgent(Shop(), ["shop"], mix=mix).replay)
    assert gate(served(*cards, mix=mix), []).stage == verdict


def test_what_the_gate_learns_prevents_the_same_mistake_in_another_task() -> None:
    gate = EvidenceGate(replay=LearningAgent(Shop(), ["shop"], mix=ALWAYS).replay)
    (plan,) = gate(served(number="0"), []).lessons.values()
    (step,) = gate(served(CANCEL, number="0"), []).lessons.values()
    (again,) = gate(served(number="1"), []).lessons.values()
    assert plan == again
    cards = (card("planning", plan.guidance), card("execution", step.guidance))
    assert served(*cards, number="4").success


def test_the_writer_writes_for_both_stages_whatever_the_cause_and_of_successes_too() -> None:
    twice = Mix(planning=1, execution=1, outside=0, kinds=2)
    writer = Writer(replay=LearningAgent(Shop(), ["shop"], mix=twice).replay)
    found = writer(served(CANCEL, mix=twice), [])
    assert (found.stage, set(found.lessons)) == ("both", {"planning", "execution"})
    guessed = Writer(replay=LearningAgent(Shop(), ["shop"], mix=ALWAYS).replay)(served(CANCEL), [])
    assert guessed.lessons["planning"].key == "exchange order items", "nothing shows, and yet something is written"
    won = writer(served(mix=NEVER), [])
    assert {stage: lesson.key for stage, lesson in won.lessons.items()} == {"planning": "cancel order"}


def test_a_bank_that_appends_keeps_every_episode_and_the_agent_does_as_a_like_task_that_worked() -> None:
    recorder = Writer(replay=LearningAgent(Shop(), ["shop"], mix=ALWAYS).replay, cases=True)
    won = recorder(served(mix=NEVER, number="2"), [])
    assert set(won.lessons) == {"planning", "execution"}
    kept = card("planning", recorder(served(mix=NEVER), []).lessons["execution"].guidance)
    assert forgotten(kept, "Cancel order W2") == {"cancel_order"}
    assert forgotten(kept, "Good morning") == frozenset()
    lost = card(
        "planning", recorder(served(mix=Mix(planning=0, execution=0, outside=1)), []).lessons["execution"].guidance
    )
    assert forgotten(lost, "Cancel order W2") == frozenset()


def test_true_cards_speak_against_a_habit() -> None:
    agent = LearningAgent(Shop(), ["shop"], mix=ALWAYS)
    said = [agent.true(one) for one in (CANCEL, REASON, EXCHANGE, OTHER, card("planning", "be careful"))]
    assert said == [True, True, False, False, None]


def test_memory_that_attributes_learns_the_shop_and_is_small() -> None:
    record = learning(Shop(), ["shop"], HashEmbedder(), rules=ChimeRules(orders=1), mix=ALWAYS, other=ALWAYS)
    figures = record.policies
    assert figures["chime"]["success"].value > figures["none"]["success"].value
    assert figures["chime"]["memories"].value < figures["outcome_only"]["memories"].value
    assert record.counts == {"shop:judged": 9}
    lent, own = figures["transfer:chime"]["success"], figures["transfer:own_bank"]["success"]
    assert figures["transfer:none"]["success"].value < min(lent.value, own.value)
    assert 0 <= figures["chime"]["rescued"].value <= 1


def test_the_reasoning_bank_package_learns_with_the_same_writer() -> None:
    pytest.importorskip("reasoning_bank", reason="reasoning-bank is not installed")
    writer = Writer(replay=LearningAgent(Shop(), ["shop"], mix=ALWAYS).replay)
    made = reasoning_bank(writer)(StagePolicy(name="r", gate=writer), HashEmbedder(), scope="s")
    assert (made.cards, list(made.recall("planning", "cancel", at=NOW))) == ((), [])
    for number in ("0", "1", "3"):
        made.learn(served(mix=NEVER, number=number), [])
    assert len(made.cards) == 1, "like memories are one"
    found = made.recall("planning", "Cancel order W1, it is late.", at=NOW)
    assert "cancel_order" in {tool for one in found for tool in forgotten(one, "cancel it")}
    assert made.closed(served())[1] == tuple(found)
