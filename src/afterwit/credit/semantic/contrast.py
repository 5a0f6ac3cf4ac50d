"""Matched contrasts: what a decision does to a rate, stratum by stratum (design section 6).

The unit is the item. In a stratum s with pooled rate p_s = Σ engagements / Σ exposures, item i has

    E_i = exposures_i · p_s                   expected engagements, so that no weight follows its own outcome
    y_i = log(engagements_i / exposures_i)    log rate; an item with no engagement counts 0.5 of one
    v_i = 1 / E_i + σ_b²                      variance of y_i: Poisson counts plus variance between items

and a decision d that item i shows to the degree x_i in [0, 1] has, where the degrees in the stratum differ, one cell

    effect   = Σ a_i δ_i y_i / S,   S = Σ a_i δ_i²,   δ_i = x_i − Σ a x / Σ a        with a_i = ω_i / v_i
    variance = (h_T + h_C) / S²,    h_G = max(Σ_G a_i² δ_i² v_i, Σ_G a_i δ_i²)

T: the items that show more of d than the stratum's mean; C: the others; ω_i: the item's weight. Where x is 0 or 1
the slope is the difference of the weighted means of T and C, and var_G the larger of Σ_G a² v / (Σ_G a)² and
1 / Σ_G a. The first form of h_G is the Hájek one, which does not depend on the scale of ω; the second discounts
evidence with ω < 1. The larger of the two lets a propensity weight never count an item more than once, and a
responsibility below 1 count it less (our own choice).

σ_b² is pooled over strata by the two-step moment estimator of DerSimonian & Kacker (2007), once a round. It holds
the effects of all decisions too, so it leans high. Below about one expected engagement an item, effects shrink
towards 0. Strata without any engagement say nothing about a ratio and are left out.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from afterwit.credit.items import Bools, Design, Floats, Ints, Items, Times
from afterwit.model import Condition

_VARIES = 1e-6
"""Least variance of the degrees in a cell: below it they differ by rounding alone."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rates:
    """Items of comparable strata as log rates, sorted by stratum, shape (m,) each.

    rows: their places in the items given. stratum: codes 0…S−1 without gaps. y: log rate minus the log pooled
    rate of the stratum. variance: v. weight: a = ω / v. between: σ_b². starts: first item of each stratum, (S,).
    """

    rows: Ints
    stratum: Ints
    starts: Ints
    y: Floats
    variance: Floats
    weight: Floats
    between: float

    @property
    def n_strata(self) -> int:
        return len(self.starts)

    def sums(self, values: Floats) -> Floats:
        """Per stratum, shape (S,)."""
        return np.asarray(np.bincount(self.stratum, weights=values, minlength=self.n_strata), dtype=np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """One row a (decision, stratum) with items on both sides, sorted by decision, then stratum; shape (c,) each.

    effect, variance: of the log rate ratio from not shown to shown whole. treated, controls: items.
    first_delivered: the earliest of the stratum, so that a stratum is later than a moment only if all of it is.
    confirmable: all of its items are.
    stratum: index into ``strata``, the stratum codes of the items given.
    """

    n_decisions: int
    decision: Ints
    stratum: Ints
    strata: Ints
    effect: Floats
    variance: Floats
    treated: Ints
    controls: Ints
    first_delivered: Times
    confirmable: Bools
    between: float

    def __len__(self) -> int:
        return len(self.decision)

    def take(self, rows: Ints | Bools) -> "Cells":
        return Cells(
            n_decisions=self.n_decisions,
            decision=self.decision[rows],
            stratum=self.stratum[rows],
            strata=self.strata,
            effect=self.effect[rows],
            variance=self.variance[rows],
            treated=self.treated[rows],
            controls=self.controls[rows],
            first_delivered=self.first_delivered[rows],
            confirmable=self.confirmable[rows],
            between=self.between,
        )


def rates(items: Items, objective: str) -> Rates:
    """Log rates of the items with exposure and weight, in strata of two or more that saw some engagement."""
    exposures, engaged = items.exposures, items.engagements[objective]
    usable = (exposures > 0) & (items.weights > 0)
    _, codes = np.unique(items.strata, return_inverse=True)
    size, shown, seen = (
        np.bincount(codes, weights=column * usable) for column in (np.ones(len(items)), exposures, engaged)
    )
    rows = np.flatnonzero(usable & (size[codes] >= 2) & (seen[codes] > 0))
    rows = rows[np.argsort(codes[rows], kind="stable")].astype(np.int64)
    old = codes[rows]
    first = np.flatnonzero(np.diff(old, prepend=-1)).astype(np.int64)
    stratum = (np.cumsum(np.diff(old, prepend=-1) != 0) - 1).astype(np.int64)
    expected = exposures[rows] * (seen[old] / shown[old])
    counts = engaged[rows]
    y = np.log(np.where(counts > 0, counts, 0.5) / expected)
    between = _between_items(stratum, len(first), y, expected)
    variance = 1 / expected + between
    return Rates(
        rows=rows,
        stratum=stratum,
        starts=first,
        y=y,
        variance=variance,
        weight=items.weights[rows] / variance,
        between=between,
    )


def _between_items(stratum: Ints, n: int, y: Floats, expected: Floats) -> float:
    """σ_b² ≥ 0: E[Σ a (y − ȳ_s)²] = Σ_s (Σ a v − Σ a² v / Σ a), solved for σ_b² in v = 1/E + σ_b², twice."""
    between = 0.0
    for _ in range(2):
        a = 1 / (1 / expected + between)
        total, square, noise = (
            np.bincount(stratum, weights=column, minlength=n) for column in (a, a * a, a * a / expected)
        )
        mean = np.bincount(stratum, weights=a * y, minlength=n) / total
        q = float(a @ (y - mean[stratum]) ** 2)
        scale = float((total - square / total).sum())
        expected_q = float(a @ (1 / expected) - (noise / total).sum())
        between = max(0.0, (q - expected_q) / scale) if scale > 0 else 0.0
    return between


def cells(items: Items, design: Design, objective: str, *, given: Rates | None = None) -> Cells:
    """Every contrast that the items allow; O(shown decisions), no loop over decisions or strata.

    given: the rates of the same items, where the caller has them already.
    """
    r = given or rates(items, objective)
    shown = design.matrix[r.rows].tocsc()
    shown.sort_indices()
    decision = np.repeat(np.arange(shown.shape[1]), np.diff(shown.indptr)).astype(np.int64)
    at = shown.indices
    stratum = r.stratum[at]
    new = (np.diff(stratum, prepend=-1) != 0) | (np.diff(decision, prepend=-1) != 0)
    starts = np.flatnonzero(new)
    stratum, decision = stratum[starts], decision[starts]

    # One pass over what is shown; items of a cell that show nothing enter by what is left of their stratum's totals.
    cell = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(at))))
    x = shown.data

    def over(values: Floats) -> Floats:
        return np.asarray(np.bincount(cell, weights=values, minlength=len(starts)), dtype=np.float64)

    weight, hajek = r.weight, r.weight**2 * r.variance
    total, size = r.sums(weight)[stratum], r.sums(np.ones(len(r.rows)))[stratum]
    mean = over(weight[at] * x) / total
    delta = x - mean[cell]
    above = delta > 0
    square = delta**2

    def sides(values: Floats) -> tuple[Floats, Floats]:
        """Σ values δ² over those above the mean, and over the others."""
        own = values[at] * square
        absent = r.sums(values)[stratum] - over(values[at])
        return over(own * above), over(own * ~above) + np.maximum(absent, 0) * mean**2

    plain, robust = sides(weight), sides(hajek)
    spread = plain[0] + plain[1]
    n_t = over(above.astype(np.float64))
    keep = np.flatnonzero((n_t > 0) & (n_t < size) & (spread > _VARIES * total))
    slope = over(weight[at] * r.y[at] * x) - mean * r.sums(weight * r.y)[stratum]
    noise = np.maximum(plain[0], robust[0]) + np.maximum(plain[1], robust[1])
    effect = slope[keep] / spread[keep]
    variance = noise[keep] / spread[keep] ** 2
    n_c = size - n_t
    stratum = stratum[keep]
    delivered, sound = items.first_delivered_at[r.rows], items.confirmable[r.rows]
    none = not r.n_strata
    earliest = delivered[:0] if none else np.minimum.reduceat(delivered, r.starts)
    confirmable = sound[:0] if none else np.logical_and.reduceat(sound, r.starts)
    return Cells(
        n_decisions=len(design.names),
        decision=decision[keep],
        stratum=stratum,
        strata=items.strata[r.rows[r.starts]],
        effect=effect,
        variance=variance,
        treated=np.rint(n_t[keep]).astype(np.int64),
        controls=np.rint(n_c[keep]).astype(np.int64),
        first_delivered=earliest[stratum],
        confirmable=confirmable[stratum],
        between=r.between,
    )


def stratum_means(r: Rates, matrix: sparse.csr_array) -> sparse.csr_array:
    """Weighted mean of each column in each stratum, (S, D); matrix: (m, D), rows as in ``r``."""
    share = r.weight / r.sums(r.weight)[r.stratum]
    indptr = np.append(r.starts, len(r.rows))
    pool = sparse.csr_array((share, np.arange(len(r.rows)), indptr), shape=(r.n_strata, len(r.rows)))
    return sparse.csr_array(pool @ matrix)


def holding(items: Items, cells: Cells, condition: Condition) -> Cells:
    """The cells of strata all of whose items satisfy the condition, for cards that apply in a context only."""
    if not condition.clauses:
        return cells
    holds: Bools = np.ones(len(items), dtype=np.bool_)
    for clause in condition.clauses:
        column = items.contexts.get(clause.field)
        if column is None:
            return cells.take(np.zeros(0, dtype=np.int64))
        verdicts = {value: value is not None and clause.holds({clause.field: value}) for value in set(column)}
        holds &= np.array([verdicts[value] for value in column], dtype=np.bool_)
    return cells.take(~np.isin(cells.strata[cells.stratum], np.unique(items.strata[~holds])))
