"""F1 of where credit landed against where it belongs."""

import time
from collections import Counter, defaultdict
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterwit.benchmarks.responsibility.construct import ConstructedSet, Landing, construct
from afterwit.benchmarks.responsibility.methods import METHODS, Weights
from afterwit.evaluate.record import EvaluationRecord
from afterwit.model import Interval, content_hash

RESAMPLES = 2000


def score(weights: Weights, cases: ConstructedSet, *, seed: int = 13) -> dict[str, Interval]:
    """f1, precision and recall, micro-averaged over (episode, decision, card), with 95 % bootstrap intervals by
    episode, and weight_sum, the largest Σ w of an episode and decision. Credit of any weight above 0 has landed."""
    landed = frozenset(place for place, weight in weights.items() if weight > 0)
    groups = (landed & cases.truth, landed - cases.truth, cases.truth - landed)
    counts = np.stack([_by_episode(group, cases) for group in groups])
    n = len(cases.episodes)
    draws = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    total, resampled = counts.sum(axis=1), counts @ draws.T
    figures = {}
    for name, formula in (("f1", _f1), ("precision", _precision), ("recall", _recall)):
        low, high = np.quantile(formula(resampled), (0.025, 0.975))
        figures[name] = Interval(value=float(formula(total)), low=float(low), high=float(high), n=n)
    sums: defaultdict[tuple[str, str], float] = defaultdict(float)
    for (episode, decision, _), weight in weights.items():
        sums[episode, decision] += weight
    figures["weight_sum"] = Interval(value=max(sums.values(), default=0.0), n=len(sums))
    return figures


def run(*, episodes: int = 300, seed: int = 13) -> EvaluationRecord:
    """Every method on one constructed set."""
    start = time.perf_counter()
    cases = construct(episodes=episodes, seed=seed)
    policies = {name: score(method(cases), cases, seed=seed) for name, method in METHODS.items()}
    return EvaluationRecord(
        benchmark="responsibility",
        version=version("afterwit"),
        seed=seed,
        seconds=time.perf_counter() - start,
        data={"simulated": f"sha256:{content_hash(repr(cases))}"},
        policies=policies,
        counts={"episodes": episodes, "decisions": len(cases.motifs), "responsible": len(cases.truth)},
        notes=("simulated: the set is constructed, its truth is known from how each decision was built",),
    )


def _by_episode(landings: frozenset[Landing], cases: ConstructedSet) -> NDArray[np.int64]:
    counted = Counter(episode for episode, _, _ in landings)
    return np.array([counted[episode.id] for episode, _ in cases.episodes], dtype=np.int64)


def _f1(counts: NDArray[np.int64]) -> Any:
    hit, false, missed = counts
    return 2 * hit / np.maximum(2 * hit + false + missed, 1)


def _precision(counts: NDArray[np.int64]) -> Any:
    hit, false, _ = counts
    return hit / np.maximum(hit + false, 1)


def _recall(counts: NDArray[np.int64]) -> Any:
    hit, _, missed = counts
    return hit / np.maximum(hit + missed, 1)
