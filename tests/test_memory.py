"""The public face, end to end on a real ledger, with small doubles for clock and embedder."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import afterwit
from afterwit import AsyncMemory, Memory
from afterwit.errors import (
    CapacityExceeded,
    ConditionError,
    Conflict,
    EmbedderMismatch,
    InputError,
    NotFound,
    UnknownScope,
)
from afterwit.ports import FixedClock, HashEmbedder

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(START)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with open_memory(tmp_path, clock) as opened:
        yield opened


def open_memory(folder: Path, clock: FixedClock, **settings: object) -> Memory:
    values: dict[str, object] = {"scope": "acme/push", "embedder": HashEmbedder(), "clock": clock}
    return Memory(folder / "memory.db", **(values | settings))  # type: ignore[arg-type]


def test_public_names() -> None:
    assert sorted(afterwit.__all__) == [
        "AsyncMemory",
        "Card",
        "Condition",
        "Decision",
        "Draft",
        "Episode",
        "Memory",
        "Round",
        "Stance",
        "Task",
        "__version__",
    ]
    assert all(getattr(afterwit, name) for name in afterwit.__all__)
    with pytest.raises(AttributeError):
        _ = afterwit.nothing


def test_import_is_light() -> None:
    code = "import sys, afterwit; print([m for m in ('numpy', 'scipy', 'sqlalchemy', 'duckdb') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_add_get_update_delete_history(memory: Memory) -> None:
    card = memory.add("Ask a question.", key="push", prefer="hook=question")
    assert memory.add("ask a  question.", key="push", prefer="hook=question").id == card.id
    assert memory.update(card.id, "Ask one question.").version == 2
    memory.delete(card.id)
    assert memory.cards() == ()
    assert memory.get(card.id).status == "retired"
    assert [edit.operator for edit in memory.history(card.id)] == ["add", "update", "evict"]
    with pytest.raises(NotFound):
        memory.get("absent")


def test_an_episode_leaves_a_full_trace(memory: Memory) -> None:
    card = memory.add("Ask a question.", key="film membership push", prefer="word=?")
    with memory.episode("film membership push", context={"channel": "push"}) as episode:
        cards = episode.recall(k=3)
        episode.decide("hook", "question", because=cards)
        episode.output("Half price films?")
        episode.deliver("creative-1", placement="home")
    saved = next(iter(memory._store.episodes("acme/push")))
    assert [(r.card_id, r.version, r.rank) for r in saved.recalled] == [(card.id, 1, 1)]
    assert saved.recalled[0].similarity == pytest.approx(1, abs=1e-3)
    assert saved.citations[0].cards == (card.id,)
    delivery = next(iter(memory._store.deliveries("acme/push")))
    assert (delivery.id, delivery.episode_id, delivery.text) == ("creative-1", saved.id, "Half price films?")


def test_citing_what_was_not_recalled_is_refused(memory: Memory) -> None:
    card = memory.add("Ask a question.", key="push")
    with memory.episode("push") as episode, pytest.raises(Conflict):
        episode.decide("hook", "question", because=[card])


def test_a_failure_inside_an_episode_is_recorded(memory: Memory) -> None:
    with pytest.raises(ZeroDivisionError), memory.episode("push"):
        _ = 1 / 0
    saved = next(iter(memory._store.episodes("acme/push")))
    assert saved.success is False
    assert "ZeroDivisionError" in str(saved.feedback)


def test_recall_never_crosses_scope_condition_or_time(tmp_path: Path, clock: FixedClock) -> None:
    with open_memory(tmp_path, clock) as one, open_memory(tmp_path, clock, scope="acme/mail") as other:
        with one.episode("push", context={"channel": "push"}):
            pass
        one.add("Only for mail.", key="push", when={"channel": "mail"})
        one.add("Gone by then.", key="push", valid_until=START + timedelta(days=1))
        other.add("Another tenant's.", key="push")
        clock.now = START + timedelta(days=2)
        assert one.search("push", context={"channel": "push"}) == ()
        assert [c.guidance for c, _ in one.search("push", context={"channel": "mail"})] == ["Only for mail."]
        assert [c.guidance for c, _ in other.search("push")] == ["Another tenant's."]


def test_a_rendered_transcript_is_not_learned_again(memory: Memory) -> None:
    """A transcript that holds recalled cards, recorded turn after turn, never makes copies."""
    card = memory.add("Ask a question.", key="push")
    for _ in range(20):
        transcript = "user: hi\n" + memory.render(memory.cards()) + "\nassistant: done"
        assert memory.add(transcript).id == card.id
    assert len(memory.cards()) == 1


def test_time_travel_diff_and_rollback(memory: Memory, clock: FixedClock) -> None:
    first = memory.add("one", key="a")
    clock.now = START + timedelta(days=1)
    memory.update(first.id, "one, better")
    second = memory.add("two", key="b")
    clock.now = START + timedelta(days=2)
    memory.delete(second.id)
    at = START + timedelta(hours=1)
    assert [c.guidance for c in memory.cards(as_of=at)] == ["one"]
    found = memory.diff(at)
    assert [(a.guidance, b.guidance) for a, b in found.changed] == [("one", "one, better")]
    memory.rollback(to=START + timedelta(days=1))
    assert sorted(c.guidance for c in memory.cards()) == ["one, better", "two"]
    memory.rollback(to=at)
    assert [c.guidance for c in memory.cards()] == ["one"]
    assert memory.check() == ()


def test_capacity_holds(tmp_path: Path, clock: FixedClock) -> None:
    with open_memory(tmp_path, clock, capacity=1) as memory:
        memory.add("one", key="a")
        with pytest.raises(CapacityExceeded):
            memory.add("two", key="b")
        assert [c.guidance for c in memory.cards()] == ["one"]


@pytest.mark.parametrize(
    ("settings", "error"),
    [({"capacity": 0}, InputError), ({"scope": " "}, InputError), ({"create": False}, UnknownScope)],
)
def test_bad_settings_are_one_line(tmp_path: Path, clock: FixedClock, settings: dict[str, object], error: type) -> None:
    with pytest.raises(error) as caught:
        open_memory(tmp_path, clock, **settings)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_condition_on_an_unknown_field_is_refused(memory: Memory) -> None:
    with memory.episode("push", context={"channel": "push"}):
        pass
    with pytest.raises(ConditionError, match=r"chanel.*channel"):
        memory.add("x", when={"chanel": "push"})


def test_another_embedder_is_detected_on_open(tmp_path: Path, clock: FixedClock) -> None:
    class Other(HashEmbedder):
        name = "other-64"

    open_memory(tmp_path, clock).close()
    with pytest.raises(EmbedderMismatch):
        open_memory(tmp_path, clock, embedder=Other())


def test_forget_reaches_ledger_and_segments(memory: Memory, tmp_path: Path, clock: FixedClock) -> None:
    secret = "zanzibar-secret-42"
    with memory.episode(f"push about {secret}") as episode:
        episode.output(secret)
        episode.deliver("d1")
    log = tmp_path / "log.jsonl"
    rows = [
        {"event_id": f"e{i}", "delivery_id": d, "kind": "click", "at": "2026-01-01T00:00:00Z", "user_id": secret}
        for i, d in enumerate(["d1", "other"])
    ]
    rows[1]["user_id"] = "u"
    log.write_text("\n".join(map(json.dumps, rows)))
    assert memory.ingest(log).unmatched == 1
    log.unlink()
    forgotten = memory.forget(episode_id=next(iter(memory._store.episodes("acme/push"))).id)
    assert (forgotten.episodes, forgotten.deliveries) == (1, 1)
    memory.close()
    held = [p for p in tmp_path.rglob("*") if p.is_file() and secret.encode() in p.read_bytes()]
    assert held == []


def test_export_and_import_round_trip(memory: Memory, tmp_path: Path) -> None:
    from afterwit.compose import import_file

    memory.add("Où ? 半价 😀 \u2028 line", key="push")
    with memory.episode("push") as episode:
        episode.recall()
    memory.export(tmp_path / "one.jsonl")
    import_file(tmp_path / "copy.db", tmp_path / "one.jsonl")
    with Memory(tmp_path / "copy.db", scope="acme/push", embedder=HashEmbedder()) as copy:
        copy.export(tmp_path / "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_async_is_the_same(tmp_path: Path, clock: FixedClock) -> None:
    async def use() -> list[str]:
        async with AsyncMemory(tmp_path / "m.db", scope="a", embedder=HashEmbedder(), clock=clock) as memory:
            await asyncio.gather(*(memory.add(f"card {i}", key="k") for i in range(5)))
            with memory.episode("k") as episode:
                assert episode.recall(k=2)
            return sorted(card.guidance for card in await memory.cards())

    assert asyncio.run(use()) == [f"card {i}" for i in range(5)]


@pytest.mark.parametrize("value", [None, [1, 2], {"a": 1}, b"x", START, float("nan"), object()])
def test_a_context_that_could_not_be_read_again_is_refused_at_once(memory: Memory, value: object) -> None:
    with pytest.raises(ConditionError, match="context field 'f' holds"):
        memory.episode("push", context={"f": value})  # type: ignore[dict-item]
    with pytest.raises(ConditionError):
        memory.add("x", when={"f": value} if not isinstance(value, list) else 5)  # type: ignore[arg-type,dict-item]


def test_half_a_character_is_refused_in_one_line(memory: Memory) -> None:
    with pytest.raises(InputError, match="half a surrogate pair"):
        memory.add("\ud800", key="k")
    assert memory.cards() == ()


@pytest.mark.parametrize(("name", "value"), [("a=b", "c"), ("a:b", "c"), ("", "c"), ("a", " ")])
def test_a_decision_has_a_plain_name_and_a_value(memory: Memory, name: str, value: str) -> None:
    with pytest.raises(InputError, match="decision"):
        memory.episode("push").decide(name, value)
