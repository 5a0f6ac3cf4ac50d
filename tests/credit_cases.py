"""Items and designs made by hand or by chance, for the tests of the credit statistics."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
from scipy import sparse

from afterwit.credit.items import Design, Floats, Items

START = np.datetime64("2024-01-01T00:00:00", "us")
DAY = np.timedelta64(1, "D")
LATE = datetime(2030, 1, 1, tzinfo=UTC)


def make_items(
    strata: Sequence[int],
    exposures: Sequence[float],
    clicks: Sequence[float],
    *,
    weights: Sequence[float] | None = None,
    days: Sequence[int] | None = None,
    confirmable: Sequence[bool] | None = None,
    contexts: dict[str, list[object]] | None = None,
) -> Items:
    n = len(strata)
    delivered = START + np.asarray(days if days is not None else [0] * n) * DAY
    declared = np.empty(n, dtype=object)
    declared[:] = [()] * n
    return Items(
        ids=np.array([f"item-{i}" for i in range(n)], dtype=object),
        strata=np.asarray(strata, dtype=np.int64),
        texts=np.array([f"text {i}" for i in range(n)], dtype=object),
        exposures=np.asarray(exposures, dtype=np.float64),
        engagements={"click": np.asarray(clicks, dtype=np.float64)},
        weights=np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64),
        first_delivered_at=delivered,
        available_at=delivered + 7 * DAY,
        confirmable=np.ones(n, dtype=bool) if confirmable is None else np.asarray(confirmable),
        contexts={name: np.array(values, dtype=object) for name, values in (contexts or {}).items()},
        declared=declared,
    )


def make_design(matrix: Sequence[Sequence[float]] | Floats, names: Sequence[str] | None = None) -> Design:
    dense = np.asarray(matrix, dtype=np.float64)
    labels = tuple(names) if names else tuple(f"d{j}" for j in range(dense.shape[1]))
    return Design(names=labels, matrix=sparse.csr_array(dense))


def random_case(
    seed: int,
    *,
    strata: int = 60,
    size: int = 4,
    decisions: int = 8,
    effects: Floats | None = None,
    between: float = 0.1,
    clicks: float = 40.0,
    weighted: bool = False,
) -> tuple[Items, Design]:
    """Strata of items whose log rates follow the effects of what they show, with noise of sd ``between``."""
    rng = np.random.default_rng(seed)
    code = np.repeat(np.arange(strata), size)
    n = len(code)
    shown = (rng.random((n, decisions)) < 0.3).astype(np.float64)
    beta = np.zeros(decisions) if effects is None else effects
    base = rng.normal(-4, 0.5, strata)[code]
    log_rate = base + shown @ beta + rng.normal(0, between, n)
    exposures = np.round(clicks / np.exp(base) * rng.uniform(0.8, 1.25, n))
    items = make_items(
        code.tolist(),
        exposures.tolist(),
        rng.poisson(exposures * np.exp(log_rate)).tolist(),
        weights=rng.uniform(0.1, 3, n).tolist() if weighted else None,
        days=code.tolist(),
    )
    return items, make_design(shown)
