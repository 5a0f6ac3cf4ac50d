"""Commands that prove: demo and evaluate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterwit.cli import screen
from afterwit.cli.figures import percent, print_headlines
from afterwit.errors import InputError, StoreError

if TYPE_CHECKING:
    from afterwit.chat.meter import Line
    from afterwit.evaluate.record import EvaluationRecord

evaluate = typer.Typer(help="Run a benchmark and print its record.", no_args_is_help=True)


@evaluate.callback()
def _benchmarks() -> None:
    """Run a benchmark and print its record."""


@evaluate.command()
def upworthy(
    history: Annotated[Path, typer.Option(help="Parquet file of headline tests to learn from.")],
    future: Annotated[Path, typer.Option(help="Parquet file of later tests to score.")],
    capacity: screen.Capacity = 80,
    seed: Annotated[int, typer.Option(help="Of the bootstrap and of random replacement.")] = 13,
    out: Annotated[Path | None, typer.Option(help="Folder for record and report.")] = None,
    as_json: screen.AsJson = False,
) -> None:
    """Learn from one file of real headline tests in weekly rounds, freeze, score the other."""
    record = _run(history, future, capacity=capacity, seed=seed)
    if out is not None:
        _write(record, out)
    _tell(record, as_json, out)


@evaluate.command()
def chime(
    benchmark: Annotated[str, typer.Option(help="tau2-attribution: does a gate name the cause of a failure.")],
    domain: Annotated[
        list[str] | None, typer.Option(help="Of τ²-bench; airline, retail and telecom if left out.")
    ] = None,
    most: Annotated[int, typer.Option(help="Failures of each cause.")] = 50,
    seeds: Annotated[int, typer.Option(help="How often the tasks are gone through.")] = 1,
    as_json: screen.AsJson = False,
) -> None:
    """Real tools and a real verifier (τ²-bench in its own Python, AFTERWIT_TAU2_PYTHON): minutes a domain."""
    from afterwit.compose import evaluate_attribution  # heavy, and `--help` does without it

    if benchmark != "tau2-attribution":
        raise InputError(f"there is no benchmark {benchmark!r} yet: give tau2-attribution")
    with screen.progress_bar("failures") as progress:
        record = evaluate_attribution(
            domain or ["airline", "retail", "telecom"], most=most, seeds=seeds, progress=progress
        )
    if as_json:
        screen.print_json(record.to_json())
        return
    rows = [
        (gate, metric, percent(figures, metric), figures[metric].n)
        for gate, figures in record.policies.items()
        for metric in figures
    ]
    screen.table("Attribution", ("gate", "metric", "%", "cases"), rows)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for record and report.")] = Path("out"),
    model: Annotated[
        str | None, typer.Option(help="Who words the cards: local, openai:MODEL, anthropic:MODEL.")
    ] = None,
    as_json: screen.AsJson = False,
) -> None:
    """The whole loop on a bundled sample of real headline tests; prints where the report lies."""
    from afterwit.compose import open_chat, split_sample, worded  # heavy, and `--help` does without it

    out = _folder(out)
    chat = open_chat(model, cache=out / "answers") if model else None
    history, future = split_sample(out)
    record = _run(history, future, capacity=80, seed=13)
    if chat is not None:
        with screen.progress_bar("wording") as progress:
            record = worded(record, chat, progress)
    _write(record, out)
    _tell(record, as_json, out)
    if chat is not None and not as_json:
        _tell_wording(record, chat.usage.total)


def _tell_wording(record: "EvaluationRecord", cost: "Line") -> None:
    """The sentences that were taken, and every proposal that was not."""
    round_ = record.rounds[-1]
    taken = [(c.stance or "", c.guidance) for c in record.cards if c.provenance.trust == "model"]
    if taken:
        screen.table("Worded by the model", ("what", "card"), taken)
    screen.table("Proposals refused", ("what", "why"), [(r.subject, r.reason) for r in round_.refused])
    asked = f"{cost.calls} calls, {cost.cached} of them from the cache, {cost.output_tokens:,} tokens written"
    screen.say(f"{asked}, {cost.seconds:.0f} s.")


def _run(history: Path, future: Path, *, capacity: int, seed: int) -> "EvaluationRecord":
    from afterwit.compose import evaluate_upworthy  # heavy, and `--help` does without it

    if capacity < 1:
        raise InputError(f"capacity is {capacity}: a memory must hold at least 1 card")
    with screen.progress_bar("rounds") as progress:
        return evaluate_upworthy(history, future, capacity=capacity, seed=seed, progress=progress)


def _write(record: "EvaluationRecord", out: Path) -> None:
    import json

    from afterwit.evaluate.report import page  # heavy, and `--help` does without it

    folder = _folder(out)
    texts = {"record.json": json.dumps(record.to_json(), ensure_ascii=False, indent=1), "report.html": page(record)}
    for name, text in texts.items():
        partial = folder / f"{name}.partial"
        partial.write_text(text, encoding="utf-8")
        partial.replace(folder / name)


def _folder(out: Path) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {out} cannot be made: {error.strerror}") from None
    return out


def _tell(record: "EvaluationRecord", as_json: bool, out: Path | None) -> None:
    if as_json:
        screen.print_json(record.to_json())
        return
    print_headlines(record)
    if out is not None:
        print(f"report: {(out / 'report.html').resolve()}")
