"""Evolve on the first 80 % of the stream under late labels, freeze, predict the last 20 %.

mae       of round(expected(s)) with the median of the history: ratings are whole, and a median suits it
rmse      of expected(s) with the mean of the history
meg       absolute error of no memory less that of the policy, the mean over scored tasks (``meg:5`` at δ = 5)
degradation   mae at this δ less mae at δ = 0
negative_transfer   of the users with two or more scored tasks, those whose mean absolute error memory raised
"""

import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

from afterwit.benchmarks.memorycd.data import Task, load
from afterwit.benchmarks.memorycd.stream import OBJECTIVE, at, extractor, items_of, predicted, shape
from afterwit.credit.items import Bools, Floats, Ints
from afterwit.errors import InputError
from afterwit.evaluate.metrics.bootstrap import Ratio, Resamples
from afterwit.evaluate.metrics.share import share
from afterwit.evaluate.policies import POLICIES, Setting, make
from afterwit.evaluate.policies.append_only import AppendOnly
from afterwit.evaluate.policies.protocol import Known
from afterwit.evaluate.record import EvaluationRecord, sha256_of
from afterwit.evaluate.replay import ItemStream, cut, study
from afterwit.evaluate.tasks import Shown, bank_scores
from afterwit.evolve.rules import EvolveRules
from afterwit.model import Interval
from afterwit.ports import Capacity, Progress

DELAYS = (0, 1, 5, 10)
_DECLARED = 5
_EVOLVE, _WARM_UP, _EVERY = 0.8, 0.2, 40
_FEWEST = 50


def run(folder: Path, *, capacity: int = 80, seed: int = 13, progress: Progress | None = None) -> EvaluationRecord:
    """Raises InputError for a folder that cannot be read or holds too few tasks."""
    began = time.perf_counter()
    tasks = load(folder)
    if len(tasks) < _FEWEST:
        raise InputError(f"{folder} holds {len(tasks)} tasks: at least {_FEWEST} are needed to learn and to be scored")
    scored = np.arange(int(_EVOLVE * len(tasks)), len(tasks))
    later = [tasks[k] for k in scored]
    shifts: dict[int, dict[str, Floats]] = {}
    for done, delay in enumerate(DELAYS, 1):
        shifts[delay] = learned(tasks, later, delay, capacity=capacity, seed=seed)
        if progress is not None:
            progress(done, len(DELAYS))
    users = np.unique([task.user for task in later], return_inverse=True)[1].astype(np.int64)
    return EvaluationRecord(
        benchmark="memorycd",
        version=version("afterwit"),
        seed=seed,
        seconds=time.perf_counter() - began,
        data={path.name: sha256_of(path) for path in sorted(folder.glob("*.jsonl"))},
        policies=_figures(later, shifts, users, seed),
        leads=("mae", "rmse", "meg"),
        plain=("mae", "rmse", "meg", "degradation"),
        counts={
            "tasks": len(tasks),
            "scored": len(later),
            "users_scored": len(set(users.tolist())),
            "users_with_two": int((np.bincount(users) >= 2).sum()),
        },
        notes=(
            f"without a suffix a figure is of δ = {_DECLARED}; intervals by user; a memory's cards shift what the "
            "user's own history says, and the target's own review is not read",
            "our reconstruction: no model writes or reads the cards, so these figures are not MemoryCD's",
        ),
    )


def learned(tasks: Sequence[Task], later: Sequence[Task], delay: int, *, capacity: int, seed: int) -> dict[str, Floats]:
    """Policy → what its frozen bank adds to each later task, (n,), learned under labels that come ``delay`` late."""
    found = extractor()
    rules = EvolveRules(capacity=Capacity(cards=capacity, tokens=60 * capacity))
    setting = Setting(scope="benchmark/memorycd", seed=seed, rules=rules)
    stream = ItemStream(items=items_of(tasks, delay))
    end = int(_EVOLVE * len(tasks))
    start = int(_WARM_UP * end)
    first, policies = AppendOnly(setting), make(tuple(POLICIES), setting)
    known: Known | None = None
    for place in [*range(start, end, _EVERY), end]:
        known = study(stream, at(place), found, objective=OBJECTIVE, final=place == end, earlier=known)
        if place == start:
            first.update(known)
            for policy in policies:
                policy.start(cut(first.cards(), capacity), known)
        for policy in policies:
            policy.update(known)
    shown = Shown.of(found.degrees_each([task.title for task in later], [shape(task) for task in later]))
    return {policy.name: bank_scores(policy.cards(), shown, {}) for policy in policies}


def errors(tasks: Sequence[Task], shift: Floats) -> tuple[Floats, Floats]:
    """Absolute error of the whole-star prediction and squared error of the mean one, (n,) each."""
    truth = np.array([task.rating for task in tasks])
    middle = np.array([float(np.median(task.history)) for task in tasks])
    mean = np.array([float(np.mean(task.history)) for task in tasks])
    whole = np.floor(predicted(middle, shift) + 0.5)
    return np.abs(whole - truth), (predicted(mean, shift) - truth) ** 2


def _figures(
    later: Sequence[Task], shifts: dict[int, dict[str, Floats]], users: Ints, seed: int
) -> dict[str, dict[str, Interval]]:
    resamples = Resamples.of(users, seed=seed)
    absolute = {delay: {name: errors(later, s)[0] for name, s in found.items()} for delay, found in shifts.items()}
    squared = {delay: {name: errors(later, s)[1] for name, s in found.items()} for delay, found in shifts.items()}
    figures: dict[str, dict[str, Interval]] = {}
    for name in shifts[_DECLARED]:
        own: dict[str, Interval] = {}
        for delay in (_DECLARED, *DELAYS):
            suffix = "" if not own else f":{delay}"
            here, none = absolute[delay][name], absolute[delay]["none"]
            if suffix != f":{_DECLARED}":
                own[f"mae{suffix}"] = resamples.interval(_mean(here))
                own[f"rmse{suffix}"] = _root(resamples, squared[delay][name], None)
                own[f"meg{suffix}"] = resamples.interval(_mean(none - here))
                own[f"negative_transfer{suffix}"] = _worse(here, none, users)
            if delay and suffix:
                own[f"degradation:{delay}"] = resamples.interval(_mean(here - absolute[0][name]))
        for other in shifts[_DECLARED]:
            if name == "tide" and other != name:
                gap = absolute[_DECLARED][name] - absolute[_DECLARED][other]
                own[f"mae@{other}"] = resamples.interval(_mean(gap))
                own[f"rmse@{other}"] = _root(resamples, squared[_DECLARED][name], squared[_DECLARED][other])
        figures[name] = own
    return figures


def _mean(values: Floats) -> Ratio:
    return Ratio(top=values, bottom=np.ones(len(values)))


def _root(resamples: Resamples, one: Floats, other: Floats | None) -> Interval:
    """√mean of squares, or the difference of two on the same resamples."""
    value, draws = float(np.sqrt(one.mean())), np.sqrt(resamples.draws(_mean(one)))
    if other is not None:
        value, draws = value - float(np.sqrt(other.mean())), draws - np.sqrt(resamples.draws(_mean(other)))
    low, high = np.quantile(draws, (0.025, 0.975))
    return Interval(value=value, low=float(low), high=float(high), n=len(one))


def _worse(here: Floats, none: Floats, users: Ints) -> Interval:
    several: Bools = np.bincount(users) >= 2
    raised = np.bincount(users, weights=here - none)[several] > 1e-9
    return share(int(raised.sum()), len(raised))
