"""Commands for delivery logs: mapping, ingest."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterwit.cli import screen
from afterwit.errors import InputError

if TYPE_CHECKING:
    from afterwit.record.ingest import IngestReport


def mapping(
    file: Annotated[Path, typer.Argument(help="A log: CSV, JSON Lines, Parquet or Excel, packed or not.")],
    out: Annotated[Path | None, typer.Option(help="Write it here instead of printing it.")] = None,
    as_json: screen.AsJson = False,
) -> None:
    """Propose which column of a log means what: what is sure, what is guessed, what is missing."""
    from afterwit.record.proposal import propose

    if not file.is_file():
        raise InputError(f"there is no file {file}")
    if out and out.exists():
        raise InputError(f"{out} is there already: remove it, or write elsewhere")
    proposal = propose(file)
    if out:
        out.write_text(proposal.text, encoding="utf-8")
    if as_json:
        screen.print_json(proposal)
    elif out:
        print(f"{out} is a proposal; missing: {', '.join(entry.key for entry in proposal.missing) or 'nothing'}")
    else:
        print(proposal.text, end="")


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="CSV, JSON Lines, Parquet or Excel files, or globs.")],
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    mapping: Annotated[str | None, typer.Option(help="A mapping file, or a bundled name such as 'headlines'.")] = None,
    timezone: Annotated[str | None, typer.Option(help="Zone of times that carry none, such as UTC.")] = None,
    time_format: Annotated[
        str | None, typer.Option(help="Of dates that may be read in two ways, such as '%d/%m/%Y %H:%M'.")
    ] = None,
    rejects: Annotated[Path | None, typer.Option(help="Where rows that cannot be used are set aside.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be read and change nothing.")] = False,
    as_json: screen.AsJson = False,
) -> None:
    """Read a delivery log. Reading it again changes nothing; late and out of order is fine."""
    with screen.open_memory(store, scope) as memory, screen.progress_bar("reading") as progress:
        report = memory.ingest(
            list(paths),
            mapping=mapping,
            timezone=timezone,
            time_format=time_format,
            rejects=rejects,
            progress=progress,
            dry_run=dry_run,
        )
    if as_json:
        screen.print_json(report)
        return
    print(("nothing is changed; it would be: " if dry_run else "") + report.summary())
    if dry_run:
        _preview(report)


def _preview(report: "IngestReport") -> None:
    for reject in report.first_rejects:
        print(f"row {reject.row} of {reject.file}: {reject.reason}")
    if report.verdicts is not None:
        counts = [f"{number} {verdict}" for verdict, number in report.verdicts.items()]
        print(f"ripeness of deliveries now: {', '.join(counts) or 'none is known'}")
    for refusal in report.unripe[:5]:
        print(f"{refusal.verdict}: {refusal.subject}: {refusal.reason}")
