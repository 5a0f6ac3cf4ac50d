"""What agents did, judged as their benchmarks demand: BFCL, BrowseComp-ZH and VitaBench."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterwit.cli import screen
from afterwit.cli.figures import percent
from afterwit.cli.write import write

if TYPE_CHECKING:
    from afterwit.evaluate.record import EvaluationRecord

Judge = Annotated[
    str | None, typer.Option(help="A model that judges: local, openai:MODEL, anthropic:MODEL; without one no judging.")
]
Cache = Annotated[Path | None, typer.Option(help="Folder for the judge's answers, so that they cost once.")]
Out = Annotated[Path | None, typer.Option(help="Folder for record and report.")]


def bfcl(
    model: Annotated[str, typer.Option(help="Who plays: local, openai:MODEL, anthropic:MODEL.")],
    category: Annotated[
        list[str] | None, typer.Option(help="live_…, multi_turn_… or memory; all of them if left out.")
    ] = None,
    most: Annotated[int | None, typer.Option(help="The most entries of a category.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder for the answers, so that they cost once.")] = None,
    out: Out = None,
    as_json: screen.AsJson = False,
) -> None:
    """Function calling (BFCL v4 in its own Python, AFTERWIT_BFCL_PYTHON), scored by its own checkers."""
    from afterwit.benchmarks.bfcl.environment import CATEGORIES  # heavy, and `--help` does without it
    from afterwit.compose import open_chat
    from afterwit.compose.benchmarks import evaluate_bfcl

    chat = open_chat(model, cache=cache)
    with screen.progress_bar("entries") as progress:
        record = evaluate_bfcl(category or CATEGORIES, chat, most=most, progress=progress)
    _tell(record, out, as_json)


def browsecomp_zh(
    questions: Annotated[Path, typer.Option(help="The published, encrypted sheet (.xlsx).")],
    answers: Annotated[Path, typer.Option(help='JSON Lines: {"number": 1, "response": "…"}.')],
    judge: Judge = None,
    cache: Cache = None,
    out: Out = None,
    as_json: screen.AsJson = False,
) -> None:
    """Score answers to BrowseComp-ZH; the questions are decrypted in memory alone."""
    from afterwit.compose import open_chat  # heavy, and `--help` does without it
    from afterwit.compose.benchmarks import evaluate_browsecomp_zh

    chat = open_chat(judge, cache=cache) if judge else None
    with screen.progress_bar("questions") as progress:
        record = evaluate_browsecomp_zh(questions, answers, chat, progress=progress)
    _tell(record, out, as_json)


def vitabench(
    tasks: Annotated[Path, typer.Option(help="A published file of tasks (.json).")],
    runs: Annotated[
        Path, typer.Option(help='JSON Lines: {"task": "…", "steps": [{"tool", "arguments", "result"}], "output": "…"}.')
    ],
    judge: Judge = None,
    cache: Cache = None,
    out: Out = None,
    as_json: screen.AsJson = False,
) -> None:
    """Score runs on VitaBench, rubric by rubric in a sliding window."""
    from afterwit.compose import open_chat  # heavy, and `--help` does without it
    from afterwit.compose.benchmarks import evaluate_vitabench

    chat = open_chat(judge, cache=cache) if judge else None
    with screen.progress_bar("tasks") as progress:
        record = evaluate_vitabench(tasks, runs, chat, progress=progress)
    _tell(record, out, as_json)


def _tell(record: "EvaluationRecord", out: Path | None, as_json: bool) -> None:
    if out is not None:
        write(record, out)
    if as_json:
        screen.print_json(record.to_json())
        return
    (figures,) = record.policies.values()
    rows = [
        (name, f"{one.value:.0f}" if name.startswith("refused") else percent(figures, name), one.n)
        for name, one in figures.items()
    ]
    screen.table(record.benchmark, ("what", "%", "of"), rows)
