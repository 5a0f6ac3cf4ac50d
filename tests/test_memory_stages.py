"""An agent that plans, through the public face: attributed once, lessons in their bank, values by use."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from afterwit import Memory
from afterwit.errors import OutputError
from afterwit.model import Attribution, Card, Episode, Lesson
from afterwit.ports import FixedClock, HashEmbedder, ScriptedChat

START = datetime(2026, 1, 1, tzinfo=UTC)


class Blames:
    """A gate that blames the execution for every failure and credits it with every success."""

    name = "blames"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, episode: Episode, cards: Sequence[Card]) -> Attribution:
        self.asked.append(episode.id)
        if episode.task == "broken":
            raise OutputError("empty", "the answer is empty")
        cited = {card for citation in episode.citations for card in citation.cards}
        lesson = Lesson(stage="execution", key=episode.task, condition="an order has two cards", action="ask which")
        return Attribution(
            episode_id=episode.id,
            stage="execution",
            confidence=0.9,
            success=bool(episode.success),
            lessons={} if episode.success else {"execution": lesson},
            helped=tuple(sorted(cited)),
            reason="step 1 departs from the plan",
        )


def serve(memory: Memory, task: str, *, success: bool) -> tuple[Card, ...]:
    with memory.episode(task) as episode:
        episode.plan("Find the order. Refund it.", because=episode.recall(bank="planning"))
        cards = episode.recall(bank="execution", query="refund")
        episode.step("refund", {"order": 7}, result="done", because=cards)
        episode.finish(success=success)
    return cards


@pytest.fixture
def gate() -> Blames:
    return Blames()


@pytest.fixture
def memory(tmp_path: Path, gate: Blames) -> Memory:
    clock = FixedClock(START)
    return Memory(tmp_path / "m.db", scope="a", gate=gate, embedder=HashEmbedder(), clock=clock)


def test_an_episode_is_attributed_once_for_both_banks(memory: Memory, gate: Blames) -> None:
    assert serve(memory, "refund", success=False) == ()
    assert memory.evolve(bank="planning").edits == ()
    (made,) = memory.evolve(bank="execution").edits[0].writes
    assert made.guidance == "When an order has two cards, ask which."
    assert len(gate.asked) == 1
    assert memory.evolve(bank="execution").edits == ()
    assert memory.cards(bank="planning") == ()
    assert memory.check() == ()


def test_a_lesson_is_recalled_for_the_next_step_and_valued_when_it_helps(memory: Memory) -> None:
    serve(memory, "refund", success=False)
    memory.evolve(bank="execution")
    (card,) = serve(memory, "refund", success=True)
    memory.evolve(bank="execution")
    valued = memory.get(card.id)
    assert (valued.value, valued.uses, valued.weight) == (1.0, 1, 0.9)
    memory.rollback(to=START, bank="execution")
    assert memory.check() == ()


def test_a_gate_that_fails_is_named_and_asked_again(memory: Memory, gate: Blames) -> None:
    serve(memory, "broken", success=False)
    for _ in range(2):
        (refused,) = memory.evolve(bank="execution").refused
        assert refused.reason == "the gate failed: the answer is empty"
    assert len(gate.asked) == 2


def test_what_ended_later_is_not_attributed_earlier(memory: Memory, gate: Blames) -> None:
    clock = memory._parts.clock
    assert isinstance(clock, FixedClock)
    with memory.episode("refund") as episode:
        episode.plan("Refund it.")
        clock.now = START + timedelta(days=2)
        episode.finish(success=False)
    assert memory.evolve(bank="execution", as_of=START + timedelta(days=1)).attributions == ()
    assert len(memory.evolve(bank="execution").attributions) == 1


def test_forgetting_an_episode_takes_its_lesson_along(memory: Memory, tmp_path: Path) -> None:
    serve(memory, "refund for zanzibar-42", success=False)
    memory.evolve(bank="execution")
    (episode,) = memory._store.episodes("a")
    memory.forget(episode_id=episode.id)
    assert memory.cards(bank="execution") == ()
    memory.close()
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and b"zanzibar-42" in p.read_bytes()]


def test_without_a_gate_the_record_itself_is_the_evidence(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", scope="a", embedder=HashEmbedder()) as memory:
        with memory.episode("Refund order 7 to card 4242.") as episode:
            episode.plan("Refund the order.")
            episode.step("refund_order", {"order": 7, "card_number": "9999"}, result="done")
            episode.finish(success=False, feedback="the wrong card")
        (made,) = memory.evolve(bank="execution").edits[0].writes
        assert made.key == "refund order: card number"
        assert memory.evolve(bank="planning").edits == ()


def test_a_round_says_what_its_model_cost(tmp_path: Path) -> None:
    reflection = (
        '{"stage": "execution", "confidence": 80, "reason": "the card was wrong", '
        '"execution_lesson": {"condition": "a refund is asked for", "action": "check the card of the order"}}'
    )
    chat = ScriptedChat(reflection)
    with Memory(tmp_path / "m.db", scope="a", model=chat, embedder=HashEmbedder()) as memory:
        with memory.episode("Refund the order") as episode:
            episode.plan("Refund it.")
            episode.step("refund", {"card": "1"}, result="done")
            episode.finish(success=False)
        learned, again = memory.evolve(bank="execution"), memory.evolve(bank="planning")
        assert (learned.figures["model_calls"], learned.figures["model_tokens"]) == (1, 2)
        assert "model_cost" not in learned.figures, "no price is known"
        assert again.figures["model_calls"] == 0, "an episode is attributed once"
        (kept,) = memory.rounds(bank="execution")
        assert kept.figures["model_calls"] == 1
