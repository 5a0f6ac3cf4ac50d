"""How often the memory made a task worse."""

import numpy as np

from afterwit.credit.items import Floats
from afterwit.evaluate.metrics.bootstrap import Ratio

_ROUNDING = 1e-12


def negative_transfer(evolved: Floats, reference: Floats) -> Ratio:
    """The share of tasks with U(evolved) < U(reference); both (G,)."""
    return Ratio(top=(evolved < reference - _ROUNDING).astype(np.float64), bottom=np.ones(len(evolved)))
