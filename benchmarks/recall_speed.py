"""What recall costs beside the least that it could cost, measured side by side in one run.

    python benchmarks/recall_speed.py [--json]

Two floors, each the bare product `matrix @ query` and one indexed write: one written in plain sqlite3 (WAL,
synchronous NORMAL), one through the store's own `record_recall`. Against the first stands `recall` on a `BankIndex`
(filter by time and four conditions, product, top 20, rerank) and the same plain insert of its trace; against the
second a new episode's `recall()` through the public face, which also reads the bank's version (the task's embedding
is cached by its text). All of them take turns, forwards and backwards, and each gives its median, so that a busy
machine and a warm cache favour none.
"""

import argparse
import json
import sqlite3
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from afterwit import Memory
from afterwit.model import Bank, Card, Condition, Edit, Provenance, Recalled, Round, new_id
from afterwit.ports import Capacity
from afterwit.recall.index import BankIndex
from afterwit.recall.retrieve import recall
from afterwit.store.open import open_store

DIMENSIONS = 512
SIZES = (100, 1_000, 10_000)
NOW = datetime(2026, 3, 1, tzinfo=UTC)
CONDITIONS = ("", "channel = push", "channel = mail", "hour >= 9")
CONTEXT = {"channel": "push", "hour": 12}
SCOPE = "acme/push"


class RandomEmbedder:
    """Unit vectors drawn by the text, at no cost worth measuring."""

    name = "random-512"
    dimensions = DIMENSIONS

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([unit(np.random.default_rng(len(text)), 1)[0] for text in texts])


def unit(rng: np.random.Generator, count: int) -> NDArray[np.float32]:
    rows = rng.standard_normal((count, DIMENSIONS)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def bank_of(count: int) -> Bank:
    cards = tuple(
        Card(
            id=f"card-{i}",
            scope=SCOPE,
            key=f"task {i}",
            guidance=f"advice {i}",
            when=Condition.of(CONDITIONS[i % len(CONDITIONS)]),
            value=(i % 21 - 10) / 10,
            provenance=Provenance(operator="add", trust="user"),
            created_at=NOW,
            valid_from=NOW,
        )
        for i in range(count)
    )
    return Bank(scope=SCOPE, name="content", version=1, cards=cards)


def insert_of(path: Path) -> Callable[[str], None]:
    """One indexed write, committed, as the store does it: WAL, synchronous NORMAL."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=NORMAL")
    database.execute("CREATE TABLE trace (id INTEGER PRIMARY KEY, scope TEXT, episode TEXT, body TEXT)")
    database.execute("CREATE INDEX by_episode ON trace (scope, episode)")

    def insert(body: str) -> None:
        row = (SCOPE, new_id(), body)
        database.execute("INSERT INTO trace (scope, episode, body) VALUES (?, ?, ?)", row)

    return insert


def public_of(
    path: Path, bank: Bank, matrix: NDArray[np.float32], traces: Sequence[Recalled]
) -> tuple[Callable[[], object], Callable[[], object]]:
    """The store's one indexed write, and a recall through the public face."""
    store = open_store(path)
    store.open_scope(SCOPE, embedder=RandomEmbedder.name, dimensions=DIMENSIONS)
    edit = Edit(id="edit", operator="add", writes=bank.cards)
    round_ = Round(id="round", scope=SCOPE, bank="content", as_of=NOW, base_version=0, edits=(edit,))
    vectors = {card.id: row for card, row in zip(bank.cards, matrix, strict=True)}
    store.commit(round_, capacity=Capacity(cards=len(bank.cards), tokens=10**9), vectors=vectors)
    memory = Memory(path, scope=SCOPE, capacity=len(bank.cards), embedder=RandomEmbedder())

    def public() -> object:
        return memory.episode("a push for the film membership", context=CONTEXT).recall(k=3)

    return lambda: store.record_recall(SCOPE, new_id(), traces, NOW), public


def medians(steps: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Milliseconds of each step, steps taking turns."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(rounds):
        for name, step in list(steps.items())[:: 1 if turn % 2 else -1]:
            begin = time.perf_counter()
            step()
            times[name].append(1000 * (time.perf_counter() - begin))
    return {name: statistics.median(found[rounds // 10 :]) for name, found in times.items()}


def measure(count: int, folder: Path, rounds: int) -> dict[str, float]:
    rng = np.random.default_rng(13)
    bank, matrix, query = bank_of(count), unit(rng, count), unit(rng, 1)[0]
    index = BankIndex.build(bank, [card.id for card in bank.cards], matrix)
    insert = insert_of(folder / f"floor-{count}.db")

    def text_of(found: Sequence[tuple[Card, Recalled]]) -> str:
        return json.dumps([(t.card_id, t.version, t.rank, t.similarity, t.score) for _, t in found])

    first = recall(index, query, context=CONTEXT, now=NOW)
    trace = text_of(first)

    def plain_floor() -> None:
        index.keys @ query
        insert(trace)

    def ours() -> None:
        insert(text_of(recall(index, query, context=CONTEXT, now=NOW)))

    write, public = public_of(folder / f"public-{count}.db", bank, matrix, [trace for _, trace in first])

    def store_floor() -> None:
        index.keys @ query
        write()

    steps = {"plain_floor": plain_floor, "recall": ours, "store_floor": store_floor, "public": public}
    found = medians(steps, rounds)
    return {
        "cards": count,
        **found,
        "recall_ratio": found["recall"] / found["plain_floor"],
        "public_ratio": found["public"] / found["store_floor"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=300, help="rounds of each step (default 300)")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        rows = [measure(count, Path(folder), options.rounds) for count in SIZES]
    if options.json:
        print(json.dumps(rows))
        return
    print("| cards | plain floor ms | recall ms | ratio | store floor ms | episode.recall() ms | ratio |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row['cards']:,} | {row['plain_floor']:.3f} | {row['recall']:.3f} | {row['recall_ratio']:.2f} | "
            f"{row['store_floor']:.3f} | {row['public']:.3f} | {row['public_ratio']:.2f} |"
        )


if __name__ == "__main__":
    main()
