"""Intervals by resampling experiments, the same ones for every figure, so that differences are paired.

For a ratio θ = Σ_c top_c / Σ_c bottom_c over clusters c: draw as many clusters as there are, with replacement, 2,000
times, and take the 2.5 % and 97.5 % quantiles of θ (percentile bootstrap, Efron & Tibshirani 1993, chapter 13).
"""

from dataclasses import dataclass

import numpy as np

from afterwit.credit.items import Floats, Ints
from afterwit.model import Interval

RESAMPLES = 2000
_TAILS = (0.025, 0.975)


@dataclass(frozen=True, kw_only=True, eq=False)
class Ratio:
    """A figure as Σ top / Σ bottom over tasks, (G,) each; what it counts stands in ``bottom``."""

    top: Floats
    bottom: Floats

    @property
    def value(self) -> float:
        total = float(self.bottom.sum())
        return float(self.top.sum()) / total if total else 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Resamples:
    """cluster: code of each task, (G,). counts: how often each resample drew each cluster, (2000, C)."""

    cluster: Ints
    counts: Floats

    @staticmethod
    def of(clusters: Ints, *, seed: int, n: int = RESAMPLES) -> "Resamples":
        found, codes = np.unique(clusters, return_inverse=True)
        size = len(found)
        drawn = np.random.default_rng(seed).integers(0, max(size, 1), size=(n, size))
        flat = (drawn + size * np.arange(n)[:, None]).ravel()
        counts = np.bincount(flat, minlength=n * size).reshape(n, size).astype(np.float64)
        return Resamples(cluster=codes.astype(np.int64), counts=counts)

    @staticmethod
    def nested(worlds: Ints, *, seed: int, n: int = RESAMPLES) -> "Resamples":
        """Worlds are drawn first, then as many tasks inside each drawn world as it has (Davison & Hinkley 1997,
        section 3.8); with one world, its tasks alone. worlds: code of each task, (G,)."""
        chance = np.random.default_rng(seed)
        members = [np.flatnonzero(worlds == world) for world in np.unique(worlds)]
        counts = np.zeros((n, len(worlds)))
        for row in counts:
            for place in chance.integers(len(members), size=len(members)):
                inside = members[place]
                np.add.at(row, inside[chance.integers(len(inside), size=len(inside))], 1.0)
        return Resamples(cluster=np.arange(len(worlds), dtype=np.int64), counts=counts)

    def interval(self, ratio: Ratio) -> Interval:
        """n: the sum of ``bottom``, the pairs or tasks behind the figure; no interval where it is 0."""
        return self._told(ratio.value, self.draws(ratio), ratio)

    def difference(self, one: Ratio, other: Ratio) -> Interval:
        """one − other, paired: both are worked out on the same resamples."""
        return self._told(one.value - other.value, self.draws(one) - self.draws(other), one)

    def draws(self, ratio: Ratio) -> Floats:
        """θ of each resample, (2000,); 0 where it drew nothing that counts."""
        drawn_top, drawn_bottom = self.counts @ self.sums(ratio.top), self.counts @ self.sums(ratio.bottom)
        return np.divide(drawn_top, drawn_bottom, out=np.zeros(len(drawn_top)), where=drawn_bottom > 0)

    def sums(self, values: Floats) -> Floats:
        """Per cluster, (C,)."""
        return np.bincount(self.cluster, weights=values, minlength=self.counts.shape[1]).astype(np.float64)

    @staticmethod
    def _told(value: float, draws: Floats, ratio: Ratio) -> Interval:
        n = round(float(ratio.bottom.sum()))
        if not n:
            return Interval(value=0.0, n=0)
        low, high = np.quantile(draws, _TAILS)
        return Interval(value=value, low=float(low), high=float(high), n=n)
