"""A record as asked for: into a folder, as JSON, or as a table of leads."""

from pathlib import Path
from typing import TYPE_CHECKING

from afterwit.cli import screen
from afterwit.cli.figures import print_leads
from afterwit.cli.write import write

if TYPE_CHECKING:
    from afterwit.evaluate.record import EvaluationRecord


def tell(record: "EvaluationRecord", out: Path | None, as_json: bool) -> None:
    if out is not None:
        write(record, out)
    if as_json:
        screen.print_json(record.to_json())
    else:
        print_leads(record)
