"""Reading a delivery log: good rows in, bad rows set aside, once each however often it is read."""

import zoneinfo
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from afterwit.errors import InputError
from afterwit.model import Delivery, Refusal
from afterwit.ports import EventLog, Progress
from afterwit.record import moments
from afterwit.record.checks import parsed, require
from afterwit.record.mapping import ColumnMapping
from afterwit.record.rejects import Reject, set_aside
from afterwit.record.style import Style
from afterwit.record.table import cell, columns_of, connect, expand, in_engine, literal, load, quoted

_CHUNK = 1_000_000
_SHOWN = 5


class Ledger(Protocol):
    """What ingest needs of a `Store`."""

    def deliveries(self, scope: str) -> Iterable[Delivery]: ...

    def save_deliveries(self, deliveries: Iterable[Delivery]) -> int: ...

    def forgotten(self, scope: str, kind: str, ids: Iterable[str]) -> Set[str]: ...


@dataclass(frozen=True, kw_only=True)
class IngestReport:
    """Counts over all files. known: read before. unmatched: events in the log whose delivery is not known yet.
    rejects_path: where rejected rows lie, None where there were none. first_rejects: some of them. notes: how times,
    ids and kinds were read, a sentence each. verdicts and unripe: of a dry run, what temporal credit would say of the
    deliveries now, by count and with reasons; None elsewhere."""

    files: int
    rows: int
    events_new: int
    events_known: int
    deliveries_new: int
    rejected: int
    unmatched: int
    rejects_path: Path | None
    first_rejects: tuple[Reject, ...] = ()
    notes: tuple[str, ...] = ()
    verdicts: Mapping[str, int] | None = None
    unripe: tuple[Refusal, ...] = ()

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
            where = f" in {self.rejects_path}" if self.rejects_path else ""
            parts.append(f"{self.rejected} rows set aside{where}")
        return "\n".join((", ".join(parts), *self.notes))


def ingest(
    paths: Sequence[str | Path],
    *,
    scope: str,
    mapping: str | Path | ColumnMapping | None,
    store: Ledger,
    log: EventLog,
    timezone: str | None = None,
    time_format: str | None = None,
    rejects: Path,
    now: datetime,
    progress: Progress | None = None,
) -> IngestReport:
    """Reads files one by one; each is taken whole (its usable rows) or not at all.

    Of a file the rows set aside are written first, then deliveries, then events, and each is idempotent, so that a
    crash between them is mended by reading the file again. timezone: of times that name none, before the mapping's;
    time_format: of columns of times, likewise. now: noted with the rows set aside. progress: in thirds of a file.

    Raises InputError for a file that is missing, unreadable, lacks a column, holds times without zone when no timezone
    is given, or times that may be read in two ways when no format is; files before it have been taken.
    """
    zone = _zone(timezone)
    files = expand(list(paths))
    given = ColumnMapping.load(mapping) if isinstance(mapping, str | Path) else mapping
    known = {delivery.id: delivery for delivery in store.deliveries(scope)}
    tick = _ticker(progress, len(files))
    rows = new = old = deliveries = rejected = 0
    notes: dict[str, None] = {}  # in order, once each
    first: list[Reject] = []
    with connect() as engine:
        for path in files:
            style = given.style if given else Style()
            columns = columns_of(engine, path, style)
            shape = given or ColumnMapping.guess(columns, str(path))
            require(shape, columns, str(path))
            found = load(engine, path, shape.columns, style)
            rows += found
            tick()
            told = _parse(engine, shape, zone or _zone(shape.timezone), time_format or shape.time_format, path)
            if gone := store.forgotten(scope, "delivery", _named(engine)):
                _mark_rows(engine, _NAMED, "its delivery was forgotten", ids=sorted(gone))
            fresh = _mark_clashes(engine, shape, scope, known, log)
            bad = engine.execute("SELECT row, reason FROM parsed WHERE reason IS NOT NULL ORDER BY row").fetchall()
            tick()
            set_aside(rejects, path, bad, read_at=now)
            rejected += len(bad)
            first += [Reject(file=str(path), row=row, reason=reason) for row, reason in bad[: _SHOWN - len(first)]]
            notes |= dict.fromkeys((*told(), *_about(shape, path, found)))
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
        first_rejects=tuple(first),
        notes=tuple(notes),
    )


