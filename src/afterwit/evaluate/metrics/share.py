"""A share with Wilson's 95 % interval (1927): right also near 0 and 1, where Wald's is not."""

from scipy import stats

from afterwit.model import Interval


def share(right: int, of: int) -> Interval:
    """[0, 1] where there is nothing to count."""
    if not of:
        return Interval(value=0.0, low=0.0, high=1.0, n=0)
    found = stats.binomtest(right, of).proportion_ci(method="wilson")
    return Interval(value=right / of, low=float(found.low), high=float(found.high), n=of)
