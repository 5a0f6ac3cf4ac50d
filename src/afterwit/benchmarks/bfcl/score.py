"""Accuracy per category, by the benchmark's own checkers, with Wilson's 95 % interval (1927)."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from uuid import uuid4

import numpy as np

from afterwit.benchmarks.bfcl.environment import CATEGORIES, TURNS, Bfcl, Entry
from afterwit.benchmarks.bfcl.play import Player
from afterwit.digest.chunk import ChunkRules, chunks
from afterwit.digest.fold import Folding, Writer, empty
from afterwit.errors import BudgetSpent, InputError, ModelError
from afterwit.evaluate.metrics.share import share
from afterwit.evaluate.record import EvaluationRecord
from afterwit.model import Interaction, Interval
from afterwit.ports import Embedder, Progress

_AT = datetime(2000, 1, 1, tzinfo=UTC)
_NEAREST = 5
Notes = Callable[[Entry], str]


def score(
    world: Bfcl,
    player: Player,
    embedder: Embedder,
    categories: Sequence[str],
    *,
    most: int | None = None,
    writer: Writer | None = None,
    budget: int = 2_000,
    progress: Progress | None = None,
) -> EvaluationRecord:
    """most: entries of a category, in the order of the data. writer: folds what the user said before into a profile, of
    ``budget`` tokens, for the memory category; without one only retrieval is tried. Raises InputError for a category
    that is not known. An answer that cannot be used counts as wrong, and is counted."""
    for category in categories:
        if category not in CATEGORIES:
            raise InputError(f"there is no category {category!r}: give {', '.join(CATEGORIES)}")
    began = time.perf_counter()
    figures: dict[str, dict[str, Interval]] = {}
    todo = [(category, entry) for category in categories for entry in world.entries(category)[:most]]
    notes = _notes(world, embedder, writer, budget) if "memory" in categories else {}
    counted: dict[str, list[tuple[bool, bool]]] = {}
    for place, (category, entry) in enumerate(todo, start=1):
        if category == "memory":
            for name, told in notes.items():
                counted.setdefault(f"memory:{name}", []).append(_remembered(world, player, entry, told))
        else:
            counted.setdefault(category, []).append(_played(world, player, category, entry))
        if progress is not None:
            progress(place, len(todo))
    for name, verdicts in counted.items():
        figures.setdefault(f"model:{player.model}", {})[f"accuracy@{name}"] = share(
            sum(right for right, _ in verdicts), len(verdicts)
        )
        refused = sum(failed for _, failed in verdicts)
        figures[f"model:{player.model}"][f"refused@{name}"] = Interval(value=refused, n=len(verdicts))
    return EvaluationRecord(
        benchmark="bfcl_v4",
        version=version("afterwit"),
        seed=0,
        seconds=time.perf_counter() - began,
        data={"bfcl": "bfcl-eval", "agent": player.model},
        policies=figures,
        counts={category: sum(c == category for c, _ in todo) for category in categories},
        notes=("calls come as JSON with a schema; memory runs on Afterwit's own in place of the benchmark's tools",),
    )


def _played(world: Bfcl, player: Player, category: str, entry: Entry) -> tuple[bool, bool]:
    """(valid, refused)."""
    session = f"s{uuid4().hex}"
    try:
        if category in TURNS:
            answer: object = player.turns(world, category, entry, session)
        else:
            answer = player.live(entry)
    except BudgetSpent:
        raise
    except ModelError:
        return False, True
    return world.check(category, entry.id, f"{session}_check", answer).valid, False


def _remembered(world: Bfcl, player: Player, entry: Entry, told: Notes) -> tuple[bool, bool]:
    try:
        answer = player.recalled(entry, told(entry))
    except BudgetSpent:
        raise
    except ModelError:
        return False, True
    return world.check("memory", entry.id, "memory", answer).valid, False


def _notes(world: Bfcl, embedder: Embedder, writer: Writer | None, budget: int) -> Mapping[str, Notes]:
    """What each kind of memory shows for a question: the nearest of what the user said, or the scenario's profile."""
    said = world.conversations()
    vectors = {scenario: embedder(list(texts)) for scenario, texts in said.items()}

    def nearest(entry: Entry) -> str:
        question = embedder(["\n".join(m["content"] for turn in entry.turns for m in turn)])[0]
        order = np.argsort(-(vectors[entry.scenario] @ question), kind="stable")[:_NEAREST]
        return "\n".join(f"- {said[entry.scenario][i]}" for i in sorted(order))

    found: dict[str, Notes] = {"retrieval": nearest}
    if writer is not None:
        profiles = {scenario: _folded(writer, texts, budget) for scenario, texts in said.items()}
        found["profile"] = lambda entry: profiles[entry.scenario]
    return found


def _folded(writer: Writer, texts: Sequence[str], budget: int) -> str:
    folding = Folding(writer=writer, clock=lambda: _AT)
    state = empty(scope="bfcl", user="u", budget=budget, at=_AT)
    history = (Interaction(item=str(i), title="", text=text, kind="said") for i, text in enumerate(texts))
    for chunk in chunks(history, rules=ChunkRules(tokens=4_000)):
        state = folding.fold(state, chunk)
    return state.text
