"""Memory-evolution gain: what the evolved memory added on the tasks that followed each round.

    MEG = mean over the next H tasks of U(evolved) − U(reference)

H: the tasks until the next round, so that windows are disjoint and every task judges the bank that stood just before
it. The paired bootstrap resamples experiments. Source: TIDE (arXiv 2609.37544); the windows are our reconstruction.
"""

import numpy as np

from afterwit.credit.items import Floats, Ints
from afterwit.evaluate.metrics.bootstrap import Ratio, Resamples
from afterwit.model import Interval


def meg(evolved: Floats, reference: Floats) -> Ratio:
    """evolved, reference: U of the same tasks, (G,); a task that either did not serve (nan) counts nothing."""
    gain = evolved - reference
    served = np.isfinite(gain)
    return Ratio(top=np.where(served, gain, 0.0), bottom=served.astype(np.float64))


def meg_by_round(
    resamples: Resamples, gain: Ratio, windows: Ints, *, n: int
) -> tuple[tuple[Interval, ...], tuple[Interval, ...]]:
    """MEG of each round's window, and of all windows up to it, with intervals.

    windows: which of the n rounds each task judges, (G,). An experiment lies in one window. A round without tasks
    has value 0 and no interval.
    """
    size = resamples.counts.shape[1]
    place = resamples.cluster * n + windows
    top, bottom = (
        np.bincount(place, weights=column, minlength=size * n).reshape(size, n) for column in (gain.top, gain.bottom)
    )
    drawn_top, drawn_bottom = resamples.counts @ top, resamples.counts @ bottom
    alone = _intervals(top.sum(axis=0), bottom.sum(axis=0), drawn_top, drawn_bottom)
    so_far = _intervals(
        np.cumsum(top.sum(axis=0)),
        np.cumsum(bottom.sum(axis=0)),
        np.cumsum(drawn_top, axis=1),
        np.cumsum(drawn_bottom, axis=1),
    )
    return alone, so_far


def _intervals(top: Floats, bottom: Floats, drawn_top: Floats, drawn_bottom: Floats) -> tuple[Interval, ...]:
    out = []
    for k in range(len(top)):
        drawn = drawn_bottom[:, k] > 0
        if not bottom[k] or not drawn.any():
            out.append(Interval(value=0.0, n=0))
            continue
        low, high = np.quantile(drawn_top[drawn, k] / drawn_bottom[drawn, k], (0.025, 0.975))
        out.append(
            Interval(value=float(top[k] / bottom[k]), low=float(low), high=float(high), n=round(float(bottom[k])))
        )
    return tuple(out)
