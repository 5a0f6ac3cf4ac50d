"""A record as files: its JSON and the page that reads it, whole or not at all."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from afterwit.errors import StoreError

if TYPE_CHECKING:
    from afterwit.evaluate.record import EvaluationRecord


def write(record: "EvaluationRecord", out: Path) -> None:
    """``record.json`` and ``report.html`` in a folder. Raises StoreError where it cannot be made."""
    from afterwit.evaluate.report import page  # heavy, and `--help` does without it

    made = folder(out)
    texts = {"record.json": json.dumps(record.to_json(), ensure_ascii=False, indent=1), "report.html": page(record)}
    for name, text in texts.items():
        partial = made / f"{name}.partial"
        partial.write_text(text, encoding="utf-8")
        partial.replace(made / name)


def folder(out: Path) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {out} cannot be made: {error.strerror}") from None
    return out
