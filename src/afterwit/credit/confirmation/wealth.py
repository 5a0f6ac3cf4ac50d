"""Evidence that may be looked at whenever there is some: betting against "no effect", stratum by stratum.

Under none, which of two arms shows a decision is a coin's toss, so the contrast y_s of a stratum is symmetric about 0,
given its size and its variance v_s (both do not change when the arms change places). Then for every λ

    E[ exp(λ y_s) / cosh(λ y_s) ] = 1,

whatever the distribution, and a product over strata in order of time is wealth that no gambler expects to gain: an
e-process, whose reciprocal is a p-value valid at any stopping time (de la Peña 1999; Ramdas, Ruf, Larsson & Koolen
2020, section 5; Howard, Ramdas, McAuliffe & Sekhon 2020). An effect against the direction asked only loses. We bet
λ_s = d θ / v_s, d = ±1, the likelihood ratio's stake for an effect of θ, and average the wealth over θ = |admission
effect| · (¼, ½, 1, 2), fixed at admission, so that a lucky admission costs little (the method of mixtures; the grid
is our own choice). No variance is estimated: where strata differ more than v_s says, the stakes are bolder than
best, never unfair. One stratum doubles the wealth at most.

Exact for two arms of like exposure; with more arms or small counts log rates are a little skewed, and the audit in
`benchmarks/` shows what that does.
"""

import numpy as np
from scipy import special

from afterwit.credit.items import Floats, Ints

_STAKES = np.array([0.25, 0.5, 1.0, 2.0])


def log_wealth(effect: Floats, variance: Floats, question: Ints, direction: Floats, sought: Floats) -> Floats:
    """Log of the wealth of each question, (k,); 0 where it has no stratum.

    effect, variance: of each stratum's contrast on the log rate ratio, (c,). question: which question it belongs to,
    0…k−1, (c,). direction: ±1, sought: the admission effect, (k,).
    """
    k = len(direction)
    u = direction[question] * effect / variance
    grown = np.zeros((len(_STAKES), k))
    for row, stake in enumerate(_STAKES):
        x = stake * np.abs(sought)[question] * u
        # log cosh x = |x| + log1p(exp(−2|x|)) − log 2, which does not overflow
        grown[row] = np.bincount(
            question, weights=x - np.abs(x) - np.log1p(np.exp(-2 * np.abs(x))) + np.log(2), minlength=k
        )
    return np.asarray(special.logsumexp(grown, axis=0) - np.log(len(_STAKES)), dtype=np.float64)


def strata_wanted(effect: float, stratum_variance: float, wealth: float) -> float:
    """About how many strata bring log wealth ``wealth`` where the effect is this and one contrast varies so much.

    A stratum brings E[log] ≈ d² / (2 (d² + 1)) with d² = effect² / variance at the best stake (second order in the
    stake); what the mixture costs is about what the walk's last step brings beyond the mark (our approximation).
    """
    ratio = effect**2 / max(stratum_variance, 1e-12)
    return wealth * 2 * (1 + ratio) / max(ratio, 1e-12)
