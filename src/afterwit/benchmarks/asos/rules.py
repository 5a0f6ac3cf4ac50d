"""When a running experiment may speak: at a time of the calendar, as soon as it likes, or once it is mature.

The maturity gate was written down before any figure was looked at. It is temporal credit's gate (design section 5:
last stage closed, no gap, enough exposures) in what these files hold, with one clause on the estimate:

    closed       at least 7 full days since the start, so that each weekday has been seen
    continuous   no gap between checkpoints above 24 hours
    comparable   at least 100 users in the smaller arm at the first checkpoint
    steady       over the last fifth of the time so far, at least two checkpoints, the estimate moved by no more than
                 its present standard error

As first declared, ``continuous`` also wanted a checkpoint within 24 hours of the start. That lets 69 comparisons of 381
through, although checkpoints are cumulative and a late first one loses nothing; so the clause was dropped after the
count, and the first figures, had been seen. Both gates are reported: ``STRICT`` is the one declared first.
"""

from dataclasses import dataclass

import numpy as np

from afterwit.benchmarks.asos.data import Course
from afterwit.credit.items import Bools, Floats, Ints
from afterwit.evaluate.metrics.always_valid import always_valid_margin

Z = 1.959963984540054
"""Of a fixed 95 % interval."""

_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Gate:
    """days, gap, start: in days; start is how late the first checkpoint may be. window: a share of the time so far."""

    days: float = 7.0
    gap: float = 1.0
    start: float = float("inf")
    users: float = 100.0
    window: float = 0.2

    def passes(self, course: Course) -> Bools:
        """Which checkpoints are mature, (k,)."""
        gaps = np.diff(course.days, prepend=course.days[0])
        continuous = np.maximum.accumulate(gaps) <= self.gap + _ROUNDING
        begun = bool(course.users[0] >= self.users and course.days[0] <= self.start + _ROUNDING)
        return np.asarray((course.days >= self.days) & continuous & begun & self._steady(course), dtype=np.bool_)

    def _steady(self, course: Course) -> Bools:
        first = np.searchsorted(course.days, (1 - self.window) * course.days - _ROUNDING)
        found = np.zeros(len(course.days), dtype=np.bool_)
        for k, start in enumerate(first):
            seen = course.effect[start : k + 1]
            if k > start and np.isfinite(course.se[k]):
                found[k] = np.nanmax(seen) - np.nanmin(seen) <= course.se[k]
        return found


STRICT = Gate(start=1.0)


def fixed(course: Course) -> Ints:
    """The verdict of each checkpoint's own 95 % interval, (k,): 1, −1, or 0 where it holds 0 or cannot be had."""
    return _outside(course.effect, Z * course.se)


def always_valid(course: Course, planned_days: float = 7.0) -> Ints:
    """As ``fixed``, by an interval that may be looked at every time; narrowest at ``planned_days``.

    How precise an estimate is at that day depends on users and spread, not on who wins.
    """
    usable = np.flatnonzero(np.isfinite(course.se))
    if not len(usable):
        return np.zeros(len(course.days), dtype=np.int64)
    planned = course.se[usable[np.argmin(np.abs(course.days[usable] - planned_days))]]
    margin = always_valid_margin(course.se, np.full(len(course.se), planned))
    return _outside(course.effect, margin)


def at(course: Course, day: float) -> int | None:
    """The last checkpoint up to ``day``; None where there is none, or where it is the end itself."""
    k = int(np.searchsorted(course.days, day + _ROUNDING)) - 1
    return k if 0 <= k < len(course.days) - 1 else None


def first(verdicts: Ints) -> int | None:
    """The first checkpoint before the last with a verdict."""
    found = np.flatnonzero(verdicts[:-1])
    return int(found[0]) if len(found) else None


def _outside(effect: Floats, margin: Floats) -> Ints:
    sure = np.abs(effect) > np.where(np.isfinite(margin), margin, np.inf)
    return np.where(sure, np.sign(effect), 0).astype(np.int64)
