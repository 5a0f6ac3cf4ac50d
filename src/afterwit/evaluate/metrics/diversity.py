"""How many different things a population of cards says.

Of n cards with similarity Z (n, n), Z_ij = max(0, cos(x_i, x_j)), each of share p = 1/n:

    effective        exp(−Σ p_i ln (Z p)_i): Leinster & Cobbold 2012, order 1; n where all differ, 1 where all are one
    near_duplicates  share of cards with another whose cosine is at least 0.95
    spread           1 − mean of Z over pairs of different cards
"""

import numpy as np

from afterwit.credit.items import Floats

NEAR = 0.95


def similarity(vectors: Floats) -> Floats:
    """Z of unit vectors (n, dimensions); the diagonal is 1 whatever rounding says."""
    found = np.clip(vectors @ vectors.T, 0.0, 1.0).astype(np.float64)
    np.fill_diagonal(found, 1.0)
    return found


def effective(z: Floats) -> float:
    """0 for no cards."""
    n = len(z)
    return float(np.exp(-np.log(z.mean(axis=1)).mean())) if n else 0.0


def near_duplicates(z: Floats) -> float:
    """0 for fewer than two cards."""
    others = z - np.eye(len(z))
    return float((others.max(axis=1) >= NEAR).mean()) if len(z) > 1 else 0.0


def spread(z: Floats) -> float:
    """0 for fewer than two cards."""
    n = len(z)
    return 1 - float(z.sum() - n) / (n * (n - 1)) if n > 1 else 0.0
