"""Outcomes that no headline earned: what the false discovery audit learns from."""

from dataclasses import replace

import numpy as np

from afterwit.credit.items import Ints, Items
from afterwit.evaluate.tasks import Tasks


def permuted_items(items: Items, chance: np.random.Generator) -> Items:
    """Outcomes shuffled among the items of each stratum, exposures and engagements moving together."""
    source = _within(items.strata, chance)
    engagements = {objective: column[source] for objective, column in items.engagements.items()}
    return replace(items, exposures=items.exposures[source], engagements=engagements)


def permuted_tasks(tasks: Tasks, chance: np.random.Generator) -> Tasks:
    """The same among the candidates of each task."""
    source = _within(tasks.task, chance)
    return replace(tasks, exposures=tasks.exposures[source], engagements=tasks.engagements[source])


def _within(groups: Ints, chance: np.random.Generator) -> Ints:
    """For each row, the row of its group that it takes its outcome from."""
    source = np.empty(len(groups), dtype=np.int64)
    source[np.argsort(groups, kind="stable")] = np.lexsort((chance.random(len(groups)), groups))
    return source
