"""How much a feature can still tell among the candidates at hand.

    g = clip(1 − (mean of the candidates − mean of items at random) / typical, 0, 1)

typical is by how much what users choose is above items at random. Candidates drawn at random give 1. Candidates that
something chose by the feature itself, the most popular or those that read most like the history, are as high as what
users choose or higher: there the feature tells the target from the others no more, and misleads if asked. It is the
direction of a linear discriminant between chosen items and these candidates, never turned round. Ours.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_PSEUDO = 5.0


def open_share(candidates: Floats, at_random: Floats, typical: float) -> float:
    """g of one feature; 1 where nothing is known of items at random, or these are as high as what users choose."""
    if not len(at_random) or typical <= 0:
        return 1.0
    return float(np.clip(1 - (candidates.mean() - at_random.mean()) / typical, 0, 1))


def weighed(values: Floats, n: int, typical: float) -> Floats:
    """g times the first ``n`` of the values, the candidates', standardised; the rest are of items at random.
    typical: in deviations of these."""
    candidates, at_random = values[:n], values[n:]
    deviation = float(at_random.std()) if len(at_random) else 1.0
    return open_share(candidates, at_random, typical * deviation) * standard(candidates)


def commonness(chosen: Floats) -> Floats:
    """ln(1 + n / 5)."""
    return np.asarray(np.log1p(chosen / _PSEUDO), dtype=np.float64)


def standard(values: Floats) -> Floats:
    """Zero mean and unit deviation; all zero where all are alike."""
    deviation = float(values.std())
    return (values - values.mean()) / deviation if deviation > 1e-12 else np.zeros(len(values))
