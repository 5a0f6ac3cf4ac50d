"""Fitness: what is left of an effect once everything examined is taken into account (design section 6).

Effects of all decisions examined, admitted or not, share one normal prior N(0, s²); s² maximises the marginal
likelihood Π N(y_d; 0, s² + se_d²). Then

    mean_d = y_d s² / (s² + se_d²),  sd_d² = s² se_d² / (s² + se_d²),  P(sign) = Φ(|mean_d| / sd_d)

which is what tames the winner's curse: where nothing varies beyond noise, s² = 0, every posterior is 0 and nothing
is admitted. The prior mean is fixed at 0: prefer and avoid are symmetric, and another mean would lend decisions
without evidence a sign. se_d is that of the normal as wide as the t interval (`Means.normal_se`).
Source: Efron, Large-Scale Inference (2010), chapter 1; the choice of ``se`` is our own.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from afterwit.credit.items import Floats


@dataclass(frozen=True, kw_only=True)
class Prior:
    """N(mean, sd²) of effects on the log rate ratio."""

    mean: float
    sd: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Posteriors:
    """mean, sd on the log rate ratio and P(sign), shape (D,) each; where ``se`` is infinite, the prior."""

    mean: Floats
    sd: Floats
    p_sign: Floats


def fit_prior(effect: Floats, se: Floats) -> Prior:
    """s by marginal likelihood; effects that are not finite, or have no finite ``se``, were not examined."""
    known = np.isfinite(effect) & np.isfinite(se) & (se > 0)
    square, v = effect[known] ** 2, se[known] ** 2
    if not len(v):
        return Prior(mean=0.0, sd=0.0)

    def slope(s2: float) -> float:
        w = 1 / (v + s2)
        return float((w * w * square - w).sum())

    if slope(0.0) <= 0:
        return Prior(mean=0.0, sd=0.0)
    # The derivative is positive at 0 and negative beyond the largest squared effect: bisection cannot fail.
    low, high = 0.0, float(square.max())
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return Prior(mean=0.0, sd=float(np.sqrt((low + high) / 2)))


def posterior(effect: Floats, se: Floats, prior: Prior) -> Posteriors:
    """Shrinks each effect towards the prior mean."""
    known = np.isfinite(effect) & np.isfinite(se)
    s2 = prior.sd**2
    v = np.where(known, se, 1.0) ** 2
    share = np.where(known, s2 / (s2 + v), 0.0)
    mean = prior.mean + share * (np.where(known, effect, 0.0) - prior.mean)
    sd = prior.sd * np.sqrt(1 - share)
    z = np.divide(np.abs(mean), sd, out=np.zeros_like(mean), where=sd > 0)
    return Posteriors(mean=mean, sd=sd, p_sign=np.asarray(special.ndtr(z), dtype=np.float64))


def lower_bound(mean: Floats, sd: Floats, sign: Floats, *, confidence: float = 0.95) -> Floats:
    """One-sided lower bound of sign · effect, by which selection ranks cards."""
    return np.asarray(sign * mean - special.ndtri(confidence) * sd, dtype=np.float64)


def recall_value(mean: Floats, prior: Prior, sign: Floats) -> Floats:
    """v̂ = clip(sign · posterior mean / prior sd, −1, 1); 0 where the prior has collapsed."""
    if prior.sd == 0:
        return np.zeros_like(mean)
    return np.clip(sign * mean / prior.sd, -1.0, 1.0)
