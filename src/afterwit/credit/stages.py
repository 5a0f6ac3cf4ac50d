"""Delivery events into stages, as lazy dataframe expressions: only rows per item and stage come back."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from afterwit.credit.delay import Delay, reporting_delay
from afterwit.credit.deliveries import DeliveryTable
from afterwit.credit.items import Bools, Floats, Ints, Objects, Times
from afterwit.credit.later import moment
from afterwit.errors import MissingExtra


@dataclass(frozen=True, kw_only=True, eq=False)
class StageCounts:
    """One row a delivery with exposure, (n,), by stage (n, stages); aggregates have all in the first.

    rows: place in the delivery table. exposures, users: impressions and distinct users. engagements: kind →
    counts. longest_gap: hours between exposures, 0 where not observable. final: of aggregates.
    """

    rows: Ints
    aggregate: Bools
    final: Bools
    first_exposed: Times
    available_at: Times
    longest_gap: Floats
    exposures: Floats
    users: Floats
    engagements: dict[str, Floats]
    delay: Delay


def stage_counts(events: Any, deliveries: DeliveryTable, as_of: datetime, ends: tuple[timedelta, ...]) -> StageCounts:
    try:
        import ibis
    except ImportError:
        raise MissingExtra("ibis with duckdb", "events") from None
    known = events.filter(events.available_at <= ibis.literal(as_of))
    shown = (
        known.filter(known.kind == "impression")
        .group_by("delivery_id")
        .agg(
            first=lambda t: t["at"].min(),
            aggregate=lambda t: t["aggregate"].any(),
            final=lambda t: t["final"].all(),
            available=lambda t: t["available_at"].max(),
        )
    )
    joined = known.inner_join(shown, "delivery_id")
    age = joined["at"].epoch_seconds() - joined["first"].epoch_seconds()
    stage = ibis.cases(
        (joined["aggregate_right"], 0),
        *((age < int(end.total_seconds()), i) for i, end in enumerate(ends)),
        else_=-1,
    )
    rows = (
        joined.mutate(stage=stage)
        .filter(lambda t: t.stage >= 0)
        .group_by(["delivery_id", "stage", "kind"])
        .agg(count=lambda t: t["count"].sum(), users=lambda t: t["user_id"].nunique())
        .to_pyarrow()
    )
    heads = (
        shown.left_join(_gaps(ibis, known), "delivery_id")
        .select("delivery_id", "first", "aggregate", "final", "available", "gap")
        .to_pyarrow()
    )
    place = {d: i for i, d in enumerate(deliveries.ids)}
    ids = np.array([place.get(d, -1) for d in heads["delivery_id"].to_pylist()], dtype=np.int64)
    seen = ids >= 0
    seen[seen] = deliveries.created_at[ids[seen]] <= moment(as_of)
    order = np.flatnonzero(seen)[np.argsort(ids[seen], kind="stable")]
    row_of = {heads["delivery_id"][int(i)].as_py(): k for k, i in enumerate(order)}
    exposures, users, engagements = _spread(rows, row_of, len(ends))

    def column(name: str, kind: str) -> Any:
        return heads[name].to_numpy(zero_copy_only=False)[order].astype(kind)

    return StageCounts(
        rows=ids[order],
        aggregate=column("aggregate", "bool"),
        final=column("final", "bool"),
        first_exposed=column("first", "datetime64[us]"),
        available_at=column("available", "datetime64[us]"),
        longest_gap=np.nan_to_num(column("gap", "float64")),
        exposures=exposures,
        users=users,
        engagements=engagements,
        delay=_delay(ibis, known, as_of),
    )


def _gaps(ibis: Any, known: Any) -> Any:
    """Longest pause between hours with exposure, in hours, per delivery with row-level events."""
    hours = (
        known.filter((known.kind == "impression") & ~known["aggregate"])
        .mutate(hour=lambda t: (t["at"].epoch_seconds() / 3600).floor().cast("int64"))
        .select("delivery_id", "hour")
        .distinct()
    )
    before = hours.mutate(
        pause=hours.hour - hours.hour.lag().over(ibis.window(group_by="delivery_id", order_by="hour"))
    )
    return before.group_by("delivery_id").agg(gap=lambda t: t["pause"].max())


def _delay(ibis: Any, known: Any, as_of: datetime) -> Delay:
    """Pairs each user's first click on a delivery with the first conversion after it."""
    users = known.filter(known.user_id.notnull())
    clicks = (
        users.filter(users.kind == "click").group_by(["delivery_id", "user_id"]).agg(clicked=lambda t: t["at"].min())
    )
    bought = users.filter(users.kind == "conversion").select("delivery_id", "user_id", bought="at")
    pairs = (
        clicks.left_join(bought, ["delivery_id", "user_id"])
        .mutate(later=lambda t: ibis.ifelse(t["bought"] >= t["clicked"], t["bought"], ibis.null("timestamp('UTC')")))
        .group_by(["delivery_id", "user_id"])
        .agg(clicked=lambda t: t["clicked"].min(), bought=lambda t: t["later"].min())
    )
    found = (
        pairs.select(start=pairs["clicked"].epoch_seconds(), end=pairs["bought"].epoch_seconds())
        .order_by(["start", "end"])
        .to_pyarrow()
    )
    start = found["start"].to_numpy(zero_copy_only=False).astype(np.float64)
    end = found["end"].to_numpy(zero_copy_only=False).astype(np.float64)
    converted = np.isfinite(end)
    return reporting_delay((np.where(converted, end, as_of.timestamp()) - start) / 3600, converted)


def _spread(rows: Any, row_of: dict[str, int], stages: int) -> tuple[Floats, Floats, dict[str, Floats]]:
    n = len(row_of)
    at = np.array([row_of.get(d, -1) for d in rows["delivery_id"].to_pylist()], dtype=np.int64)
    stage = rows["stage"].to_numpy(zero_copy_only=False).astype(np.int64)
    kinds: Objects = rows["kind"].to_numpy(zero_copy_only=False)
    count, users = (rows[c].to_numpy(zero_copy_only=False).astype(np.float64) for c in ("count", "users"))
    found: dict[str, Floats] = {}
    seen = np.zeros((n, stages))
    for kind in sorted(set(kinds.tolist()) | {"impression", "click"}):
        mine = (kinds == kind) & (at >= 0)
        table = np.zeros((n, stages))
        np.add.at(table, (at[mine], stage[mine]), count[mine])
        found[kind] = table
        if kind == "impression":
            np.add.at(seen, (at[mine], stage[mine]), users[mine])
    exposures = found.pop("impression")
    return exposures, seen, found
