"""Long texts, shop pages and hostile ones."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterwit.cli import screen
from afterwit.cli.figures import percent
from afterwit.cli.write import write
from afterwit.errors import InputError

if TYPE_CHECKING:
    from afterwit.model import Interval

Model = Annotated[str, typer.Option(help="local, openai:MODEL or anthropic:MODEL.")]
Cache = Annotated[Path | None, typer.Option(help="Folder for the model's answers, so that they cost once.")]
Out = Annotated[Path | None, typer.Option(help="Folder for record and report.")]


def injection(
    data: Annotated[Path, typer.Option(help="Folder as 'afterwit evaluate recsys' reads it.")],
    model: Model = "local",
    pages: Annotated[int, typer.Option(help="Users, each with one hostile page among six.")] = 50,
    cache: Cache = None,
    out: Out = None,
    as_json: screen.AsJson = False,
) -> None:
    """Does an order hidden in a page change what a model chooses for the user, guarded and unguarded?"""
    from afterwit.compose import open_chat  # heavy, and `--help` does without it
    from afterwit.compose.benchmarks import evaluate_injection

    if pages < 1:
        raise InputError("--pages must be at least 1")
    chat = open_chat(model, cache=cache)
    with screen.progress_bar("choices") as progress:
        record = evaluate_injection(data, chat, pages=pages, progress=progress)
    if out is not None:
        write(record, out)
    if as_json:
        screen.print_json(record.to_json())
        return
    rows = [
        (name, percent(figures, "changed"), percent(figures, "obeyed"), f"{figures['refused'].value:.0f}")
        for name, figures in record.policies.items()
    ]
    screen.table(f"{record.counts['pages']} pages", ("pages", "choice changed %", "obeyed %", "refused"), rows)
    for note in record.notes:
        screen.say(note)


def perceive(
    pages: Annotated[Path, typer.Option(help="Folder with ground_truth.json and html/NAME.html.gz.")],
    reader: Annotated[
        str, typer.Option(help="Who reads screenshots: auto, rapid, tesseract[:LANGUAGES], vision[:MODEL], or none.")
    ] = "auto",
    most: Annotated[int | None, typer.Option(help="The most pages.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder in which what was read is kept.")] = None,
    fit: Annotated[
        Path | None, typer.Option(help="Fit the weights of the evidence on the developed half, and write them here.")
    ] = None,
    out: Out = None,
    as_json: screen.AsJson = False,
) -> None:
    """Price, currency, brand and availability on shop pages: from screen, text, metadata, and all of them."""
    from afterwit.compose.benchmarks import evaluate_perceive, fit_perceive  # heavy, and `--help` does without it

    chosen = None if reader == "none" else reader
    if fit is not None:
        with screen.progress_bar("pages") as progress:
            weights = fit_perceive(pages, reader=chosen, cache=cache, progress=progress)
        fit.write_text(json.dumps(weights, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
        screen.say(f"weights of {', '.join(weights)} are in {fit}")
        return
    with screen.progress_bar("pages") as progress:
        record = evaluate_perceive(pages, reader=chosen, cache=cache, most=most, progress=progress)
    if out is not None:
        write(record, out)
    if as_json:
        screen.print_json(record.to_json())
        return
    fields = ("price", "currency", "brand", "availability")
    rows = [
        (name, *(percent(figures, f"{field}_f1") for field in fields), _pace(figures))
        for name, figures in record.policies.items()
    ]
    screen.table(f"F1 on {record.counts['pages']} pages, %", ("from", *fields, "s a page"), rows)
    scripts = {name.partition(":")[2]: n for name, n in record.counts.items() if name.startswith("script:")}
    for field in ("price", "brand"):
        parts = ("@develop", "@held_out", *(f"@script:{name}" for name in scripts))
        rows = [
            (name, *(percent(figures, f"{field}_f1{part}") for part in parts))
            for name, figures in record.policies.items()
        ]
        heads = ("developed", "held out", *(f"{name} ({n})" for name, n in scripts.items()))
        screen.table(f"F1 of {field}, %, by half and by script (pages)", ("from", *heads), rows)
    for note in record.notes:
        screen.say(note)


def longcontext(
    data: Annotated[Path, typer.Option(help="JSON Lines of HotpotQA's distractor setting.")],
    length: Annotated[list[int] | None, typer.Option(help="Tokens to hide a question in; 7 k to 3.5 M.")] = None,
    questions: Annotated[int, typer.Option(help="At each length.")] = 20,
    model: Annotated[str | None, typer.Option(help="Who answers from what was read; none if left out.")] = None,
    cache: Cache = None,
    out: Out = None,
    as_json: screen.AsJson = False,
) -> None:
    """A memory of 1,024 tokens against the first 128 k and the five nearest chunks."""
    from afterwit.benchmarks.longcontext.run import LENGTHS  # heavy, and `--help` does without it
    from afterwit.compose import open_chat
    from afterwit.compose.benchmarks import evaluate_longcontext

    lengths = tuple(length or LENGTHS)
    if min(lengths) < 1 or questions < 1:
        raise InputError("--length and --questions must be at least 1")
    chat = open_chat(model, cache=cache) if model else None
    with screen.progress_bar("questions") as progress:
        record = evaluate_longcontext(data, lengths, questions=questions, chat=chat, progress=progress)
    if out is not None:
        write(record, out)
    if as_json:
        screen.print_json(record.to_json())
        return
    shown = [
        m for m in ("kept", "exact_match", "f1") if any(f"{m}@{lengths[0]}" in f for f in record.policies.values())
    ]
    rows = [
        (name, f"{n:,}", *(percent(figures, f"{m}@{n}") for m in shown), f"{figures[f'tokens@{n}'].value:,.0f}")
        for name, figures in record.policies.items()
        for n in lengths
    ]
    screen.table("Answers kept, %", ("reading", "length", *shown, "tokens read"), rows)


def _pace(figures: "Mapping[str, Interval]") -> str:
    found = figures.get("seconds")
    return "–" if found is None else f"{found.value:.2f}"
