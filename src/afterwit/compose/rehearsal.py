"""An ingest without consequences: what is read lies in a temporary folder, beside what the memory knows."""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from afterwit.credit.temporal.deliveries import DeliveryTable
from afterwit.credit.temporal.lifecycle import lifecycles
from afterwit.model import Delivery
from afterwit.ports import EventLog, Store
from afterwit.record.ingest import IngestReport, ingest
from afterwit.store.segments import Segments


def rehearse(
    paths: Sequence[str | Path], *, scope: str, store: Store, log: EventLog, now: datetime, **options: Any
) -> IngestReport:
    """What `ingest` would report, and what temporal credit would say of the deliveries; nothing is written.

    options: as `ingest` takes them. Raises what it raises.
    """
    with TemporaryDirectory(prefix="afterwit-") as folder:
        ledger, events = _Ledger(store), _Log(log, Segments(Path(folder) / "events"))
        rejects = Path(folder) / "rejects.jsonl"
        report = ingest(paths, scope=scope, store=ledger, log=events, now=now, **options | {"rejects": rejects})
        found = lifecycles(events.table(scope), DeliveryTable.of(ledger.deliveries(scope)), now)
        return replace(report, rejects_path=None, verdicts=found.counts, unripe=found.refused)


class _Ledger:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._own: dict[str, Delivery] = {}

    def deliveries(self, scope: str) -> Iterator[Delivery]:
        yield from self._store.deliveries(scope)
        yield from self._own.values()

    def save_deliveries(self, deliveries: Iterable[Delivery]) -> int:
        fresh = {delivery.id: delivery for delivery in deliveries}
        self._own |= fresh
        return len(fresh)

    def forgotten(self, scope: str, kind: str, ids: Iterable[str]) -> Set[str]:
        return self._store.forgotten(scope, kind, ids)


class _Log:
    """An `EventLog` over two: what it is given goes to the second."""

    def __init__(self, known: EventLog, own: Segments) -> None:
        self._known, self._own = known, own

    def append(self, scope: str, events: Any) -> tuple[int, int]:
        import ibis

        fresh = ibis.memtable(events).anti_join(self._known.table(scope), "event_id").to_pyarrow()
        new, old = self._own.append(scope, fresh)
        return new, old + events.num_rows - fresh.num_rows

    def table(self, scope: str) -> Any:
        import ibis

        return ibis.memtable(self._known.table(scope).to_pyarrow()).union(self._own.table(scope))

    def forget(self, scope: str, delivery_ids: Sequence[str] | None = None) -> int:
        return 0
