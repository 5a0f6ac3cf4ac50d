"""How long conversions take to be reported (design section 5).

With S the Kaplan–Meier survival of the click→conversion delay, clicks that have not converted being censored at their
follow-up, F(t) = (1 − S(t)) / (1 − S(T)) is the delay's distribution among those who convert, T the longest
follow-up with at least 30 clicks at risk. The reporting delay is the 0.95 quantile of F (our reconstruction).
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from afterwit.credit.items import Bools, Floats

_AT_RISK = 30
_QUANTILE = 0.95
_STILL_FALLING = 0.02


@dataclass(frozen=True, kw_only=True)
class Delay:
    """hours: reporting delay; settled: False where S still falls by more than 2 % over the last fifth of the
    follow-up, so that no delay can be told yet. clicks: how many stand behind it."""

    hours: float
    settled: bool
    clicks: int


def reporting_delay(hours: Floats, converted: Bools) -> Delay:
    """hours: click→conversion where converted, else follow-up so far, (n,)."""
    clicks = len(hours)
    if not converted.any():
        return Delay(hours=0.0, settled=True, clicks=clicks)
    if clicks < _AT_RISK:
        return Delay(hours=0.0, settled=False, clicks=clicks)
    longest = float(np.sort(hours)[-_AT_RISK])
    data = stats.CensoredData(uncensored=hours[converted], right=hours[~converted])
    survival = stats.ecdf(data).sf
    fifth, end = np.asarray(survival.evaluate(np.array([0.8 * longest, longest])), dtype=np.float64).tolist()
    if end >= 1:
        return Delay(hours=0.0, settled=False, clicks=clicks)
    times = np.sort(hours[converted & (hours <= longest)])
    share = (1 - np.asarray(survival.evaluate(times))) / (1 - end)
    found = times[np.searchsorted(share, _QUANTILE)] if share[-1] >= _QUANTILE else longest
    return Delay(hours=float(found), settled=(fifth - end) / max(fifth, 1e-12) <= _STILL_FALLING, clicks=clicks)
