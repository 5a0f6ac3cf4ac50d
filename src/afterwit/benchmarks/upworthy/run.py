"""Learn from one file in weekly rounds, freeze, score the other."""

import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from afterwit.benchmarks.upworthy.archive import Archive
from afterwit.benchmarks.upworthy.learn import BANK, StoreLedger, extractor, learn, setting
from afterwit.benchmarks.upworthy.reference import NAME as REFERENCE
from afterwit.benchmarks.upworthy.reference import tfidf_ridge
from afterwit.credit.items import Floats, Ints
from afterwit.credit.temporal.deliveries import DeliveryTable
from afterwit.credit.temporal.lifecycle import Lifecycles, lifecycles
from afterwit.errors import Conflict, LeakageError, MissingExtra
from afterwit.evaluate.meg import meg, meg_by_round
from afterwit.evaluate.metrics.bootstrap import Resamples
from afterwit.evaluate.metrics.negative_transfer import negative_transfer
from afterwit.evaluate.metrics.pairs_accuracy import pairs_accuracy
from afterwit.evaluate.metrics.significant_pairs_accuracy import significant_pairs_accuracy
from afterwit.evaluate.metrics.tokens import tokens
from afterwit.evaluate.metrics.uplift import uplift
from afterwit.evaluate.policies import POLICIES, Policy, Tide, make
from afterwit.evaluate.record import EvaluationRecord, RoundPoint, sha256_of
from afterwit.evaluate.replay import Replayed, refuse_known, utc
from afterwit.evaluate.tasks import Shown, Tasks, bank_scores
from afterwit.model import Card, Interval
from afterwit.ports import Embedder, EventLog, Progress, Store
from afterwit.record.ingest import ingest

TESTED = "tide"


class Judged(NamedTuple):
    """Tasks that judged some round, of both files. window: the round, the last one for the future; utilities:
    policy → U, nan where it judged nothing; shape (m,) each."""

    resamples: Resamples
    window: Ints
    utilities: Mapping[str, Floats]


def run(
    history: Path,
    future: Path,
    *,
    store: Store,
    log: EventLog,
    capacity: int = 80,
    seed: int = 13,
    policies: Sequence[str] = tuple(POLICIES),
    scope: str = "benchmark/upworthy",
    embedder: Embedder,
    progress: Progress | None = None,
) -> EvaluationRecord:
    """Learns from ``history`` alone, freezes, then chooses for every test of ``future``.

    store, log: where the history is ingested and tide's bank is kept, under ``scope``, which must hold no bank yet.
    All figures are of the future but ``meg@rounds``, which is of the windows inside the history. ``meg`` and
    ``negative_transfer`` are against no memory. ``uplift@x`` of tide is its paired difference from policy x, and
    likewise the others. Rows of the history that cannot be used are counted. Raises LeakageError for a test that
    both files hold.
    """
    began = time.perf_counter()
    data = {"history": sha256_of(history), "future": sha256_of(future)}
    past, coming = Archive.read(history), Archive.read(future)
    _refuse_overlap(past, coming)
    judging = coming.tasks()
    found = extractor(embedder)
    shared = setting(found, capacity=capacity, seed=seed, scope=scope)
    until = coming.created_at.min()
    ripe, set_aside = ingested(history, until, scope=scope, store=store, log=log, embedder=embedder)
    items = ripe.items()
    ids = {(d.experiment or "", d.placement or "", d.text): d.id for d in store.deliveries(scope)}
    tasks = past.tasks(ids)
    made = make(
        policies, shared, StoreLedger(store=store, scope=scope, capacity=shared.rules.capacity, embedder=embedder)
    )
    replayed = learn(items, tasks, made, until=until, extractor=found, setting=shared, progress=progress)
    refuse_known(judging, replayed.rounds[-1], replayed.known.items)
    shown = Shown.of(found.degrees_each(list(judging.texts)))
    scores = {policy.name: bank_scores(policy.cards(), shown, judging.contexts) for policy in made}
    notes = []
    try:
        scores[REFERENCE] = tfidf_ridge(replayed.known.items)(list(judging.texts))
    except MissingExtra as error:
        notes.append(f"{REFERENCE} is left out: {error}")
    judged = _judged(tasks, judging, replayed, scores, seed)
    tide = next((policy for policy in made if isinstance(policy, Tide)), None)
    return EvaluationRecord(
        benchmark="upworthy",
        version=version("afterwit"),
        seed=seed,
        seconds=time.perf_counter() - began,
        data=data,
        policies=_figures(judging, scores, judged, {policy.name: policy.cards() for policy in made}, seed),
        series=_series(replayed, judged, made),
        cards=tide.cards() if tide else (),
        rounds=tuple(tide.rounds) if tide else (),
        counts={
            "history_tests": len(set(past.tests)),
            "history_arms": len(past.tests),
            "history_arms_not_available": int((past.created_at + np.timedelta64(7, "D") > until).sum()),
            "history_rows_set_aside": set_aside,
            "items_learned_from": len(replayed.known.items),
            "rounds": len(replayed.rounds),
            "future_tests": len(set(coming.tests)),
            "future_tasks": len(judging),
            **{f"lifecycles_{verdict}": count for verdict, count in ripe.counts.items()},
        },
        notes=tuple(notes),
    )


