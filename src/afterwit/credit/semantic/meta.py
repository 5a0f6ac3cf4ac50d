"""Random-effects means over strata, for all decisions at once.

Model: effect_c = μ_d + u_c + e_c with Var u = τ²_d and Var e = v_c, for the cells c of decision d.

    w_c = 1 / (v_c + τ²),  μ̂ = Σ w y / Σ w,  q = Σ w (y − μ̂)² / (k − 1),  se² = max(1, q) / Σ w

τ² by REML, Fisher scoring (Viechtbauer 2005, equations 9–11): with P = W − W1(1'W1)⁻¹1'W the step is
(y'PPy − tr P) / tr PP, where y'PPy = Σ w² (y − μ̂)². The interval is the t interval on k − 1 degrees of freedom with
the variance of Hartung & Knapp (2001), never below that of q = 1 (Röver, Knapp & Friede 2015).
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from afterwit.credit.items import Floats, Ints

DELTA = 0.02
"""Half width of the band of effects that count as none, on the log rate ratio."""

_ITERATIONS = 50
_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Means:
    """One row a group, shape (g,) each; nan where a group has fewer than two strata (low, high, se: ±inf, inf).

    effect, se, low, high: log rate ratio and its 95 % interval. tau2: variance between strata. q: the factor of
    Hartung & Knapp before max(1, q). precision: Σ w. strata: k; df = k − 1.
    """

    effect: Floats
    se: Floats
    low: Floats
    high: Floats
    tau2: Floats
    q: Floats
    precision: Floats
    strata: Ints

    @property
    def df(self) -> Ints:
        return np.maximum(self.strata - 1, 0)

    @property
    def normal_se(self) -> Floats:
        """The standard error of a normal whose 95 % interval is as wide as this t interval: what few strata cost
        survives where a normal likelihood is needed (our own choice)."""
        return (self.high - self.low) / (2 * special.ndtri(0.975))


def random_effects(effect: Floats, variance: Floats, group: Ints, n_groups: int, level: float = 0.95) -> Means:
    """Pools the cells of each group; effect, variance, group: (c,), variances above 0, groups 0…n_groups−1."""
    strata = np.bincount(group, minlength=n_groups).astype(np.int64)
    tau2 = reml(effect, variance, group, n_groups)
    w = 1 / (variance + tau2[group])
    precision: Floats = np.asarray(np.bincount(group, weights=w, minlength=n_groups), dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.bincount(group, weights=w * effect, minlength=n_groups) / precision
        spread = np.bincount(group, weights=w * (effect - mean[group]) ** 2, minlength=n_groups)
        q = spread / (strata - 1)
        se = np.where(strata >= 2, np.sqrt(np.fmax(1.0, q) / precision), np.inf)
    half = _t_quantile(strata - 1, level) * se
    some = strata >= 2
    return Means(
        effect=np.where(some, mean, np.nan),
        se=se,
        low=np.where(some, mean - half, -np.inf),
        high=np.where(some, mean + half, np.inf),
        tau2=tau2,
        q=np.where(some, q, np.nan),
        precision=precision,
        strata=strata,
    )


def _t_quantile(df: Ints, level: float) -> Floats:
    unique, back = np.unique(np.maximum(df, 1), return_inverse=True)
    return np.asarray(special.stdtrit(unique, 0.5 + level / 2), dtype=np.float64)[back]


def reml(effect: Floats, variance: Floats, group: Ints, n_groups: int) -> Floats:
    """τ² ≥ 0 of each group, (g,); 0 for groups of fewer than two cells.

    A step that would leave the half-line goes to 0 where the likelihood falls from there, else halves τ²; one that
    overshoots is drawn back along the chord. Groups leave the iteration as they converge. Where a restricted
    likelihood has two maxima (about one group in thousands), the one reached from 0 is taken.
    """
    tau2 = np.zeros(n_groups)
    live = np.flatnonzero(np.bincount(group, minlength=n_groups) >= 2)
    y, v, code = _restrict(effect, variance, group, live, n_groups)
    current = np.zeros(len(live))
    falls = step = _step(y, v, code, current)
    for _ in range(_ITERATIONS):
        target = current + step
        moved = np.where(target >= 0, target, np.where(falls <= 0, 0.0, current / 2))
        next_step = _step(y, v, code, moved)
        # Where a step overshot the root, the next point is the chord's root between the two.
        flipped = (step * next_step < 0) & (moved > 0)
        chord = moved - next_step * (moved - current) / np.where(flipped, next_step - step, 1.0)
        if flipped.any():
            moved = np.where(flipped, chord, moved)
            next_step = _step(y, v, code, moved)
        tau2[live] = moved
        going = np.flatnonzero(np.abs(moved - current) > _TOLERANCE * (1 + current))
        if not len(going):
            break
        if len(going) < 0.8 * len(live):
            y, v, code = _restrict(y, v, code, going, len(live))
            live, falls, moved, next_step = live[going], falls[going], moved[going], next_step[going]
        current, step = moved, next_step
    return tau2


def _restrict(y: Floats, v: Floats, code: Ints, groups: Ints, n: int) -> tuple[Floats, Floats, Ints]:
    place = np.full(n, -1, dtype=np.int64)
    place[groups] = np.arange(len(groups))
    code = place[code]
    keep = code >= 0
    return y[keep], v[keep], code[keep]


def _step(y: Floats, v: Floats, code: Ints, tau2: Floats) -> Floats:
    n = len(tau2)
    w = 1 / (v + tau2[code])
    w2 = w * w
    s1, s2, s3 = (np.bincount(code, weights=column, minlength=n) for column in (w, w2, w2 * w))
    mean = np.bincount(code, weights=w * y, minlength=n) / s1
    ypy = np.bincount(code, weights=w2 * (y - mean[code]) ** 2, minlength=n)
    trace = s1 - s2 / s1
    trace2 = s2 - 2 * s3 / s1 + (s2 / s1) ** 2
    return np.asarray((ypy - trace) / trace2, dtype=np.float64)
