"""Rates as Beta posteriors under an empirical-Bayes prior per stratum (design section 5).

In stratum s the prior is Beta(m_s M, (1 − m_s) M): m_s the stratum's pooled rate (of all strata where it has a single
item, whose own rate must not be used twice), M one concentration for all strata, as most have too few items for one
of their own. With ρ = 1 / (M + 1), n_i trials, N_s their sum and k_s items,

    E Σ n_i (x_i/n_i − m_s)² / (m_s (1 − m_s)) = (k_s − 1) + ρ Σ (n_i − 1)(1 − n_i/N_s)

so that summing both sides over strata gives ρ by moments (Kleinman 1973, weights n_i; pooling M is ours).
"""

from typing import NamedTuple

import numpy as np
from scipy import special

from afterwit.credit.items import Floats, Ints

# Where items vary no more than binomial noise, the prior still counts for no more than this many trials.
_MOST = 1e5


class Prior(NamedTuple):
    """Of the items' own strata, shape (n,) each."""

    a: Floats
    b: Floats


class Posterior(NamedTuple):
    """Mean with a 95 % credible interval, (n,) each."""

    mean: Floats
    low: Floats
    high: Floats


def beta_prior(successes: Floats, trials: Floats, strata: Ints) -> Prior:
    """successes, trials: (n,), trials ≥ successes; strata: codes from 0, (n,)."""
    s = int(strata.max()) + 1 if len(strata) else 0
    x, n, used = (np.bincount(strata, weights=c, minlength=s) for c in (successes, trials, trials > 0))
    overall = (float(x.sum()) + 0.5) / (float(n.sum()) + 1)
    m = np.where(used >= 2, (x + overall) / (n + 1), overall)
    mean, size = m[strata], np.maximum(n, 1)[strata]
    rate = successes / np.maximum(trials, 1)
    several = (used >= 2)[strata] & (trials > 0)
    scatter = float((trials * (rate - mean) ** 2 / (mean * (1 - mean)))[several].sum())
    noise = float((used[used >= 2] - 1).sum())
    weight = float(((trials - 1) * (1 - trials / size))[several].sum())
    rho = min(max((scatter - noise) / weight, 0.0), 0.5) if weight > 0 else 0.5
    strength = min(1 / rho - 1, _MOST) if rho > 0 else _MOST
    return Prior(mean * strength, (1 - mean) * strength)


def beta_posterior(successes: Floats, trials: Floats, prior: Prior) -> Posterior:
    a, b = prior.a + successes, prior.b + trials - successes
    low, high = (np.asarray(special.betaincinv(a, b, p), dtype=np.float64) for p in (0.025, 0.975))
    return Posterior(a / (a + b), low, high)
