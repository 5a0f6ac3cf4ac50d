"""Where an effect depends on the context: the split that explains it, and counterexamples (design section 6).

For a context field, the strata of a decision are pooled level by level (`meta`), levels with three or more strata
count, and with normal standard errors s_l of the levels' means m_l

    Q = Σ (m_l − m̄)² / s_l²,  m̄ the 1/s_l²-weighted mean

is χ² on levels − 1 where the effect does not depend on the field (Cochran 1954; subgroup analysis as in Borenstein
et al. 2009, chapter 19). Holm over the fields tested for a decision. A counterexample is a level whose t test
excludes 0 against the pooled sign after Holm over levels.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special

from afterwit.credit.contrast import Cells
from afterwit.credit.items import Bools, Floats, Ints, Items, Objects
from afterwit.credit.meta import Means, random_effects
from afterwit.model import Clause

_ALPHA = 0.05
_MIN_STRATA = 3
# A field with more levels is an identifier: nothing would be learnt about the next one.
_MAX_LEVELS = 40


@dataclass(frozen=True, kw_only=True)
class Side:
    """The effect where a clause holds, or where it does not: log rate ratio, 95 % interval, strata."""

    effect: float
    low: float
    high: float
    strata: int


@dataclass(frozen=True, kw_only=True)
class Split:
    """holds, fails: the effect on the two sides of the clause. p_value: of the Q test, after Holm."""

    clause: Clause
    holds: Side
    fails: Side
    p_value: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Dependence:
    """splits: decision → split, where the effect depends on a field. counterexample: (D,)."""

    splits: Mapping[int, Split]
    counterexample: Bools


@dataclass(frozen=True, kw_only=True, eq=False)
class _Field:
    """One field examined. stratum_level: (S,), −1 where unknown; shape (D, L) and (D,) otherwise."""

    name: str
    levels: tuple[str, ...]
    stratum_level: Ints
    means: Floats
    se: Floats
    p_value: Floats


def dependence(items: Items, cells: Cells, pooled: Means) -> Dependence:
    """Looks at every context field with two or more levels; the others cost nothing."""
    against: Bools = np.zeros(cells.n_decisions, dtype=np.bool_)
    fields: list[_Field] = []
    for name in sorted(items.contexts):
        levels = _stratum_levels(items, cells, items.contexts[name])
        if levels is None:
            continue
        found, opposed = _examine(name, levels, cells, pooled)
        against |= opposed
        fields.append(found)
    if not fields:
        return Dependence(splits={}, counterexample=against)
    p = np.array([field.p_value for field in fields])
    tested = np.isfinite(p).sum(axis=0)
    first = np.where(np.isfinite(p), p, np.inf).argmin(axis=0)
    holm = np.where(tested > 0, p[first, np.arange(cells.n_decisions)] * tested, np.inf)
    splits: dict[int, Split] = {}
    for place, field in enumerate(fields):
        chosen = np.flatnonzero((holm <= _ALPHA) & (first == place))
        if len(chosen):
            splits |= _splits(field, cells, chosen, holm)
    return Dependence(splits=splits, counterexample=against)


def _stratum_levels(items: Items, cells: Cells, values: Objects) -> tuple[tuple[str, ...], Ints] | None:
    """Level names and the level of each stratum, or None for a field that cannot split: one level, or too many."""
    if not len(values) or (values == values[0]).all():
        return None
    names, codes = np.unique(np.array(["" if v is None else str(v) for v in values]), return_inverse=True)
    if len(names) > len(cells.strata):
        return None
    place = np.searchsorted(cells.strata, items.strata).clip(max=max(len(cells.strata) - 1, 0))
    known = np.flatnonzero(cells.strata[place] == items.strata) if len(cells.strata) else np.zeros(0, np.int64)
    low = np.full(len(cells.strata), len(names))
    high = np.full(len(cells.strata), -1)
    np.minimum.at(low, place[known], codes[known])
    np.maximum.at(high, place[known], codes[known])
    # A stratum that spans levels, or does not know its level, belongs to none.
    level = np.where((low == high) & (names[low.clip(max=len(names) - 1)] != ""), low, -1)
    size = np.bincount(level[level >= 0], minlength=len(names))
    kept = np.flatnonzero(size >= _MIN_STRATA)
    if not 2 <= len(kept) <= _MAX_LEVELS:
        return None
    renamed = np.full(len(names) + 1, -1)
    renamed[kept] = np.arange(len(kept))
    return tuple(str(names[k]) for k in kept), renamed[level].astype(np.int64)


def _examine(name: str, levels: tuple[tuple[str, ...], Ints], cells: Cells, pooled: Means) -> tuple[_Field, Bools]:
    labels, stratum_level = levels
    shape = (cells.n_decisions, len(labels))
    level = stratum_level[cells.stratum]
    use = np.flatnonzero(level >= 0)
    means = random_effects(
        cells.effect[use], cells.variance[use], cells.decision[use] * shape[1] + level[use], shape[0] * shape[1]
    )
    counts = (means.strata >= _MIN_STRATA).reshape(shape)
    m = np.where(counts, means.effect.reshape(shape), 0.0)
    se = np.where(counts, means.normal_se.reshape(shape), np.inf)
    w = 1 / se**2
    total = w.sum(axis=1, keepdims=True)
    centre = np.divide((w * m).sum(axis=1, keepdims=True), total, out=np.zeros((shape[0], 1)), where=total > 0)
    q = (w * (m - centre) ** 2).sum(axis=1)
    n = counts.sum(axis=1)
    p = np.where(n >= 2, special.chdtrc(np.maximum(n - 1, 1), q), np.nan)
    t = np.where(counts, m / np.where(counts, means.se.reshape(shape), 1.0), 0.0)
    two_sided = 2 * special.stdtr(np.maximum(means.df.reshape(shape), 1), -np.abs(t))
    against = (holm_adjusted(two_sided, counts) <= _ALPHA) & (np.sign(m) == -np.sign(pooled.effect)[:, None])
    field = _Field(name=name, levels=labels, stratum_level=stratum_level, means=m, se=se, p_value=p)
    return field, against.any(axis=1)


def holm_adjusted(p_values: Floats, tested: Bools) -> Floats:
    """Holm (1979) over each row's tested entries; the others are 1."""
    p = np.where(tested, p_values, np.inf)
    order = p.argsort(axis=1, kind="stable")
    left = tested.sum(axis=1, keepdims=True) - np.arange(p.shape[1])
    stepped = np.maximum.accumulate(np.take_along_axis(p, order, axis=1) * np.maximum(left, 1), axis=1)
    out = np.empty_like(p)
    np.put_along_axis(out, order, stepped, axis=1)
    return np.minimum(out, 1.0)


