"""How long conversions take to be reported (design section 5).

With S the Kaplan–Meier survival of the delay from click to report of the conversion, clicks that have not converted
being censored at their follow-up, F(t) = (1 − S(t)) / (1 − S(T)) is the delay's distribution among those who convert,
T the longest follow-up with at least 30 clicks at risk. The reporting delay is the 0.95 quantile of F (our
reconstruction; Kaplan & Meier 1958 for S).
"""

from dataclasses import dataclass

import numpy as np

from afterwit.credit.items import Bools, Floats

_AT_RISK = 30
_QUANTILE = 0.95
_STILL_FALLING = 0.02


@dataclass(frozen=True, kw_only=True)
class Delay:
    """hours: reporting delay; settled: False where S still falls by more than 2 % of itself over the last fifth of
    the follow-up, or too few clicks were followed, so that no delay can be told yet. clicks: how many stand behind
    it. Without conversions, or where events name no users, nothing is awaited: 0 hours, settled."""

    hours: float
    settled: bool
    clicks: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Survival:
    """A step function that falls at ``times`` (k,), ascending, to ``values`` (k,); 1 before the first."""

    times: Floats
    values: Floats

    def at(self, moments: Floats) -> Floats:
        steps = np.concatenate([[1.0], self.values])
        return np.asarray(steps[np.searchsorted(self.times, moments, "right")], dtype=np.float64)


def kaplan_meier(durations: Floats, ended: Bools, clicks: Floats) -> Survival:
    """S(t) = Π over times t_i ≤ t of (1 − d_i / n_i), d_i ended at t_i of n_i at risk; shapes (n,)."""
    times, place = np.unique(durations, return_inverse=True)
    leaving = np.bincount(place, weights=clicks, minlength=len(times))
    deaths = np.bincount(place, weights=clicks * ended, minlength=len(times))
    at_risk = np.cumsum(leaving[::-1])[::-1]
    values = np.asarray(np.cumprod(1 - deaths / at_risk), dtype=np.float64)
    return Survival(times=times, values=values)


def reporting_delay(hours: Floats, converted: Bools, clicks: Floats | None = None) -> Delay:
    """hours: click→report where converted, else follow-up so far, (n,); clicks: how many such each row stands for."""
    clicks = np.ones(len(hours)) if clicks is None else clicks
    total = int(clicks.sum())
    if not converted.any():
        return Delay(hours=0.0, settled=True, clicks=total)
    order = np.argsort(-hours, kind="stable")
    followed = np.cumsum(clicks[order]) >= _AT_RISK
    if not followed.any():
        return Delay(hours=0.0, settled=False, clicks=total)
    longest = float(hours[order][followed.argmax()])
    survival = kaplan_meier(hours, converted, clicks)
    fifth, end = survival.at(np.array([0.8 * longest, longest])).tolist()
    if end >= 1:
        return Delay(hours=0.0, settled=False, clicks=total)
    within = survival.times <= longest
    share = (1 - survival.values[within]) / (1 - end)
    # At T the share is 1 by construction, up to rounding.
    found = survival.times[within][min(int(np.searchsorted(share, _QUANTILE)), len(share) - 1)]
    return Delay(hours=float(found), settled=(fifth - end) <= _STILL_FALLING * fifth, clicks=total)
