"""The protocol: 7:3 in stream order per domain, domains cut to the smallest, several orders, memory frozen for the 3.

Every policy meets the same tasks in the same orders with the same agent, retriever and K (CHIME, section 5).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np

from afterwit.credit.items import Floats
from afterwit.evaluate.chime.memory import StreamMemory
from afterwit.evaluate.chime.policies import StageMemory, StagePolicy
from afterwit.evaluate.chime.world import World
from afterwit.model import Card, Episode
from afterwit.ports import Embedder, Progress

_START = datetime(2000, 1, 1, tzinfo=UTC)
_JUDGED = 10**6  # later than whatever is learned from


@dataclass(frozen=True, kw_only=True)
class ChimeRules:
    """learn: share of the stream that is learned from. orders: random orders averaged. checkpoints: shares of the
    learning stream after which the frozen bank is judged too."""

    learn: float = 0.7
    orders: int = 3
    seed: int = 13
    checkpoints: tuple[float, ...] = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One frozen episode: what it recalled (card, value at the time) and whether the verifier passed it."""

    task: str
    order: int
    success: bool
    cards: tuple[Card, ...]


@dataclass(frozen=True, kw_only=True)
class Run:
    """One policy in one domain. judged: frozen episodes, orders one after another. kept: memories at the end of
    learning, per order. points: share of the stream → (memories, success), over the orders. learned: the verifier's
    verdicts while learning. banks: the cards of the last order."""

    domain: str
    judged: tuple[Judged, ...]
    kept: tuple[int, ...]
    points: Mapping[float, tuple[float, float]]
    learned: tuple[bool, ...]
    banks: tuple[Card, ...]
    refused: int


def streams(world: World, rules: ChimeRules) -> dict[str, list[tuple[list[str], list[str]]]]:
    """Domain → per order, (tasks to learn from, tasks to be judged on). Domains are cut to the smallest."""
    size = min(len(tasks) for tasks in world.domains.values())
    cut = round(rules.learn * size)
    found: dict[str, list[tuple[list[str], list[str]]]] = {}
    for domain, tasks in world.domains.items():
        for order in range(rules.orders):
            rng = np.random.default_rng((rules.seed, order))
            mixed = [tasks[i] for i in rng.permutation(len(tasks))[:size]]
            found.setdefault(domain, []).append((mixed[:cut], mixed[cut:]))
    return found


def run_policy(
    world: World,
    policy: StagePolicy,
    embedder: Embedder,
    *,
    rules: ChimeRules = ChimeRules(),
    judge: World | None = None,
    progress: Progress | None = None,
) -> tuple[Run, ...]:
    """The policy through every domain and order. judge: the world whose agent uses the frozen bank, where it is another
    than the one that the bank was learned with: the transfer to another backbone. It has the same tasks."""
    judging = judge or world
    runs = []
    for domain, orders in streams(world, rules).items():
        judged: list[Judged] = []
        kept, learned = [], []
        points: dict[float, list[tuple[int, Floats]]] = {}
        banks: tuple[Card, ...] = ()
        refused = 0
        for order, (early, late) in enumerate(orders):
            memory = (policy.memory or StreamMemory)(policy, embedder, scope=f"{world.name}/{domain}/{order}")
            marks = {max(1, round(share * len(early))): share for share in rules.checkpoints}
            for place, task in enumerate(early, start=1):
                episode, cards = _served(world, domain, task, memory, order, place)
                memory.learn(episode, cards)
                learned.append(bool(episode.success))
                if place in marks:
                    found = [_judge(judging, domain, late_task, memory, order) for late_task in late]
                    share = np.array([one.success for one in found], dtype=np.float64)
                    points.setdefault(marks[place], []).append((len(memory.cards), share))
                    if place == len(early):
                        judged += found
                if progress is not None:
                    progress(order * len(early) + place, len(orders) * len(early))
            kept.append(len(memory.cards))
            refused += len(memory.refused)
            banks = memory.cards
        runs.append(
            Run(
                domain=domain,
                judged=tuple(judged),
                kept=tuple(kept),
                points={
                    share: (
                        float(np.mean([cards for cards, _ in at])),
                        float(np.concatenate([successes for _, successes in at]).mean()),
                    )
                    for share, at in sorted(points.items())
                },
                learned=tuple(learned),
                banks=banks,
                refused=refused,
            )
        )
    return tuple(runs)


def _judge(world: World, domain: str, task: str, memory: StageMemory, order: int) -> Judged:
    episode, cards = _served(world, domain, task, memory, order, _JUDGED)
    return Judged(task=task, order=order, success=bool(episode.success), cards=cards)


def _served(
    world: World, domain: str, task: str, memory: StageMemory, order: int, place: int
) -> tuple[Episode, tuple[Card, ...]]:
    """Time is the place in the stream, one minute a task."""
    at = _START + timedelta(minutes=place)
    episode = world.serve(domain, task, lambda stage, query: memory.recall(stage, query, at=at), seed=order)
    return memory.closed(replace(episode, id=f"{domain}/{order}/{place}/{task}", started_at=at))


def by_value(runs: Sequence[Run], edges: Sequence[float] = (0.0, 0.25)) -> dict[str, tuple[int, float]]:
    """Downstream success by the mean shrunken value of what was recalled: bucket → (episodes, success rate)."""
    found: dict[str, list[bool]] = {}
    names = [
        f"< {edges[0]:g}",
        *(f"{a:g} to {b:g}" for a, b in pairwise(edges)),
        f"≥ {edges[-1]:g}",
    ]
    for run in runs:
        for one in run.judged:
            if one.cards:
                mean = float(np.mean([c.value * c.uses / (c.uses + 3) for c in one.cards]))
                found.setdefault(names[int(np.searchsorted(edges, mean, side="right"))], []).append(one.success)
    return {name: (len(found[name]), float(np.mean(found[name]))) for name in names if name in found}
