"""Deliveries as columns: what an item may be compared with, worked out once."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from afterwit.credit.items import Floats, Ints, Objects, Times, moment
from afterwit.model import Delivery, normalised

PERIOD = timedelta(days=28)
"""What was delivered in different periods is never compared outside a randomised test: base rates move with time."""
_START = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, eq=False)
class DeliveryTable:
    """One row a delivery, ordered by created_at, then id; shape (n,).

    strata: codes of what an item may be compared within: the experiment where traffic was randomised, else the
    context and the four weeks; and placement, audience and policy. arms: items of one stratum with the same
    normalised text and declared decisions share a code; a delivery without text has one of its own. experiments:
    codes, −1 outside any. contexts: field → values, None where absent. episodes: the episode that made it, None
    where it was not ours.
    """

    ids: Objects
    created_at: Times
    texts: Objects
    strata: Ints
    arms: Ints
    experiments: Ints
    experiment_names: tuple[str, ...]
    propensities: Floats
    declared: Objects
    contexts: dict[str, Objects]
    episodes: Objects

    @staticmethod
    def of(deliveries: Iterable[Delivery]) -> "DeliveryTable":
        rows = sorted(deliveries, key=lambda d: (d.created_at, d.id))
        experiments, names = _codes([d.experiment for d in rows])
        strata, _ = _codes([_stratum(d) for d in rows])
        declared = [tuple(x.key for x in d.decisions) for d in rows]
        shown = [normalised(d.text) or (d.id,) for d in rows]
        arms, _ = _codes(list(zip(strata.tolist(), shown, map(frozenset, declared), strict=True)))
        fields = sorted({field for d in rows for field in d.context})
        return DeliveryTable(
            ids=_objects([d.id for d in rows]),
            created_at=np.array([moment(d.created_at) for d in rows], dtype="datetime64[us]"),
            texts=_objects([d.text for d in rows]),
            strata=strata,
            arms=arms,
            experiments=experiments,
            experiment_names=tuple(str(name) for name in names),
            propensities=np.array([np.nan if d.propensity is None else d.propensity for d in rows], dtype=np.float64),
            declared=_objects(declared),
            contexts={f: _objects([d.context.get(f) for d in rows]) for f in fields},
            episodes=_objects([d.episode_id for d in rows]),
        )

    def __len__(self) -> int:
        return len(self.ids)


def _stratum(delivery: Delivery) -> tuple[Any, ...]:
    within: tuple[Any, ...] = (delivery.experiment,)
    if delivery.experiment is None:
        period = (delivery.created_at - _START) // PERIOD
        within = ("", period, *sorted((f, str(v)) for f, v in delivery.context.items()))
    return (*within, delivery.placement, delivery.audience, delivery.policy)


def _codes(values: list[Any]) -> tuple[Ints, list[Any]]:
    """Codes by first appearance; −1 for None."""
    place: dict[Any, int] = {}
    codes = [-1 if v is None else place.setdefault(v, len(place)) for v in values]
    return np.array(codes, dtype=np.int64), list(place)


def _objects(values: list[Any]) -> Objects:
    column: Objects = np.empty(len(values), dtype=np.object_)
    column[:] = values
    return column
