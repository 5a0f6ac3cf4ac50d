"""From lives in worlds to figures: means with nested intervals, paired differences, evictions against the truth."""

from collections.abc import Mapping, Sequence

import numpy as np

from afterwit.benchmarks.world.evictions import Evictions, evictions
from afterwit.benchmarks.world.play import joint_pass
from afterwit.benchmarks.world.rounds import Lived
from afterwit.benchmarks.world.truth import Truth
from afterwit.credit.items import Floats, Ints
from afterwit.evaluate.metrics.bootstrap import Ratio, Resamples
from afterwit.evaluate.metrics.negative_transfer import negative_transfer
from afterwit.evaluate.metrics.share import share
from afterwit.model import Interval

Lives = Mapping[str, Sequence[Lived]]
"""Variant → its life in each world, in the same order."""

PAIRED = ("utility", "joint_pass")


def per_task(lived: Sequence[Lived], least: float) -> dict[str, Floats]:
    """Metric → one value a task of all worlds and rounds, (G,)."""
    found = {
        name: np.concatenate([life.figure(name).ravel() for life in lived])
        for name in ("utility", "compliance", "format", "efficiency", "tokens")
    }
    passed = [float(joint_pass(one, least)) for life in lived for round_ in life.served for one in round_]
    return found | {"joint_pass": np.array(passed)}


def worlds_of(lived: Sequence[Lived]) -> Ints:
    """Which world each task is of, (G,)."""
    return np.repeat(np.arange(len(lived)), [life.figure("utility").size for life in lived]).astype(np.int64)


def mean(values: Floats) -> Ratio:
    return Ratio(top=values, bottom=np.ones(len(values)))


def compared(lives: Lives, *, under: str, least: float, seed: int) -> dict[str, dict[str, Interval]]:
    """Means of every variant, and for each its paired difference from the one under test: ``utility@tide`` of a
    variant is what it has more than tide. least: compliance that passes."""
    columns = {name: per_task(lived, least) for name, lived in lives.items()}
    resamples = Resamples.nested(worlds_of(next(iter(lives.values()))), seed=seed)
    figures: dict[str, dict[str, Interval]] = {}
    for name, lived in lives.items():
        own = {metric: mean(values) for metric, values in columns[name].items()}
        figures[name] = {metric: resamples.interval(ratio) for metric, ratio in own.items()}
        figures[name]["cards"] = _plain([len(bank) for life in lived for bank in life.banks[1:]])
        figures[name]["churn"] = _plain([churn for life in lived for churn in churns(life)])
        if "none" in columns and name != "none":
            base = columns["none"]["utility"]
            figures[name]["meg"] = resamples.difference(own["utility"], mean(base))
            figures[name]["negative_transfer"] = resamples.interval(negative_transfer(columns[name]["utility"], base))
        if under in columns and name != under:
            for metric in PAIRED:
                figures[name][f"{metric}@{under}"] = resamples.difference(own[metric], mean(columns[under][metric]))
    return figures


def evicted(lived: Sequence[Lived], truths: Sequence[Truth]) -> dict[str, Interval]:
    """Precision and recall of what left against noise, with Wilson's intervals, and Fisher's exact test."""
    found = [evictions(life.banks, life.left, truth) for life, truth in zip(lived, truths, strict=True)]
    total = Evictions(noise_left=0, good_left=0, noise_stayed=0, good_stayed=0)
    for one, _ in found:
        total += one
    return {
        "eviction_precision": share(total.noise_left, total.left),
        "eviction_recall": share(total.noise_left, total.noise_left + total.noise_stayed),
        "eviction_fisher_p": Interval(value=total.p_value, n=total.left),
        "noise_share": Interval(value=float(np.mean([noise for _, noise in found])), n=len(found)),
    }


def by_round(lives: Lives, metric: str = "utility") -> dict[str, tuple[Interval, ...]]:
    """The mean of each round over worlds and tasks."""
    return {
        name: tuple(
            Interval(value=float(value), n=len(lived))
            for value in np.mean([life.figure(metric).mean(axis=1) for life in lived], axis=0)
        )
        for name, lived in lives.items()
    }


def churns(life: Lived) -> list[float]:
    """Per update, the share of cards that came or went: |before Δ after| / |before ∪ after|, by id."""
    found = []
    for before, after in zip(life.banks, life.banks[1:], strict=False):
        old, new = {card.id for card in before}, {card.id for card in after}
        found.append(len(old ^ new) / len(old | new) if old | new else 0.0)
    return found


def _plain(values: Sequence[float]) -> Interval:
    return Interval(value=float(np.mean(values)) if values else 0.0, n=len(values))
