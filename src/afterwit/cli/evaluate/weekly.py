"""Small simulated logs with weekly rounds."""

from pathlib import Path
from typing import Annotated

import typer

from afterwit.cli import screen
from afterwit.cli.figures import percent
from afterwit.cli.write import write
from afterwit.errors import InputError


def weekly(
    seeds: Annotated[int, typer.Option(help="Logs of each world.")] = 20,
    seed: Annotated[int, typer.Option(help="Of the first log.")] = 0,
    tests: Annotated[int | None, typer.Option(help="Randomised tests a week; 6 if left out.")] = None,
    impressions: Annotated[int | None, typer.Option(help="Of each of the two texts; 3,000 if left out.")] = None,
    noise: Annotated[float | None, typer.Option(help="Between texts, on the log rate; 0.1 if left out.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for record and report.")] = None,
    as_json: screen.AsJson = False,
) -> None:
    """Does learning keep up: small banks, opposite contexts, effects that change (simulated, truth known)."""
    if seeds < 1 or seed < 0 or (tests or 1) < 1 or (impressions or 1) < 1 or (noise or 0) < 0:
        raise InputError("--seeds, --tests and --impressions must be at least 1, --seed and --noise at least 0")
    from afterwit.benchmarks.weekly.run import run  # heavy, and `--help` does without it

    with screen.progress_bar("logs") as progress:
        record = run(seeds=seeds, first_seed=seed, tests=tests, impressions=impressions, noise=noise, progress=progress)
    if out is not None:
        write(record, out)
    if as_json:
        screen.print_json(record.to_json())
        return
    rows = [
        (world, metric, percent(figures, metric)) for world, figures in record.policies.items() for metric in figures
    ]
    screen.table(f"weekly: {seeds} logs of each world, % of them", ("world", "what", "share"), rows)
    for note in record.notes:
        screen.say(note)
