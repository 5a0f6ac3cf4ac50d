"""TIDE's analyses: in a simulated world whose truth is known, and on logs that others published."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from afterwit.cli import screen
from afterwit.cli.evaluate import public_logs
from afterwit.cli.evaluate.tell import tell
from afterwit.errors import InputError

_ON_DATA: dict[str, Callable[..., None]] = {
    "delayed": public_logs.memorycd,
    "snapshot": public_logs.asos,
    "offpolicy": public_logs.open_bandit,
}


def tide(
    analysis: Annotated[
        str,
        typer.Option(
            help="responsibility: does credit land, are bad cards gone. rounds: every policy. ablations: without each "
            "credit and operator. health: the population of cards. shift: effects and channels change. With --data: "
            "delayed (memorycd), snapshot (asos), offpolicy (open-bandit)."
        ),
    ] = "rounds",
    world: Annotated[Path | None, typer.Option(help="TOML of parameters; the bundled world if left out.")] = None,
    data: Annotated[Path | None, typer.Option(help="Of delayed, snapshot and offpolicy.")] = None,
    seed: Annotated[int, typer.Option(help="Of the first world and of the bootstrap.")] = 13,
    seeds: Annotated[int, typer.Option(help="Worlds, of this seed and those that follow.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder for record and report.")] = None,
    as_json: screen.AsJson = False,
) -> None:
    """A simulated world with known truth: the real loop learns from its log, and the truth judges."""
    from afterwit.benchmarks.world.run import ANALYSES  # heavy, and `--help` does without it
    from afterwit.compose.benchmarks import evaluate_tide

    if analysis in _ON_DATA:
        if data is None:
            raise InputError(f"{analysis} is of real data: name it with --data")
        _ON_DATA[analysis](data, seed=seed, out=out, as_json=as_json)
        return
    chosen = next((name for name in ANALYSES if name == analysis), None)
    if chosen is None:
        raise InputError(f"there is no analysis {analysis!r}: give {', '.join((*ANALYSES, *_ON_DATA))}")
    if seeds < 1 or seed < 0:
        raise InputError("--seeds must be at least 1 and --seed at least 0")
    with screen.progress_bar("lives") as progress:
        record = evaluate_tide(chosen, parameters=world, seed=seed, seeds=seeds, progress=progress)
    tell(record, out, as_json)
