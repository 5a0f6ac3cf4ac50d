"""F1 of where credit landed against where it belongs."""

import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit import __version__
from afterwit.benchmarks.responsibility.construct import ConstructedSet, Landing, construct
from afterwit.benchmarks.responsibility.methods import METHODS, Weights
from afterwit.model import Interval

RESAMPLES = 2000


@dataclass(frozen=True, kw_only=True)
class Score:
    """f1, precision, recall: micro-averaged over (episode, decision, card), with 95 % bootstrap intervals by episode.
    weight_sum: the largest Σ w of an episode and decision."""

    f1: Interval
    precision: Interval
    recall: Interval
    weight_sum: Interval

    def as_json(self) -> dict[str, dict[str, float | int]]:
        return {name: getattr(self, name).as_json() for name in ("f1", "precision", "recall", "weight_sum")}


def score(weights: Weights, cases: ConstructedSet, *, seed: int = 13) -> Score:
    """Credit of any weight above 0 counts as landed."""
    landed = frozenset(place for place, weight in weights.items() if weight > 0)
    counts = np.stack(
        [_by_episode(group, cases) for group in (landed & cases.truth, landed - cases.truth, cases.truth - landed)]
    )
    rng = np.random.default_rng(seed)
    n = len(cases.episodes)
    draws = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    resampled = counts @ draws.T
    sums: defaultdict[tuple[str, str], float] = defaultdict(float)
    for (episode, decision, _), weight in weights.items():
        sums[episode, decision] += weight
    total = counts.sum(axis=1, keepdims=True)
    figures = {
        name: Interval(
            value=float(formula(total)[0]),
            low=float(np.quantile(formula(resampled), 0.025)),
            high=float(np.quantile(formula(resampled), 0.975)),
            n=n,
        )
        for name, formula in (("f1", _f1), ("precision", _precision), ("recall", _recall))
    }
    return Score(weight_sum=Interval(value=float(max(sums.values(), default=0.0)), n=len(sums)), **figures)


def run(*, episodes: int = 300, seed: int = 13) -> dict[str, Any]:
    """The evaluation record (design section 12) of every method on one constructed set."""
    start = time.perf_counter()
    cases = construct(episodes=episodes, seed=seed)
    policies = {name: score(method(cases), cases, seed=seed).as_json() for name, method in METHODS.items()}
    return {
        "benchmark": "responsibility",
        "version": __version__,
        "seed": seed,
        "seconds": round(time.perf_counter() - start, 3),
        "data": {"simulated": f"{episodes} episodes, {len(cases.motifs)} decisions"},
        "policies": policies,
    }


def _by_episode(landings: frozenset[Landing], cases: ConstructedSet) -> np.ndarray[Any, np.dtype[np.int64]]:
    counted = Counter(episode for episode, _, _ in landings)
    return np.array([counted[episode.id] for episode, _ in cases.episodes], dtype=np.int64)


def _f1(counts: Any) -> Any:
    hit, false, missed = counts
    return 2 * hit / np.maximum(2 * hit + false + missed, 1)


def _precision(counts: Any) -> Any:
    hit, false, _ = counts
    return hit / np.maximum(hit + false, 1)


def _recall(counts: Any) -> Any:
    hit, _, missed = counts
    return hit / np.maximum(hit + missed, 1)
