"""What a shift of effects and of the channel–benefit mix costs, and how soon it is made good.

drop       mean utility of the rounds before the shift less that of the first round after it
recovery   rounds after the shift until utility is back at 95 % of what it was before; the rounds left where it never is
area       mean utility from the shift on
stale_survival  of the cards that were held just before the shift, right before it and wrong after it: the share whose
           very claim is still held at the end
"""

from collections.abc import Sequence

import numpy as np

from afterwit.benchmarks.world.agent import advice
from afterwit.benchmarks.world.evictions import NULL
from afterwit.benchmarks.world.figures import Lives, mean
from afterwit.benchmarks.world.rounds import Lived
from afterwit.benchmarks.world.truth import Truth
from afterwit.credit.items import Floats
from afterwit.errors import InputError
from afterwit.evaluate.metrics.bootstrap import Resamples
from afterwit.evaluate.metrics.share import share
from afterwit.model import Card, Interval

BACK = 0.95


def shifted(lives: Lives, truths: Sequence[Truth], seed: int) -> dict[str, dict[str, Interval]]:
    """Per variant; intervals over worlds and, for means of tasks, over tasks. Raises InputError for a world without a
    shift after its first round."""
    first = truths[0].parameters.shift.round
    rounds = truths[0].parameters.memory.rounds
    if not 1 < first <= rounds:
        raise InputError(f"the world shifts in round {first}: give one from 2 to {rounds} as shift.round")
    after = {name: [life.figure("utility")[first - 1 :].ravel() for life in lived] for name, lived in lives.items()}
    sizes = [len(values) for values in next(iter(after.values()))]
    resamples = Resamples.nested(np.repeat(np.arange(len(sizes)), sizes).astype(np.int64), seed=seed)
    by_world = Resamples.of(np.arange(len(truths)), seed=seed)
    figures: dict[str, dict[str, Interval]] = {}
    for name, lived in lives.items():
        area = mean(np.concatenate(after[name]))
        course = np.array([life.figure("utility").mean(axis=1) for life in lived])
        before = course[:, : first - 1].mean(axis=1)
        stale = [survival(life, truth, first) for life, truth in zip(lived, truths, strict=True)]
        figures[name] = {
            "drop": by_world.interval(mean(before - course[:, first - 1])),
            "recovery": by_world.interval(mean(np.array([recovery(one, first) for one in course]))),
            "area": resamples.interval(area),
            "stale_survival": share(sum(kept for kept, _ in stale), sum(held for _, held in stale)),
        }
        if "frozen" in after and name != "frozen":
            figures[name]["area@frozen"] = resamples.difference(area, mean(np.concatenate(after["frozen"])))
    return figures


def recovery(course: Floats, first: int) -> float:
    """course: utility by round, (rounds,); first: the round of the shift, from 1."""
    level = BACK * course[: first - 1].mean()
    back = np.flatnonzero(course[first - 1 :] >= level)
    return float(back[0]) if len(back) else float(len(course) - first + 1)


def survival(life: Lived, truth: Truth, first: int) -> tuple[int, int]:
    """How many stale claims are still held at the end, of how many."""
    held = {_claim(card) for card in life.banks[first - 1] if _stale(card, truth)}
    kept = {_claim(card) for card in life.banks[-1]}
    return len(held & kept), len(held)


def _claim(card: Card) -> tuple[object, ...]:
    return (advice(card), card.when)


def _stale(card: Card, truth: Truth) -> bool:
    said = advice(card)
    return said is not None and truth.merit(said, card.when, 0) > NULL and truth.merit(said, card.when, 1) <= -NULL
