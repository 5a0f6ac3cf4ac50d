"""Rows that could not be used, set aside beside the store with file, row number and reason."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from afterwit.errors import StoreError


@dataclass(frozen=True, kw_only=True)
class Reject:
    """row: 1 is the first data row."""

    file: str
    row: int
    reason: str


def set_aside(place: Path, file: Path, rows: Sequence[tuple[int, str]], *, read_at: datetime) -> None:
    """Writes one JSON line a row; those of other files stay, those of an earlier reading of this file go.

    rows: number (1 is the first data row) and reason. Whole or not at all. Raises StoreError.
    """
    name = str(file)
    try:
        kept = place.read_text(encoding="utf-8").splitlines() if place.exists() else []
        others = [line for line in kept if json.loads(line)["file"] != name]
        if not rows and len(others) == len(kept):
            return
        stamp = read_at.isoformat()
        fresh = [
            json.dumps({"file": name, "row": row, "reason": reason, "read_at": stamp}, ensure_ascii=False)
            for row, reason in rows
        ]
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary = place.with_name(place.name + ".partial")
        try:
            with temporary.open("w", encoding="utf-8") as out:
                out.writelines(line + "\n" for line in (*others, *fresh))
                out.flush()
                os.fsync(out.fileno())
            temporary.replace(place)
        finally:
            temporary.unlink(missing_ok=True)
    except (OSError, ValueError, KeyError) as error:
        reason = getattr(error, "strerror", None) or "it is no file of rejected rows"
        raise StoreError(f"the rejected rows cannot be written to {place}: {reason}; nothing was read in") from None
