"""Small delivery logs and memories for the tests of whole rounds."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from afterwit import Memory
from afterwit.model import Bank, Card, Delivery, Round, fold
from afterwit.ports import FixedClock, HashEmbedder

SCOPE = "acme/push"
START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
RIPE, LATER = START + 60 * DAY, START + 130 * DAY
_SUBJECTS = ("anchor", "bridge", "candle", "desert", "engine", "forest", "garden", "island")
_COLUMNS = {"delivery_id", "created_at", "text", "experiment", "impressions", "clicks", "observed"}
_OTHERS = ("river", "stone", "cloud", "maple", "ember", "field")


def trials(
    count: int,
    effects: Mapping[str, float] = {"magic": 0.6},
    *,
    first: int = 0,
    noise: int = 0,
    seed: int = 0,
    views: int = 2000,
    context: Mapping[str, Any] = {},
) -> list[dict[str, Any]]:
    """Rows of ``count`` randomised tests of two texts, one a day, ripe seven days later.

    effects: word → what it does to the log click rate; one of the two texts, by chance, shows it. first: number and
    day of the first test. noise: words that each text has beside, by chance. context: columns of their own.
    """
    chance = np.random.default_rng([seed, first])
    rows = []
    for test in range(first, first + count):
        subject = list(chance.choice(_SUBJECTS, 2, replace=False))
        shows = {word: int(chance.integers(2)) for word in effects}
        for arm in range(2):
            shown = [word for word in effects if shows[word] == arm]
            lift = sum(effects[word] for word in shown)
            rows.append(
                {
                    "delivery_id": f"d{test}-{arm}",
                    "created_at": (START + test * DAY).isoformat(),
                    "text": " ".join([*subject, *chance.choice(_OTHERS, noise, replace=False), *shown]),
                    "experiment": f"t{test}",
                    "impressions": views,
                    "clicks": int(chance.binomial(views, min(0.9, 0.05 * np.exp(lift)))),
                    **context,
                }
            )
    return rows


def open_memory(folder: Path, now: datetime = START, **settings: Any) -> Memory:
    values = {"scope": SCOPE, "capacity": 5, "embedder": HashEmbedder(), "clock": FixedClock(now)}
    return Memory(folder / "memory.db", **(values | settings))


def at(memory: Memory, now: datetime) -> Memory:
    """The memory with its clock set."""
    clock = memory._parts.clock
    assert isinstance(clock, FixedClock)
    clock.now = now
    return memory


def tell(memory: Memory, rows: Sequence[Mapping[str, Any]]) -> Any:
    """Has the memory read the rows as a delivery log."""
    path = memory._parts.folder.with_name("log.jsonl")
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    report = memory.ingest(path)
    path.unlink()
    return report


def write_ten(memory: Memory, name: str) -> None:
    """Ten cards by hand, and an episode after each."""
    for number in range(10):
        memory.add(f"{name} {number}", key="push")
        with memory.episode("push") as episode:
            episode.recall()


def claims(cards: Sequence[Card]) -> set[tuple[str, str, str]]:
    """What the cards say, whatever their numbers."""
    return {(card.id, card.content_hash, card.status) for card in cards}


def says(memory: Memory) -> list[str]:
    return sorted(f"{card.guidance} {card.status}" for card in memory.cards())


def without_new_ids(round_: Round) -> str:
    """The round as text, ids that it made itself numbered in the order in which they appear."""
    made = {round_.id, *(edit.id for edit in round_.edits)}
    made |= {card.id for edit in round_.edits for card in edit.writes if card.provenance.round_id == round_.id}
    text = repr(round_)
    found = sorted(made, key=lambda id_: text.index(id_))
    return re.sub("|".join(map(re.escape, found)), lambda hit: f"#{found.index(hit[0])}", text)


def refolded(memory: Memory, name: str = "content") -> Bank:
    """The bank as the fold of its applied edits alone."""
    cards = fold(memory._store.edits(memory.scope, bank=name))
    version = memory._store.bank_version(memory.scope, name)
    live = tuple(card for _, card in sorted(cards.items()) if card.live)
    return Bank(scope=memory.scope, name=name, version=version, cards=live)


def snapshot(memory: Memory) -> tuple[str, ...]:
    """Everything that the ledger holds."""
    return tuple(memory._store.export(memory.scope))


def know(memory: Memory, rows: Sequence[Mapping[str, Any]]) -> None:
    """The same as ``tell`` without reading a file, for tests that make many logs; ``observed`` makes a row one of
    several counts of its delivery."""
    import pyarrow

    deliveries = {
        row["delivery_id"]: Delivery(
            id=row["delivery_id"],
            scope=SCOPE,
            created_at=datetime.fromisoformat(row["created_at"]),
            text=row["text"],
            experiment=row["experiment"],
            context={field: row[field] for field in row.keys() - _COLUMNS},
        )
        for row in rows
    }
    memory._store.save_deliveries(deliveries.values())
    events = [
        {
            "event_id": f"{row['delivery_id']}:{kind}:{row.get('observed', '')}",
            "delivery_id": row["delivery_id"],
            "kind": kind,
            "at": datetime.fromisoformat(row["created_at"]),
            "available_at": row.get("observed", datetime.fromisoformat(row["created_at"]) + 7 * DAY),
            "count": row[column],
            "user_id": None,
            "aggregate": True,
            "final": "observed" not in row,
        }
        for row in rows
        for kind, column in (("impression", "impressions"), ("click", "clicks"))
    ]
    if events:
        memory._parts.log.append(SCOPE, pyarrow.Table.from_pylist(events))
