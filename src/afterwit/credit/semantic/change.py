"""Effects that changed: what was true of a decision until some moment, and no longer is.

A decision's cells lie in periods: the weeks of the last half year, four weeks each before that. Cells in one context
g (a combination of the context's fields) before and after a border between two periods have pooled effects m and
summed inverse variances W. With v_g = 1/W_before + 1/W_after, over the contexts that have cells on both sides,

    t = Σ_g (m_after − m_before) / v_g / √(h Σ_g 1/v_g),  h = max(1, Q / (k − 2G))

Q: the cells' weighted squares about their 2G means; k: how many cells there are. Comparing inside contexts keeps a mix
of contexts that moves with time from passing for a change. Under none t is Student's on k − 2G degrees of freedom; h
is Hartung and Knapp's factor, floored at 1. The border with the smallest p stands for its decision.

That p counts times the number of borders, and times (n + 19) (n + 20) / 20 after n weeks of evidence: the inverses sum
to 1, so that all weekly looks together err with the probability of one, and looking costs nothing. Benjamini and
Hochberg's procedure goes over the decisions that have a name and, with as much of the level, over the many that were
mined. What lies behind a change is searched again (binary segmentation: Scott & Knott 1974; Vostrikova 1981). The use
of all this here is our reconstruction.

Older evidence of such a decision says nothing of what holds now, so the design is made silent about it: then every
step that follows, contrasts, joint effects and selection alike, looks at the same items.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse, special

from afterwit.credit.items import Bools, Design, Floats, Ints, Items, Times
from afterwit.credit.semantic.conditions import benjamini_hochberg
from afterwit.credit.semantic.contrast import Cells, cells
from afterwit.decisions.likeness import is_named

_Q = 0.1
_POOL = 20
_MIN_STRATA = 5
_AGAIN = 3
_MOST_LEVELS = 40
_WEEK = np.timedelta64(7, "D").astype("timedelta64[us]")
_RECENT = 26
_OLDER = 4
_ZERO = np.datetime64(0, "us")


@dataclass(frozen=True, kw_only=True, eq=False)
class Current:
    """design: silent about what is out of date. since: decision → the moment from which its effect is another one.
    contrasts: of the design."""

    design: Design
    since: Mapping[str, np.datetime64]
    contrasts: Cells


def current(items: Items, design: Design, objective: str) -> Current:
    """The design with the items before a change of a decision's effect counted as silent about it."""
    since: dict[str, np.datetime64] = {}
    contexts = _contexts(items)
    contrasts = cells(items, design, objective)
    named = np.array([is_named(name) for name in design.names], dtype=np.bool_)
    for _ in range(_AGAIN):
        found = changes(contrasts, contexts, named) if len(contrasts) else {}
        if not found:
            break
        since |= {design.names[d]: at for d, at in found.items()}
        design = replace(design, matrix=_silenced(items, design, found))
        contrasts = cells(items, design, objective)
    return Current(design=design, since=since, contrasts=contrasts)


