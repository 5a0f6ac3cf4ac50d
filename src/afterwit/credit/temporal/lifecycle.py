"""Temporal credit: which items' outcomes are ripe enough to learn from (design section 5)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from scipy import special

from afterwit.credit.items import Bools, Floats, Ints, Items, Objects, Times, moment
from afterwit.credit.temporal.delay import Delay
from afterwit.credit.temporal.deliveries import DeliveryTable
from afterwit.credit.temporal.rates import Posterior, beta_posterior, beta_prior
from afterwit.credit.temporal.stages import StageCounts, stage_counts
from afterwit.model import LifecycleVerdict, Refusal, content_hash

_SRM = "srm"
_CLIP = 20.0
_EXAMPLES = 3


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
    """One row a delivery that existed at ``as_of``, shape (n,); rows: its place in ``deliveries``.

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
        """One row per verdict and reason, with how many items and some of them."""
        found: dict[tuple[str, str], list[int]] = {}
        for i in np.flatnonzero(self.verdict != "ready"):
            found.setdefault((self.verdict[i], self.why[i]), []).append(int(i))
        return tuple(
            Refusal(
                subject=f"{len(places)} items, such as "
                + ", ".join(self.deliveries.ids[self.rows[i]] for i in places[:_EXAMPLES]),
                verdict=verdict,
                reason=_REASONS.get(why, why),
                figures={"items": float(len(places))},
            )
            for (verdict, why), places in sorted(found.items())
        )

    @property
    def _used(self) -> Ints:
        return np.flatnonzero((self.verdict == "ready") | (self.why == _SRM)).astype(np.int64)

    def items(self) -> Items:
        """Ready items, and those of a test whose ratios do not match, which never confirm. Items of one stratum with
        the same text are one item: their counts are summed."""
        used = self._used
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
            weights=_hajek(d.propensities[head], d.experiments[head], d.strata[head]),
            first_delivered_at=d.created_at[head],
            available_at=available,
            confirmable=sound,
            contexts={field: column[head] for field, column in d.contexts.items()},
            declared=d.declared[head],
        )
        return found.take(order.astype(np.int64))

    def rates(self, objective: str) -> tuple[Posterior, ...]:
        """Posterior of the rate of every row, stage by stage; aggregates have all in the first."""
        strata = self.deliveries.strata[self.rows]
        found = []
        for stage in range(self.stages.exposures.shape[1]):
            trials = self.stages.exposures[:, stage]
            successes = np.minimum(self.stages.engagements[objective][:, stage], trials)
            found.append(beta_posterior(successes, trials, beta_prior(successes, trials, strata)))
        return tuple(found)

    def versions(self) -> dict[str, int]:
        """Delivery id → version, for the deliveries behind `items`: it changes iff what was counted changed."""
        used, counts = self._used, self.stages
        total = counts.first_exposed[used].astype(np.int64).astype(np.uint64) * _factor("first", 0)
        for kind, table in {"impression": counts.exposures, "user": counts.users, **counts.engagements}.items():
            for stage in range(table.shape[1]):
                total = total + table[used, stage].astype(np.uint64) * _factor(kind, stage)
        return dict(zip(self.deliveries.ids[self.rows[used]].tolist(), total.tolist(), strict=True))


_REASONS = {_SRM: "sample ratio mismatch: the arms' exposures do not fit their allocation, so it may not confirm"}


