"""Real headline tests."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterwit.cli import screen
from afterwit.cli.figures import print_headlines
from afterwit.cli.write import write
from afterwit.errors import InputError

if TYPE_CHECKING:
    from afterwit.evaluate.record import EvaluationRecord


def upworthy(
    history: Annotated[Path, typer.Option(help="Parquet file of headline tests to learn from.")],
    future: Annotated[Path, typer.Option(help="Parquet file of later tests to score.")],
    capacity: screen.Capacity = 80,
    seed: Annotated[int, typer.Option(help="Of the bootstrap and of random replacement.")] = 13,
    out: Annotated[Path | None, typer.Option(help="Folder for record and report.")] = None,
    as_json: screen.AsJson = False,
) -> None:
    """Learn from one file of real headline tests in weekly rounds, freeze, score the other."""
    record = run(history, future, capacity=capacity, seed=seed)
    if out is not None:
        write(record, out)
    tell(record, as_json, out)


def run(history: Path, future: Path, *, capacity: int, seed: int) -> "EvaluationRecord":
    from afterwit.compose.benchmarks import evaluate_upworthy  # heavy, and `--help` does without it

    if capacity < 1:
        raise InputError(f"capacity is {capacity}: a memory must hold at least 1 card")
    with screen.progress_bar("rounds") as progress:
        return evaluate_upworthy(history, future, capacity=capacity, seed=seed, progress=progress)


def tell(record: "EvaluationRecord", as_json: bool, out: Path | None) -> None:
    if as_json:
        screen.print_json(record.to_json())
        return
    print_headlines(record)
    if out is not None:
        print(f"report: {(out / 'report.html').resolve()}")
