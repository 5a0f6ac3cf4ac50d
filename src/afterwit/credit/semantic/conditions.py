"""Where an effect depends on the context: the split that explains it, and counterexamples (design section 6).

For a context field, the strata of a decision are pooled level by level (`meta`), levels with three or more strata
count, and with normal standard errors s_l of the levels' means m_l

    Q = Σ (m_l − m̄)² / s_l²,  m̄ the 1/s_l²-weighted mean

is χ² on levels − 1 where the effect does not depend on the field (Cochran 1954; subgroup analysis as in Borenstein
et al. 2009, chapter 19). Holm over the fields tested for a decision, Benjamini and Hochberg over decisions. Of
fields that pass, the one with the smallest p splits, so that a field that merely goes with it is left to be judged
inside the two sides, where it no longer matters. Each side may split once more, by another field. A field of numbers
is tested in eighths of its strata and split at the bound that separates the contrasts most. A counterexample is a
level whose t test excludes 0 against the pooled sign after Holm over levels.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import special

from afterwit.credit.items import Bools, Floats, Ints, Items, Objects
from afterwit.credit.semantic.contrast import Cells, holding
from afterwit.credit.semantic.meta import Means, random_effects
from afterwit.model import Clause, Condition

_ALPHA = 0.05
_MIN_STRATA = 3
# A field with more levels is an identifier: nothing would be learnt about the next one.
_MAX_LEVELS = 40
_PARTS = 8
_DEPTH = 2


@dataclass(frozen=True, kw_only=True)
class Side:
    """The effect where a clause holds, or where it does not: log rate ratio, 95 % interval, strata."""

    effect: float
    low: float
    high: float
    strata: int

    @property
    def normal_se(self) -> float:
        """As in `Means`."""
        return (self.high - self.low) / (2 * float(special.ndtri(0.975)))


@dataclass(frozen=True, kw_only=True)
class Split:
    """holds, fails: the effect on the two sides of the clause. p_value: of the Q test, after Holm. deeper: a side → how
    the effect is split inside it, where it is."""

    clause: Clause
    holds: Side
    fails: Side
    p_value: float
    deeper: Mapping[bool, "Split"] = field(default_factory=dict)

    def leaves(self) -> Iterator[tuple[Condition, Side, float]]:
        """The contexts that are told apart, the effect in each, and the p-value of the split nearest to it."""
        for inside, side, clause in ((True, self.holds, self.clause), (False, self.fails, self.clause.complement)):
            split = self.deeper.get(inside)
            if split is None:
                yield Condition(clauses=(clause,)), side, self.p_value
            else:
                yield from ((when.narrowed(clause), part, p) for when, part, p in split.leaves())


@dataclass(frozen=True, kw_only=True, eq=False)
class Dependence:
    """splits: decision → split, where the effect depends on a field. counterexample: (D,)."""

    splits: Mapping[int, Split]
    counterexample: Bools


@dataclass(frozen=True, kw_only=True, eq=False)
class _Field:
    """One field examined. stratum_level: (S,), −1 where unknown; numbers: (S,), nan where unknown, of a field that
    holds numbers; shape (D, L) and (D,) otherwise."""

    name: str
    levels: tuple[str, ...]
    stratum_level: Ints
    numbers: Floats | None
    means: Floats
    se: Floats
    p_value: Floats


def dependence(items: Items, cells: Cells, pooled: Means, *, depth: int = _DEPTH) -> Dependence:
    """Looks at every context field with two or more levels; the others cost nothing. depth: fields a split may use."""
    against: Bools = np.zeros(cells.n_decisions, dtype=np.bool_)
    fields: list[_Field] = []
    for name in sorted(items.contexts):
        numbers = _stratum_numbers(items, cells, items.contexts[name])
        values = items.contexts[name] if numbers is None else _parts(items, cells, numbers)
        levels = _stratum_levels(items, cells, values)
        if levels is None:
            continue
        found, opposed = _examine(name, levels, numbers, cells, pooled)
        against |= opposed
        fields.append(found)
    if not fields:
        return Dependence(splits={}, counterexample=against)
    p = np.array([field.p_value for field in fields])
    tested = np.isfinite(p).sum(axis=0)
    first = np.where(np.isfinite(p), p, np.inf).argmin(axis=0)
    holm = np.where(tested > 0, p[first, np.arange(cells.n_decisions)] * tested, np.inf)
    passing = holm <= benjamini_hochberg(holm[tested > 0], _ALPHA)
    splits: dict[int, Split] = {}
    for place, field_ in enumerate(fields):
        chosen = np.flatnonzero(passing & (first == place))
        if len(chosen):
            splits |= _splits(field_, cells, chosen, holm)
    if depth > 1 and splits:
        splits = _deeper(items, cells, splits, depth - 1)
    return Dependence(splits=splits, counterexample=against)


def benjamini_hochberg(p_values: Floats, level: float) -> float:
    """The largest p-value that Benjamini and Hochberg (1995) reject at this level; −1 where none is."""
    ordered = np.sort(p_values)
    below = np.flatnonzero(ordered <= level * np.arange(1, len(ordered) + 1) / max(len(ordered), 1))
    return float(ordered[below[-1]]) if len(below) else -1.0


def _deeper(items: Items, cells: Cells, splits: Mapping[int, Split], depth: int) -> dict[int, Split]:
    """Each side of each split looked at alone."""
    found = dict(splits)
    for inside in (True, False):
        rows = []
        for d, split in splits.items():
            one = np.flatnonzero(cells.decision == d)
            when = Condition(clauses=(split.clause if inside else split.clause.complement,))
            kept = holding(items, cells.take(one), when).stratum
            rows.append(one[np.isin(cells.stratum[one], kept)])
        part = cells.take(np.sort(np.concatenate(rows)))
        pooled = random_effects(part.effect, part.variance, part.decision, part.n_decisions)
        for d, split in dependence(items, part, pooled, depth=depth).splits.items():
            found[d] = replace(found[d], deeper={**found[d].deeper, inside: split})
    return found


def _stratum_numbers(items: Items, cells: Cells, values: Objects) -> Floats | None:
    """The number that a stratum has in a field of numbers, nan where its items differ or lack it; else None."""
    known = [value for value in values if value is not None]
    if len({type(value) for value in known} - {int, float}) or len(set(known)) < 3 or not len(cells.strata):
        return None
    column = np.array([np.nan if value is None else float(value) for value in values])
    place = np.searchsorted(cells.strata, items.strata).clip(max=len(cells.strata) - 1)
    rows = np.flatnonzero(cells.strata[place] == items.strata)
    low, high = np.full(len(cells.strata), np.inf), np.full(len(cells.strata), -np.inf)
    np.fmin.at(low, place[rows], column[rows])
    np.fmax.at(high, place[rows], column[rows])
    return np.where(low == high, low, np.nan)


def _parts(items: Items, cells: Cells, numbers: Floats) -> Objects:
    """Each item's part of the field's range, by eighths of the strata, as a level; None where unknown."""
    known = numbers[np.isfinite(numbers)]
    cuts = np.unique(np.quantile(known, np.arange(1, _PARTS) / _PARTS)) if len(known) else known
    place = np.searchsorted(cells.strata, items.strata).clip(max=max(len(cells.strata) - 1, 0))
    own = np.where(cells.strata[place] == items.strata, numbers[place], np.nan)
    parts: Objects = np.array([f"{part}" for part in np.searchsorted(cuts, own, "right")], dtype=np.object_)
    parts[np.isnan(own)] = None
    return parts


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


def _examine(
    name: str, levels: tuple[tuple[str, ...], Ints], numbers: Floats | None, cells: Cells, pooled: Means
) -> tuple[_Field, Bools]:
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
    found = _Field(name=name, levels=labels, stratum_level=stratum_level, numbers=numbers, means=m, se=se, p_value=p)
    return found, against.any(axis=1)


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
    clauses: dict[int, Clause] = {}
    side = np.full(len(cells), -1, dtype=np.int64)
    for d in chosen.tolist():
        rows = np.flatnonzero((cells.decision == d) & (field.stratum_level[cells.stratum] >= 0))
        if field.numbers is None:
            inside = _best_cut(field.means[d], field.se[d])
            values = tuple(name for name, kept in zip(field.levels, inside, strict=True) if kept)
            clauses[d] = Clause(field=field.name, operator="in", values=values)
            side[rows] = inside[field.stratum_level[cells.stratum[rows]]]
        else:
            own = field.numbers[cells.stratum[rows]]
            bound = _best_bound(own, cells.effect[rows], cells.variance[rows])
            clauses[d] = Clause(field=field.name, operator=">=", values=(bound,))
            side[rows] = own >= bound
    use = np.flatnonzero(side >= 0)
    means = random_effects(
        cells.effect[use], cells.variance[use], 2 * cells.decision[use] + side[use], 2 * cells.n_decisions
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


def _best_bound(numbers: Floats, effect: Floats, variance: Floats) -> float:
    """The value from which on the contrasts differ most from those below it; three strata or more on either side."""
    order = np.argsort(numbers, kind="stable")
    x, w = numbers[order], 1 / variance[order]
    weight, moment = np.cumsum(w), np.cumsum(w * effect[order])
    lower, upper = weight[:-1], weight[-1] - weight[:-1]
    gap = moment[:-1] / lower - (moment[-1] - moment[:-1]) / upper
    gain = np.where(np.diff(x) > 0, gap**2 * upper * lower / weight[-1], -1.0)
    gain[: _MIN_STRATA - 1] = gain[len(gain) - _MIN_STRATA + 1 :] = -1.0
    return float(x[int(np.argmax(gain)) + 1])
