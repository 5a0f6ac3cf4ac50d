"""The controlled world: a simulated delivery log whose truth is known."""

from pathlib import Path
from typing import Annotated

import typer

from afterwit.cli import screen
from afterwit.cli.figures import print_leads
from afterwit.cli.write import write
from afterwit.errors import InputError


def tide(
    analysis: Annotated[
        str,
        typer.Option(
            help="responsibility: does credit land, are bad cards gone. rounds: every policy. ablations: without each "
            "credit and operator. health: the population of cards. shift: effects and channels change."
        ),
    ] = "rounds",
    world: Annotated[Path | None, typer.Option(help="TOML of parameters; the bundled world if left out.")] = None,
    seed: Annotated[int, typer.Option(help="Of the first world and of the bootstrap.")] = 13,
    seeds: Annotated[int, typer.Option(help="Worlds, of this seed and those that follow.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder for record and report.")] = None,
    as_json: screen.AsJson = False,
) -> None:
    """A simulated world with known truth: the real loop learns from its log, and the truth judges."""
    from afterwit.benchmarks.world.run import ANALYSES  # heavy, and `--help` does without it
    from afterwit.compose.benchmarks import evaluate_tide

    chosen = next((name for name in ANALYSES if name == analysis), None)
    if chosen is None:
        raise InputError(f"there is no analysis {analysis!r}: give {', '.join(ANALYSES)}")
    if seeds < 1 or seed < 0:
        raise InputError("--seeds must be at least 1 and --seed at least 0")
    with screen.progress_bar("lives") as progress:
        record = evaluate_tide(chosen, parameters=world, seed=seed, seeds=seeds, progress=progress)
    if out is not None:
        write(record, out)
    if as_json:
        screen.print_json(record.to_json())
    else:
        print_leads(record)