def lifecycles(
    events: Any, deliveries: DeliveryTable, as_of: datetime, rules: LifecycleRules = LifecycleRules()
) -> Lifecycles:
    """events: a lazy ibis table as `EventLog.table` gives it. Only what was available at ``as_of`` enters (law 3)."""
    counts = stage_counts(events, deliveries, as_of, rules.stages)
    now, end = moment(as_of), np.timedelta64(rules.stages[-1])
    wait = np.timedelta64(round(counts.delay.hours * 3600e6), "us")
    unseen = np.isnat(counts.first_exposed)
    first: Times = np.where(unseen, deliveries.created_at[counts.rows], counts.first_exposed)
    single: Bools = ~counts.aggregate & ~unseen
    closed: Times = first + end + np.where(single, wait, np.timedelta64(0, "us"))
    available = np.where(counts.aggregate, counts.available_at, np.maximum(closed, counts.available_at))
    open_still = np.where(counts.aggregate, ~counts.final & (counts.available_at < closed), closed > now)
    unsettled = single & (not counts.delay.settled)
    exposures = counts.exposures.sum(axis=1)
    least = np.where(counts.aggregate, exposures, counts.exposures.min(axis=1))
    ripe = ~open_still & ~unsettled & ~unseen
    pause = rules.gap.total_seconds() / 3600
    tests: list[tuple[LifecycleVerdict, str, Bools]] = [
        (
            "immature",
            "conversions still arrive, so that no reporting delay can be told",
            unsettled & (first + end <= now),
        ),
        ("immature", "the last stage or the reporting delay is still open", open_still),
        ("thin", "no exposure is known", unseen),
        ("mixed", "counts and single events of one item would be counted twice", counts.doubled),
        ("discontinuous", "a stage without exposure", single & (least == 0)),
        ("discontinuous", f"a pause of more than {pause:g} hours", counts.longest_gap > pause),
        ("thin", f"fewer than {rules.exposures} exposures in a stage", least < rules.exposures),
        ("mixed", _SRM, _mismatch(deliveries, counts.rows, exposures, ripe, rules.srm)),
    ]
    conditions = [hit for _, _, hit in tests]

    def first_of(names: list[str], otherwise: str) -> Objects:
        code = np.select(conditions, list(range(len(names))), default=len(names))
        values: Objects = np.array([*names, otherwise], dtype=np.object_)
        return values.take(code)

    return Lifecycles(
        as_of=as_of,
        deliveries=deliveries,
        stages=counts,
        rows=counts.rows,
        verdict=first_of([verdict for verdict, _, _ in tests], "ready"),
        why=first_of([why for _, why, _ in tests], ""),
        exposures=exposures,
        engagements={kind: column.sum(axis=1) for kind, column in counts.engagements.items()},
        first_exposed=counts.first_exposed,
        available_at=available.astype("datetime64[us]"),
        delay=counts.delay,
    )


def _mismatch(deliveries: DeliveryTable, rows: Ints, exposures: Floats, ripe: Bools, level: float) -> Bools:
    """χ² of the ripe arms' exposures against equal allocation (or logged propensities), per experiment; its items
    where p < level. Arms whose stages are still open have had less time, so they are left out."""
    codes = deliveries.experiments[rows]
    tested = (codes >= 0) & ripe
    n = int(codes.max()) + 1 if tested.any() else 0
    if n == 0:
        return np.zeros(len(codes), dtype=np.bool_)
    share = np.nan_to_num(deliveries.propensities[rows], nan=1.0)
    total, shares, arms = (
        np.bincount(codes[tested], weights=column[tested], minlength=n)
        for column in (exposures, share, np.ones(len(codes)))
    )
    expected = total[codes] * share / np.where(shares[codes] > 0, shares[codes], 1.0)
    part = np.where(tested & (expected > 0), (exposures - expected) ** 2 / np.maximum(expected, 1e-12), 0.0)
    statistic = np.bincount(codes[tested], weights=part[tested], minlength=n)
    p = special.chdtrc(np.maximum(arms - 1, 1), statistic)
    bad: Bools = (p < level) & (arms >= 2)
    return np.asarray(tested & bad[codes], dtype=np.bool_)


def _hajek(propensity: Floats, experiments: Ints, strata: Ints) -> Floats:
    """Inverse logged propensity, clipped at 20 and scaled to mean 1 in each stratum (Hájek); 1 in randomised tests or
    unlogged."""
    known = np.isfinite(propensity) & (propensity > 0) & (experiments < 0)
    weights = np.ones(len(propensity))
    if known.any():
        inverse = np.minimum(1 / propensity[known], _CLIP)
        codes = strata[known]
        mean = np.bincount(codes, weights=inverse) / np.maximum(np.bincount(codes), 1)
        weights[known] = inverse / mean[codes]
    return weights


def _factor(kind: str, stage: int) -> np.uint64:
    """An odd multiplier of a count in the version: the sum over counts does not depend on their order."""
    return np.uint64(int(content_hash(kind, str(stage))[:16], 16) | 1)