def _refuse_overlap(past: Archive, coming: Archive) -> None:
    both = sorted(set(past.tests) & set(coming.tests))
    if both:
        raise LeakageError(
            f"test {both[0]} is in the history and in the future ({len(both)} such tests): what is scored must not "
            "have been learned from, so split the files by test"
        )


def ingested(
    history: Path, until: np.datetime64, *, scope: str, store: Store, log: EventLog, embedder: Embedder
) -> tuple[Lifecycles, int]:
    """The history through the real ingest and temporal credit, as known at ``until``, and how many rows could not be
    used. For aggregates an item's verdict never changes once it is available, so one lifecycle serves every round."""
    store.open_scope(scope, embedder=embedder.name, dimensions=embedder.dimensions)
    if store.bank(scope, BANK).version:
        raise Conflict(f"scope {scope} already holds a bank: an evaluation starts from none, so name another scope")
    with TemporaryDirectory() as folder:
        report = ingest(
            [history],
            scope=scope,
            mapping="headlines",
            store=store,
            log=log,
            rejects=Path(folder) / "rejects.jsonl",
            now=utc(until),
        )
    deliveries = DeliveryTable.of(store.deliveries(scope, until=utc(until)))
    return lifecycles(log.table(scope), deliveries, utc(until)), report.rejected


def _judged(tasks: Tasks, judging: Tasks, replayed: Replayed, scores: Mapping[str, Floats], seed: int) -> Judged:
    inside = replayed.window >= 0
    n = int(inside.sum())
    last = len(replayed.rounds) - 1
    utilities = {}
    for name, given in scores.items():
        earlier = replayed.utilities.get(name)
        head = earlier[inside] if earlier is not None else np.full(n, np.nan)
        utilities[name] = np.concatenate((head, judging.utilities(given)))
    offset = int(tasks.experiments.max(initial=-1)) + 1
    experiments = np.concatenate((tasks.experiments[inside], judging.experiments + offset))
    return Judged(
        resamples=Resamples.of(experiments, seed=seed),
        window=np.concatenate((replayed.window[inside], np.full(len(judging), last))).astype(np.int64),
        utilities=utilities,
    )


def _figures(
    judging: Tasks,
    scores: Mapping[str, Floats],
    judged: Judged,
    banks: Mapping[str, tuple[Card, ...]],
    seed: int,
) -> dict[str, dict[str, Interval]]:
    resamples = Resamples.of(judging.experiments, seed=seed)
    parts = {
        name: {
            "significant_pairs_accuracy": significant_pairs_accuracy(judging, given),
            "pairs_accuracy": pairs_accuracy(judging, given),
            "uplift": uplift(judging, given),
        }
        for name, given in scores.items()
    }
    chosen = {name: metrics["uplift"].top for name, metrics in parts.items()}
    base = np.zeros(len(judging))
    inside = judged.window < judged.window.max(initial=0)
    figures: dict[str, dict[str, Interval]] = {}
    for name, metrics in parts.items():
        own = np.where(inside, judged.utilities[name], np.nan)
        figures[name] = {metric: resamples.interval(ratio) for metric, ratio in metrics.items()}
        figures[name]["meg"] = resamples.interval(meg(chosen[name], base))
        figures[name]["negative_transfer"] = resamples.interval(negative_transfer(chosen[name], base))
        if name in banks:
            figures[name]["meg@rounds"] = judged.resamples.interval(meg(own, np.zeros(len(own))))
            figures[name]["cards"] = Interval(value=len(banks[name]))
            figures[name]["tokens"] = Interval(value=tokens(banks[name]))
    for name in parts if TESTED in parts else ():
        if name != TESTED:
            for metric, ratio in parts[TESTED].items():
                figures[TESTED][f"{metric}@{name}"] = resamples.difference(ratio, parts[name][metric])
            figures[TESTED][f"meg@{name}"] = resamples.interval(meg(chosen[TESTED], chosen[name]))
    return figures


def _series(replayed: Replayed, judged: Judged, made: Sequence[Policy]) -> dict[str, tuple[RoundPoint, ...]]:
    n = len(replayed.rounds)
    series = {}
    for policy in made:
        own = judged.utilities[policy.name]
        alone, so_far = meg_by_round(judged.resamples, meg(own, np.zeros(len(own))), judged.window, n=n)
        series[policy.name] = tuple(
            RoundPoint(at=at, meg=alone[k], so_far=so_far[k], cards=stage.cards, tokens=stage.tokens, edits=stage.edits)
            for k, (at, stage) in enumerate(zip(replayed.rounds, replayed.stages[policy.name], strict=True))
        )
    return series
