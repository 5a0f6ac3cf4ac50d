"""What came after: evidence from items first delivered after a moment, and looks that may be taken at any time.

The confirmation test of a card is the one-sided t test of `semantic.meta` on the strata that began after its
admission, all of whose items may confirm. Looks at active cards are many, so they use a confidence sequence, which
covers at all looks together with probability 1 − α (Robbins 1970; Howard, Ramdas, McAuliffe & Sekhon 2021, normal
mixture):

    |μ̂ − μ| ≤ √( (V + ρ) / V² · ln((V + ρ) / (ρ α²)) ),   V = 1 / se², the precision gathered so far

ρ = V* / (2 ln(1/α) + ln(1 + 2 ln(1/α))) makes it narrowest near V*, the precision at which half the admission
effect would have 80 % power, and is fixed at admission. The variance is estimated, so the guarantee is asymptotic
(Waudby-Smith et al. 2024): no look counts before 10 strata. It may demote a card, never confirm one.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from afterwit.credit.confirmation.wealth import log_wealth
from afterwit.credit.items import Bools, Floats, Ints, Times
from afterwit.credit.semantic.contrast import Cells
from afterwit.credit.semantic.meta import DELTA, random_effects

POWER = float((special.ndtri(0.95) + special.ndtri(0.8)) ** 2)
"""(z_0.95 + z_0.80)²: a one-sided test at 5 % has 80 % power when effect² · precision reaches this."""

_FIRST_LOOK = 10
_MIN_STRATA = 3
_ALPHA = 0.05


@dataclass(frozen=True, kw_only=True, eq=False)
class Later:
    """One row a question asked, shape (k,): effect and se on the log rate ratio (nan, inf where fewer than two
    strata), strata counted, p_value one-sided in the direction asked (1 below three strata)."""

    effect: Floats
    se: Floats
    strata: Ints
    p_value: Floats


class Band(NamedTuple):
    low: Floats
    high: Floats


def later(
    cells: Cells,
    columns: Ints,
    since: Times,
    direction: Floats,
    *,
    needed: Ints | None = None,
    confirmable_only: bool = True,
) -> Later:
    """The effect of each column's decision over strata that began after its own ``since``.

    columns, since, direction (±1), needed: (k,); a column may be asked about more than once. needed: use the
    first so many strata by time, the sample size fixed at admission; all where None.
    """
    k = len(columns)
    asked, rows = _since(cells, columns, since, confirmable_only)
    if needed is not None:
        order = np.lexsort((cells.stratum[rows], cells.first_delivered[rows], asked))
        asked, rows = asked[order], rows[order]
        rank = np.arange(len(asked)) - np.searchsorted(asked, asked, "left")
        early = rank < needed[asked]
        asked, rows = asked[early], rows[early]
    means = random_effects(cells.effect[rows], cells.variance[rows], asked, k)
    enough = means.strata >= _MIN_STRATA
    t = np.where(enough, direction * means.effect / means.se, 0.0)
    p = np.where(enough, special.stdtr(np.maximum(means.df, 1), -t), 1.0)
    return Later(effect=means.effect, se=means.se, strata=means.strata, p_value=p)


def wealth_since(cells: Cells, columns: Ints, since: Times, sought: Floats) -> Floats:
    """Log wealth of each question on the confirmable strata that began after its own ``since``, (k,).

    sought: the admission effect, in whose direction each bets.
    """
    asked, rows = _since(cells, columns, since, confirmable_only=True)
    return log_wealth(cells.effect[rows], cells.variance[rows], asked, np.sign(sought), np.abs(sought))


def _since(cells: Cells, columns: Ints, since: Times, confirmable_only: bool) -> tuple[Ints, Ints]:
    """Question and cell of each stratum that began after the question's ``since``."""
    first = np.searchsorted(cells.decision, columns, "left")
    count = np.searchsorted(cells.decision, columns, "right") - first
    asked = np.repeat(np.arange(len(columns)), count)
    rows = np.arange(len(asked)) + np.repeat(first - np.cumsum(count) + count, count)
    keep = cells.first_delivered[rows] > since[asked]
    if confirmable_only:
        keep &= cells.confirmable[rows]
    return asked[keep], rows[keep]


def always_valid(found: Later, sought: Floats) -> Band:
    """The 95 % confidence sequence at this look, (k,); infinite before the tenth stratum.

    sought: the admission effect of each card, which fixes ρ.
    """
    seen = found.strata >= _FIRST_LOOK
    precision = np.where(seen, 1 / np.where(seen, found.se, 1.0) ** 2, 1.0)
    rho = mixture_width(4 * POWER / np.maximum(np.abs(sought), DELTA) ** 2)
    margin = np.sqrt((precision + rho) / precision**2 * np.log((precision + rho) / (rho * _ALPHA**2)))
    low = np.where(seen, found.effect - margin, -np.inf)
    return Band(low=low, high=np.where(seen, found.effect + margin, np.inf))


def mixture_width(target: Floats) -> Floats:
    """ρ that makes the sequence narrowest near the precision ``target``."""
    spent = 2 * np.log(1 / _ALPHA)
    return np.asarray(target / (spent + np.log1p(spent)), dtype=np.float64)


def demoted(band: Band, direction: Floats) -> Bools:
    """Whether the sequence lies wholly against the card's direction, or wholly inside ±δ."""
    against = np.where(direction > 0, band.high < 0, band.low > 0)
    return np.asarray(against | ((band.low > -DELTA) & (band.high < DELTA)), dtype=np.bool_)
