"""BFCL through the adapter: how a model is asked and answered, and the benchmark's own checkers on its own answers."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from afterwit import models
from afterwit.benchmarks.bfcl.environment import CATEGORIES, TURNS, Bfcl, Entry, Verdict
from afterwit.benchmarks.bfcl.play import MORE, STEPS, Answer, Call, Calls, Player, text_of
from afterwit.benchmarks.bfcl.score import score
from afterwit.digest.extractive import Extractive
from afterwit.errors import BudgetSpent, InputError, UsageError
from afterwit.ports import Chat, HashEmbedder, ScriptedChat

MOVE = {"name": "mv", "description": "Moves a file.", "parameters": {"type": "dict", "properties": {}}}
COPY = {**MOVE, "name": "cp"}
ONE = Entry(id="live_1", turns=(({"role": "user", "content": "Move a to b."},),), functions=(MOVE,), later={})
TWO = Entry(
    id="turns_1",
    turns=(({"role": "user", "content": "Move a."},), ()),
    functions=(MOVE,),
    later={1: (COPY,)},
)
NAME = Entry(
    id="memory_1",
    turns=(({"role": "user", "content": "What is my name?"},),),
    functions=(),
    later={},
    scenario="customer",
)
# The published references of these allow no value of an argument that must be given.
NO_ANSWER = {"live_simple_106-63-0", "live_simple_112-68-0"}
MV = json.dumps({"calls": [{"name": "mv", "arguments": {"source": "a'b", "n": 2}}]})
NOTHING = '{"calls": []}'


class Pretended(Bfcl):
    """A world without a worker: it runs what it is given, and wants one call a turn."""

    def __init__(self) -> None:
        self.executed: list[tuple[str, str]] = []

    def entries(self, category: str) -> tuple[Entry, ...]:
        return (TWO,) if category in TURNS else (NAME,) if category == "memory" else (ONE,)

    def conversations(self) -> dict[str, tuple[str, ...]]:
        return {"customer": ("My name is Michael.", "I live in Seattle.", "I like coffee.")}

    def execute(self, category: str, entry: str, session: str, calls: Sequence[str]) -> list[str]:
        self.executed += [(session, call) for call in calls]
        return [f"ran {call}" for call in calls]

    def check(self, category: str, entry: str, session: str, answer: Any) -> Verdict:
        right = "Michael" in answer if category == "memory" else bool(answer)
        return Verdict(valid=right)


def player(chat: Chat) -> Player:
    return Player(calls=models.asking(chat, Calls), answer=models.asking(chat, Answer), model=chat.name)


def test_a_call_is_written_as_python_reads_it() -> None:
    assert text_of(Call(name="mv", arguments={"source": "a'b", "n": 2, "x": [True, None]})) == (
        'mv(source="a\'b", n=2, x=[True, None])'
    )
    assert text_of(Call(name="ls")) == "ls()"


def test_one_request_becomes_calls_as_the_checker_wants_them() -> None:
    chat = ScriptedChat(MV)
    assert player(chat).live(ONE) == [{"mv": {"source": "a'b", "n": 2}}]
    system, user = chat.asked[0].messages
    assert '"name": "mv"' in system.content
    assert user.content == "Move a to b."


def test_turns_go_on_until_no_call_comes_and_functions_may_come_later() -> None:
    world, chat = Pretended(), ScriptedChat(MV, NOTHING, MV, NOTHING)
    played = player(chat).turns(world, "multi_turn_base", TWO, "s1")
    call = 'mv(source="a\'b", n=2)'
    assert played == [[[call]], [[call]]]
    assert world.executed == [("s1", call)] * 2
    assert f"{call} -> ran {call}" in chat.asked[1].messages[-1].content
    assert '"name": "cp"' not in chat.asked[0].messages[0].content
    assert '"name": "cp"' in chat.asked[2].messages[0].content
    assert chat.asked[2].messages[-1].content == MORE


def test_a_turn_that_never_ends_is_stopped() -> None:
    first, _ = player(ScriptedChat(MV)).turns(Pretended(), "multi_turn_base", TWO, "s")
    assert len(first) == STEPS


def test_every_category_is_scored_and_answers_that_cannot_be_used_are_counted() -> None:
    chat = ScriptedChat(MV, MV, NOTHING, MV, NOTHING, '{"answer": "Michael"}')
    record = score(Pretended(), player(chat), HashEmbedder(), ["live_simple", "multi_turn_base", "memory"])
    figures = record.policies["model:scripted"]
    assert {name: one.value for name, one in figures.items()} == {
        "accuracy@live_simple": 1.0,
        "refused@live_simple": 0,
        "accuracy@multi_turn_base": 1.0,
        "refused@multi_turn_base": 0,
        "accuracy@memory:retrieval": 1.0,
        "refused@memory:retrieval": 0,
    }
    assert "My name is Michael." in chat.asked[-1].messages[-1].content
    failed = score(Pretended(), player(ScriptedChat("")), HashEmbedder(), ["live_simple"]).policies["model:scripted"]
    assert (failed["accuracy@live_simple"].value, failed["refused@live_simple"].value) == (0, 1)
    with pytest.raises(BudgetSpent):
        score(Pretended(), player(ScriptedChat(BudgetSpent("none left"))), HashEmbedder(), ["live_simple"])


def test_memory_can_be_a_bounded_profile() -> None:
    chat = ScriptedChat('{"answer": "Michael"}')
    record = score(Pretended(), player(chat), HashEmbedder(), ["memory"], writer=Extractive())
    assert {"accuracy@memory:retrieval", "accuracy@memory:profile"} <= record.policies["model:scripted"].keys()
    assert "# Profile" in chat.asked[-1].messages[-1].content


def test_what_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no category 'java'"):
        score(Pretended(), player(ScriptedChat("")), HashEmbedder(), ["java"])
    monkeypatch.delenv("AFTERWIT_BFCL_PYTHON", raising=False)
    for python in (None, tmp_path / "none", "/bin/true"):
        with pytest.raises(UsageError, match="pip install --no-deps bfcl-eval"):
            Bfcl(python)


@pytest.fixture(scope="module")
def world() -> Iterator[Bfcl]:
    if not os.environ.get("AFTERWIT_BFCL_PYTHON"):
        pytest.skip("AFTERWIT_BFCL_PYTHON names no Python with BFCL")
    with Bfcl() as opened:
        yield opened


@pytest.mark.parametrize("category", CATEGORIES)
def test_reference_answers_are_right_and_wrong_ones_are_not(world: Bfcl, category: str) -> None:
    truth = world.truth(category)
    entries = world.entries(category)[:120]
    for place, entry in enumerate(entries):
        good, bad = _reference(category, truth.get(entry.id))
        if entry.id in NO_ANSWER:
            continue
        assert world.check(category, entry.id, f"good{place}", good).valid, entry.id
        assert not world.check(category, entry.id, f"bad{place}", bad).valid, entry.id


def test_calls_run_on_the_real_simulated_interfaces(world: Bfcl) -> None:
    entry = world.entries("multi_turn_base")[0]
    told = world.execute("multi_turn_base", entry.id, "one", ["cd(folder='document')", "ls()", "fly()"])
    assert "final_report.pdf" in told[1]
    assert told[2].startswith("Error during execution")


def _reference(category: str, truth: Any) -> tuple[Any, Any]:
    """A right answer and a wrong one."""
    if category == "memory":
        return truth[0], "I do not know"
    if category == "live_irrelevance":
        return [], [{"f": {}}]
    if category == "live_relevance":
        return [{"f": {}}], []
    if category in TURNS:
        return [[turn] if turn else [] for turn in truth], [[] for _ in truth]
    calls = [{name: _chosen(arguments) for name, arguments in call.items()} for call in truth]
    return calls, [{"no_such_function": {}} for _ in calls]


def _chosen(arguments: dict[str, Any]) -> dict[str, Any]:
    """Of each argument the first value that is allowed; "" stands for one that may be left out, and is."""
    found = {}
    for name, values in arguments.items():
        options = [value for value in values if value != ""] if isinstance(values, list) else [values]
        if options or not values:
            found[name] = _value(options[0]) if options else []
    return found


def _value(first: Any) -> Any:
    if isinstance(first, dict):
        return _chosen(first)
    if isinstance(first, list):
        return [_chosen(one) if isinstance(one, dict) else one for one in first]
    return first
