"""The interval of a difference between two rates."""

import math
from statistics import NormalDist


def newcombe(with_: int, without: int, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Interval of p₁ − p₀ from ``with_`` and ``without`` successes in n trials each.

    Newcombe's hybrid of two Wilson intervals [l, u] (Statistics in Medicine 17, 1998, method 10):
    low = p₁ − p₀ − √((p₁ − l₁)² + (u₀ − p₀)²), high = p₁ − p₀ + √((u₁ − p₁)² + (p₀ − l₀)²).
    """
    z = NormalDist().inv_cdf(0.5 + level / 2)
    p1, p0 = with_ / n, without / n
    (l1, u1), (l0, u0) = _wilson(p1, n, z), _wilson(p0, n, z)
    return p1 - p0 - math.hypot(p1 - l1, u0 - p0), p1 - p0 + math.hypot(u1 - p1, p0 - l0)


def _wilson(p: float, n: int, z: float) -> tuple[float, float]:
    centre = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)
