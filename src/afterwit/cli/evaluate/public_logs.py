"""Logs that others published: early verdicts, what another policy would have got, ratings that become known late."""

from pathlib import Path
from typing import Annotated

import typer

from afterwit.cli import screen
from afterwit.cli.evaluate.tell import tell

Out = Annotated[Path | None, typer.Option(help="Folder for record and report.")]
Seed = Annotated[int, typer.Option(help="Of the bootstrap.")]


def asos(
    data: Annotated[Path, typer.Option(help="Parquet file of cumulative checkpoints (ASOS Digital Experiments).")],
    seed: Seed = 13,
    out: Out = None,
    as_json: screen.AsJson = False,
) -> None:
    """How often is an early verdict on an experiment not upheld at its end, with and without the maturity gate?"""
    from afterwit.benchmarks.asos.run import run  # heavy, and `--help` does without it

    with screen.progress_bar("comparisons") as progress:
        record = run(data, seed=seed, progress=progress)
    tell(record, out, as_json)


def open_bandit(
    data: Annotated[Path, typer.Option(help="Folder with random_NAME.parquet and bts_NAME.parquet (Open Bandit).")],
    seed: Seed = 13,
    out: Out = None,
    as_json: screen.AsJson = False,
) -> None:
    """What one policy would have got, from the log of another, against what its own log got: IPS, SNIPS, DR."""
    from afterwit.benchmarks.open_bandit.run import run  # heavy, and `--help` does without it

    with screen.progress_bar("cases") as progress:
        record = run(data, seed=seed, progress=progress)
    tell(record, out, as_json)


def memorycd(
    data: Annotated[Path, typer.Option(help="Folder with *.jsonl of users' reviews: history and one held out.")],
    capacity: screen.Capacity = 80,
    seed: Seed = 13,
    out: Out = None,
    as_json: screen.AsJson = False,
) -> None:
    """Ratings whose labels come 0, 1, 5 or 10 tasks late: learn on 80 % of the stream, freeze, predict the rest."""
    from afterwit.benchmarks.memorycd.run import run  # heavy, and `--help` does without it

    with screen.progress_bar("delays") as progress:
        record = run(data, capacity=capacity, seed=seed, progress=progress)
    tell(record, out, as_json)
