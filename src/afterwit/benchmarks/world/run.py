"""One analysis of the controlled world, over one or several seeds, as one record."""

import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Literal, get_args

import numpy as np

from afterwit.benchmarks.world.figures import by_round, compared, evicted
from afterwit.benchmarks.world.health import health
from afterwit.benchmarks.world.parameters import Parameters
from afterwit.benchmarks.world.play import Desk
from afterwit.benchmarks.world.requests import CREDITING, Outcome, judged, requests
from afterwit.benchmarks.world.responsibility import figured
from afterwit.benchmarks.world.rounds import VARIANTS, Lived, Stage, Variant, agent_of
from afterwit.benchmarks.world.season import season
from afterwit.benchmarks.world.shift import shifted
from afterwit.evaluate.record import EvaluationRecord
from afterwit.model import Interval, OperatorName, content_hash
from afterwit.ports import Embedder, EventLog, Progress

Analysis = Literal["responsibility", "rounds", "ablations", "health", "shift"]
ANALYSES: tuple[Analysis, ...] = get_args(Analysis)
_OPERATORS: tuple[OperatorName, ...] = ("admit", "confirm", "evict", "expire", "merge", "revise", "split", "reinforce")
_TIDE = VARIANTS["tide"]
_ABLATIONS = {
    "tide": _TIDE,
    "no temporal credit": Variant(name="no temporal credit", credit="no_temporal"),
    "no semantic credit": Variant(name="no semantic credit", credit="no_semantic"),
    "no responsibility credit": Variant(name="no responsibility credit", grants=False),
    **{f"no {op}": Variant(name=f"no {op}", without=frozenset({op})) for op in _OPERATORS},
}
_SHIFT = {
    **{name: VARIANTS[name] for name in ("frozen", "append_only", "outcome_only", "full_history", "tide")},
    **{f"tide, {k} late": Variant(name=f"tide, {k} late", delay=k) for k in (1, 2)},
}
_VARIANTS: Mapping[Analysis, Mapping[str, Variant]] = {
    "rounds": VARIANTS,
    "ablations": _ABLATIONS,
    "health": VARIANTS,
    "shift": _SHIFT,
}
_LEADS: Mapping[Analysis, tuple[str, ...]] = {
    "responsibility": ("responsibility_f1", "correct_edit", "bad_memory_survival"),
    "rounds": ("utility", "joint_pass", "eviction_precision"),
    "ablations": ("utility", "utility@tide"),
    "health": ("effective", "near_duplicates", "churn"),
    "shift": ("drop", "recovery", "stale_survival"),
}
_SIMULATED = "simulated: README.md beside parameters.toml says what this world does not show"
_PLAIN = ("tokens", "cards", "effective", "effective_with_utility", "spread", "recovery", "eviction_fisher_p")


def run(
    analysis: Analysis,
    embedder: Embedder,
    *,
    parameters: Parameters,
    seeds: Sequence[int],
    open_log: Callable[[int], EventLog],
    progress: Progress | None = None,
) -> EvaluationRecord:
    """open_log: seed → an empty event log. Every world of ``seeds`` is lived through by every variant."""
    began = time.perf_counter()
    if analysis == "responsibility":
        return _responsibility(embedder, parameters, seeds, open_log, progress)
    variants = _VARIANTS[analysis]
    lives: dict[str, list[Lived]] = {name: [] for name in variants}
    stages: list[Stage] = []
    for seed in seeds:
        made = season(parameters, seed, open_log(seed), immature=analysis == "ablations")
        stage = Stage.of(made, embedder)
        stages.append(stage)
        for name, variant in variants.items():
            lives[name].append(stage.live(variant))
            if progress is not None:
                progress(sum(map(len, lives.values())), len(seeds) * len(variants))
    truths = [stage.season.truth for stage in stages]
    figures = compared(lives, under="tide", least=parameters.memory.compliance, seed=seeds[0])
    curves = {"utility": by_round(lives)}
    notes = [_SIMULATED]
    if analysis == "rounds":
        for name, lived in lives.items():
            figures[name] |= evicted(lived, truths)
    elif analysis == "ablations":
        notes.append(_ranking(figures))
    elif analysis == "health":
        found, curves = health(lives, stages[0].desk)
        figures = {name: figures[name] | found[name] for name in figures}
    else:
        found = shifted(lives, truths, seeds[0])
        figures = {name: figures[name] | found[name] for name in figures}
    return EvaluationRecord(
        benchmark=f"tide:{analysis}",
        version=version("afterwit"),
        seed=seeds[0],
        seconds=time.perf_counter() - began,
        data=_data(parameters, seeds),
        policies=figures,
        curves=curves,
        leads=_LEADS[analysis],
        plain=_PLAIN,
        counts=_counts(stages, parameters),
        notes=tuple(notes),
    )


def _responsibility(
    embedder: Embedder,
    parameters: Parameters,
    seeds: Sequence[int],
    open_log: Callable[[int], EventLog],
    progress: Progress | None,
) -> EvaluationRecord:
    """Needs the warm-up's log alone."""
    began = time.perf_counter()
    outcomes: dict[str, list[Outcome]] = {name: [] for name in CREDITING}
    worlds: list[int] = []
    for place, seed in enumerate(seeds):
        made = season(parameters, seed, open_log(seed), last=0)
        desk = Desk(truth=made.truth, agent=agent_of(made.truth), embedder=embedder)
        known = made.known()[0]
        asked = requests(made, desk)
        worlds += [place] * len(asked)
        for done, (name, credit) in enumerate(CREDITING.items(), 1):
            outcomes[name] += [judged(one, made, desk, known, credit(one, desk)) for one in asked]
            if progress is not None:
                progress(place * len(CREDITING) + done, len(seeds) * len(CREDITING))
    return EvaluationRecord(
        benchmark="tide:responsibility",
        version=version("afterwit"),
        seed=seeds[0],
        seconds=time.perf_counter() - began,
        data=_data(parameters, seeds),
        policies=figured(outcomes, np.array(worlds, dtype=np.int64), seed=seeds[0]),
        leads=_LEADS["responsibility"],
        counts={
            "worlds": len(seeds),
            "requests": len(worlds),
            "plays_a_request": parameters.requests.plays,
            "requests_left_out": len(seeds) * parameters.requests.count - len(worlds),
        },
        notes=(_SIMULATED, "a round may not admit here, so that its edits of the given cards alone are judged"),
    )


def _data(parameters: Parameters, seeds: Sequence[int]) -> dict[str, str]:
    return {"world": f"sha256:{content_hash(parameters.model_dump_json(), repr(tuple(seeds)))}"}


def _counts(stages: Sequence[Stage], parameters: Parameters) -> dict[str, int]:
    return {
        "worlds": len(stages),
        "rounds": parameters.memory.rounds,
        "tasks_a_round": parameters.memory.tasks,
        "capacity": parameters.memory.capacity,
        "initial_cards": sum(len(stage.initial) for stage in stages),
        "planted_bad_cards": sum(len(stage.planted) for stage in stages),
    }


def _ranking(figures: Mapping[str, Mapping[str, Interval]]) -> str:
    """What leaving each part out costs, the dearest first."""
    cost = {name: found["utility@tide"] for name, found in figures.items() if "utility@tide" in found}
    told = (f"{name} {100 * one.value:+.1f}" for name, one in sorted(cost.items(), key=lambda item: item[1].value))
    return "utility against the whole, points, the dearest loss first: " + ", ".join(told)
