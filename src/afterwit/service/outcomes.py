"""Outcomes told one by one, read as the small delivery log that they are."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from afterwit.memory import Memory
from afterwit.model import content_hash
from afterwit.record.ingest import IngestReport


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """delivery: the id under which the world saw the output. kind: click, conversion, negative, or the user's own. id:
    of the event, so that telling it twice counts once; derived from the rest where it has none."""

    delivery: str
    kind: str
    at: datetime
    count: int = 1
    user: str | None = None
    id: str | None = None

    @property
    def row(self) -> dict[str, object]:
        at = self.at.isoformat()
        known = content_hash(self.delivery, self.kind, self.user or "", str(self.count), at)
        row = {"event_id": self.id or known, "delivery_id": self.delivery, "kind": self.kind, "at": at}
        return {**row, "count": self.count} | ({"user_id": self.user} if self.user else {})


def report(memory: Memory, outcomes: Sequence[Outcome]) -> IngestReport:
    with TemporaryDirectory(prefix="afterwit-") as folder:
        path = Path(folder) / "outcomes.jsonl"
        path.write_text("".join(json.dumps(outcome.row) + "\n" for outcome in outcomes), encoding="utf-8")
        return memory.ingest(path, rejects=Path(folder) / "rejects.jsonl")
