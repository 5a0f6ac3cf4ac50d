"""Ratings as counts, so that the real credit and the real policies learn from them.

A rating y of 1 to 5 is y − 1 points of 4; what no memory would predict, the mean of the user's own earlier ratings, is
the points that are expected. So points over expected points is a rate, and a decision's effect is a log rate ratio: how
much more, or less, than a user's own history says items get that show it (a category, a word of the title, the shape
of the history). Controls are the other tasks of a block of 12 in a row. With cards that add up to s for a task,

    expected(s) = 1 + min(4, (m − 1) eˢ)        m: the mean of the history (median for the absolute error)
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from afterwit.benchmarks.memorycd.data import Task
from afterwit.credit.items import Floats, Items, Objects, moment
from afterwit.decisions.extraction import Extractor, MiningRules

OBJECTIVE = "points"
BLOCK = 12
_LEAST = 0.25
_START = datetime(2000, 1, 1, tzinfo=UTC)
_STEP = timedelta(hours=1)


def extractor() -> Extractor:
    return Extractor(rules=MiningRules(support=8, mine=False))


def at(place: int) -> datetime:
    """When task ``place`` is predicted, on a clock that ticks once a task."""
    return _START + place * _STEP


def items_of(tasks: Sequence[Task], delay: int) -> Items:
    """delay: δ, how many later tasks are predicted before a label is known; 0: known at once."""
    n = len(tasks)
    made, known = (
        np.array([moment(at(k) + late) for k in range(n)]) for late in (timedelta(0), delay * _STEP + _STEP / 2)
    )
    return Items(
        ids=_objects([f"task {k}" for k in range(n)]),
        strata=(np.arange(n) // BLOCK).astype(np.int64),
        texts=_objects([task.title for task in tasks]),
        exposures=np.maximum([float(np.mean(task.history)) - 1 for task in tasks], _LEAST),
        engagements={OBJECTIVE: np.array([task.rating - 1 for task in tasks])},
        weights=np.ones(n),
        first_delivered_at=made,
        available_at=known,
        confirmable=np.ones(n, dtype=np.bool_),
        contexts={},
        declared=_objects([shape(task) for task in tasks]),
    )


def shape(task: Task) -> tuple[str, ...]:
    """Decisions that a task shows beside its title's words."""
    mean, last = float(np.mean(task.history)), task.history[-1]
    level = "five" if mean == 5 else "high" if mean >= 4 else "middling" if mean >= 3 else "low"
    trend = "below" if last < mean else "above" if last > mean else "even"
    return (f"category={task.category}", f"history={level}", f"last={trend}")


def predicted(centre: Floats, shift: Floats) -> Floats:
    """expected(s) for centres m and shifts s, (n,)."""
    return np.asarray(1 + np.minimum(4, (centre - 1) * np.exp(shift)), dtype=np.float64)


def _objects(values: Sequence[object]) -> Objects:
    column = np.empty(len(values), dtype=np.object_)
    column[:] = values
    return column
