"""Streams of headline-like tests made by chance, with one word that works, for the tests of evaluate."""

from datetime import UTC, datetime

import numpy as np

from afterwit.credit.items import Items
from afterwit.decisions.extraction import Extractor, MiningRules
from afterwit.evaluate.policies import Setting
from afterwit.evaluate.tasks import Tasks
from afterwit.evolve.rules import EvolveRules
from afterwit.ports import Capacity

START = datetime(2024, 1, 1, tzinfo=UTC)
_WORDS = (
    *("river", "stone", "cloud", "maple", "ember", "field", "harbour", "lantern"),
    *("meadow", "orchard", "pepper", "saddle", "timber", "velvet", "willow"),
)


def objects(values: list[object]) -> np.ndarray:
    column = np.empty(len(values), dtype=np.object_)
    column[:] = values
    return column


def make_stream(
    *, tests: int = 200, arms: int = 4, days: int = 140, effect: float = 0.5, seed: int = 0, prefix: str = "t"
) -> tuple[Items, Tasks]:
    """Arms of five random words; those that say "magic" have their log rate raised by ``effect``."""
    chance = np.random.default_rng(seed)
    texts, shown, clicked, codes, made = [], [], [], [], []
    for test in range(tests):
        created = np.datetime64("2024-01-01", "us") + np.timedelta64(int(test * days * 24 / tests), "h")
        for arm in range(arms):
            words = list(chance.choice(_WORDS, 4, replace=False)) + (["magic"] if chance.random() < 0.5 else ["plain"])
            rate = 0.02 * np.exp(effect * ("magic" in words))
            texts.append(f"{' '.join(words)} {prefix}{test}x{arm}")
            shown.append(3000.0)
            clicked.append(float(chance.binomial(3000, rate)))
            codes.append(test)
            made.append(created)
    n = len(texts)
    created_at = np.array(made)
    ids = objects([f"{prefix}{code}-{i}" for i, code in enumerate(codes)])
    items = Items(
        ids=ids,
        strata=np.array(codes, dtype=np.int64),
        texts=objects(texts),
        exposures=np.array(shown),
        engagements={"click": np.array(clicked)},
        weights=np.ones(n),
        first_delivered_at=created_at,
        available_at=created_at + np.timedelta64(7, "D"),
        confirmable=np.ones(n, dtype=np.bool_),
        contexts={},
        declared=objects([() for _ in range(n)]),
    )
    return items, tasks_of(items)


def tasks_of(items: Items) -> Tasks:
    _, first, codes = np.unique(items.strata, return_index=True, return_inverse=True)
    return Tasks(
        ids=items.ids,
        texts=items.texts,
        exposures=items.exposures,
        engagements=items.engagements["click"],
        contexts={},
        task=codes.astype(np.int64),
        names=objects([f"test {items.ids[i]}" for i in first]),
        experiments=np.arange(len(first)),
        created_at=items.first_delivered_at[first],
        available_at=items.available_at[first],
    )


def make_tasks(
    groups: list[list[tuple[float, float]]], experiments: list[int] | None = None, texts: list[str] | None = None
) -> Tasks:
    """groups: per task, (exposures, engagements) of each candidate."""
    rows = [pair for group in groups for pair in group]
    start = np.datetime64("2024-01-01", "us")
    return Tasks(
        ids=objects([f"c{i}" for i in range(len(rows))]),
        texts=objects(list(texts or [f"text {i}" for i in range(len(rows))])),
        exposures=np.array([n for n, _ in rows], dtype=np.float64),
        engagements=np.array([c for _, c in rows], dtype=np.float64),
        contexts={},
        task=np.repeat(np.arange(len(groups)), [len(group) for group in groups]),
        names=objects([f"task {g}" for g in range(len(groups))]),
        experiments=np.array(experiments if experiments is not None else range(len(groups)), dtype=np.int64),
        created_at=np.full(len(groups), start),
        available_at=np.full(len(groups), start + np.timedelta64(7, "D")),
    )


def random_tasks(seed: int, n: int = 40) -> Tasks:
    chance = np.random.default_rng(seed)
    groups = []
    for _ in range(n):
        size = int(chance.integers(2, 6))
        shown = chance.integers(200, 4000, size)
        groups.append([(float(s), float(chance.binomial(s, chance.uniform(0.005, 0.05)))) for s in shown])
    return make_tasks(groups, experiments=sorted(chance.integers(0, n // 2, n).tolist()))


def make_setting(*, capacity: int = 20, seed: int = 13) -> Setting:
    rules = EvolveRules(capacity=Capacity(cards=capacity, tokens=60 * capacity))
    return Setting(scope="test/replay", seed=seed, rules=rules)


def make_extractor() -> Extractor:
    return Extractor(rules=MiningRules(support=10))