def _splits(field: _Field, cells: Cells, chosen: Ints, holm: Floats) -> dict[int, Split]:
    inside = np.zeros((cells.n_decisions, len(field.levels)), dtype=np.bool_)
    clauses: dict[int, Clause] = {}
    for d in chosen.tolist():
        inside[d] = _best_cut(field.means[d], field.se[d])
        values = tuple(name for name, kept in zip(field.levels, inside[d], strict=True) if kept)
        clauses[d] = Clause(field=field.name, operator="in", values=values)
    level = field.stratum_level[cells.stratum]
    use = np.flatnonzero((level >= 0) & np.isin(cells.decision, chosen))
    side = inside[cells.decision[use], level[use]].astype(np.int64)
    means = random_effects(
        cells.effect[use], cells.variance[use], 2 * cells.decision[use] + side, 2 * cells.n_decisions
    )

    def of(group: int) -> Side:
        return Side(
            effect=float(means.effect[group]),
            low=float(means.low[group]),
            high=float(means.high[group]),
            strata=int(means.strata[group]),
        )

    return {
        d: Split(clause=clause, holds=of(2 * d + 1), fails=of(2 * d), p_value=float(holm[d]))
        for d, clause in clauses.items()
    }


def _best_cut(means: Floats, se: Floats) -> Bools:
    """Levels on the higher side of the cut, among cuts of the levels in order of effect, that separates most."""
    known = np.flatnonzero(np.isfinite(se))
    order = known[np.argsort(-means[known], kind="stable")]
    w = 1 / se[order] ** 2
    weight, moment = np.cumsum(w), np.cumsum(w * means[order])
    upper, lower = weight[:-1], weight[-1] - weight[:-1]
    gap = moment[:-1] / upper - (moment[-1] - moment[:-1]) / lower
    best = int(np.argmax(gap**2 * upper * lower / weight[-1]))
    inside = np.zeros(len(means), dtype=np.bool_)
    inside[order[: best + 1]] = True
    return inside
