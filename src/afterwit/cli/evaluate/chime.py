"""Agents that plan: attribution, and learning, on τ²-bench."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterwit.cli import screen
from afterwit.cli.figures import percent
from afterwit.cli.write import write
from afterwit.errors import InputError

if TYPE_CHECKING:
    from afterwit.evaluate.record import EvaluationRecord
    from afterwit.model import Interval

DOMAINS = ("airline", "retail", "telecom")
_KNOWN = ("tau2-attribution", "tau2-learning")


def chime(
    benchmark: Annotated[
        str,
        typer.Option(
            help="tau2-attribution: does a gate name the cause of a failure. tau2-learning: does memory help."
        ),
    ],
    domain: Annotated[list[str] | None, typer.Option(help="Of τ²-bench; all three if left out.")] = None,
    most: Annotated[int, typer.Option(help="Attribution: failures of each cause.")] = 50,
    seeds: Annotated[int, typer.Option(help="Attribution: how often the tasks are gone through.")] = 1,
    gate: Annotated[
        str | None, typer.Option(help="A model that attributes: local, openai:MODEL, anthropic:MODEL.")
    ] = None,
    repeats: Annotated[int, typer.Option(help="Attribution: how often that model is asked again.")] = 0,
    cache: Annotated[Path | None, typer.Option(help="Folder for that model's answers, so that they cost once.")] = None,
    agent: Annotated[
        str | None, typer.Option(help="Learning: a model in place of the scripted agent: local, openai:MODEL, …")
    ] = None,
    temperature: Annotated[float, typer.Option(help="Learning: of that model's plans.")] = 0.0,
    tasks: Annotated[int | None, typer.Option(help="Learning: the most tasks of a domain for that model.")] = None,
    orders: Annotated[int, typer.Option(help="Learning: random orders of the tasks, averaged.")] = 3,
    seed: Annotated[int, typer.Option(help="Learning: of orders, mistakes and bootstrap.")] = 13,
    out: Annotated[Path | None, typer.Option(help="Folder for record and report.")] = None,
    as_json: screen.AsJson = False,
) -> None:
    """Real tools and a real verifier (τ²-bench in its own Python, AFTERWIT_TAU2_PYTHON): minutes a domain."""
    if benchmark not in _KNOWN:
        raise InputError(f"there is no benchmark {benchmark!r}: give {' or '.join(_KNOWN)}")
    domains = tuple(domain or DOMAINS)
    for name in domains:
        if name not in DOMAINS:
            raise InputError(f"there is no domain {name!r}: give {', '.join(DOMAINS)}")
    if min(most, seeds, orders) < 1:
        raise InputError("--most, --seeds and --orders must be at least 1")
    if benchmark == "tau2-attribution":
        record = _attribution(domains, most, seeds, gate, repeats, cache)
    elif agent is not None:
        record = _model(domains, agent, gate, cache, temperature, tasks, orders, seed)
    else:
        record = _learning(domains, orders, seed)
    if out is not None:
        write(record, out)
    if as_json:
        screen.print_json(record.to_json())
        return
    (_tell_attribution if benchmark == "tau2-attribution" else _tell_learning)(record, domains)
    for note in record.notes:
        screen.say(note)


def _attribution(
    domains: tuple[str, ...], most: int, seeds: int, gate: str | None, repeats: int, cache: Path | None
) -> "EvaluationRecord":
    from afterwit.compose import open_chat  # heavy, and `--help` does without it
    from afterwit.compose.benchmarks import evaluate_attribution

    chat = open_chat(gate, cache=cache) if gate else None
    with screen.progress_bar("runs") as progress:
        return evaluate_attribution(domains, most=most, seeds=seeds, gate=chat, repeats=repeats, progress=progress)


def _learning(domains: tuple[str, ...], orders: int, seed: int) -> "EvaluationRecord":
    from afterwit.compose.benchmarks import evaluate_learning  # heavy, and `--help` does without it

    with screen.progress_bar("policies") as progress:
        return evaluate_learning(domains, orders=orders, seed=seed, progress=progress)


def _model(
    domains: tuple[str, ...],
    agent: str,
    gate: str | None,
    cache: Path | None,
    temperature: float,
    tasks: int | None,
    orders: int,
    seed: int,
) -> "EvaluationRecord":
    from afterwit.compose import open_chat  # heavy, and `--help` does without it
    from afterwit.compose.benchmarks import evaluate_model_learning

    chat, judge = open_chat(agent, cache=cache), open_chat(gate, cache=cache) if gate else None
    with screen.progress_bar("policies") as progress:
        return evaluate_model_learning(
            domains,
            chat,
            gate=judge,
            temperature=temperature,
            tasks=tasks,
            orders=orders,
            seed=seed,
            progress=progress,
        )


def _tell_attribution(record: "EvaluationRecord", domains: tuple[str, ...]) -> None:
    """Per gate and domain the balanced accuracy and each recall, and the confusion matrix beneath."""
    causes = ("planning", "execution", "both", "neither")
    rows = [
        (
            gate,
            domain,
            percent(figures, f"balanced_accuracy@{domain}"),
            *(percent(figures, f"recall@{domain}:{cause}", interval=False) for cause in causes),
        )
        for gate, figures in record.policies.items()
        for domain in domains
    ]
    screen.table("Attribution: recall of each cause, %", ("gate", "domain", "balanced", *causes), rows)
    told = (*causes, "refused")
    matrix = [
        (gate, domain, cause, *(_count(figures, f"{cause}>{verdict}@{domain}") for verdict in told))
        for gate, figures in record.policies.items()
        for domain in domains
        for cause in causes
    ]
    screen.table("Cases by cause and verdict", ("gate", "domain", "cause", *told), matrix)


def _tell_learning(record: "EvaluationRecord", domains: tuple[str, ...]) -> None:
    rows = [
        (
            policy,
            percent(figures, "success"),
            *(percent(figures, f"success@{domain}", interval=False) for domain in domains),
            percent(figures, "gain@none", signed=True),
            f"{figures['memories'].value:.1f}",
        )
        for policy, figures in record.policies.items()
    ]
    screen.table("Success on later tasks, %", ("memory", "success", *domains, "over none", "memories"), rows)
    chime = record.policies["chime"]
    screen.table(
        "CHIME's gain over each, points",
        ("over", "gain"),
        [(name.removeprefix("gain@"), percent(chime, name, signed=True)) for name in chime if name.startswith("gain@")],
    )
    valued = [
        (name.removeprefix("success@value "), percent(chime, name), chime[name].n) for name in chime if "@value" in name
    ]
    screen.table("By the value of what was recalled", ("value", "success", "episodes"), valued)


def _count(figures: "Mapping[str, Interval]", name: str) -> str:
    return f"{figures[name].value:.0f}" if name in figures else "0"