def _about(mapping: ColumnMapping, path: Path, rows: int) -> list[str]:
    said = [] if rows else [f"{path} has a header and no rows"]
    if rows and mapping.shape == "events" and not mapping.event:
        said.append(
            "the log has no ids of events: each is made from its delivery, kind, time, count and user and from its "
            "occurrence in the file, so that equal rows of two files count once"
        )
    return said


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


def _parse(
    engine: Any, mapping: ColumnMapping, zone: str | None, time_format: str | None, path: Path
) -> Callable[[], list[str]]:
    """Makes the tables ``timed`` and ``parsed``; what there is to say of times, once rows have their reasons."""
    forms = moments.forms(engine, mapping.times, time_format, path)
    if zone is None and (first := moments.local(engine, forms)):
        row, text = first
        raise InputError(
            f"{path}, row {row}: the time {text!r} names no zone: pass --timezone, such as UTC, or say timezone in the "
            "mapping"
        )
    text = moments.timed(forms, time_format)
    engine.execute(f"CREATE OR REPLACE TABLE timed AS {text}", {"zone": zone or "UTC"} if "$zone" in text else None)
    engine.execute(f"CREATE OR REPLACE TABLE parsed AS {parsed(mapping)}")
    return lambda: moments.notes(engine, forms, zone or "UTC", path)


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
            elif earlier.episode_id is None and earlier != _begun(mapping, delivery, earlier):
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


def _begun(mapping: ColumnMapping, delivery: Delivery, earlier: Delivery) -> Delivery:
    """Where a delivery begins with its first event, a later file does not begin it again."""
    return replace(delivery, created_at=earlier.created_at) if mapping.begins_with_event else delivery


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
    begun = () if mapping.begins_with_event else ("created",)
    return ", ".join(("delivery_id", *begun, *(cell(c) for c in (*named, *mapping.context) if c)))


def _events(mapping: ColumnMapping) -> str:
    """SELECT of the usable rows as the event log's table, and ``row``."""
    if mapping.shape == "events":
        content = 'delivery_id, kind, "at", count, user_id'
        return f"""SELECT coalesce(event_id, {_made_id(content)}) AS event_id, {content},
                   greatest(available, "at") AS available_at, false AS aggregate, true AS final, row
                   FROM parsed WHERE reason IS NULL"""
    if mapping.shape == "wide":
        return " UNION ALL ".join(_wide(kind) for kind in (*mapping.counts.values(), *filter(None, [mapping.each])))
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


def _wide(kind: str) -> str:
    """Counts that are stated again keep their id, so that they are noticed and not added."""
    content = 'delivery_id, kind, "at", user_id'
    return f"""SELECT {_made_id(content)} AS event_id, {content}, count, greatest(available, "at") AS available_at,
               false AS aggregate, true AS final, row
               FROM (SELECT *, {literal(kind)} AS kind, {quoted("count " + kind)} AS count FROM parsed)
               WHERE reason IS NULL AND count > 0"""


def _made_id(content: str) -> str:
    """SQL: an id from what a row says and how often the file said it before."""
    occurrence = f"row_number() OVER (PARTITION BY {content} ORDER BY row)"
    parts = content.replace('"at"', 'epoch_us("at")').replace("user_id", "coalesce(user_id, '')")
    return f"'row:' || md5(concat_ws(chr(31), {parts}, {occurrence}))"


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
    first = "created, row" if mapping.begins_with_event else "row"
    rows = engine.sql(
        "SELECT * FROM parsed WHERE reason IS NULL AND created IS NOT NULL "
        f"QUALIFY row_number() OVER (PARTITION BY delivery_id ORDER BY {first}) = 1 ORDER BY row"
    ).to_arrow_table()

    def column(name: str | None) -> list[Any]:
        return rows[name].to_pylist() if name else [None] * rows.num_rows

    def kept(name: str | None) -> list[Any]:
        return column(in_engine(name) if name else None)

    context = [kept(field) for field in mapping.context]
    for values in zip(
        column("delivery_id"),
        column("created"),
        kept(mapping.text),
        kept(mapping.experiment),
        kept(mapping.placement),
        kept(mapping.audience),
        kept(mapping.policy),
        kept(mapping.propensity),
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
