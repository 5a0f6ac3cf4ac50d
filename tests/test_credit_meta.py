import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels.stats.meta_analysis import combine_effects

from afterwit.credit.semantic.meta import random_effects, reml


def _restricted_likelihood(tau2: float, y: np.ndarray, v: np.ndarray) -> float:
    w = 1 / (v + tau2)
    mean = (w * y).sum() / w.sum()
    return -0.5 * (np.log(v + tau2).sum() + np.log(w.sum()) + (w * (y - mean) ** 2).sum())


def _studies(seed: int, groups: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), rng.integers(2, 30, groups))
    v = rng.uniform(0.01, 0.3, len(group))
    tau = rng.choice([0.0, 0.1, 0.5], groups)[group]
    return rng.normal(0.1, np.sqrt(v + tau**2)), v, group


@pytest.mark.parametrize("seed", range(3))
def test_reml_finds_what_a_brute_search_finds(seed: int):
    y, v, group = _studies(seed)
    found = reml(y, v, group, 60)
    for g in range(60):
        of = group == g
        grid = np.concatenate(([0.0], np.geomspace(1e-6, 5, 60)))
        best = max(grid, key=lambda t: _restricted_likelihood(t, y[of], v[of]))
        searched = optimize.minimize_scalar(
            lambda t: -_restricted_likelihood(t, y[of], v[of]),  # noqa: B023
            bounds=(best / 1.3, best * 1.3 + 1e-6),
            method="bounded",
            options={"xatol": 1e-10},
        )
        top = max(-searched.fun, _restricted_likelihood(best, y[of], v[of]))
        assert _restricted_likelihood(found[g], y[of], v[of]) >= top - 1e-7


@pytest.mark.parametrize("seed", range(3))
def test_mean_and_hartung_knapp_agree_with_statsmodels(seed: int):
    y, v, group = _studies(seed)
    found = random_effects(y, v, group, 60)
    for g in range(60):
        of = group == g
        # Given τ², the random-effects mean is the fixed-effect mean at variance v + τ².
        oracle = combine_effects(y[of], v[of] + found.tau2[g])
        assert found.effect[g] == pytest.approx(oracle.mean_effect_fe)
        knapp = max(oracle.sd_eff_w_fe_hksj, oracle.sd_eff_w_fe)
        assert found.se[g] == pytest.approx(knapp)
        half = stats.t.ppf(0.975, of.sum() - 1) * knapp
        assert (found.low[g], found.high[g]) == pytest.approx((found.effect[g] - half, found.effect[g] + half))


def test_reml_is_near_paule_mandel_on_a_large_group():
    rng = np.random.default_rng(0)
    v = rng.uniform(0.05, 0.2, 2000)
    y = rng.normal(0, np.sqrt(v + 0.09))
    oracle = combine_effects(y, v, method_re="iterated").tau2
    assert reml(y, v, np.zeros(2000, dtype=np.int64), 1)[0] == pytest.approx(oracle, rel=0.05)


def test_two_equal_strata_by_hand():
    # y = ±0.1 around 0.3, v = 1: no excess spread, so τ² = 0, q = 0.02 and max(1, q) = 1: se² = 1/2.
    found = random_effects(np.array([0.2, 0.4]), np.ones(2), np.zeros(2, dtype=np.int64), 1)
    assert found.tau2[0] == 0
    assert found.effect[0] == pytest.approx(0.3)
    assert found.se[0] == pytest.approx(np.sqrt(0.5))
    assert found.high[0] - found.effect[0] == pytest.approx(12.7062 * np.sqrt(0.5), rel=1e-5)


def test_a_group_of_one_or_none_knows_nothing():
    found = random_effects(np.array([0.2]), np.ones(1), np.array([1]), 3)
    assert np.isnan(found.effect).all()
    assert np.isinf(found.se).all()
    assert (found.low == -np.inf).all()
    assert found.df.tolist() == [0, 0, 0]


def test_intervals_cover():
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(2000), 8)
    v = rng.uniform(0.02, 0.2, len(group))
    found = random_effects(rng.normal(0.1, np.sqrt(v + 0.04)), v, group, 2000)
    covered = ((found.low <= 0.1) & (found.high >= 0.1)).mean()
    assert 0.94 <= covered <= 0.985
