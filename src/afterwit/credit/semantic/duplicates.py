"""Duplicate decisions are one hypothesis and one card (design section 6)."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from afterwit.credit.items import Design, Floats, Ints, Items
from afterwit.decisions.mining import is_mined

_CORRELATION = 0.9
_MAY_BE = 0.75
_DIRECTIONS = 32


@dataclass(frozen=True, kw_only=True)
class Duplicate:
    """name: the canonical decision of the group. sign: −1 where showing one means not showing the other."""

    name: str
    sign: int


def duplicates(items: Items, design: Design, columns: Ints | None = None) -> dict[str, Duplicate]:
    """Decision → the canonical one of its group, for every member of a group of two or more.

    A group is connected by |r| ≥ 0.9 between indicators less their stratum means. Canonical are decisions that have a
    name (from a vocabulary or an agent) before mined ones, then those shown by most items, ties by shorter, then
    earlier name. columns: those to look among (all where None); the cost grows with the square of their number, so
    hand over candidates and cards rather than everything ever examined.
    """
    chosen = np.arange(len(design.names)) if columns is None else np.asarray(columns)
    x = design.matrix[:, chosen].astype(np.float64)
    _, codes, sizes = np.unique(items.strata, return_inverse=True, return_counts=True)
    share = sparse.csr_array((1 / np.sqrt(sizes[codes]), (codes, np.arange(len(items)))))
    pooled = sparse.csr_array(share @ x)
    diagonal = np.asarray(x.power(2).sum(axis=0) - pooled.power(2).sum(axis=0)).ravel()
    shows, averages = x.tocsc(), pooled.tocsc()

    def inner(one: Ints, other: Ints) -> Floats:
        """Of the centred columns, pair by pair."""
        own = np.asarray(shows[:, one].multiply(shows[:, other]).sum(axis=0)).ravel()
        return np.asarray(own - np.asarray(averages[:, one].multiply(averages[:, other]).sum(axis=0)).ravel())

    row, col = _candidates(shows, averages, share, diagonal)
    r = inner(row, col) / np.sqrt(diagonal[row] * diagonal[col])
    close = np.abs(r) >= _CORRELATION - 1e-9
    row, col = row[close], col[close]
    n = len(chosen)
    _, group = csgraph.connected_components(sparse.csr_array((np.ones(len(row)), (row, col)), shape=(n, n)), False)
    shown = np.asarray(x.sum(axis=0)).ravel()  # degrees count as parts of an item
    members: dict[int, list[int]] = {}
    for place in np.unique(np.concatenate((row, col))).tolist():
        members.setdefault(int(group[place]), []).append(place)
    found: dict[str, Duplicate] = {}
    for places in members.values():
        names = {place: design.names[int(chosen[place])] for place in places}
        best = min(places, key=lambda place: (is_mined(names[place]), -shown[place], len(names[place]), names[place]))
        signs = np.sign(inner(np.array(places), np.full(len(places), best)))
        for place, sign in zip(places, signs.tolist(), strict=True):
            found[names[place]] = Duplicate(name=names[best], sign=-1 if sign < 0 else 1)
    return found


def _candidates(
    x: sparse.csc_array, pooled: sparse.csc_array, share: sparse.csr_array, diagonal: Floats
) -> tuple[Ints, Ints]:
    """Pairs that may be as close as that, row < col: by the cosines of a random projection of the centred columns.

    At |r| = 0.9 a cosine over 32 directions errs by 0.034 (standard deviation (1 − r²)/√32), so that a true pair below
    0.75 lies four deviations off; unrelated pairs hardly ever reach it. The exact r of the rest is worked out.
    """
    directions = np.random.default_rng(0).standard_normal((x.shape[0], _DIRECTIONS))
    sketch = np.asarray(x.T @ directions - pooled.T @ (share @ directions))
    # Rounding leaves about 1e-13 on columns that vary inside no stratum.
    varies = diagonal > 1e-9
    length = np.linalg.norm(sketch, axis=1)
    unit = np.where(varies, 1 / np.maximum(length, 1e-12), 0.0)[:, None] * sketch
    row, col = np.nonzero(np.triu(np.abs(unit @ unit.T) >= _MAY_BE, k=1))
    return row.astype(np.int64), col.astype(np.int64)
