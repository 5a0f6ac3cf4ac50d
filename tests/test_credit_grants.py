"""Granting credit on ripe outcomes, and taking it back when late events change them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from afterwit import Memory
from afterwit.credit.responsibility.grants import Grants, grants, unharmed
from afterwit.model import Credit
from afterwit.ports import FixedClock, HashEmbedder

START = datetime(2026, 1, 1, tzinfo=UTC)


def credit(episode: str, *, card: str = "k", weight: float = 1.0, change: float | None = None) -> Credit:
    return Credit(
        id=f"{episode}-{card}",
        episode_id=episode,
        card_id=card,
        decision="hook=question",
        weight=weight,
        kind="sole",
        reason="removing it changes the decision",
        utility_change=change,
    )


def grant(episodes: Sequence[str]) -> list[Credit]:
    return [credit(episode) for episode in episodes]


def told(found: Grants) -> list[tuple[str, bool]]:
    return [(c.episode_id, c.reverses is not None) for c in found.new]


def test_an_outcome_is_credited_once_and_again_when_it_changes() -> None:
    first = grants([], {"e1": "v1", "e2": "v1"}, grant)
    assert told(first) == [("e1", False), ("e2", False)]
    assert grants(first.new, {"e1": "v1", "e2": "v1"}, grant).new == ()
    second = grants(first.new, {"e1": "v2", "e2": "v1"}, grant)
    assert told(second) == [("e1", True), ("e1", False)]
    assert second.new[0].reverses == first.new[0].id
    assert sorted((c.episode_id, c.outcome) for c in second.standing) == [("e1", "v2"), ("e2", "v1")]
    assert grants([*first.new, *second.new], {"e1": "v2", "e2": "v1"}, grant).new == ()


def test_an_outcome_that_is_no_longer_ripe_loses_its_credit_and_may_win_it_again() -> None:
    first = grants([], {"e1": "v1"}, grant)
    second = grants(first.new, {}, grant)
    assert told(second) == [("e1", True)]
    assert second.standing == ()
    third = grants([*first.new, *second.new], {"e1": "v1"}, grant)
    assert told(third) == [("e1", False)]
    assert third.new[0].id != first.new[0].id
    every = [*first.new, *second.new, *third.new]
    assert len({c.id for c in every}) == 3
    assert grants(every, {"e1": "v1"}, grant).standing == third.new


def test_cards_of_known_utility_whose_removal_improves_nothing_are_unharmed() -> None:
    standing = [
        credit("e1", card="good", change=0.02),
        credit("e2", card="good", change=-0.01),
        credit("e1", card="bad", change=-0.02),
        credit("e1", card="unknown"),
        replace(credit("e1", card="idle", change=0.5), weight=0.0),
    ]
    assert unharmed(standing) == {"good"}


def log_of(path: Path, rows: Sequence[tuple[str, str, datetime, int]]) -> Path:
    lines = [
        {"event_id": f"{path.name}-{i}", "delivery_id": d, "kind": kind, "at": at.isoformat(), "count": count}
        for i, (d, kind, at, count) in enumerate(rows)
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_a_late_event_reverses_the_credit_and_the_uses_of_the_card(tmp_path: Path) -> None:
    clock = FixedClock(START)
    memory = Memory(tmp_path / "m.db", scope="a", vocabulary="headlines", embedder=HashEmbedder(), clock=clock)
    card = memory.add("Ask a question first.", key="push", prefer="hook=question")
    candidates = ("Half price films all month", "Films at half price?")
    with memory.episode("push", candidates=candidates) as episode:
        cards = episode.recall()
        episode.decide("hook", "question", because=cards)
        episode.output(candidates[1])
        episode.deliver("d1", experiment="t1")
    seen = [("d1", "impression", START + timedelta(hours=12 * i), 100) for i in range(14)]
    memory.ingest(log_of(tmp_path / "one.jsonl", seen))

    clock.now = START + timedelta(days=1)
    assert memory.evolve().credits == (), "no credit before the outcome is ripe"
    clock.now = START + timedelta(days=8)
    (granted,) = memory.evolve().credits
    assert (granted.card_id, granted.kind, granted.weight) == (card.id, "sole", 1.0)
    assert memory.get(card.id).uses == 1
    assert memory.evolve().credits == ()

    clock.now = START + timedelta(days=9)
    memory.ingest(log_of(tmp_path / "late.jsonl", [("d1", "click", START + timedelta(hours=3), 7)]))
    back, again = memory.evolve().credits
    assert (back.reverses, again.reverses) == (granted.id, None)
    assert again.outcome != granted.outcome
    assert memory.get(card.id).uses == 1, "taken back once, granted once"
    assert memory.check() == ()
