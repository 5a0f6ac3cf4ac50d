"""The demo: the whole loop on a bundled sample."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterwit.cli import screen
from afterwit.cli.evaluate.upworthy import run, tell
from afterwit.cli.write import folder, write

if TYPE_CHECKING:
    from afterwit.chat.meter import Line
    from afterwit.evaluate.record import EvaluationRecord


def demo(
    out: Annotated[Path, typer.Option(help="Folder for record and report.")] = Path("out"),
    model: Annotated[
        str | None, typer.Option(help="Who words the cards: local, openai:MODEL, anthropic:MODEL.")
    ] = None,
    as_json: screen.AsJson = False,
) -> None:
    """The whole loop on a bundled sample of real headline tests; prints where the report lies."""
    from afterwit.compose import open_chat  # heavy, and `--help` does without it
    from afterwit.compose.benchmarks import split_sample, worded

    out = folder(out)
    chat = open_chat(model, cache=out / "answers") if model else None
    history, future = split_sample(out)
    record = run(history, future, capacity=80, seed=13)
    if chat is not None:
        with screen.progress_bar("wording") as progress:
            record = worded(record, chat, progress)
    write(record, out)
    tell(record, as_json, out)
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
