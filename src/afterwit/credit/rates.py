"""Rates as Beta posteriors under an empirical-Bayes prior (design section 5).

The prior Beta(a, b) is fitted by moments to the items' rates, weighted by exposures (Kleinman 1973); where the rates do
not vary beyond binomial noise, or there are fewer than three items, it is Beta(½ + m, 1½ − m), m the pooled rate.
"""

from typing import NamedTuple

import numpy as np
from scipy import special

from afterwit.credit.items import Floats


class Prior(NamedTuple):
    a: float
    b: float


class Rates(NamedTuple):
    """Posterior mean with a 95 % credible interval, (n,) each."""

    mean: Floats
    low: Floats
    high: Floats


def beta_prior(successes: Floats, trials: Floats) -> Prior:
    """Method of moments for a beta-binomial: E[(x/n − m)²] = m(1−m)(φ + (1−φ)/n) with a + b = 1/φ − 1."""
    used = trials > 0
    x, n = successes[used], trials[used]
    total = float(n.sum())
    m = (float(x.sum()) + 0.5) / (total + 1)
    spread = m * (1 - m)
    share = n / total if total else n
    scatter = float((share * (x / n - m) ** 2).sum())
    noise = float((share / n).sum()) if len(n) else 1.0
    phi = (scatter / spread - noise) / (1 - noise) if spread > 0 and noise < 1 else 0.0
    if len(n) < 3 or phi <= 0 or phi >= 1:
        return Prior(0.5 + m, 1.5 - m)
    strength = 1 / phi - 1
    return Prior(m * strength, (1 - m) * strength)


def beta_posterior(successes: Floats, trials: Floats, prior: Prior) -> Rates:
    a, b = prior.a + successes, prior.b + np.maximum(trials - successes, 0)
    low, high = (np.asarray(special.betaincinv(a, b, p), dtype=np.float64) for p in (0.025, 0.975))
    return Rates(a / (a + b), low, high)
