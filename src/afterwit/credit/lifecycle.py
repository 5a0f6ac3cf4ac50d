"""Temporal credit: which items' outcomes are ripe enough to learn from (design section 5)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from scipy import special

from afterwit.credit.delay import Delay
from afterwit.credit.deliveries import DeliveryTable
from afterwit.credit.items import Bools, Floats, Ints, Items, Objects, Times
from afterwit.credit.later import moment
from afterwit.credit.stages import StageCounts, stage_counts
from afterwit.model import LifecycleVerdict, Refusal

_HOUR = np.timedelta64(3_600_000_000, "us")
_CLIP = 20.0


@dataclass(frozen=True, kw_only=True)
class LifecycleRules:
    """stages: ends of the stages after first impression. gap: g, longest pause between exposures. exposures: n a
    stage. srm: p-value of the sample-ratio test below which randomisation is not believed."""

    stages: tuple[timedelta, ...] = (timedelta(hours=24), timedelta(hours=72), timedelta(days=7))
    gap: timedelta = timedelta(hours=24)
    exposures: int = 100
    srm: float = 0.001


@dataclass(frozen=True, kw_only=True, eq=False)
class Lifecycles:
    """One row a delivery with exposure, shape (n,); rows: its place in ``deliveries``.

    verdict, why: and a short reason. exposures: over all stages; engagements: kind → counts. available_at: when
    the item was ripe, or would be. delay: of conversions.
    """

    as_of: datetime
    deliveries: DeliveryTable
    stages: StageCounts
    rows: Ints
    verdict: Objects
    why: Objects
    exposures: Floats
    engagements: dict[str, Floats]
    first_exposed: Times
    available_at: Times
    delay: Delay

    @property
    def counts(self) -> dict[str, int]:
        names, numbers = np.unique(self.verdict.astype(str), return_counts=True)
        return dict(zip(names.tolist(), numbers.tolist(), strict=True))

    @property
    def refused(self) -> tuple[Refusal, ...]:
        """One row per verdict and reason, with how many items and an example."""
        found: dict[tuple[str, str], list[int]] = {}
        for i in np.flatnonzero(self.verdict != "ready"):
            found.setdefault((self.verdict[i], self.why[i]), []).append(int(i))
        return tuple(
            Refusal(
                subject=f"{len(places)} items, such as {self.deliveries.ids[self.rows[places[0]]]}",
                verdict=verdict,
                reason=why,
                figures={"items": float(len(places))},
            )
            for (verdict, why), places in sorted(found.items())
        )

    def items(self) -> Items:
        """Ready items, and those of a test whose ratios do not match, which never confirm. Items of one stratum with
        the same text are one item: their counts are summed."""
        used = np.flatnonzero((self.verdict == "ready") | (self.why == "srm"))
        d, rows = self.deliveries, self.rows[used]
        arms, first, group = np.unique(d.arms[rows], return_index=True, return_inverse=True)
        head, n = rows[first], len(arms)

        def total(column: Floats) -> Floats:
            return np.asarray(np.bincount(group, weights=column[used], minlength=n), dtype=np.float64)

        available = np.full(n, np.datetime64(0, "us"))
        np.maximum.at(available, group, self.available_at[used])
        sound = np.ones(n, dtype=np.bool_)
        np.logical_and.at(sound, group, self.verdict[used] == "ready")
        order = np.lexsort((d.ids[head].astype(str), d.created_at[head]))
        found = Items(
            ids=d.ids[head],
            strata=d.strata[head],
            texts=d.texts[head],
            exposures=total(self.exposures),
            engagements={kind: total(column) for kind, column in self.engagements.items()},
            weights=_hajek(d.propensities[head], d.experiments[head]),
            first_delivered_at=d.created_at[head],
            available_at=available,
            confirmable=sound,
            contexts={field: column[head] for field, column in d.contexts.items()},
            declared=d.declared[head],
        )
        return found.take(order.astype(np.int64))


def lifecycles(
    events: Any, deliveries: DeliveryTable, as_of: datetime, rules: LifecycleRules = LifecycleRules()
) -> Lifecycles:
    """events: a lazy ibis table as `EventLog.table` gives it. Only what was available at ``as_of`` enters (law 3)."""
    counts = stage_counts(events, deliveries, as_of, rules.stages)
    now = moment(as_of)
    wait = np.timedelta64(round(counts.delay.hours * 3600e6), "us")
    closed = counts.first_exposed + np.timedelta64(round(rules.stages[-1].total_seconds() * 1e6), "us") + wait
    available = np.where(counts.aggregate, counts.available_at, closed)
    exposures = counts.exposures.sum(axis=1)
    stage_least = np.where(counts.aggregate, exposures, counts.exposures.min(axis=1))
    mismatch = _srm(deliveries, counts, exposures, rules.srm)
    tests: list[tuple[LifecycleVerdict, str, Bools]] = [
        ("immature", "not final yet", counts.aggregate & ~counts.final),
        ("immature", "the last stage or the reporting delay is still open", available > now),
        (
            "immature",
            "conversions still arrive: no delay can be told",
            ~counts.aggregate & (not counts.delay.settled),
        ),
        ("discontinuous", "a stage without exposure", ~counts.aggregate & (stage_least == 0)),
        (
            "discontinuous",
            f"a pause longer than {rules.gap}",
            counts.longest_gap > rules.gap.total_seconds() / 3600,
        ),
        ("thin", f"fewer than {rules.exposures} exposures in a stage", stage_least < rules.exposures),
        ("mixed", "srm", mismatch),
    ]
    conditions = [hit for _, _, hit in tests]
    verdict: Objects = np.select(
        conditions, [np.array(v, dtype=object) for v, _, _ in tests], np.array("ready", dtype=object)
    )
    why: Objects = np.select(conditions, [np.array(w, dtype=object) for _, w, _ in tests], np.array("", dtype=object))
    return Lifecycles(
        as_of=as_of,
        deliveries=deliveries,
        stages=counts,
        rows=counts.rows,
        verdict=verdict,
        why=why,
        exposures=exposures,
        engagements={kind: column.sum(axis=1) for kind, column in counts.engagements.items()},
        first_exposed=counts.first_exposed,
        available_at=available.astype("datetime64[us]"),
        delay=counts.delay,
    )


def _srm(deliveries: DeliveryTable, counts: StageCounts, exposures: Floats, level: float) -> Bools:
    """χ² of the arms' exposures against equal allocation (or logged propensities), per experiment; its items where
    p < level."""
    codes = deliveries.experiments[counts.rows]
    inside = codes >= 0
    n = int(codes.max()) + 1 if inside.any() else 0
    if n == 0:
        return np.zeros(len(codes), dtype=np.bool_)
    share = np.nan_to_num(deliveries.propensities[counts.rows], nan=1.0)
    total, shares, arms = (
        np.bincount(codes[inside], weights=column[inside], minlength=n)
        for column in (exposures, share, np.ones(len(codes)))
    )
    expected = total[codes] * share / np.where(inside, shares[codes], 1.0)
    part = np.where(inside & (expected > 0), (exposures - expected) ** 2 / np.maximum(expected, 1e-12), 0.0)
    statistic = np.bincount(codes[inside], weights=part[inside], minlength=n)
    p = special.chdtrc(np.maximum(arms - 1, 1), statistic)
    bad: Bools = (p < level) & (arms >= 2)
    return np.asarray(inside & bad[codes], dtype=np.bool_)


def _hajek(propensity: Floats, experiments: Ints) -> Floats:
    """Inverse logged propensity, clipped at 20 and scaled to mean 1 (Hájek); 1 in randomised tests or unlogged."""
    known = np.isfinite(propensity) & (propensity > 0) & (experiments < 0)
    weights = np.ones(len(propensity))
    if known.any():
        inverse = np.minimum(1 / propensity[known], _CLIP)
        weights[known] = inverse / inverse.mean()
    return weights
