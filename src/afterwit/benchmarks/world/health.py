"""A population of cards over time: how many different things it says, and how good that is (11 snapshots)."""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from afterwit.benchmarks.world.figures import Lives, churns
from afterwit.benchmarks.world.play import Desk
from afterwit.evaluate.metrics.diversity import effective, near_duplicates, similarity, spread
from afterwit.model import Card, Interval

Curves = dict[str, dict[str, tuple[Interval, ...]]]
"""Metric → policy → one figure a snapshot."""


def health(
    lives: Lives, desk: Desk
) -> tuple[dict[str, dict[str, Interval]], dict[str, dict[str, tuple[Interval, ...]]]]:
    """Figures at the end, and curves over the snapshots: the initial bank, then after each update. Means over worlds.

    Quality at a snapshot is the mean utility of the round that it served; the initial bank served none.
    """
    curves: Curves = {}
    figures: dict[str, dict[str, Interval]] = {}
    for name, lived in lives.items():
        found = np.array([[_snapshot(bank, desk) for bank in life.banks] for life in lived])
        moved = np.array([churns(life) for life in lived])
        quality = np.array([life.figure("utility").mean(axis=1) for life in lived])
        for place, metric in enumerate(("effective", "near_duplicates", "spread", "cards")):
            curves.setdefault(metric, {})[name] = _means(found[:, :, place])
        curves.setdefault("churn", {})[name] = _means(moved)
        curves.setdefault("utility", {})[name] = _means(quality)
        figures[name] = {
            metric: curves[metric][name][-1] for metric in curves if metric not in ("utility", "cards", "churn")
        }
        rho = [_together(found[k, 1:, 0], quality[k]) for k in range(len(lived))]
        figures[name]["effective_with_utility"] = Interval(value=float(np.mean(rho)), n=len(rho))
    return figures, curves


def _snapshot(bank: Sequence[Card], desk: Desk) -> tuple[float, float, float, float]:
    z = similarity(desk.vectors([f"{card.guidance} {card.when}" for card in bank]).astype(np.float64))
    return effective(z), near_duplicates(z), spread(z), float(len(bank))


def _means(values: np.ndarray) -> tuple[Interval, ...]:
    return tuple(Interval(value=float(one), n=len(values)) for one in values.mean(axis=0))


def _together(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's correlation; 0 where either does not move."""
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(stats.spearmanr(one, other).statistic)
