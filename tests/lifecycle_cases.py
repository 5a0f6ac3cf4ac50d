"""Event tables and deliveries for the tests of temporal credit."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import ibis
import pyarrow as pa

from afterwit.credit.temporal.deliveries import DeliveryTable
from afterwit.credit.temporal.lifecycle import LifecycleRules, Lifecycles, lifecycles
from afterwit.model import Delivery

START = datetime(2025, 3, 1, tzinfo=UTC)
LATER = START + timedelta(days=60)
_MOMENT = pa.timestamp("us", tz="UTC")
SCHEMA = pa.schema(
    {
        "event_id": pa.string(),
        "delivery_id": pa.string(),
        "kind": pa.string(),
        "at": _MOMENT,
        "available_at": _MOMENT,
        "count": pa.int64(),
        "user_id": pa.string(),
        "aggregate": pa.bool_(),
        "final": pa.bool_(),
    }
)

Event = dict[str, Any]


def hours(n: float) -> timedelta:
    return timedelta(hours=n)


def event(
    delivery: str, kind: str, after: float, count: int = 1, user: str | None = None, known: float | None = None
) -> Event:
    """after, known: hours after START when it happened and when it could be known."""
    return {
        "delivery_id": delivery,
        "kind": kind,
        "at": START + hours(after),
        "available_at": START + hours(after if known is None else known),
        "count": count,
        "user_id": user,
        "aggregate": False,
        "final": True,
    }


def total(delivery: str, kind: str, count: int, *, after: float = 0, known: float = 168, final: bool = True) -> Event:
    return event(delivery, kind, after, count, known=known) | {"aggregate": True, "final": final}


def steady(delivery: str, *, each: int = 20, start: float = 0, every: float = 12, length: float = 168) -> list[Event]:
    """Impressions at even times over the stages."""
    times = [start + every * i for i in range(int(length / every))]
    return [event(delivery, "impression", at, each) for at in times]


def shown(delivery: str, impressions: int, clicks: int) -> list[Event]:
    return [total(delivery, "impression", impressions), total(delivery, "click", clicks)]


def delivery(id_: str, text: str | None = None, *, after: float = 0, **fields: Any) -> Delivery:
    text = f"text of {id_}" if text is None else text
    return Delivery(id=id_, scope="s", created_at=START + hours(after), text=text, **fields)


def table(events: Sequence[Event]) -> Any:
    rows = [{"event_id": f"e{i}"} | row for i, row in enumerate(events)]
    return ibis.memtable(pa.Table.from_pylist(rows, schema=SCHEMA))


def ripen(
    events: Sequence[Event],
    deliveries: Sequence[Delivery],
    as_of: datetime = LATER,
    rules: LifecycleRules = LifecycleRules(),
) -> Lifecycles:
    return lifecycles(table(events), DeliveryTable.of(deliveries), as_of, rules)


def verdicts(found: Lifecycles) -> dict[str, str]:
    return {found.deliveries.ids[row]: verdict for row, verdict in zip(found.rows, found.verdict, strict=True)}


def reason(found: Lifecycles, id_: str) -> str:
    place = list(found.deliveries.ids[found.rows]).index(id_)
    return str(found.why[place])
