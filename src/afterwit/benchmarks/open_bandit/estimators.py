"""Estimates of a target policy's clicks per impression from another policy's log.

For rows i of one position, reward r, logged propensity p and the target's probability π of the item that was shown,
w = π / p:

    naive          Σ r / n                                what the log itself got: no correction
    ips            Σ w r / n                              Horvitz & Thompson 1952
    snips          Σ w r / Σ w                            Hájek 1971; Swaminathan & Joachims 2015
    snips_clipped  the same with min(w, √n)               Ionides 2008
    dr             Σ (Σ_a π(a) q̂(a) + w (r − q̂)) / n      Dudík, Langford & Li 2011

q̂, the reward model, is an item's click rate at that position under an empirical-Bayes Beta prior a position, fitted
on the other four fifths of the rows (cross-fitting, Chernozhukov et al. 2018). User features are left out: tens of
clicks do not carry them. Positions are estimated apart, as propensities are given a position, and count alike.
"""

import numpy as np

from afterwit.benchmarks.open_bandit.data import Log
from afterwit.credit.items import Floats
from afterwit.credit.temporal.rates import beta_posterior, beta_prior
from afterwit.evaluate.metrics.bootstrap import Ratio

ESTIMATORS = ("naive", "ips", "snips", "snips_clipped", "dr")
_FOLDS = 5


def shown_shares(log: Log, items: int, positions: int) -> Floats:
    """How often a policy shows each item at each position, (items, positions); each column sums to 1.

    For a policy that learns as it goes this is its average over the time of the log.
    """
    counts = np.zeros((items, positions))
    np.add.at(counts, (log.item, log.position), 1.0)
    return np.asarray(counts / np.maximum(counts.sum(axis=0), 1), dtype=np.float64)


def weights(log: Log, target: Floats) -> Floats:
    """w of each row, (n,). target: π, (items, positions)."""
    return np.asarray(target[log.item, log.position] / log.propensity, dtype=np.float64)


def effective(w: Floats) -> float:
    """How many unweighted rows these are worth: (Σ w)² / Σ w² (Kish 1965)."""
    square = float((w**2).sum())
    return float(w.sum()) ** 2 / square if square else 0.0


def estimates(log: Log, target: Floats, *, seed: int) -> dict[str, tuple[Ratio, ...]]:
    """Estimator → one ratio a position over the rows of the log, (n,) each; rows of other positions count 0."""
    w, click = weights(log, target), log.click
    expected, residual = _modelled(log, target, seed)
    found: dict[str, list[Ratio]] = {name: [] for name in ESTIMATORS}
    for position in range(target.shape[1]):
        here = (log.position == position).astype(np.float64)
        clipped = np.minimum(w, np.sqrt(here.sum())) * here
        found["naive"].append(Ratio(top=click * here, bottom=here))
        found["ips"].append(Ratio(top=w * click * here, bottom=here))
        found["snips"].append(Ratio(top=w * click * here, bottom=w * here))
        found["snips_clipped"].append(Ratio(top=clipped * click, bottom=clipped))
        found["dr"].append(Ratio(top=(expected + w * residual) * here, bottom=here))
    return {name: tuple(ratios) for name, ratios in found.items()}


def _modelled(log: Log, target: Floats, seed: int) -> tuple[Floats, Floats]:
    """Per row, from a model that did not see it: Σ_a π(a) q̂(a) at its position, and r − q̂ of what was shown."""
    items, positions = target.shape
    cell = log.item * positions + log.position
    strata = np.tile(np.arange(positions), items).astype(np.int64)
    fold = np.random.default_rng(seed).permutation(len(log)) % _FOLDS
    expected, residual = np.zeros(len(log)), np.zeros(len(log))
    for k in range(_FOLDS):
        fit, held = fold != k, fold == k
        shown = np.bincount(cell[fit], minlength=items * positions).astype(np.float64)
        clicked = np.bincount(cell[fit], weights=log.click[fit], minlength=items * positions).astype(np.float64)
        rate = beta_posterior(clicked, shown, beta_prior(clicked, shown, strata)).mean.reshape(items, positions)
        expected[held] = (target * rate).sum(axis=0)[log.position[held]]
        residual[held] = log.click[held] - rate[log.item[held], log.position[held]]
    return expected, residual
