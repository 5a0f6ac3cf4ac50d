"""Reading a delivery log: good rows in, bad rows set aside, once each however often it is read."""

import zoneinfo
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from afterwit.errors import InputError
from afterwit.model import Delivery
from afterwit.ports import EventLog, Progress, Store
from afterwit.record.checks import naive, parsed, require
from afterwit.record.mapping import ColumnMapping
from afterwit.record.rejects import set_aside
from afterwit.record.table import columns_of, connect, expand, literal, load, quoted

_CHUNK = 1_000_000


@dataclass(frozen=True, kw_only=True)
class IngestReport:
    """Counts over all files. known: read before. unmatched: events in the log whose delivery is not known yet.
    rejects_path: where rejected rows lie, None where there were none."""

    files: int
    rows: int
    events_new: int
    events_known: int
    deliveries_new: int
    rejected: int
    unmatched: int
    rejects_path: Path | None

    def summary(self) -> str:
        parts = [
            f"{self.rows} rows of {self.files} files",
            f"{self.events_new} new events",
            f"{self.events_known} known",
            f"{self.deliveries_new} new deliveries",
        ]
        if self.unmatched:
            parts.append(f"{self.unmatched} events wait for their delivery")
        if self.rejected:
            parts.append(f"{self.rejected} rows set aside in {self.rejects_path}")
        return ", ".join(parts)


def ingest(
    paths: Sequence[str | Path],
    *,
    scope: str,
    mapping: str | Path | ColumnMapping | None,
    store: Store,
    log: EventLog,
    timezone: str | None = None,
    rejects: Path,
    now: datetime,
    progress: Progress | None = None,
) -> IngestReport:
    """Reads files one by one; each is taken whole (its usable rows) or not at all.

    Of a file the rows set aside are written first, then deliveries, then events, and each is idempotent, so that a
    crash between them is mended by reading the file again. timezone: of times that name none, before the mapping's.
    now: noted with the rows set aside. progress: in thirds of a file.

    Raises InputError for a file that is missing, unreadable, lacks a column or holds times without zone when no
    timezone is given; files before it have been taken.
    """
    zone = _zone(timezone)
    files = expand(list(paths))
    given = ColumnMapping.load(mapping) if isinstance(mapping, str | Path) else mapping
    known = {delivery.id: delivery for delivery in store.deliveries(scope)}
    tick = _ticker(progress, len(files))
    rows = new = old = deliveries = rejected = 0
    with connect() as engine:
        for path in files:
            columns = columns_of(engine, path)
            shape = given or ColumnMapping.guess(columns, str(path))
            require(shape, columns, str(path))
            rows += load(engine, path, shape.columns)
            tick()
            _parse(engine, shape, zone or shape.timezone, path)
            gone = store.forgotten(scope, "delivery", _named(engine))
            if gone:
                _mark_rows(engine, _NAMED, "its delivery was forgotten", ids=sorted(gone))
            fresh = _mark_clashes(engine, shape, scope, known, log)
            bad = engine.execute("SELECT row, reason FROM parsed WHERE reason IS NOT NULL ORDER BY row").fetchall()
            tick()
            set_aside(rejects, path, bad, read_at=now)
            rejected += len(bad)
            deliveries += store.save_deliveries(fresh)
            known.update({delivery.id: delivery for delivery in fresh})
            for events in _chunks(engine, shape):
                added, repeated = log.append(scope, events)
                new, old = new + added, old + repeated
            tick()
    return IngestReport(
        files=len(files),
        rows=rows,
        events_new=new,
        events_known=old,
        deliveries_new=deliveries,
        rejected=rejected,
        unmatched=_unmatched(known, log, scope),
        rejects_path=rejects if rejected else None,
    )


def _ticker(progress: Progress | None, files: int) -> Callable[[], None]:
    done = count()

    def tick() -> None:
        if progress:
            progress(next(done) + 1, 3 * files)

    return tick


