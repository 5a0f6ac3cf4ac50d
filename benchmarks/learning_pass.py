"""One full learning pass: the whole archive read, weekly rounds of one bank of 80 cards, nothing scored.

    python benchmarks/learning_pass.py --history archive.parquet [--json]

Prints wall and processor seconds, peak memory, and how long it takes only to read the file's columns and to extract
the decisions of its texts once, which no learning could do without.
"""

import argparse
import json
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from afterwit.benchmarks.upworthy import Archive
from afterwit.benchmarks.upworthy.learn import StoreLedger, extractor, learn, setting
from afterwit.benchmarks.upworthy.run import ingested
from afterwit.evaluate.policies import make
from afterwit.providers.embedder import SentenceEncoder
from afterwit.store.open import open_store
from afterwit.store.segments import Segments

SCOPE = "benchmark/pass"
WINDOW = np.timedelta64(8, "D")  # what an aggregate may take to be available


def floor(history: Path) -> float:
    """Seconds to read the file and extract every text's decisions once."""
    began = time.perf_counter()
    archive = Archive.read(history)
    extractor(SentenceEncoder()).degrees_each(sorted({str(text) for text in archive.headlines}))
    return time.perf_counter() - began


def learning(history: Path) -> dict[str, float]:
    began, used = time.perf_counter(), time.process_time()
    embedder = SentenceEncoder()
    found = extractor(embedder)
    shared = setting(found, capacity=80, seed=13, scope=SCOPE)
    archive = Archive.read(history)
    with TemporaryDirectory() as folder:
        store, log = open_store(Path(folder) / "memory.db"), Segments(Path(folder) / "events")
        until = archive.created_at.max() + WINDOW
        ripe, _ = ingested(history, until, scope=SCOPE, store=store, log=log, embedder=embedder)
        ledger = StoreLedger(store=store, scope=SCOPE, capacity=shared.rules.capacity, embedder=embedder)
        policies = make(("tide",), shared, ledger)
        done = learn(ripe.items(), archive.tasks(), policies, until=until, extractor=found, setting=shared)
        store.close()
    return {
        "seconds": time.perf_counter() - began,
        "processor_seconds": time.process_time() - used,
        "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "rounds": len(done.rounds),
        "items": len(done.known.items),
        "cards": len(policies[0].cards()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--history", type=Path, required=True)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = learning(options.history)
    figures["floor_seconds"] = floor(options.history)
    if options.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):>18}  {value:,.1f}")


if __name__ == "__main__":
    main()
