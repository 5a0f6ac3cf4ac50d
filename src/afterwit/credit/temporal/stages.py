"""Delivery events into stages, as lazy dataframe expressions: only rows per item and stage come back."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from afterwit.credit.items import Bools, Floats, Ints, Objects, Times, moment
from afterwit.credit.temporal.delay import Delay, reporting_delay
from afterwit.credit.temporal.deliveries import DeliveryTable
from afterwit.errors import MissingExtra

_NEVER = np.datetime64("NaT", "us")
_START = np.datetime64(0, "us")


@dataclass(frozen=True, kw_only=True, eq=False)
class StageCounts:
    """One row a delivery that existed, (n,), by stage (n, stages); aggregates have all in the first.

    rows: place in the delivery table. exposures, users: impressions and distinct users shown them. engagements:
    kind → counts. first_exposed: NaT where no exposure is known. longest_gap: hours between exposures within the
    stages, 0 where not observable. aggregate: counted from snapshots, of which the latest stands; final: they say
    that no later one will come. doubled: both snapshots and single events came. available_at: when the last of what
    is counted could be known.
    """

    rows: Ints
    aggregate: Bools
    final: Bools
    doubled: Bools
    first_exposed: Times
    available_at: Times
    longest_gap: Floats
    exposures: Floats
    users: Floats
    engagements: dict[str, Floats]
    delay: Delay


def stage_counts(events: Any, deliveries: DeliveryTable, as_of: datetime, ends: tuple[timedelta, ...]) -> StageCounts:
    """ends: of the stages, after the first impression. Raises MissingExtra without ibis."""
    try:
        import ibis
        import pyarrow
    except ImportError:
        raise MissingExtra("ibis with duckdb", "events") from None
    # The table is in order of creation, so that what existed at ``as_of`` is its head.
    existing = int(np.searchsorted(deliveries.created_at, moment(as_of), "right"))
    ids = pyarrow.array(deliveries.ids[:existing].tolist(), pyarrow.string())
    known = events.filter(events["available_at"] <= ibis.literal(as_of))
    totals = _snapshots(known).to_pyarrow()
    single = known.filter(~known["aggregate"]).semi_join(
        ibis.memtable(pyarrow.table({"delivery_id": ids})), "delivery_id"
    )
    heads = (
        single.filter(single["kind"] == "impression")
        .group_by("delivery_id")
        .agg(first=lambda t: t["at"].min())
        .to_pyarrow()
    )
    found = _Gathered(ids, existing, len(ends))
    found.add_totals(totals)
    delay = Delay(hours=0.0, settled=True, clicks=0)
    if heads.num_rows:
        first = ibis.memtable(heads)
        clicked = _first_clicks(single)
        placed = _placed(ibis, single, clicked)
        found.add_singles(heads, _by_stage(ibis, placed, first, ends).to_pyarrow())
        found.add_gaps(_gaps(ibis, single, first, ends[-1]).to_pyarrow())
        delay = _delay(ibis, single, clicked, as_of)
    return found.counts(delay)


def _snapshots(known: Any) -> Any:
    """The latest count of each item and kind among those that sum up many events."""
    keys = ["delivery_id", "kind"]
    totals = known.filter(known["aggregate"])
    latest = totals.group_by(keys).agg(available_at=lambda t: t["available_at"].max())
    return (
        totals.semi_join(latest, [*keys, "available_at"])
        .group_by(keys)
        .agg(
            count=lambda t: t["count"].max(),
            first=lambda t: t["at"].min(),
            final=lambda t: t["final"].any(),
            available_at=lambda t: t["available_at"].max(),
        )
    )


def _first_clicks(single: Any) -> Any:
    """When each user first clicked on each delivery."""
    return (
        single.filter((single["kind"] == "click") & single["user_id"].notnull())
        .group_by(["delivery_id", "user_id"])
        .agg(clicked=lambda t: t["at"].min())
    )


def _placed(ibis: Any, single: Any, clicked: Any) -> Any:
    """Events with the time that decides their stage: a conversion belongs where its user's click lies, so that it
    may come after the last stage has closed; without a user, where it happened."""
    columns = ["delivery_id", "kind", "count", "user_id", "available_at", "at"]
    others = single.filter(single["kind"] != "conversion").select(columns)
    bought = single.filter(single["kind"] == "conversion").select(columns)
    joined = bought.left_join(clicked, ["delivery_id", "user_id"])
    moved = joined.mutate(at=ibis.ifelse(joined["clicked"] <= joined["at"], joined["clicked"], joined["at"]))
    return others.union(moved.select(columns))


def _by_stage(ibis: Any, placed: Any, first: Any, ends: tuple[timedelta, ...]) -> Any:
    joined = placed.inner_join(first, "delivery_id")
    stage = ibis.cases(
        *((joined["at"] < joined["first"] + _interval(ibis, end), i) for i, end in enumerate(ends)), else_=-1
    )
    return (
        joined.mutate(stage=stage)
        .filter(lambda t: t["stage"] >= 0)
        .group_by(["delivery_id", "stage", "kind"])
        .agg(
            count=lambda t: t["count"].sum().cast("int64"),
            users=lambda t: t["user_id"].nunique(),
            available_at=lambda t: t["available_at"].max(),
        )
    )


def _gaps(ibis: Any, single: Any, first: Any, end: timedelta) -> Any:
    """Longest pause between hours with exposure, in hours, per delivery, up to the end of the last stage."""
    shown = single.filter(single["kind"] == "impression").inner_join(first, "delivery_id")
    hours = (
        shown.filter(shown["at"] < shown["first"] + _interval(ibis, end))
        .mutate(hour=lambda t: (t["at"].epoch_seconds() / 3600).floor().cast("int64"))
        .select("delivery_id", "hour")
        .distinct()
    )
    before = hours.mutate(
        pause=hours["hour"] - hours["hour"].lag().over(ibis.window(group_by="delivery_id", order_by="hour"))
    )
    return before.group_by("delivery_id").agg(gap=lambda t: t["pause"].max())


def _delay(ibis: Any, single: Any, clicked: Any, as_of: datetime) -> Delay:
    """Pairs each user's first click on a delivery with the first report of a conversion after it, by whole minutes
    started, so that the rows that come back do not grow with the clicks."""
    bought = single.filter(single["kind"] == "conversion").select("delivery_id", "user_id", "at", "available_at")
    joined = clicked.inner_join(bought, ["delivery_id", "user_id"])
    reported = (
        joined.filter(joined["at"] >= joined["clicked"])
        .group_by(["delivery_id", "user_id"])
        .agg(reported=lambda t: t["available_at"].min())
    )
    pairs = clicked.left_join(reported, ["delivery_id", "user_id"])
    end = ibis.coalesce(pairs["reported"], ibis.literal(as_of))
    minutes = ((end.epoch_seconds() - pairs["clicked"].epoch_seconds()) / 60).ceil().cast("int64")
    found = (
        pairs.mutate(minutes=minutes, converted=pairs["reported"].notnull())
        .group_by(["minutes", "converted"])
        .agg(clicks=lambda t: t.count())
        .order_by(["minutes", "converted"])
        .to_pyarrow()
    )
    hours, converted, clicks = (found[c].to_numpy(zero_copy_only=False) for c in ("minutes", "converted", "clicks"))
    return reporting_delay(np.maximum(hours, 0) / 60.0, converted.astype(np.bool_), clicks.astype(np.float64))


def _interval(ibis: Any, length: timedelta) -> Any:
    return ibis.interval(seconds=int(length.total_seconds()))


class _Gathered:
    """What came back, laid out over the deliveries that existed (m,)."""

    def __init__(self, ids: Any, m: int, stages: int) -> None:
        self._ids = ids
        self._shape = (m, stages)
        self._first: Times = np.full(m, _NEVER)
        self._available: Times = np.full(m, _START)
        self._aggregate: Bools = np.zeros(m, dtype=np.bool_)
        self._single: Bools = np.zeros(m, dtype=np.bool_)
        self._final: Bools = np.ones(m, dtype=np.bool_)
        self._gap: Floats = np.zeros(m)
        self._users: Floats = np.zeros(self._shape)
        self._kinds: dict[str, Floats] = {kind: np.zeros(self._shape) for kind in ("impression", "click")}

    def add_totals(self, table: Any) -> None:
        at, used = self._places(table)
        kinds: Objects = table["kind"].to_numpy(zero_copy_only=False)[used]
        shown = at[kinds == "impression"]
        self._aggregate[shown] = True
        self._first[shown] = _times(table, "first")[used][kinds == "impression"]
        np.logical_and.at(self._final, at, _values(table, "final")[used].astype(np.bool_))
        np.maximum.at(self._available, at, _times(table, "available_at")[used])
        self._count(at, np.zeros(len(at), dtype=np.int64), kinds, _values(table, "count")[used])

    def add_singles(self, heads: Any, rows: Any) -> None:
        at, used = self._places(heads)
        self._single[at] = True
        fresh = ~self._aggregate[at]
        self._first[at[fresh]] = _times(heads, "first")[used][fresh]
        at, used = self._places(rows)
        used[used] = fresh = ~self._aggregate[at]
        at = at[fresh]
        kinds: Objects = rows["kind"].to_numpy(zero_copy_only=False)[used]
        stage = _values(rows, "stage")[used].astype(np.int64)
        np.maximum.at(self._available, at, _times(rows, "available_at")[used])
        self._count(at, stage, kinds, _values(rows, "count")[used])
        shown = kinds == "impression"
        self._users[at[shown], stage[shown]] = _values(rows, "users")[used][shown]

    def add_gaps(self, table: Any) -> None:
        at, used = self._places(table)
        self._gap[at] = np.nan_to_num(_values(table, "gap")[used].astype(np.float64))

    def counts(self, delay: Delay) -> StageCounts:
        engagements = {kind: self._kinds[kind] for kind in sorted(self._kinds)}
        return StageCounts(
            rows=np.arange(len(self._first), dtype=np.int64),
            aggregate=self._aggregate,
            final=self._final,
            doubled=self._aggregate & self._single,
            first_exposed=self._first,
            available_at=self._available,
            longest_gap=np.where(self._aggregate, 0.0, self._gap),
            exposures=engagements.pop("impression"),
            users=self._users,
            engagements=engagements,
            delay=delay,
        )

    def _count(self, at: Ints, stage: Ints, kinds: Objects, counts: Any) -> None:
        for kind in sorted(set(kinds.tolist())):
            mine = kinds == kind
            self._kinds.setdefault(kind, np.zeros(self._shape))[at[mine], stage[mine]] = counts[mine]

    def _places(self, table: Any) -> tuple[Ints, Bools]:
        """Where the rows' deliveries stand, for those that existed, and which rows those are."""
        from pyarrow import compute

        places = compute.index_in(table["delivery_id"], value_set=self._ids).fill_null(-1)
        at = places.to_numpy().astype(np.int64)
        used: Bools = at >= 0
        return at[used], used


def _values(table: Any, name: str) -> Any:
    return table[name].to_numpy(zero_copy_only=False)


def _times(table: Any, name: str) -> Times:
    return np.asarray(_values(table, name).astype("datetime64[us]"))
