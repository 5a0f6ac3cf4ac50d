"""A store, a log and small delivery logs for the tests of ingest."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from afterwit.record.ingest import IngestReport, ingest
from afterwit.store.open import open_store
from afterwit.store.segments import Segments
from afterwit.store.sql import SqlStore

SCOPE = "acme/push"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Place:
    folder: Path
    store: SqlStore
    log: Segments

    @staticmethod
    def at(folder: Path) -> "Place":
        folder.mkdir(parents=True, exist_ok=True)
        store = open_store(folder / "memory.db")
        store.open_scope(SCOPE, embedder="none", dimensions=2)
        return Place(folder=folder, store=store, log=Segments(folder / "memory.db.events"))

    @property
    def rejects(self) -> Path:
        return self.folder / "rejects.jsonl"

    def ingest(self, *paths: str | Path, mapping: Any = None, **options: Any) -> IngestReport:
        options.setdefault("rejects", self.rejects)
        return ingest(list(paths), scope=SCOPE, mapping=mapping, store=self.store, log=self.log, now=NOW, **options)

    def rejected(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.rejects.read_text(encoding="utf-8").splitlines()]

    def events(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.log.table(SCOPE).order_by("event_id").to_pyarrow().to_pylist()
        return rows

    def deliveries(self) -> list[Any]:
        return list(self.store.deliveries(SCOPE))


def event(n: int, **changes: Any) -> dict[str, Any]:
    row = {"event_id": f"e{n}", "delivery_id": "d1", "kind": "impression", "at": "2025-03-01T10:00:00Z", "count": 1}
    return row | changes


def arm(n: int, **changes: Any) -> dict[str, Any]:
    """One row as the Upworthy Research Archive has it."""
    row = {
        "test_id": "t1",
        "created_at": "2014-01-05 10:00:00",
        "image_id": "i1",
        "headline": f"Headline {n}",
        "lede": "",
        "excerpt": "x",
        "impressions": 1000 + n,
        "clicks": 10 + n,
    }
    return row | changes


def write_jsonl(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_csv(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    names = list(rows[0])
    lines = [",".join(names), *(",".join('"' + str(row[n]).replace('"', '""') + '"' for n in names) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_parquet(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    return path
