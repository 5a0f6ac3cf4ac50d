"""Intervals that may be looked at any number of times.

For an estimate with standard error s, precision V = 1 / s², all looks together miss the truth with probability α:

    |θ̂ − θ| ≤ √( (V + ρ) / V² · ln((V + ρ) / (ρ α²)) )

This is the asymptotic confidence sequence of a normal mixture (Robbins 1970; Waudby-Smith, Arbour, Sinha, Kennedy &
Ramdas 2024, theorem 2.2; as a test, the mixture SPRT of Johari, Koomen, Pekelis & Walsh 2022). It is an interval for
a sum of independent observations of one law: where the effect itself drifts, it covers the mean so far at best.
"""

import numpy as np

from afterwit.credit.confirmation.later import mixture_width
from afterwit.credit.items import Floats

ALPHA = 0.05


def always_valid_margin(se: Floats, planned: Floats) -> Floats:
    """Half width of the 95 % sequence, any shape; infinite where se is not finite or not above 0.

    planned: the standard error at which the sequence is to be narrowest; it must not depend on the outcomes seen.
    """
    usable = np.isfinite(se) & (se > 0) & np.isfinite(planned) & (planned > 0)
    precision = 1 / np.where(usable, se, 1.0) ** 2
    rho = mixture_width(1 / np.where(usable, planned, 1.0) ** 2)
    margin = np.sqrt((precision + rho) / precision**2 * np.log((precision + rho) / (rho * ALPHA**2)))
    return np.where(usable, margin, np.inf)
