"""Does the memory learn anything where there is nothing to learn? 100 passes over permuted outcomes.

    python benchmarks/false_discovery_audit.py --history archive.parquet [--at 2014-06-01] [--runs 100] [--json]

Outcomes are shuffled inside each test and image, clicks and impressions together, arms that share a headline as one,
before and after the freeze. The learning pass is that of ``afterwit evaluate upworthy``, same rules, same rounds.
It must hold, of 100 runs: at most 15 confirm any card to active; the uplift interval covers 0 in at least 83; the
mean of the uplifts is within ±0.5 %. Exit code 1 where it does not.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # each process is one worker; set before numpy is loaded

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from afterwit.benchmarks.upworthy import Archive, split
from afterwit.benchmarks.upworthy.learn import extractor, learn, setting
from afterwit.benchmarks.upworthy.permute import permuted_items, permuted_tasks
from afterwit.benchmarks.upworthy.run import ingested
from afterwit.credit.items import Items
from afterwit.decisions.extraction import Extractor
from afterwit.evaluate.metrics.bootstrap import Resamples
from afterwit.evaluate.metrics.uplift import uplift
from afterwit.evaluate.policies import make
from afterwit.evaluate.tasks import Shown, Tasks, bank_scores
from afterwit.ports import HashEmbedder
from afterwit.providers.embedder import SentenceEncoder
from afterwit.store.in_memory import InMemoryStore
from afterwit.store.segments import Segments

SCOPE = "benchmark/audit"


@dataclass(frozen=True, kw_only=True)
class Pass:
    seed: int
    cards: int
    active: int
    ever_active: int
    uplift: float
    low: float
    high: float

    @property
    def covers(self) -> bool:
        return self.low <= 0 <= self.high


@dataclass(frozen=True, kw_only=True, eq=False)
class Material:
    """What every pass starts from, read once a process."""

    items: Items
    tasks: Tasks
    judging: Tasks
    until: np.datetime64
    extractor: Extractor

    @staticmethod
    def read(history: Path, future: Path) -> "Material":
        with TemporaryDirectory() as folder:
            coming = Archive.read(future)
            until, found, judging = coming.created_at.min(), extractor(SentenceEncoder()), coming.tasks()
            store = InMemoryStore()
            ripe, _ = ingested(
                history, until, scope=SCOPE, store=store, log=Segments(Path(folder)), embedder=HashEmbedder()
            )
            store.close()
        tasks = Archive.read(history).tasks()
        return Material(items=ripe.items(), tasks=tasks, judging=judging, until=until, extractor=found)


def one(material: Material, seed: int, capacity: int) -> Pass:
    chance = np.random.default_rng(seed)
    shared = setting(material.extractor, capacity=capacity, seed=seed, scope=SCOPE)
    policies = make(("tide",), shared)
    tide = policies[0]
    learn(
        permuted_items(material.items, chance),
        material.tasks,
        policies,
        until=material.until,
        extractor=material.extractor,
        setting=shared,
    )
    judging = permuted_tasks(material.judging, chance)
    shown = Shown.of(material.extractor.degrees_each(list(judging.texts)))
    ratio = uplift(judging, bank_scores(tide.cards(), shown, judging.contexts))
    found = Resamples.of(judging.experiments, seed=seed).interval(ratio)
    confirmed = {
        name
        for round_ in tide.rounds  # type: ignore[attr-defined]
        if round_.batch is not None
        for name in round_.batch.confirmed
    }
    return Pass(
        seed=seed,
        cards=len(tide.cards()),
        active=sum(card.status == "active" for card in tide.cards()),
        ever_active=len(confirmed),
        uplift=found.value,
        low=found.low or 0.0,
        high=found.high or 0.0,
    )


_material: Material | None = None


def _prepare(history: Path, future: Path) -> None:
    global _material
    _material = Material.read(history, future)


def _one(arguments: tuple[int, int]) -> Pass:
    if _material is None:
        raise RuntimeError("the process was not prepared")
    return one(_material, *arguments)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--history", type=Path, required=True, help="the archive, split at --at")
    parser.add_argument("--at", default="2014-06-01", help="tests from this day on are the future")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--capacity", type=int, default=80)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    began = time.perf_counter()
    passes: list[Pass] = []
    with TemporaryDirectory() as folder:
        files = split(given.history, Path(folder), at=datetime.fromisoformat(given.at).replace(tzinfo=UTC))
        with ProcessPoolExecutor(given.processes, initializer=_prepare, initargs=files) as pool:
            todo = [(given.seed + k, given.capacity) for k in range(given.runs)]
            for done in pool.map(_one, todo):
                passes.append(done)
                confirming, covering = sum(p.ever_active > 0 for p in passes), sum(p.covers for p in passes)
                line = f"{len(passes)}/{given.runs} runs, {confirming} confirming, {covering} covering 0"
                print(f"\r{line}, {time.perf_counter() - began:.0f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    share = given.runs / 100
    confirming, covering = sum(p.ever_active > 0 for p in passes), sum(p.covers for p in passes)
    mean = float(np.mean([p.uplift for p in passes]))
    sound = confirming <= 15 * share and covering >= 83 * share and abs(mean) <= 0.005
    if given.json:
        summary = {"runs": given.runs, "confirming": confirming, "covering": covering, "mean_uplift": mean}
        summary |= {"sound": sound, "seconds": round(time.perf_counter() - began, 1)}
        print(json.dumps({**summary, "passes": [asdict(p) for p in passes]}))
    else:
        print(f"runs that confirmed a card: {confirming} of {given.runs} (at most {15 * share:g})")
        print(f"uplift intervals that cover 0: {covering} of {given.runs} (at least {83 * share:g})")
        print(f"mean uplift: {100 * mean:+.2f} % (within ±0.5 %)")
        print("sound" if sound else "NOT sound")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