def changes(contrasts: Cells, contexts: Ints, named: Bools) -> dict[int, np.datetime64]:
    """Decision → start of the period in which its effect became another one; the others are left out.

    contexts: by stratum code, a code of the context that the stratum lies in. named: by decision, whether a vocabulary
    or an agent named it.
    """
    week = (contrasts.first_delivered - _ZERO) // _WEEK
    edges = _edges(week)
    if len(edges) < 2:
        return {}
    column = np.searchsorted(edges, week, "right") - 1
    context = contexts[contrasts.strata[contrasts.stratum]]
    pairs, place = np.unique(np.stack((contrasts.decision, context)), axis=1, return_inverse=True)
    shape = (pairs.shape[1], len(edges))
    weight = 1 / contrasts.variance

    def before(values: Floats) -> Floats:
        """Sums up to each border, by decision and context, (pairs, periods); the last column is the whole."""
        flat = np.bincount(place.ravel() * shape[1] + column, weights=values, minlength=shape[0] * shape[1])
        return np.cumsum(flat.reshape(shape), axis=1)

    columns = (np.ones(len(weight)), weight, weight * contrasts.effect, weight * contrasts.effect**2)
    n, w, wy, wyy = (before(values) for values in columns)
    n_l, w_l, wy_l = n[:, :-1], w[:, :-1], wy[:, :-1]
    n_r, w_r, wy_r = n[:, -1:] - n_l, w[:, -1:] - w_l, wy[:, -1:] - wy_l
    both = (n_l > 0.5) & (n_r > 0.5)
    w_l, w_r = np.where(both, w_l, 1.0), np.where(both, w_r, 1.0)
    v = 1 / w_l + 1 / w_r
    decisions, of = np.unique(pairs[0], return_inverse=True)

    def over_contexts(values: Floats) -> Floats:
        found = np.zeros((len(decisions), shape[1] - 1))
        np.add.at(found, of, np.where(both, values, 0.0))
        return found

    precision = over_contexts(1 / v)
    freedom = np.maximum(over_contexts(n[:, -1:] - 2.0), 1.0)
    spread = over_contexts(wyy[:, -1:] - wy_l**2 / w_l - wy_r**2 / w_r) / freedom
    valid = (over_contexts(n_l) >= _MIN_STRATA) & (over_contexts(n_r) >= _MIN_STRATA)
    z = over_contexts((wy_r / w_r - wy_l / w_l) / v) / np.sqrt(np.maximum(1.0, spread) * np.maximum(precision, 1e-300))
    p = np.where(valid, 2 * special.stdtr(freedom, -np.abs(z)), 1.0)
    best = p.argmin(axis=1)
    borders = valid.sum(axis=1)
    looks = _weeks_of_evidence(contrasts.decision, week, decisions)
    adjusted = np.where(
        borders > 0, p[np.arange(len(p)), best] * borders * (looks + _POOL - 1) * (looks + _POOL) / _POOL, 1.0
    )
    hit: list[int] = []
    for family in (named[decisions], ~named[decisions]):
        tested = (borders > 0) & family
        hit += np.flatnonzero(tested & (adjusted <= benjamini_hochberg(adjusted[tested], _Q / 2))).tolist()
    return {int(decisions[i]): _ZERO + edges[best[i] + 1] * _WEEK for i in hit}


def _edges(week: Ints) -> Ints:
    """First week of each period that holds cells, ascending."""
    newest = int(week.max(initial=0))
    old = newest - _RECENT
    return np.unique(np.where(week > old, week, old - (old - week) // _OLDER * _OLDER - _OLDER + 1)).astype(np.int64)


def _weeks_of_evidence(decision: Ints, week: Ints, decisions: Ints) -> Floats:
    first, last = np.full(len(decisions), np.iinfo(np.int64).max), np.zeros(len(decisions), dtype=np.int64)
    place = np.searchsorted(decisions, decision)
    np.minimum.at(first, place, week)
    np.maximum.at(last, place, week)
    return np.asarray(last - first + 1, dtype=np.float64)


def _contexts(items: Items) -> Ints:
    """Stratum code → code of its context, by the fields that are no identifiers; strata without items have 0."""
    codes = np.zeros(len(items), dtype=np.int64)
    for name in sorted(items.contexts):
        levels, own = np.unique(
            np.array(["" if v is None else str(v) for v in items.contexts[name]]), return_inverse=True
        )
        if len(levels) <= _MOST_LEVELS:
            _, codes = np.unique(codes * len(levels) + own, return_inverse=True)
    found = np.zeros(int(items.strata.max(initial=-1)) + 1, dtype=np.int64)
    found[items.strata] = codes
    return found


def _silenced(items: Items, design: Design, since: Mapping[int, np.datetime64]) -> sparse.csr_array:
    matrix = design.matrix.tocsc(copy=True)
    started: Times = _stratum_starts(items)
    for d, at in since.items():
        part = slice(matrix.indptr[d], matrix.indptr[d + 1])
        matrix.data[part] = matrix.data[part] * (started[matrix.indices[part]] >= at)
    matrix.eliminate_zeros()
    return sparse.csr_array(matrix)


def _stratum_starts(items: Items) -> Times:
    """When the stratum of each item began, (n,): a stratum lies on one side of a change as a whole."""
    earliest = np.full(int(items.strata.max(initial=-1)) + 1, np.datetime64("9999-01-01", "us"))
    np.minimum.at(earliest, items.strata, items.first_delivered_at)
    return earliest[items.strata]
