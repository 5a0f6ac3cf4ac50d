"""The share of clearly different pairs that the scores put in the right order."""

import numpy as np

from afterwit.credit.items import Floats
from afterwit.evaluate.metrics.bootstrap import Ratio
from afterwit.evaluate.tasks import Tasks

Z = 1.96


def significant_pairs_accuracy(tasks: Tasks, scores: Floats) -> Ratio:
    """Pairs of one task whose two-sided two-proportion |z| exceeds 1.96; tied scores count ½. scores: (n,)."""
    significant = (np.abs(tasks.pairs.z) > Z).astype(np.float64)
    return Ratio(top=tasks.pair_sums(significant * tasks.hits(scores)), bottom=tasks.pair_sums(significant))
