"""Recommendation from long histories."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterwit.cli import screen
from afterwit.cli.figures import percent
from afterwit.cli.write import write

if TYPE_CHECKING:
    from afterwit.evaluate.record import EvaluationRecord


def recsys(
    data: Annotated[Path, typer.Option(help="Folder: items.tsv, histories.tsv and candidates_NAME.tsv, or as below.")],
    candidates: Annotated[
        str, typer.Option(help="NAME of a candidate file; random or popular are drawn where there is none.")
    ] = "random",
    negatives: Annotated[int, typer.Option(help="Candidates beside the target.")] = 19,
    users: Annotated[int | None, typer.Option(help="The most users that are judged; all if left out.")] = None,
    budget: Annotated[int, typer.Option(help="Tokens of a profile.")] = 5000,
    windows: Annotated[bool, typer.Option(help="Also with 1, 2, 4 and 5 turns in place of 3.")] = False,
    train: Annotated[bool, typer.Option(help="Also SASRec and BERT4Rec, trained here: up to an hour.")] = False,
    model: Annotated[
        str | None, typer.Option(help="Who writes profiles too: local, openai:MODEL, anthropic:MODEL.")
    ] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder for that model's answers, so that they cost once.")] = None,
    seed: Annotated[int, typer.Option(help="Of candidates that are drawn, and of the bootstrap.")] = 13,
    out: Annotated[Path | None, typer.Option(help="Folder for record and report.")] = None,
    as_json: screen.AsJson = False,
) -> None:
    """A bounded profile beside popularity, BM25, embeddings, full history and retrieval, on the same users.

    Other layouts that are read: *.item.json with *_valid.csv, and training.jsonl of reviews.
    """
    from afterwit.compose import open_chat  # heavy, and `--help` does without it
    from afterwit.compose.benchmarks import evaluate_recsys

    chat = open_chat(model, cache=cache) if model else None
    with screen.progress_bar("users") as progress:
        record = evaluate_recsys(
            data,
            candidates=candidates,
            negatives=negatives,
            users=users,
            budget=budget,
            windows=windows,
            train=train,
            told=screen.errors.print if screen.errors.is_terminal else None,
            chat=chat,
            seed=seed,
            progress=progress,
        )
    if out is not None:
        write(record, out)
    if as_json:
        screen.print_json(record.to_json())
        return
    _tell(record)


def _tell(record: "EvaluationRecord") -> None:
    metrics = ("hr@1", "hr@5", "ndcg@5")
    rows = [
        (
            name,
            *(percent(figures, metric, interval=metric == "ndcg@5") for metric in metrics),
            f"{figures['tokens'].value:.0f}",
            f"{figures['ms'].value:.1f}",
        )
        for name, figures in record.policies.items()
    ]
    screen.table(f"{record.benchmark}, {record.counts['users']:,} users, %", ("what", *metrics, "tokens", "ms"), rows)
    for note in record.notes:
        screen.say(note)
