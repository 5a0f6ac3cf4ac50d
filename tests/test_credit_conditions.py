from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from afterwit.credit.items import Items
from afterwit.credit.semantic.conditions import Dependence, dependence, holm_adjusted
from afterwit.credit.semantic.contrast import cells
from afterwit.credit.semantic.meta import random_effects
from afterwit.model import Clause
from credit_cases import make_design, make_items


def _case(effect: dict[str, float], seed: int = 0, *, strata: int = 120, extra: bool = False) -> Items:
    """Strata of two items, the first with the decision; its effect depends on ``place``, never on ``season``."""
    rng = np.random.default_rng(seed)
    levels = [list(effect)[s % len(effect)] for s in range(strata)]
    beta = np.array([[effect[level], 0.0] for level in levels]).ravel()
    n = 2 * strata
    contexts: dict[str, list[object]] = {"place": [level for level in levels for _ in range(2)], "one": ["x"] * n}
    if extra:
        contexts["season"] = [str(s) for s in rng.integers(0, 3, strata) for _ in range(2)]
        contexts["id"] = [f"id-{i}" for i in range(n)]
    clicks = rng.poisson(60 * np.exp(beta + rng.normal(0, 0.1, n)))
    return make_items(np.repeat(np.arange(strata), 2).tolist(), [1000] * n, clicks.tolist(), contexts=contexts)


def _look(items: Items) -> Dependence:
    found = cells(items, make_design(np.tile([[1.0], [0.0]], (len(items) // 2, 1))), "click")
    pooled = random_effects(found.effect, found.variance, found.decision, 1)
    return dependence(items, found, pooled)


def test_the_split_that_explains_the_effect_is_found():
    found = _look(_case({"web": 0.4, "mail": 0.35, "push": -0.3}, extra=True))
    split = found.splits[0]
    assert split.clause == Clause(field="place", operator="in", values=("mail", "web"))
    assert split.holds.effect == pytest.approx(0.375, abs=0.1)
    assert split.fails.effect == pytest.approx(-0.3, abs=0.1)
    assert (split.holds.strata, split.fails.strata) == (80, 40)
    assert split.p_value < 1e-6
    assert split.fails.high < 0 < split.holds.low


def test_a_level_that_contradicts_the_rest_is_a_counterexample():
    assert _look(_case({"web": 0.4, "mail": 0.35, "push": -0.3})).counterexample.tolist() == [True]
    assert _look(_case({"web": 0.4, "mail": 0.35, "push": 0.1})).counterexample.tolist() == [False]


def test_a_constant_effect_is_rarely_split():
    runs = [_look(_case({"web": 0.2, "mail": 0.2}, seed, extra=True)) for seed in range(200)]
    assert sum(bool(run.splits) for run in runs) <= 20
    assert sum(bool(run.counterexample[0]) for run in runs) <= 2


def test_a_second_field_raises_the_bar():
    raised = 0
    for seed in range(200):
        both = _case({"web": 0.25, "mail": 0.1}, seed, extra=True)
        alone = replace(both, contexts={"place": both.contexts["place"]})
        split = _look(alone).splits.get(0)
        if split and split.p_value > 0.025:
            raised += 1
            found = _look(both).splits.get(0)
            assert found is None or found.clause.field == "season"
    assert raised >= 5


def test_a_stratum_that_spans_levels_or_does_not_know_its_own_belongs_to_none():
    items = _case({"web": 0.5, "push": -0.5})
    place = items.contexts["place"]
    place[1::2] = "elsewhere"
    assert not _look(items).splits
    place[:] = None
    assert not _look(items).splits


@pytest.mark.parametrize("seed", range(5))
def test_holm_agrees_with_statsmodels(seed: int):
    rng = np.random.default_rng(seed)
    p, tested = rng.random((6, 7)) ** 3, rng.random((6, 7)) < 0.7
    found = holm_adjusted(p, tested)
    for row in range(6):
        if tested[row].any():
            oracle = multipletests(p[row][tested[row]], method="holm")[1]
            np.testing.assert_allclose(found[row][tested[row]], oracle)
        assert (found[row][~tested[row]] == 1).all()
