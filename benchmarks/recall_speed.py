"""What recall costs beside the least that it could cost, measured side by side in one run.

    python benchmarks/recall_speed.py [--json]

The floor is the bare product `matrix @ query` and one SQLite insert by primary key. Recall is `recall` on a
`BankIndex` (filter by time and four conditions, product, top 20, rerank) and the same insert, with the trace of its
three cards as what is inserted. `public` is `episode.recall()` of the public face on the same bank in a file: opening
the transaction through SQLAlchemy, reading the bank's version, embedding the task with a hash, writing the trace.
Rounds of all of them alternate, and each takes its median, so that a busy machine slows all alike.
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
from afterwit.model import Bank, Card, Condition, Edit, Provenance, Round
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
    database.execute("CREATE TABLE trace (id INTEGER PRIMARY KEY, body TEXT)")
    numbers = iter(range(10**9))

    def insert(body: str) -> None:
        database.execute("INSERT INTO trace VALUES (?, ?)", (next(numbers), body))

    return insert


def public_of(path: Path, bank: Bank, matrix: NDArray[np.float32]) -> Callable[[], object]:
    store = open_store(path)
    store.open_scope(SCOPE, embedder=RandomEmbedder.name, dimensions=DIMENSIONS)
    edit = Edit(id="edit", operator="add", writes=bank.cards)
    round_ = Round(id="round", scope=SCOPE, bank="content", as_of=NOW, base_version=0, edits=(edit,))
    vectors = {card.id: row for card, row in zip(bank.cards, matrix, strict=True)}
    store.commit(round_, capacity=Capacity(cards=len(bank.cards), tokens=10**9), vectors=vectors)
    store.close()
    memory = Memory(path, scope=SCOPE, capacity=len(bank.cards), embedder=RandomEmbedder())
    episode = memory.episode("a push for the film membership", context=CONTEXT)
    return lambda: episode.recall(k=3)


def medians(steps: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Milliseconds of each step, steps taking turns."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            begin = time.perf_counter()
            step()
            times[name].append(1000 * (time.perf_counter() - begin))
    return {name: statistics.median(found[rounds // 10 :]) for name, found in times.items()}


def measure(count: int, folder: Path, rounds: int) -> dict[str, float]:
    rng = np.random.default_rng(13)
    bank, matrix, query = bank_of(count), unit(rng, count), unit(rng, 1)[0]
    index = BankIndex.build(bank, [card.id for card in bank.cards], matrix)
    insert = insert_of(folder / f"floor-{count}.db")
    trace = json.dumps(["card-1234567890"] * 3)

    def floor() -> None:
        matrix @ query
        insert(trace)

    def ours() -> None:
        found = recall(index, query, context=CONTEXT, now=NOW)
        insert(json.dumps([(t.card_id, t.version, t.rank, t.similarity, t.score) for _, t in found]))

    public = public_of(folder / f"public-{count}.db", bank, matrix)
    public()
    found = medians({"product": lambda: matrix @ query, "floor": floor, "recall": ours, "public": public}, rounds)
    return {
        "cards": count,
        **found,
        "ratio": found["recall"] / found["floor"],
        "public_ratio": found["public"] / found["floor"],
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
    print("| cards | product ms | floor ms | recall + insert ms | ratio | episode.recall() ms | its ratio |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row['cards']:,} | {row['product']:.3f} | {row['floor']:.3f} | {row['recall']:.3f} | "
            f"{row['ratio']:.2f} | {row['public']:.3f} | {row['public_ratio']:.2f} |"
        )


if __name__ == "__main__":
    main()
