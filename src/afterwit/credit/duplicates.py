"""Duplicate decisions are one hypothesis and one card (design section 6)."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from afterwit.credit.items import Design, Ints, Items

_CORRELATION = 0.9


@dataclass(frozen=True, kw_only=True)
class Duplicate:
    """name: the canonical decision of the group. sign: −1 where showing one means not showing the other."""

    name: str
    sign: int


def duplicates(items: Items, design: Design, columns: Ints | None = None) -> dict[str, Duplicate]:
    """Decision → the canonical one of its group, for every member of a group of two or more.

    A group is connected by |r| ≥ 0.9 between indicators less their stratum means. Canonical is the decision shown
    by most items, ties by shorter, then earlier name. columns: those to look among (all where None); the cost is
    that of their sparse Gram matrix, so hand over candidates and cards rather than everything ever examined.
    """
    chosen = np.arange(len(design.names)) if columns is None else np.asarray(columns)
    x = design.matrix[:, chosen].astype(np.float64)
    _, codes, sizes = np.unique(items.strata, return_inverse=True, return_counts=True)
    share = sparse.csr_array((1 / np.sqrt(sizes[codes]), (codes, np.arange(len(items)))))
    pooled = sparse.csr_array(share @ x)
    gram = (x.T @ x - pooled.T @ pooled).tocoo()
    diagonal = np.zeros(len(chosen))
    own = gram.row == gram.col
    diagonal[gram.row[own]] = gram.data[own]
    # Rounding leaves about 1e-13 on columns that vary inside no stratum.
    varies = diagonal > 1e-9
    pair = (gram.row < gram.col) & varies[gram.row] & varies[gram.col]
    row, col, value = gram.row[pair], gram.col[pair], gram.data[pair]
    r = value / np.sqrt(diagonal[row] * diagonal[col])
    close = np.abs(r) >= _CORRELATION - 1e-9
    row, col, r = row[close], col[close], r[close]
    n = len(chosen)
    _, group = csgraph.connected_components(sparse.csr_array((np.ones(len(row)), (row, col)), shape=(n, n)), False)
    shown = np.asarray(x.sum(axis=0)).ravel()
    members: dict[int, list[int]] = {}
    for place in np.unique(np.concatenate((row, col))).tolist():
        members.setdefault(int(group[place]), []).append(place)
    found: dict[str, Duplicate] = {}
    for places in members.values():
        names = {place: design.names[int(chosen[place])] for place in places}
        best = min(places, key=lambda place: (-shown[place], len(names[place]), names[place]))
        for place in places:
            sign = 1 if place == best else _sign(x, codes, place, best)
            found[names[place]] = Duplicate(name=names[best], sign=sign)
    return found


def _sign(x: sparse.csr_array, codes: Ints, one: int, other: int) -> int:
    a, b = (x[:, [place]].toarray().ravel() for place in (one, other))
    means = np.bincount(codes, weights=b) / np.bincount(codes)
    return 1 if float(a @ (b - means[codes])) >= 0 else -1