def _zone(name: str | None) -> str | None:
    if name is None:
        return None
    try:
        return zoneinfo.ZoneInfo(name).key
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise InputError(f"there is no time zone {name!r}: write it as UTC or Europe/Paris") from None


def _parse(engine: Any, mapping: ColumnMapping, zone: str | None, path: Path) -> None:
    query = naive(mapping)
    if zone is None and query is not None:
        found = engine.execute(query).fetchall()
        if found:
            row, text = found[0]
            raise InputError(f"{path}, row {row}: the time {text!r} names no zone: pass --timezone, such as UTC")
    text = parsed(mapping)
    engine.execute(f"CREATE OR REPLACE TABLE parsed AS {text}", {"zone": zone or "UTC"} if "$zone" in text else None)


def _mark_clashes(
    engine: Any, mapping: ColumnMapping, scope: str, known: Mapping[str, Delivery], log: EventLog
) -> list[Delivery]:
    """Gives a reason to rows that repeat an id with other content, in this file, the store or the log; the deliveries
    that the usable rows declare and the store does not know. What the agent declared stands against a log's row."""
    fresh: list[Delivery] = []
    if mapping.created_at:
        _mark_rows(engine, _DELIVERY_CLASHES.format(content=_content(mapping)))
        clashing = []
        for delivery in _deliveries(engine, mapping, scope):
            earlier = known.get(delivery.id)
            if earlier is None:
                fresh.append(delivery)
            elif earlier != delivery and earlier.episode_id is None:
                clashing.append(delivery.id)
        if clashing:
            _mark_rows(engine, _NAMED, ids=clashing)
    if mapping.shape != "deliveries":
        import ibis  # the log has loaded it already

        engine.execute(f"CREATE OR REPLACE TEMP TABLE incoming AS {_events(mapping)}")
        ids = engine.sql("SELECT DISTINCT event_id FROM incoming").to_arrow_table()
        engine.register("logged", log.table(scope).semi_join(ibis.memtable(ids), "event_id").to_pyarrow())
        _mark_rows(engine, _EVENT_CLASHES)
        engine.unregister("logged")
        engine.execute("DELETE FROM incoming WHERE row IN (SELECT row FROM parsed WHERE reason IS NOT NULL)")
        declared = engine.execute("SELECT DISTINCT delivery_id FROM parsed WHERE reason IS NULL").fetchall()
        usable = {id_ for (id_,) in declared}
        fresh = [delivery for delivery in fresh if delivery.id in usable]
    return fresh


_NAMED = "SELECT row FROM parsed WHERE delivery_id IN (SELECT unnest($ids))"


def _named(engine: Any) -> Iterator[str]:
    """Ids of the deliveries that usable rows speak of."""
    for (id_,) in engine.execute("SELECT DISTINCT delivery_id FROM parsed WHERE reason IS NULL").fetchall():
        yield id_


_DELIVERY_CLASHES = """
    WITH declared AS (SELECT row, delivery_id, hash({content}) AS content FROM parsed
                      WHERE reason IS NULL AND created IS NOT NULL)
    SELECT row FROM declared JOIN (SELECT delivery_id, arg_min(content, row) AS content FROM declared GROUP BY ALL)
           AS first USING (delivery_id) WHERE declared.content <> first.content"""

_EVENT_CONTENT = 'hash(delivery_id, kind, "at", count, user_id)'

_EVENT_CLASHES = f"""
    WITH every AS (SELECT event_id, {_EVENT_CONTENT} AS content, -1 AS row FROM logged
                   UNION ALL SELECT event_id, {_EVENT_CONTENT}, row FROM incoming),
         first AS (SELECT event_id, arg_min(content, row) AS content FROM every GROUP BY event_id)
    SELECT row FROM every JOIN first USING (event_id) WHERE every.content <> first.content"""


