"""The share of all pairs that the scores put in the right order."""

import numpy as np

from afterwit.credit.items import Floats
from afterwit.evaluate.metrics.bootstrap import Ratio
from afterwit.evaluate.tasks import Tasks


def pairs_accuracy(tasks: Tasks, scores: Floats) -> Ratio:
    """Pairs with equal rates have no right order and are left out; tied scores count ½. scores: (n,)."""
    ordered = (tasks.pairs.z != 0).astype(np.float64)
    return Ratio(top=tasks.pair_sums(ordered * tasks.hits(scores)), bottom=tasks.pair_sums(ordered))
