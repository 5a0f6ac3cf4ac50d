"""The columns that credit works on: one row an item, one column a decision."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from afterwit.decisions.extraction import SHOWS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Times = NDArray[np.datetime64]
Objects = NDArray[np.object_]


@dataclass(frozen=True, kw_only=True, eq=False)
class Items:
    """Items that temporal credit let through, shape (n,) each.

    ids: delivery ids (of the first, where identical texts of one stratum were summed). strata: codes 0…S−1 of
    the stratum an item may be compared within. texts: what was shown. exposures: impressions. engagements:
    objective → counts. weights: w of an item's evidence, 1 unless propensities or responsibility say otherwise.
    first_delivered_at, available_at: datetime64[us], UTC. confirmable: False where sample ratios do not match.
    contexts: field → values, the fields that conditions may name. declared: tuple of declared decision keys.
    """

    ids: Objects
    strata: Ints
    texts: Objects
    exposures: Floats
    engagements: Mapping[str, Floats]
    weights: Floats
    first_delivered_at: Times
    available_at: Times
    confirmable: Bools
    contexts: Mapping[str, Objects]
    declared: Objects

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: Ints | Bools) -> "Items":
        """The items at these rows; stratum codes stay as they are."""
        return Items(
            ids=self.ids[rows],
            strata=self.strata[rows],
            texts=self.texts[rows],
            exposures=self.exposures[rows],
            engagements={name: column[rows] for name, column in self.engagements.items()},
            weights=self.weights[rows],
            first_delivered_at=self.first_delivered_at[rows],
            available_at=self.available_at[rows],
            confirmable=self.confirmable[rows],
            contexts={name: column[rows] for name, column in self.contexts.items()},
            declared=self.declared[rows],
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """Which item shows which decision, and how much of it. matrix: (items, decisions), degrees in [0, 1], CSR; names:
    decision keys."""

    names: tuple[str, ...]
    matrix: sparse.csr_array


def showing(columns: sparse.csc_array, place: int) -> Ints:
    """Rows of the items that show a decision rather than not. columns: the design's matrix by columns."""
    of = slice(*columns.indptr[place : place + 2])
    return columns.indices[of][columns.data[of] >= SHOWS].astype(np.int64)


def moment(at: datetime) -> np.datetime64:
    """A timezone-aware time as the columns hold it."""
    return np.datetime64(at.astimezone(UTC).replace(tzinfo=None), "us")