def _mark_rows(
    engine: Any, query: str, reason: str = "the same id came before with other content", **parameters: Any
) -> None:
    engine.execute(
        f"UPDATE parsed SET reason = {literal(reason)} WHERE reason IS NULL AND row IN ({query})",
        parameters or None,
    )


def _content(mapping: ColumnMapping) -> str:
    """What two rows of one delivery must agree in."""
    named = (mapping.text, mapping.experiment, mapping.placement, mapping.audience, mapping.policy, mapping.propensity)
    return ", ".join(("created", *(quoted(c) for c in (*named, *mapping.context) if c)))


def _events(mapping: ColumnMapping) -> str:
    """SELECT of the usable rows as the event log's table, and ``row``."""
    if mapping.shape == "events":
        return """SELECT event_id, delivery_id, kind, "at", greatest(available, "at") AS available_at, count, user_id,
                  false AS aggregate, true AS final, row FROM parsed WHERE reason IS NULL"""
    if mapping.observed_at:
        seen, suffix = "observed", "|| ':' || epoch_us(observed)::VARCHAR"
    else:
        seen, suffix = f"created + INTERVAL {round(mapping.window_hours * 3600)} SECOND", ""
    parts = [
        f"""SELECT delivery_id || {literal(":" + kind)} {suffix} AS event_id, delivery_id, {literal(kind)} AS kind,
            created AS "at", {seen} AS available_at, {quoted("count " + kind)} AS count, NULL::VARCHAR AS user_id,
            true AS aggregate, {mapping.final} AS final, row FROM parsed WHERE reason IS NULL"""
        for kind in mapping.counts.values()
    ]
    return " UNION ALL ".join(parts)


def _chunks(engine: Any, mapping: ColumnMapping) -> Iterator[Any]:
    """What ``incoming`` still holds, in pieces of a million rows of the file, each of which the log takes whole."""
    if mapping.shape == "deliveries":
        return
    ((last,),) = engine.execute("SELECT coalesce(max(row), 0) FROM incoming").fetchall()
    for start in range(0, last, _CHUNK):
        yield engine.sql(
            f"SELECT * EXCLUDE (row) FROM incoming WHERE row > {start} AND row <= {start + _CHUNK} ORDER BY row, kind"
        ).to_arrow_table()


def _deliveries(engine: Any, mapping: ColumnMapping, scope: str) -> Iterator[Delivery]:
    """One a delivery id, from its first usable row that has a created_at; later rows agree with it."""
    rows = engine.sql(
        "SELECT * FROM parsed WHERE reason IS NULL AND created IS NOT NULL "
        "QUALIFY row_number() OVER (PARTITION BY delivery_id ORDER BY row) = 1 ORDER BY row"
    ).to_arrow_table()

    def column(name: str | None) -> list[Any]:
        return rows[name].to_pylist() if name else [None] * rows.num_rows

    context = [column(field) for field in mapping.context]
    for values in zip(
        column("delivery_id"),
        column("created"),
        column(mapping.text),
        column(mapping.experiment),
        column(mapping.placement),
        column(mapping.audience),
        column(mapping.policy),
        column(mapping.propensity),
        *context,
        strict=True,
    ):
        id_, created, text, experiment, placement, audience, policy, propensity, *fields = values
        yield Delivery(
            id=id_,
            scope=scope,
            created_at=created,
            text=text or "",
            experiment=experiment,
            placement=placement,
            audience=audience,
            policy=policy,
            propensity=None if propensity is None else float(propensity),
            context={
                column.removeprefix("context."): value
                for column, value in zip(mapping.context, fields, strict=True)
                if value is not None
            },
        )


def _unmatched(known: Iterable[str], log: EventLog, scope: str) -> int:
    import ibis

    ids = ibis.memtable({"delivery_id": list(known)}, schema={"delivery_id": "string"})
    return int(log.table(scope).anti_join(ids, "delivery_id").count().execute())
