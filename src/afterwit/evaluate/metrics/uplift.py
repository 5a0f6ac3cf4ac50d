"""How much better the choice did than the mean of its task."""

import numpy as np

from afterwit.credit.items import Floats
from afterwit.evaluate.metrics.bootstrap import Ratio
from afterwit.evaluate.tasks import Tasks


def uplift(tasks: Tasks, scores: Floats) -> Ratio:
    """Mean over tasks of U = rate(chosen) / mean rate − 1, tied choices getting the mean of their rates."""
    return Ratio(top=tasks.utilities(scores), bottom=np.ones(len(tasks)))
