"""Reading a delivery log: good rows in, bad rows set aside, once each however often it is read."""

import json
import os
import zoneinfo
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from afterwit.errors import InputError
from afterwit.model import Delivery
from afterwit.ports import EventLog, Progress, Store
from afterwit.record.checks import naive, parsed, require
from afterwit.record.mapping import ColumnMapping
from afterwit.record.table import columns_of, connect, expand, load, quoted


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

    Deliveries are written before their events, and both are idempotent, so that a crash between them is mended by
    reading the file again. Raises InputError for a file that is missing, unreadable, lacks a column or holds times
    without zone when no timezone is given.
    """
    zone = _zone(timezone)
    engine = connect()
    files = expand(list(paths))
    known = ColumnMapping.load(mapping) if isinstance(mapping, str | Path) else mapping
    rows = new = old = deliveries = 0
    set_aside: list[dict[str, Any]] = []
    try:
        for i, path in enumerate(files):
            if progress:
                progress(i, len(files))
            columns = columns_of(engine, path)
            shape = known or ColumnMapping.guess(columns, str(path))
            require(shape, columns, str(path))
            rows += load(engine, path, shape.columns)
            _parse(engine, shape, zone or shape.timezone, path)
            _mark_repeats(engine, shape, scope, log)
            bad = engine.execute("SELECT row, reason FROM parsed WHERE reason IS NOT NULL ORDER BY row").fetchall()
            set_aside += [{"file": str(path), "row": row, "reason": reason} for row, reason in bad]
            if shape.created_at:
                deliveries += store.save_deliveries(_deliveries(engine, shape, scope))
            if shape.shape != "deliveries":
                added, repeated = log.append(scope, _events(engine, shape, now))
                new, old = new + added, old + repeated
        if progress:
            progress(len(files), len(files))
        unmatched = _unmatched(engine, store, log, scope)
    finally:
        engine.close()
    if set_aside:
        _write_lines(rejects, set_aside)
    return IngestReport(
        files=len(files),
        rows=rows,
        events_new=new,
        events_known=old,
        deliveries_new=deliveries,
        rejected=len(set_aside),
        unmatched=unmatched,
        rejects_path=rejects if set_aside else None,
    )


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
        found = engine.execute(query).fetchone()
        if found:
            raise InputError(
                f"{path}, row {found[0]}: the time {found[1]!r} names no zone: pass --timezone, such as UTC"
            )
    text = parsed(mapping)
    engine.execute(f"CREATE OR REPLACE TABLE parsed AS {text}", {"zone": zone or "UTC"} if "$zone" in text else None)


def _mark_repeats(engine: Any, mapping: ColumnMapping, scope: str, log: EventLog) -> None:
    """Gives a reason to rows that repeat an id with other content, in this file or in the log."""
    if mapping.shape == "deliveries":
        return
    content = 'delivery_id, kind, "at", count, user_id'
    engine.register("incoming", _events(engine, mapping, None))
    known = log.table(scope)
    import ibis  # the log has loaded it already

    ids = engine.sql("SELECT DISTINCT event_id FROM incoming").to_arrow_table()
    engine.register("logged", known.semi_join(ibis.memtable(ids), "event_id").to_pyarrow())
    clashes = f"""
        CREATE OR REPLACE TEMP TABLE clashing AS
        WITH all_rows AS (
          SELECT event_id, hash({content}) AS content, -1 AS row FROM logged
          UNION ALL SELECT event_id, hash({content}), row FROM incoming
        ), first AS (SELECT event_id, arg_min(content, row) AS content FROM all_rows GROUP BY event_id)
        SELECT DISTINCT row FROM all_rows JOIN first USING (event_id)
        WHERE all_rows.content <> first.content AND row >= 0"""
    engine.execute(clashes)
    engine.execute(
        "UPDATE parsed SET reason = 'the same id came before with other content' WHERE row IN (SELECT row FROM clashing)"
    )


def _events(engine: Any, mapping: ColumnMapping, now: datetime | None) -> Any:
    """Usable rows as the event log's table; with a ``row`` column where ``now`` is None."""
    extra = ", row" if now is None else ""
    if mapping.shape == "events":
        query = f"""SELECT event_id, delivery_id, kind, "at", "at" AS available_at,
            coalesce(TRY_CAST(count AS DOUBLE)::BIGINT, 1) AS count, user_id, false AS aggregate, true AS final{extra}
            FROM parsed WHERE reason IS NULL ORDER BY row"""
    else:
        seen = "observed" if mapping.observed_at else f"created + INTERVAL {round(mapping.window_hours * 3600)} SECOND"
        suffix = "|| ':' || epoch_us(observed)::VARCHAR" if mapping.observed_at else ""
        parts = [
            f"""SELECT delivery_id || ':{kind}' {suffix} AS event_id, delivery_id, '{kind}' AS kind, created AS "at",
            {seen} AS available_at, {quoted("count " + kind)} AS count, NULL::VARCHAR AS user_id, true AS aggregate,
            true AS final, row FROM parsed WHERE reason IS NULL"""
            for kind in mapping.counts.values()
        ]
        query = (
            f"SELECT * {'' if now is None else 'EXCLUDE (row)'} FROM ({' UNION ALL '.join(parts)}) ORDER BY row, kind"
        )
    return engine.sql(query).to_arrow_table()


def _deliveries(engine: Any, mapping: ColumnMapping, scope: str) -> Iterator[Delivery]:
    """One a delivery id, from its first usable row that has a created_at."""
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
            context={f: v for f, v in zip(mapping.context, fields, strict=True) if v is not None},
        )


def _unmatched(engine: Any, store: Store, log: EventLog, scope: str) -> int:
    import ibis

    known = ibis.memtable({"delivery_id": [d.id for d in store.deliveries(scope)]}, schema={"delivery_id": "string"})
    return int(log.table(scope).anti_join(known, "delivery_id").count().execute())


def _write_lines(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Whole or not at all."""
    temporary = path.with_name(path.name + ".partial")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"the rejected rows cannot be written to {path}: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)
